"""Inverse design: how far a quantity may go with the bound still at most a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np

from ..errors import BoundsError, NoSolutionError, unknown
from ..quantities import Quantity
from .intervals import Array
from .landscape import Landscape
from .minima import binding, nudged
from .optima import shared_quantity
from .search import Edge, farthest, lowest

if TYPE_CHECKING:
    from ..core import Bound

SIDES = ("largest", "smallest")
UNMET = "nothing meets the target"
UNDECIDED = "what lies beyond could not be decided, for rounding or overflow"
VAGUE = 1e-6
"""Relative tolerance above which an answer says that it is undecided."""


@dataclass(frozen=True)
class Solution:
    """The largest (smallest) ``for_`` in the domain, conditions met, with ``bound <= target``; whatever its shape.

    ``value`` is the bound at ``at`` and never above the target. A farther point that meets it could lie at most
    ``tolerance`` beyond ``at``: 0, up to a few floats, unless the search ran out of boxes. ``unbounded``: the target
    does not limit ``for_``, which may go to the end of its domain; ``at`` is that end if it is infinite or belongs to
    the domain, else where the search towards it stopped; ``value`` was taken where the search stopped. ``binding`` says
    what stops ``for_``: empty for the target itself, else a condition or the domain. For a relation ``<~`` the answer
    is ``up_to_constant``: the bound's hidden constant was taken as 1. With sweeps in the values, ``at``, ``value``,
    ``unbounded``, ``tolerance`` and ``binding`` are arrays, NaN where nothing meets the target.
    """

    bound: Bound
    for_: Quantity
    target: float
    side: str
    at: Any
    value: Any
    unbounded: Any
    tolerance: Any
    binding: Any
    up_to_constant: bool

    def __str__(self) -> str:
        words = [f"{self.side} {self.for_.name} with {self.bound.target.name} <= {self.target:g}: {self.at}"]
        words.append(f"the bound there: {self.value}")
        if np.ndim(self.binding) == 0 and self.binding:
            words.append(f"limited by: {self.binding}")
        if self.up_to_constant:
            words.append("up to a constant: the bound hides one, taken as 1")
        return "\n".join(words)


def solve(bound: Bound, for_: Quantity | str, target: float, side: str, values: Mapping[str, Any]) -> Solution:
    """The largest (smallest) value of ``for_`` with the bound at most ``target``; ``NoSolutionError`` if there is none.

    The answer errs on the safe side: the bound's own code gives at most ``target`` there.
    """
    quantity = shared_quantity(bound, for_, values)
    if side not in SIDES:
        raise unknown("side", str(side), SIDES)
    level = _finite(target)
    land = Landscape(bound, quantity, values)
    edge = farthest(land, level, side, quantity.card.domain.whole)
    edge = edge._replace(at=_on_the_safe_side(land, edge.at, level, -1 if side == "largest" else 1))
    if np.isnan(edge.at).all():
        raise _nothing(land, level, undecided=bool((edge.slack > 0).any()))
    return _answer(land, edge, level, side)


def _answer(land: Landscape, edge: Edge, target: float, side: str) -> Solution:
    limits = land.limits
    end, is_open = (limits.high, limits.open_high) if side == "largest" else (limits.low, limits.open_low)
    value = land.exact(edge.at)
    unbounded = (edge.at == end) & ~_met_by_rounding(land, edge.at, is_open, target)
    domain = land.over.card.domain
    last = domain.high if side == "largest" else domain.low
    beyond = np.where(is_open & np.isinf(last), last, end)
    way = 1 if side == "largest" else -1
    stops = binding(land, edge.at, edge.at + way if domain.whole else nudged(edge.at, way))
    stops = [words if np.isfinite(x) else UNMET for x, words in zip(edge.at, stops, strict=True)]
    vague = edge.slack > np.where(np.isfinite(edge.at), VAGUE * np.abs(edge.at), 0.0)
    vague |= (edge.at == end) & ~unbounded
    stops = [UNDECIDED if v else words for v, words in zip(vague, stops, strict=True)]
    return Solution(
        bound=land.bound,
        for_=land.over,
        target=target,
        side=side,
        at=_plain(land, np.where(unbounded, beyond, edge.at)),
        value=land.shaped(value),
        unbounded=land.shaped(unbounded),
        tolerance=land.shaped(np.where(np.isnan(edge.at), np.nan, edge.slack)),
        binding=land.shaped(np.array(stops)),
        up_to_constant=land.bound.relation == "<~",
    )


def _met_by_rounding(land: Landscape, at: Array, is_open: Array, target: float) -> Array:
    """Where a search ends short of an open end, and there the last digits alone say whether the target is met."""
    found = np.flatnonzero(np.isfinite(at) & is_open)
    close = np.zeros(len(at), dtype=bool)
    if found.size:
        close[found] = land.enclose(found, at[found], at[found]).value.hi > target
    return close


def _on_the_safe_side(land: Landscape, at: Array, target: float, inward: int) -> Array:
    """Step back by a few floats where a call in the caller's shape rounds to just above the target.

    NumPy may run other code for one number than for many, with another last bit.
    """
    for tries in range(40):
        wrong = np.isfinite(at) & ~(land.exact(at) <= target)
        if not wrong.any():
            break
        step = 1.0 if land.over.card.domain.whole else np.spacing(np.abs(at)) * 2**tries
        at = np.where(wrong, at + inward * step, at)
    return np.where(wrong, np.nan, at)


def _plain(land: Landscape, at: Array) -> Any:
    shaped = land.shaped(at)
    return int(shaped) if land.over.card.domain.whole and not land.shape and np.isfinite(shaped) else shaped


def _finite(target: Any) -> float:
    try:
        if isinstance(target, (str, bool)):
            raise TypeError
        level = float(target)
    except (TypeError, ValueError, OverflowError):
        level = np.nan
    if not np.isfinite(level):
        raise BoundsError(f"target must be a finite number; got {target!r}")
    return level


def _nothing(land: Landscape, target: float, undecided: bool) -> NoSolutionError:
    """Says how near the bound comes to the target, or that rounding hides whether a point reaches it."""
    whole = land.over.card.domain.whole
    best = lowest(land, whole)
    i = int(np.argmin(best.top))
    name, over = land.bound.name, land.over.name
    if not np.isfinite(best.top[i]):
        return NoSolutionError(f"{name}: no {over} meets the conditions at these numbers: {'; '.join(land.unmet())}")
    limits = land.limits
    ends = [(limits.low[i], limits.open_low[i]), (limits.high[i], limits.open_high[i])]
    if undecided or any(is_open and best.at[i] == end for end, is_open in ends):
        searched = f"no point from {limits.low[i]:.6g} to {limits.high[i]:.6g} was found that does"
        return NoSolutionError(f"{name}: undecided whether any {over} brings it down to {target:.10g}: {searched}")
    value = float(land.value(np.array([i]), best.at[[i]])[0])
    return NoSolutionError(
        f"{name}: no {over} brings it down to {target:.10g}; the smallest value reached is {value:.10g}, "
        f"at {over} = {best.at[i]:.6g}"
    )
