"""The values of quantities: those of federation and plan, those of a run, and a bound's target by its statistic.

Numbers of any kind: floats, fractions in arrays of objects, 60 digits. A run is any object with ``server`` and
``rounds`` (readings by quantity) and ``iterations(quantity)``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.exact import Readings

from . import schedules
from .statistics import folded, MADE, weighed
from .words import along, AVERAGE, ENDS, EXACT, given_by, ITERATION, PLAN, PROBLEM, ROUND, RUN, STATE, WORDS


@dataclass(frozen=True)
class Drawn:
    """A plan with the attributes that assumptions read; None where unknown."""

    clients: int
    cohort: int
    sampling: str | None = None
    local_steps: Any = None
    step_sizes: Any = None
    fresh_samples: bool | None = None
    iteration_step_sizes: tuple[Any, ...] | None = None
    """The first few of them."""


def facts(problem: Any, setting: Any) -> Drawn:
    """The plan of a setting, with a problem's clients."""
    first, offset, steps = setting.step_size, setting.step_offset, setting.steps
    return drawn(problem.clients, setting.cohort, setting.sampling, steps, first, offset, steps * setting.rounds)


def drawn(
    clients: int, cohort: int, sampling: str, local_steps: int, step_size: Any, offset: Any, iterations: int
) -> Drawn:
    """A plan; with an ``offset`` the step size is that of the first iteration."""
    first_few = schedules.some(step_size, offset, iterations)
    step_sizes = step_size if offset is None else first_few
    return Drawn(clients, cohort, sampling, local_steps, step_sizes, iteration_step_sizes=first_few)


# ---- federation and plan ----


def of_plan(
    cohort: int, local_steps: int, rounds: int, step_size: Any, relaxation: Any, step_offset: Any = None
) -> dict[str, Any]:
    """The quantities of a plan in which all rounds are equal, except for step sizes that decrease with an offset."""
    summed, squares = local_steps * rounds * step_size, local_steps * rounds * step_size**2
    falls = {}
    if step_offset is not None:
        sizes = schedules.sizes(step_size, step_offset, local_steps * rounds)
        summed, squares = sum(sizes), sum(size**2 for size in sizes)
        falls = {"step_size_scale": step_size * step_offset, "step_offset": step_offset}
    return {
        "cohort": cohort,
        "local_steps": local_steps,
        "rounds": rounds,
        "step_size": step_size,
        "server_step_size": 1,
        "relaxation": relaxation,
        "iterations": local_steps * rounds,
        "steps_cubed_ratio": local_steps * local_steps,
        "summed_step_sizes": summed,
        "squared_step_sizes": squares,
        **falls,
    }


def of_losses(start: Any, optimal: Any) -> dict[str, Any]:
    """The quantities of the loss at the start and of its minimum."""
    return {"initial_loss": start, "current_loss": start, "optimal_loss": optimal, "initial_gap": start - optimal}


def of_problem(problem: Any, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """The quantities of a federation of quadratics; of those that take long to compute only the ``wanted`` ones."""
    names, missing = given_by(PROBLEM, EXACT), object()
    constants = {name: getattr(problem, name, missing) for name in names if wanted is None or name in wanted}
    return {
        **{name: value for name, value in constants.items() if value is not missing},
        **of_losses(float(problem.loss(problem.start)), problem.optimal_loss),
        "client_weight": problem.weights,
        "initial_distance_sq": float(((problem.start - problem.minimiser) ** 2).sum()),
        "control_error": problem.optimum_dissimilarity,
        "condition_number": condition(problem.smoothness, problem.strong_convexity),
        **UNBIASED,
    }


UNBIASED = {"alignment": 1, "gradient_norm_factor": 1, "variance_growth": 0}
"""The moments of unbiased stochastic gradients with bounded variance, which all are here."""


def condition(smoothness: Any, strong_convexity: Any) -> Any:
    """Smoothness over strong convexity, in their number type; infinite without the latter."""
    return smoothness / strong_convexity if strong_convexity > 0 else inf


def values(problem: Any, setting: Any, relaxation: float, run: Readings) -> dict[str, Any]:
    """All quantities of a run on quadratics."""
    told = (setting.cohort, setting.steps, setting.rounds, setting.step_size, relaxation, setting.step_offset)
    plan = of_plan(*told)
    return {**of_problem(problem), **of_run(run), **plan}


# ---- the run ----


def of_run(run: Readings) -> dict[str, Any]:
    """The quantities of a run; one entry per round where a quantity changes from round to round."""
    rounds = len(run.server["grad_norm_sq"]) - 1
    series = {**run.rounds, **run.server}
    known = {name: x[:rounds] for name, x in series.items() if name not in given_by(PLAN, EXACT)}
    for name in given_by(RUN, EXACT):
        if (word := WORDS[name]).of in series:
            known[name] = MADE[word.how](series[word.of], rounds)
    return known


def iterated(bound: Bound, run: Readings) -> dict[str, Any]:
    """The readings before every local iteration, for a bound that uses them."""
    told = {q.name for q in bound.quantities} & set(ALONG) if along(bound) else ()
    return {word: folded(run.iterations(word), "every", ITERATION) for word in told}


ALONG = ("distance_sq", "optimality_gap", "consensus_distance")
"""Quantities of a bound on local iterations that are read beside its target, before every one of them."""


def target(bound: Bound, run: Readings, step_size: Any, known: Mapping[str, Any]) -> Any:
    """The number that a statement bounds: its target by its statistic, or one number per round or iteration.

    ``step_size`` is that of all iterations, or a list; ``known`` the quantities of the weights.
    """
    at, word = bound.statistic, bound.target.name
    row = WORDS[word]
    kind = "every" if at is None or not (at.over or along(bound)) else at.kind
    weights = schedules.weights(at, known)
    if row.how == AVERAGE:
        return run.average_gap(weights)
    if row.how == ENDS:
        return weighed(run.iterations(row.of)[1:], weights)
    if row.how == "weighted":
        sizes, series = np.asarray(step_size), run.iterations(row.of)[:-1]
        return (sizes * series).sum() if sizes.ndim else step_size * series.sum()
    if along(bound):
        series = run.iterations(row.of or word)
        return series[1:] if row.how == "next" else folded(series, kind, ITERATION, weights)
    if row.how == "next":
        return run.server[row.of][1:]
    if word in run.rounds:
        return folded(run.rounds[word], kind, ROUND, weights)
    return folded(run.server[row.of or word], kind, STATE, weights)
