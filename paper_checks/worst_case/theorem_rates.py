"""The rates that theorems of the catalogue state: by how much what is left of the start shrinks in a round."""

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
from .grid_point import at_step, fitted, GridPoint, LARGEST
from .rate_case import Case

LATE = 10**8
"""The round at which rates are read off: by then what fades faster has faded."""
SHRINKING = ("distance_sq", "optimality_gap", "grad_norm_sq")
FEWEST = 2
"""Clients where a case is for any number: a condition that counts them is mildest there."""
STILL = 1e-7
"""A round that takes off no larger a part of a term, so late, makes no rate: 1/T takes off 1/LATE."""


@dataclass(frozen=True)
class Published:
    """A theorem and the ``contraction`` per round of its slowest term."""

    bound: str
    contraction: float


def published(case: Case) -> list[Published]:
    """The rates of all theorems that cover a case's method and plan, the best first.

    A theorem is evaluated with all clients, as many as the case has and else two (FedInit's conditions allow more
    clients
    smaller steps; beyond a hundred none is tried), at its best free constants, and where its own assumptions hold with
    the constants that a place of a tightness table has if nothing is said. It may bound the loss gap or the gradient:
    of smooth, strongly convex losses they shrink at the rate of the squared distance. Theorems of one machine apply
    where there is one local step.
    """
    found = [told for bound in BOUNDS.values() if bound.about is not None for told in _of(bound, case)]
    return sorted(found, key=lambda told: told.contraction)


def _of(bound: Bound, case: Case) -> Iterator[Published]:
    lasting = {"rounds", "iterations"} & {q.name for q in bound.quantities}
    if not lasting or bound.target.name not in SHRINKING or obstacle(bound, WORST):
        return
    if schedules.harmonic(bound) or schedules.prescribed(bound):  # no rate: they fall, or fit a last round
        return
    relaxation = getattr(case.algorithm.start, "beta", 0.0)
    try:
        if not _same(method(bound.about, data=False, relaxation=relaxation), case.algorithm):
            return
        now, then = (_values(bound, case, late, relaxation) for late in (LATE, LATE + 1))
    except BoundsError:  # no method here is called so, or no step size like this
        return
    if now is None or then is None or at_point(bound, now, checked=False).failed:
        return
    slowest = max((s for s in _shares(bound, now, then) if s < 1), default=1.0)  # what does not shrink is the floor
    if slowest < 1 - STILL:
        yield Published(bound.name, slowest)


def _same(one: Algorithm, other: Algorithm) -> bool:
    """Whether two methods do the same where all clients take part; readings of FedInit differ in who is heard."""
    parts = ("start", "objective", "direction", "steps", "combine", "remember")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def _values(bound: Bound, case: Case, rounds: int, relaxation: float) -> dict[str, Any] | None:
    """The bound's quantities after a number of rounds, in units of L = 1; None where it covers other plans only."""
    if case.local_steps * rounds > LARGEST:
        raise BoundsError(f"local_steps must be at most {LARGEST / rounds:g}; got {case.local_steps}")
    place = GridPoint(
        clients=case.clients or FEWEST, rounds=rounds, local_steps=case.local_steps,
        fixed_step_size=case.step_size * case.smoothness,
        condition_number=case.smoothness / case.strong_convexity, relaxation=relaxation,
    )  # fmt: skip
    asked = fitted(bound, place)
    if asked.local_steps != case.local_steps or (asked.clients == 1 and case.local_steps > 1):
        return None
    return at_step(bound, asked, place.fixed_step_size)


def _shares(bound: Bound, *times: Mapping[str, Any]) -> list[float]:
    """What a round leaves of every term; in balls: what shrank for so long underflows a double."""
    tape = Tape([spell(term, bound.where) for term in bound.terms.values()])
    points = [{name: np.atleast_1d(np.asarray(x, dtype=float)).tolist() for name, x in at.items()} for at in times]
    width = max(map(len, points[0].values()))
    now, then = ([members[0] for members in Point(tape, point, width).balls()] for point in points)
    return [1.0 if before.is_zero() else float(after / before) for before, after in zip(now, then, strict=True)]
