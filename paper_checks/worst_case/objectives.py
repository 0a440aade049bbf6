"""The objectives of worst cases: metrics and statistics of a run as linear forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from bounds.core import Statistic
from bounds.weights import Weights

from ..runs.origins import AVERAGE, ENDS, ITERATION, measurable, ORIGINS, ROUND, STATE, WORST
from ..runs.statistics import entries_of, weighted_mean
from .gram import Gram, mean_row
from .linear_run import LinearTree
from .program import Array, WorstCaseError

Series = Callable[[Gram], list[Array]]
"""Returns a metric at every server model from the first to the last, or in every round or iteration."""


def _distance_sq(gram: Gram, model: Array) -> Array:
    if not gram.convex:
        raise WorstCaseError("distance_sq is measured from the minimiser, which non-convex losses need not have")
    return gram.square(gram.points(model))


def _gradient_sq(gram: Gram, model: Array) -> Array:
    return gram.global_gradient_sq(gram.at(model))


def _gap(gram: Gram, model: Array) -> Array:
    return gram.gap(gram.at(model))


def _divergence(gram: Gram) -> list[Array]:
    """Per round: mean squared distance of the clients' last local models from the server model; 0 at the start."""
    rounds = zip(gram.run.paths, gram.run.server[1:], strict=True)
    return [gram.zero(), *(gram.square(gram.points(path[:, -1] - model)) for path, model in rounds)]


def _drift(gram: Gram) -> list[Array]:
    """Per round: squared distances of the local models from the server model, summed over the steps."""
    series = []
    for path, model in zip(gram.run.paths, gram.run.server, strict=False):
        squares = (gram.square(gram.points(path[:, j] - model)) for j in range(path.shape[1] - 1))
        series.append(sum(squares, gram.zero()))
    return series


def _consensus(gram: Gram) -> list[Array]:
    """Per iteration: mean squared distance of the local models from their average."""
    local_models = [path[:, j] for path in gram.run.paths for j in range(path.shape[1] - 1)]
    return [gram.square(gram.points(models - mean_row(list(models)))) for models in local_models]


def _weighted(gram: Gram) -> list[Array]:
    """The sum of step size times squared gradient at the virtual averages."""
    terms = [size * _gradient_sq(gram, model) for size, model in zip(gram.run.step_sizes, gram.averages, strict=False)]
    return [sum(terms, gram.zero())]


def _mean(rows: Sequence[Array], weights: Weights | None) -> Array:
    return mean_row(rows) if weights is None else np.asarray(weighted_mean(rows, weights))


def _change(gram: Gram) -> list[Array]:
    losses = [gram.loss(gram.server(r)) for r in range(len(gram.run.server))]
    return [b - a for a, b in pairwise(losses)]


def _path_drift(gram: Gram) -> list[Array]:
    """Per round: the mean over clients of ``|grad f_k(w) - mean gradient of the local steps|^2``."""
    series = []
    for r, path in enumerate(gram.run.paths):
        at, steps = gram.server(r), [gram.at(path[:, j]) for j in range(path.shape[1] - 1)]
        rows = [g - mean_row([e.gradients[k] for e in steps]) for k, g in enumerate(at.gradients)]
        series.append(gram.square(rows))
    return series


MODEL_METRICS = {"distance_sq": _distance_sq, "optimality_gap": _gap, "grad_norm_sq": _gradient_sq}
"""Metrics at the server models or the virtual averages. With drawn cohorts their expectation is available."""
SERIES: dict[str, Series] = {
    "local_drift": _drift,
    "divergence": _divergence,
    "consensus_distance": _consensus,
    "global_step": lambda gram: [gram.square(gram.points(b - a)) for a, b in pairwise(gram.run.server)],
    "loss_change": _change,
    "mean_gradient_drift": _path_drift,
    "weighted_grad_norm_sq": _weighted,
}
RUN_METRICS: dict[str, Callable[[Gram, Weights | None], Array]] = {
    "mean_gap": lambda gram, weights: _mean([_gap(gram, model) for model in gram.averages[1:]], weights),
    "average_gap": lambda gram, weights: _gap(gram, _mean(gram.averages[:-1], weights)),
}
"""Metrics that are one number for a run, from the weights of the statistic: the mean gap at the virtual averages after
every local step, and the gap at the mean of the averages before every step."""


def metric_series(metric: str, statistic: Statistic) -> tuple[str, str]:
    """Return the name of the series that contains a metric, and whether it is per round, iteration or server model."""
    iterated = statistic.over == "iterations" or not measurable(metric, WORST, iterated=False)
    if not measurable(metric, WORST, iterated):
        known = sorted(name for name in ORIGINS if measurable(name, WORST, iterated))
        raise WorstCaseError(f"the metric must be one of {', '.join(known)}; got {metric!r}")
    origin = ORIGINS[metric]
    if origin.how in (ENDS, AVERAGE):  # one number of a run
        return metric, ITERATION
    return (metric, ROUND) if origin.per == ROUND else (origin.of or metric, ITERATION if iterated else STATE)


def objectives(gram: Gram, metric: str, statistic: Statistic) -> tuple[Array, ...]:
    """Return the forms to maximise, the smallest of them if several; ``every`` and ``last`` use the last one."""
    name, per = metric_series(metric, statistic)
    if isinstance(gram.run, LinearTree) and (name not in MODEL_METRICS or per == ITERATION):
        names = ", ".join(MODEL_METRICS)
        raise WorstCaseError(f"with a drawn cohort the metric must be one of {names}, over rounds")

    if name in RUN_METRICS:
        return (RUN_METRICS[name](gram, statistic.weights),)
    if name not in MODEL_METRICS:
        series = SERIES[name](gram)
    else:  # at the averages, or after every round in the mean over the cohorts that may be drawn
        models = [[model] for model in gram.averages] if per == ITERATION else gram.run.models_by_round
        series = [mean_row([MODEL_METRICS[name](gram, model) for model in some]) for some in models]
    if statistic.kind in ("every", "last") or len(series) == 1:
        return (series[-1],)
    forms = entries_of(series, statistic.kind, per)
    return tuple(forms) if statistic.kind == "min" else (_mean(forms, statistic.weights),)
