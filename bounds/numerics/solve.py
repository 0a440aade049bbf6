"""Solve a bound for one quantity: the largest or smallest value with which the bound is at most a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isinf, isnan, nan
from typing import Any

from ..domains import array_of
from ..errors import BoundsError, NoSolutionError, unknown
from ..quantities import Quantity
from ..statement import Statement
from .minimize import binding, NUDGE, shared_quantity
from .objective import Objective, objective_of
from .search import Edge, farthest, lowest

SIDES = ("largest", "smallest")
UNDECIDED = "points beyond could not be decided"
VAGUE = 1e-6
"""The relative tolerance above which an answer is marked as undecided."""


@dataclass(frozen=True)
class Solution:
    """The largest (smallest) ``for_`` in its domain with all conditions met and ``bound <= target``.

    ``value``, the bound at ``at``, never exceeds the target. ``unbounded``: the target does not limit ``for_``, which
    may go to the end of its domain; ``at`` is that end if it is infinite or in the domain, else where the search
    stopped (where ``value`` is computed in any case). Another solution could lie at most ``tolerance`` beyond ``at``: 0
    unless the search ran out of boxes or bits. ``binding`` is the condition or domain that limits ``for_``, empty if it
    is the target. ``up_to_constant``: the relation is ``<~``, and its hidden constant was set to 1.
    """

    bound: Statement
    for_: Quantity
    target: float
    side: str
    at: float
    value: float
    unbounded: bool
    tolerance: float
    binding: str
    up_to_constant: bool

    def __str__(self) -> str:
        words = [f"{self.side} {self.for_.name} with {self.bound.target.name} <= {self.target:g}: {self.at}"]
        words.append(f"the bound there: {self.value}")
        if self.binding:
            words.append(f"limited by: {self.binding}")
        if self.up_to_constant:
            words.append("up to a constant: the bound hides one, which was set to 1")
        return "\n".join(words)


def solve(bound: Statement, for_: Quantity | str, target: float, side: str, values: Mapping[str, Any]) -> Solution:
    """Return the largest (smallest) ``for_`` with the bound at most ``target``; raise ``NoSolutionError`` if none.

    The answer errs on the safe side: a call there gives at most ``target``.
    """
    quantity = shared_quantity(bound, for_, values)
    if side not in SIDES:
        raise unknown("side", str(side), SIDES)
    level = array_of("target", target)
    if level.ndim or not isfinite(level):
        raise BoundsError(f"target must be a finite number; got {target!r}")
    return _solution(objective_of(bound, quantity, values), float(level), side)


def _solution(objective: Objective, level: float, side: str) -> Solution:
    edge, inward = farthest(objective, level, side), -1 if side == "largest" else 1
    at = value = nan
    if not isnan(edge.at):
        at, value = objective.step_inward(edge.at, inward, lambda value: value <= level)
    if isnan(at):
        raise _nothing(objective, level, undecided=edge.slack > 0)
    shown, unbounded, stop = _answer(objective, at, edge, side)
    return Solution(
        bound=objective.bound,
        for_=objective.over,
        target=level,
        side=side,
        at=int(shown) if objective.whole and isfinite(shown) else shown,
        value=value,
        unbounded=unbounded,
        tolerance=edge.slack,
        binding=stop,
        up_to_constant=objective.bound.relation == "<~",
    )


def _answer(objective: Objective, at: float, edge: Edge, side: str) -> tuple[float, bool, str]:
    """Return the solution, whether it is unbounded, and what limits it."""
    domain, largest = objective.over.card.domain, side == "largest"
    end, is_open = (objective.high, objective.open_high) if largest else (objective.low, objective.open_low)
    unbounded = at == end and not (edge.by_rounding and is_open)
    last = domain.high if largest else domain.low
    shown = last if unbounded and is_open and isinf(last) else at
    if edge.slack > VAGUE * abs(at) or (at == end and not unbounded):
        return shown, unbounded, UNDECIDED
    step = (1.0 if domain.whole else NUDGE) * (1 if largest else -1)
    return shown, unbounded, binding(objective, at, step)


def _nothing(objective: Objective, target: float, undecided: bool) -> NoSolutionError:
    """Return an error that says how close the bound comes to the target, or that the search did not decide."""
    best = lowest(objective, objective.whole)
    name, over = objective.bound.name, objective.over.name
    if isnan(best.at):
        return NoSolutionError(f"{name}: no {over} meets the conditions at these numbers: {objective.unmet()}")
    ends = [(objective.low, objective.open_low), (objective.high, objective.open_high)]
    if undecided or any(is_open and best.at == end for end, is_open in ends):
        searched = f"no point from {objective.low:.6g} to {objective.high:.6g} was found that does"
        return NoSolutionError(f"{name}: undecided whether any {over} brings it down to {target:.10g}: {searched}")
    return NoSolutionError(
        f"{name}: no {over} brings it down to {target:.10g}; the smallest value reached is "
        f"{objective.value(best.at):.10g}, at {over} = {best.at:.6g}"
    )
