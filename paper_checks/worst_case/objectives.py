"""What is worst: the vocabulary's words for how far a run is from its goal, as linear forms, by the statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from bounds.core import Statistic
from bounds.weights import Weights

from ..runs.origins import AVERAGE, ENDS, ITERATION, measurable, ROUND, SOURCES, STATE, WORST
from ..runs.statistics import entries_of, weighted_mean
from .coordinates import Array, averaged
from .formulation import Formulation
from .program import WorstCaseError

Series = Callable[[Formulation], list[Array]]
"""A metric at every server model from the first to the last, or in every round or iteration."""


def _at_servers(what: Callable[[Formulation, Array], Array]) -> Series:
    """In the mean over all that may be drawn."""
    return lambda f: [averaged([what(f, model) for model in models]) for models in f.recorded.after]


def _along(what: Callable[[Formulation, Array], Array]) -> Series:
    return lambda f: [what(f, model) for model in f.averages]


def _distance(f: Formulation, model: Array) -> Array:
    if not f.convex:
        raise WorstCaseError("distance_sq is measured from the minimiser, which non-convex losses need not have")
    return f.square(f.points(model))


def _gradient(f: Formulation, model: Array) -> Array:
    return f.global_gradient(f.at(model))


def _gap(f: Formulation, model: Array) -> Array:
    return f.gap(f.at(model))


def _divergence(f: Formulation) -> list[Array]:
    """Mean squared distance of the clients' last local models from the server's, 0 before the first round."""
    found = [f.zero()]
    for path, model in zip(f.recorded.path, f.recorded.server[1:], strict=True):
        found.append(f.square(f.points(path[:, -1] - model)))
    return found


def _drift(f: Formulation) -> list[Array]:
    """Per round: squared distances of the local models from the server model, summed over the steps."""
    found = []
    for path, model in zip(f.recorded.path, f.recorded.server, strict=False):
        found.append(sum((f.square(f.points(path[:, j] - model)) for j in range(path.shape[1] - 1)), f.zero()))
    return found


def _consensus(f: Formulation) -> list[Array]:
    """Per iteration: mean squared distance of the local models from their average."""
    locals_ = [path[:, j] for path in f.recorded.path for j in range(path.shape[1] - 1)]
    return [f.square(f.points(models - averaged(list(models)))) for models in locals_]


def _weighted(f: Formulation) -> list[Array]:
    """The squared gradients at the virtual averages times the step sizes, summed."""
    terms = [size * _gradient(f, model) for size, model in zip(f.recorded.step_sizes, f.averages, strict=False)]
    return [sum(terms, f.zero())]


def _mean(rows: Sequence[Array], weights: Weights | None) -> Array:
    found: Array = averaged(rows) if weights is None else weighted_mean(rows, weights)
    return found


def _change(f: Formulation) -> list[Array]:
    losses = [f.loss(f.server(r)) for r in range(len(f.recorded.server))]
    return [b - a for a, b in pairwise(losses)]


def _path_drift(f: Formulation) -> list[Array]:
    """Per round: the mean over clients of ``|grad f_k(w) - mean gradient of the local steps|^2``."""
    found = []
    for r, path in enumerate(f.recorded.path):
        at, walked = f.server(r), [f.at(path[:, j]) for j in range(path.shape[1] - 1)]
        rows = [g - averaged([e.gradients[k] for e in walked]) for k, g in enumerate(at.gradients)]
        found.append(f.square(rows))
    return found


METRICS: dict[str, Series] = {
    "distance_sq": _at_servers(_distance),
    "optimality_gap": _at_servers(_gap),
    "grad_norm_sq": _at_servers(_gradient),
    "divergence": _divergence,
    "local_drift": _drift,
    "consensus_distance": _consensus,
    "global_step": lambda f: [f.square(f.points(b - a)) for a, b in pairwise(f.recorded.server)],
    "loss_change": _change,
    "mean_gradient_drift": _path_drift,
    "weighted_grad_norm_sq": _weighted,
}
ITERATIONS: dict[str, Series] = {
    "distance_sq": _along(_distance),
    "optimality_gap": _along(_gap),
    "grad_norm_sq": _along(_gradient),
}
WHOLE: dict[str, Callable[[Formulation, Weights | None], Array]] = {
    "mean_gap": lambda f, weights: _mean([_gap(f, model) for model in f.averages[1:]], weights),
    "average_gap": lambda f, weights: _gap(f, _mean(f.averages[:-1], weights)),
}
"""One number of a run, by the weights of its statistic: of the gaps at the virtual averages after every local step, at
the mean of those before (which is a row like any model)."""
DRAWN = ("distance_sq", "optimality_gap", "grad_norm_sq")
"""What is bounded where clients are drawn: in the mean, at every server model."""


def looked_at(metric: str, statistic: Statistic) -> tuple[str, str]:
    """The word of the series that a metric is read off, and per what that series is."""
    iterated = statistic.over == "iterations" or not measurable(metric, WORST, iterated=False)
    if not measurable(metric, WORST, iterated):
        known = sorted(word for word in SOURCES if measurable(word, WORST, iterated))
        raise WorstCaseError(f"the metric must be one of {', '.join(known)}; got {metric!r}")
    word = SOURCES[metric]
    if word.how in (ENDS, AVERAGE):  # one number of a run, whatever the statistic calls it
        return metric, ITERATION
    return (metric, ROUND) if word.per == ROUND else (word.of or metric, ITERATION if iterated else STATE)


def objectives(f: Formulation, metric: str, statistic: Statistic) -> tuple[Array, ...]:
    """What is maximised: one form, or several of which the smallest counts; ``every`` and ``last`` use the last."""
    word, per = looked_at(metric, statistic)
    if not f.recorded.path and (word not in DRAWN or per == ITERATION):
        raise WorstCaseError(f"where clients are drawn the metric must be one of {', '.join(DRAWN)}, over rounds")
    if word in WHOLE:
        return (WHOLE[word](f, statistic.weights),)
    series = (ITERATIONS if per == ITERATION else METRICS)[word](f)
    if statistic.kind in ("every", "last") or len(series) == 1:
        return (series[-1],)
    forms = entries_of(series, statistic.kind, per)
    return tuple(forms) if statistic.kind == "min" else (_mean(forms, statistic.weights),)
