"""Branch and bound over one quantity: where a bound is lowest, and how far out it still meets a target.

Boxes are split until ball arithmetic proves that what is left cannot change the answer; a box is dropped only with such
a proof, so no second valley and no far-out feasible part is missed. Where rounding leaves a value open even at a single
point, as next to a removable singularity, boxes are evaluated with more bits; where neither decides, answers say so.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from math import floor, inf, isfinite, isnan, nan
from typing import Any, NamedTuple

from flint import arb

from .balls import as_float, LEVELS, UP
from .objective import Box, centre, narrow, Objective

TOLERANCE = 1e-10
"""How near the certified lower bound comes to the smallest value, relatively."""
LAST_DIGITS = 2.0**-51
"""How much above its target a value may be, relatively, as a call may round it to the target all the same."""
MOST, PIECES = 4000, 500
"""Boxes that are examined, some tenths of a second; and how many of them a rather narrow one may become."""


class Valley(NamedTuple):
    """The best point found (NaN: none), the largest its value can be, and a lower bound of all values."""

    at: float
    top: Any
    floor: Any


class Edge(NamedTuple):
    """The farthest point that meets the target (NaN: none), how far out a farther one could be, and whether the last
    bits of rounding decided."""

    at: float
    slack: float
    by_rounding: bool = False


class _Lowest:
    """The search for the smallest value, over whole numbers only if ``whole``."""

    def __init__(self, objective: Objective, whole: bool) -> None:
        self.objective, self.whole = objective, whole
        self.at, self.top, self.floor = nan, UP, UP
        self.boxes: list[tuple[float, int, float, float, Box]] = []
        self.seen = 0

    def add(self, low: float, high: float, bits: int) -> None:
        """Keep a box, unless the bound does not apply on it; of one where it is monotone only the lower end counts."""
        if low > high:
            return
        self.seen += 1
        if low < high:
            box = self.objective.box(low, high, bits)
            if box.outside:
                return
            if not (way := box.way):
                heapq.heappush(self.boxes, (as_float(box.low.lower()), self.seen, low, high, box))
                return
            low = low if way > 0 else high
        self.look(low, bits, final=True)

    def look(self, x: float, bits: int, final: bool = False) -> Box:
        """Lower ``top`` to the value at a point where the bound applies; if nothing is left of a box, ``floor`` too."""
        at = self.objective.point(x, bits)
        if not at.outside:
            if at.high < self.top:
                self.at, self.top = x, at.high
            if final:
                self.floor = self.floor.min(at.low)
        return at

    def run(self) -> Valley:
        low, high = self.objective.ends()
        self.add(low, high, LEVELS[0])
        while self.boxes:
            _, _, low, high, box = heapq.heappop(self.boxes)
            if self.beaten(box.low) or self.seen > MOST:
                self.floor = self.floor.min(box.low)
                break
            middle = centre(low, high)
            if self.whole:
                middle = float(floor(middle))
            elif narrow(low, high, whole=False):
                self.look(low, box.bits, final=True)
                self.look(high, box.bits, final=True)
                continue
            at = self.look(middle, box.bits)
            if box.inside and (self.beaten(least := _by_slope(box, at, low, middle, high))):
                self.floor = self.floor.min(least)
                continue
            self.add(low, middle, at.bits)
            self.add(middle + 1 if self.whole else middle, high, at.bits)
        return Valley(self.at, self.top, self.floor.min(self.top))

    def beaten(self, low: Any) -> bool:
        return bool(low >= (self.top if self.whole else self.top - TOLERANCE * abs(self.top)))


def _by_slope(box: Box, at: Box, low: float, middle: float, high: float) -> Any:
    """A lower bound of the values on a box from the value in its middle and the slopes; -inf where they have no end."""
    return at.low + (box.least_slope * (high - middle)).min(box.largest_slope * (low - middle))


def lowest(objective: Objective, whole: bool) -> Valley:
    """The smallest value, certified where ``floor`` comes near ``top``."""
    return _Lowest(objective, whole).run()


def sharpened_place(objective: Objective, x: float) -> float:
    """Downhill from a point to where the slope changes its sign or the bound stops applying, to the last digit."""
    start = objective.point(x)
    if not (way := start.way):
        return x
    end = objective.ends()[0 if way > 0 else 1]

    def goes_on(y: float) -> bool:
        at = objective.point(y)
        return at.way == way and not at.low > start.high

    step = 1e-12
    while step < 1 and x != end:
        far = x - way * step * abs(x)
        far = max(far, end) if way > 0 else min(far, end)
        if not goes_on(far):
            there = _last(goes_on, x, far, whole=False)
            break
        x, step = far, step * 16
    else:
        there = end if goes_on(end) else _last(goes_on, x, end, whole=False)
    return there


def _last(holds: Callable[[float], bool], x: float, beyond: float, whole: bool) -> float:
    """The last point from ``x``, where something holds, towards a point where it does not."""
    while not narrow(low := min(x, beyond), high := max(x, beyond), whole):
        middle = max(floor(centre(low, high)), low + 1) if whole else centre(low, high)
        x, beyond = (middle, beyond) if holds(middle) else (x, middle)
    return x


def farthest(objective: Objective, target: float, side: str) -> Edge:
    """The largest (smallest) point at which the bound is at most ``target``, but for the last digits of a float."""
    reach = arb(target) + LAST_DIGITS * abs(target)
    whole, outward = objective.whole, 1 if side == "largest" else -1
    low, high = objective.ends()
    stack = [(low, high, LEVELS[0])] if low <= high else []
    undecided, seen = nan, 0

    def meets(x: float) -> bool:
        return _meets(objective, x, reach, target)[0]

    while stack:
        low, high, bits = stack.pop()
        near, far = (low, high) if outward > 0 else (high, low)
        met, sure = _meets(objective, far, reach, target)
        if met:
            return _edge(far, undecided, not sure)
        box = objective.box(low, high, bits)
        seen += 1
        if low == high or box.outside or box.low > reach:
            continue
        if box.way == -outward:  # even the far end is above the target
            continue
        if (box.way == outward or narrow(low, high, whole)) and meets(near):
            return _edge(_last(meets, near, far, whole), undecided)
        if box.way == outward or narrow(low, high, whole):
            continue
        middle = centre(low, high)
        middle = float(floor(middle)) if whole else middle
        at = objective.point(middle, bits)
        if seen > MOST or _is_hopeless(objective, box, at, low, high, reach):
            undecided = far if isnan(undecided) else undecided
            if seen > MOST:
                break
            continue
        first, second = (low, middle, at.bits), (middle + 1 if whole else middle, high, at.bits)
        stack += [first, second] if outward > 0 else [second, first]
    if isnan(undecided):
        return _edge(nan, nan)
    beyond = undecided  # the farthest point is unproven: the farthest one of a grid, then, and what follows it
    for x in objective.grid()[::-outward]:
        if meets(x):
            return _edge(_last(meets, x, beyond, whole) if x != beyond else x, undecided)
        beyond = x
    return _edge(nan, undecided)


def _edge(at: float, undecided: float, by_rounding: bool = False) -> Edge:
    slack = 0.0 if isnan(undecided) else abs(undecided - at) if isfinite(at) else inf
    return Edge(at, slack, by_rounding)


def _is_hopeless(objective: Objective, box: Box, at: Box, low: float, high: float, reach: Any) -> bool:
    """Whether splitting cannot decide a box: rounding leaves its middle open, or what cancels in a rather narrow
    one is so much more than how values change in it and what decides that too many pieces would be needed."""
    if at.low <= reach and at.high >= reach:
        return at.bits == LEVELS[-1]
    small, large = sorted((abs(low), abs(high)))
    if not box.inside or low * high <= 0 or not 1.2 * small <= large <= 2 * small:
        return False
    first, last = objective.point(low, at.bits), objective.point(high, at.bits)
    change = abs(first.low - at.low) + abs(last.low - at.low) + abs(at.low - reach)
    return not box.high - box.low <= PIECES * change


def _meets(objective: Objective, x: float, reach: Any, target: float) -> tuple[bool, bool]:
    """Whether the bound applies at a point and is at most ``reach`` there, and whether surely at most ``target``."""
    for bits in LEVELS:
        at = objective.box(x, x, bits)
        if at.outside or at.low > reach:
            return False, True
        if at.high <= reach:
            return True, bool(at.high <= target)
    return bool(at.low / 2 + at.high / 2 <= reach), False
