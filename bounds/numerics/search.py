"""Branch and bound over one quantity: find where a bound is smallest, and how far out it still meets a target.

Boxes are split until ball arithmetic proves that the rest cannot change the answer. A box is dropped only with such a
proof, so that no second valley and no distant feasible part is missed. If rounding leaves a value undecided even at a
single point, as next to a removable singularity, the precision is increased. What remains undecided is reported.
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
"""The relative distance of the certified lower bound from the smallest value."""
LAST_DIGITS = 2.0**-51
"""The relative amount by which a value may exceed its target, since a call may round it to the target."""
MOST, PIECES = 4000, 500
"""The largest number of boxes, which take some tenths of a second, and of parts of one narrow box."""


class Valley(NamedTuple):
    """The best point found (NaN if none), an upper bound of its value, and a lower bound of all values."""

    at: float
    top: Any
    floor: Any


class Edge(NamedTuple):
    """The farthest point that meets the target (NaN if none).

    A farther one could lie at most ``slack`` beyond it; ``by_rounding`` is whether the last bits decided.
    """

    at: float
    slack: float
    by_rounding: bool = False


class _Lowest:
    """The search for the smallest value, over integers only if ``whole``."""

    def __init__(self, objective: Objective, whole: bool) -> None:
        self.objective, self.whole = objective, whole
        self.at, self.top, self.floor = nan, UP, UP
        self.boxes: list[tuple[float, int, float, float, Box]] = []
        self.seen = 0

    def add(self, low: float, high: float, bits: int) -> None:
        """Queue a box, unless the bound does not apply in it. If the bound is monotone, evaluate the lower end only."""
        if low > high:
            return
        self.seen += 1
        if low < high:
            box = self.objective.box(low, high, bits)
            if box.outside:
                return
            if not (direction := box.direction):
                heapq.heappush(self.boxes, (as_float(box.low.lower()), self.seen, low, high, box))
                return
            low = low if direction > 0 else high
        self.evaluate(low, bits, final=True)

    def evaluate(self, x: float, bits: int, final: bool = False) -> Box:
        """Lower ``top`` to the value at a point if the bound applies; ``final`` points lower ``floor`` as well."""
        at = self.objective.point(x, bits)
        if not at.outside:
            if at.high < self.top:
                self.at, self.top = x, at.high
            if final:
                self.floor = self.floor.min(at.low)
        return at

    def run(self) -> Valley:
        """Search until the best point is certified or the boxes run out."""
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
                self.evaluate(low, box.bits, final=True)
                self.evaluate(high, box.bits, final=True)
                continue
            at = self.evaluate(middle, box.bits)
            if box.inside and (self.beaten(least := _by_slope(box, at, low, middle, high))):
                self.floor = self.floor.min(least)
                continue
            self.add(low, middle, at.bits)
            self.add(middle + 1 if self.whole else middle, high, at.bits)
        return Valley(self.at, self.top, self.floor.min(self.top))

    def beaten(self, low: Any) -> bool:
        """Whether no value above ``low`` improves on the best point by more than the tolerance."""
        return bool(low >= (self.top if self.whole else self.top - TOLERANCE * abs(self.top)))


def _by_slope(box: Box, at: Box, low: float, middle: float, high: float) -> Any:
    """Return a lower bound of the values in a box from the value at its middle and the slopes."""
    return at.low + (box.least_slope * (high - middle)).min(box.largest_slope * (low - middle))


def lowest(objective: Objective, whole: bool) -> Valley:
    """Return the point with the smallest value; it is certified if ``floor`` is close to ``top``."""
    return _Lowest(objective, whole).run()


def refined_minimiser(objective: Objective, x: float) -> float:
    """Follow the slope downhill from ``x`` until it changes its sign or the bound stops applying, to the last digit."""
    start = objective.point(x)
    if not (direction := start.direction):
        return x
    end = objective.ends()[0 if direction > 0 else 1]

    def goes_on(y: float) -> bool:
        at = objective.point(y)
        return at.direction == direction and not at.low > start.high

    step = 1e-12
    while step < 1 and x != end:
        far = x - direction * step * abs(x)
        far = max(far, end) if direction > 0 else min(far, end)
        if not goes_on(far):
            return _last(goes_on, x, far, whole=False)
        x, step = far, step * 16
    return end if goes_on(end) else _last(goes_on, x, end, whole=False)


def _last(holds: Callable[[float], bool], x: float, beyond: float, whole: bool) -> float:
    """Return the last point from ``x``, where ``holds`` is True, towards ``beyond``, where it is False."""
    while not narrow(low := min(x, beyond), high := max(x, beyond), whole):
        middle = max(floor(centre(low, high)), low + 1) if whole else centre(low, high)
        x, beyond = (middle, beyond) if holds(middle) else (x, middle)
    return x


def farthest(objective: Objective, target: float, side: str) -> Edge:
    """Return the largest (smallest) point at which the bound is at most ``target``, up to the last digits."""
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
        if box.direction == -outward:  # even the far end, where it is smallest, is above the target
            continue
        if box.direction == outward or narrow(low, high, whole):
            if meets(near):
                return _edge(_last(meets, near, far, whole), undecided)
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
    beyond = undecided  # nothing is proved: take the farthest point of a grid that meets the target, and refine it
    for x in objective.grid()[::-outward]:
        if meets(x):
            return _edge(_last(meets, x, beyond, whole) if x != beyond else x, undecided)
        beyond = x
    return _edge(nan, undecided)


def _edge(at: float, undecided: float, by_rounding: bool = False) -> Edge:
    slack = 0.0 if isnan(undecided) else abs(undecided - at) if isfinite(at) else inf
    return Edge(at, slack, by_rounding)


def _is_hopeless(objective: Objective, box: Box, at: Box, low: float, high: float, reach: Any) -> bool:
    """Whether splitting a box would not decide it.

    Either rounding leaves its middle undecided at the highest precision, or cancellation makes its enclosure so much
    wider than the change of the values and their distance from the target that too many parts would be needed.
    """
    if at.low <= reach and at.high >= reach:
        return at.bits == LEVELS[-1]
    small, large = sorted((abs(low), abs(high)))
    if not box.inside or low * high <= 0 or not 1.2 * small <= large <= 2 * small:
        return False
    first, last = objective.point(low, at.bits), objective.point(high, at.bits)
    change = abs(first.low - at.low) + abs(last.low - at.low) + abs(at.low - reach)
    return not box.high - box.low <= PIECES * change


def _meets(objective: Objective, x: float, reach: Any, target: float) -> tuple[bool, bool]:
    """Whether the bound applies at a point and is at most ``reach``, and whether this does not depend on rounding."""
    for bits in LEVELS:
        at = objective.box(x, x, bits)
        if at.outside or at.low > reach:
            return False, True
        if at.high <= reach:
            return True, bool(at.high <= target)
    return bool(at.low / 2 + at.high / 2 <= reach), False
