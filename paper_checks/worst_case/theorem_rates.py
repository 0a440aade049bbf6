"""The contractions per round that the theorems of the catalogue state, for comparison with certified rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.catalog import BOUNDS
from bounds.core import Bound, spell
from bounds.errors import BoundsError
from bounds.numerics.balls import Point
from bounds.numerics.evaluate import at_point
from bounds.numerics.tape import Tape
from empirics.algorithms.algorithm import Algorithm

from ..runs import schedules
from ..runs.methods import method
from ..runs.obstacles import obstacle
from ..runs.origins import WORST
from .grid_point import adapted, GridPoint, LARGEST, values_at_step
from .rate_problem import RateProblem

LATE = 10**8
"""The round at which rates are measured, when faster terms have vanished."""
CONTRACTING = ("distance_sq", "optimality_gap", "grad_norm_sq")
FEWEST = 2
"""Number of clients for problems with any number; conditions that depend on it are mildest there."""
STILL = 1e-7
"""Relative decrease of a term per round, at ``LATE``, up to which it is not exponential: 1/T decreases by 1/LATE."""


@dataclass(frozen=True)
class TheoremRate:
    """A theorem and the ``contraction`` per round of its slowest term."""

    bound: str
    contraction: float


def theorem_rates(problem: RateProblem) -> list[TheoremRate]:
    """Return the rates of all theorems that cover a problem's method and plan, the smallest contraction first.

    A theorem is evaluated with full participation, with the number of clients of the problem or else two, with its best
    free constants, and for its other assumptions with the default constants of a tightness table. It may bound the
    squared distance, the loss gap or the squared gradient, which contract equally fast for smooth, strongly convex
    losses. Theorems about one machine apply if there is one local step.
    """
    rates = [rate for bound in BOUNDS.values() if bound.about is not None for rate in _rates(bound, problem)]
    return sorted(rates, key=lambda rate: rate.contraction)


def _rates(bound: Bound, problem: RateProblem) -> Iterator[TheoremRate]:
    """Yield the rate of a bound, if it covers the problem and has one."""
    durations = {"rounds", "iterations"} & {q.name for q in bound.quantities}
    if not durations or bound.target.name not in CONTRACTING or obstacle(bound, WORST):
        return
    if schedules.harmonic(bound) or schedules.prescribed(bound):  # decreasing step sizes, or chosen for a last round
        return
    relaxation = getattr(problem.algorithm.start, "beta", 0.0)
    try:
        if not _same(method(bound.about, data=False, relaxation=relaxation), problem.algorithm):
            return
        now, then = (_values(bound, problem, late, relaxation) for late in (LATE, LATE + 1))
    except BoundsError:  # the theorem's method or its step sizes are not available
        return
    if now is None or then is None or at_point(bound, now, checked=False).failed:
        return
    slowest = max((s for s in _contractions(bound, now, then) if s < 1), default=1.0)  # constant terms are the floor
    if slowest < 1 - STILL:
        yield TheoremRate(bound.name, slowest)


def _same(one: Algorithm, other: Algorithm) -> bool:
    """Return whether two methods make the same steps under full participation."""
    parts = ("start", "objective", "direction", "steps", "combine", "remember")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def _values(bound: Bound, problem: RateProblem, rounds: int, relaxation: float) -> dict[str, Any] | None:
    """Return the bound's quantities after a number of rounds, in units of L = 1; None if it does not cover the plan."""
    if problem.local_steps * rounds > LARGEST:
        raise BoundsError(f"local_steps must be at most {LARGEST / rounds:g}; got {problem.local_steps}")
    point = GridPoint(
        clients=problem.clients or FEWEST,
        rounds=rounds,
        local_steps=problem.local_steps,
        fixed_step_size=problem.step_size * problem.smoothness,
        condition_number=problem.smoothness / problem.strong_convexity,
        relaxation=relaxation,
    )
    covered = adapted(bound, point)
    if covered.local_steps != problem.local_steps or (covered.clients == 1 and problem.local_steps > 1):
        return None
    return values_at_step(bound, covered, point.fixed_step_size)


def _contractions(bound: Bound, *times: Mapping[str, Any]) -> list[float]:
    """Return the ratio of every term at the second time to the first; in ball arithmetic, as doubles underflow."""
    tape = Tape([spell(term, bound.where) for term in bound.terms.values()])
    points = [{name: np.atleast_1d(np.asarray(x, dtype=float)).tolist() for name, x in at.items()} for at in times]
    width = max(map(len, points[0].values()))
    now, then = ([members[0] for members in Point(tape, point, width).balls()] for point in points)
    return [1.0 if before.is_zero() else float(after / before) for before, after in zip(now, then, strict=True)]
