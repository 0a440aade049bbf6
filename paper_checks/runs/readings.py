"""Values of quantities: of the federation, the plan and a run, and a bound's target by its statistic.

Numbers may be floats, fractions in object arrays, or mpmath with 60 digits. A run is any object with the attributes
``server`` and ``rounds`` (series by quantity) and the method ``iterations(quantity)``.
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
from .origins import (
    AVERAGE,
    ENDS,
    EXACT,
    ITERATION,
    on_local_iterations,
    ORIGINS,
    PLAN,
    PROBLEM,
    quantities_from,
    ROUND,
    RUN,
    STATE,
)
from .statistics import COMBINE, statistic_of, weighted_mean


@dataclass(frozen=True)
class PlanFacts:
    """The attributes of a plan that assumptions check; None if unknown."""

    clients: int
    cohort: int
    sampling: str | None = None
    local_steps: Any = None
    step_sizes: Any = None
    fresh_samples: bool | None = None
    iteration_step_sizes: tuple[Any, ...] | None = None
    """The first few step sizes."""


def setting_facts(problem: Any, setting: Any) -> PlanFacts:
    """The facts of a setting with the clients of a problem."""
    first, offset, steps = setting.step_size, setting.step_offset, setting.steps
    return plan_facts(problem.clients, setting.cohort, setting.sampling, steps, first, offset, steps * setting.rounds)


def plan_facts(
    clients: int, cohort: int, sampling: str, local_steps: int, step_size: Any, offset: Any, iterations: int
) -> PlanFacts:
    """The facts of a plan; with an ``offset``, ``step_size`` is that of the first iteration."""
    first_few = schedules.first_step_sizes(step_size, offset, iterations)
    step_sizes = step_size if offset is None else first_few
    return PlanFacts(clients, cohort, sampling, local_steps, step_sizes, iteration_step_sizes=first_few)


def of_plan(
    cohort: int, local_steps: int, rounds: int, step_size: Any, relaxation: Any, step_offset: Any = None
) -> dict[str, Any]:
    """The quantities of a plan whose rounds are all equal, except that step sizes may decrease with an offset."""
    summed, squares = local_steps * rounds * step_size, local_steps * rounds * step_size**2
    decreasing = {}
    if step_offset is not None:
        sizes = schedules.step_sizes(step_size, step_offset, local_steps * rounds)
        summed, squares = sum(sizes), sum(size**2 for size in sizes)
        decreasing = {"step_size_scale": step_size * step_offset, "step_offset": step_offset}
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
        **decreasing,
    }


def of_losses(start: Any, optimal: Any) -> dict[str, Any]:
    """The quantities that follow from the loss at the start and its minimum."""
    return {"initial_loss": start, "current_loss": start, "optimal_loss": optimal, "initial_gap": start - optimal}


def of_problem(problem: Any, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """The quantities of a federation of quadratics; with ``wanted``, only those of the expensive ones."""
    names = (name for name in quantities_from(PROBLEM, EXACT) if wanted is None or name in wanted)
    return {
        **{name: getattr(problem, name) for name in names if hasattr(problem, name)},
        **of_losses(float(problem.loss(problem.start)), problem.optimal_loss),
        "client_weight": problem.weights,
        "initial_distance_sq": float(((problem.start - problem.minimiser) ** 2).sum()),
        "control_error": problem.optimum_dissimilarity,
        "condition_number": condition(problem.smoothness, problem.strong_convexity),
        **UNBIASED,
    }


UNBIASED = {"alignment": 1, "gradient_norm_factor": 1, "variance_growth": 0}
"""The moments of unbiased stochastic gradients with bounded variance; all gradients here are of this kind."""


def condition(smoothness: Any, strong_convexity: Any) -> Any:
    """Smoothness over strong convexity, in their number type; infinite without strong convexity."""
    return smoothness / strong_convexity if strong_convexity > 0 else inf


def values(problem: Any, setting: Any, relaxation: float, run: Readings) -> dict[str, Any]:
    """All quantities of a run on quadratics."""
    plan = of_plan(setting.cohort, setting.steps, setting.rounds, setting.step_size, relaxation, setting.step_offset)
    return {**of_problem(problem), **of_run(run), **plan}


def of_run(run: Readings) -> dict[str, Any]:
    """The quantities of a run: a number each, or an array with one entry per round."""
    rounds = len(run.server["grad_norm_sq"]) - 1
    series = {**run.rounds, **run.server}
    values = {name: x[:rounds] for name, x in series.items() if name not in quantities_from(PLAN, EXACT)}
    for name in quantities_from(RUN, EXACT):
        if (row := ORIGINS[name]).of in series:
            values[name] = COMBINE[row.how](series[row.of], rounds)
    return values


def iterated(bound: Bound, run: Readings) -> dict[str, Any]:
    """The quantities of a bound on local iterations that have a value before every local step, as series."""
    names = {q.name for q in bound.quantities} & set(ALONG) if on_local_iterations(bound) else ()
    return {name: statistic_of(run.iterations(name), "every", ITERATION) for name in names}


ALONG = ("distance_sq", "optimality_gap", "consensus_distance")
"""Quantities on the right side of a bound on local iterations that are measured before every local step."""


def target(bound: Bound, run: Readings, step_size: Any, known: Mapping[str, Any]) -> Any:
    """The number that a bound is on: its target by its statistic, or an array over rounds or iterations.

    ``step_size`` is one for all iterations or a list; ``known`` are the quantities in the weights of the statistic.
    """
    at, word = bound.statistic, bound.target.name
    row = ORIGINS[word]
    kind = "every" if at is None or not (at.over or on_local_iterations(bound)) else at.kind
    weights = schedules.weights(at, known)
    if row.how == AVERAGE:
        return run.average_gap(weights)
    if row.how == ENDS:
        return weighted_mean(run.iterations(row.of)[1:], weights)
    if row.how == "weighted":
        sizes, series = np.asarray(step_size), run.iterations(row.of)[:-1]
        return (sizes * series).sum() if sizes.ndim else step_size * series.sum()
    if on_local_iterations(bound):
        series = run.iterations(row.of or word)
        return series[1:] if row.how == "next" else statistic_of(series, kind, ITERATION, weights)
    if row.how == "next":
        return run.server[row.of][1:]
    if word in run.rounds:
        return statistic_of(run.rounds[word], kind, ROUND, weights)
    return statistic_of(run.server[row.of or word], kind, STATE, weights)
