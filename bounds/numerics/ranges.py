"""The range of a bound with uncertain constants: an interval that contains all values over the constants' intervals."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import islice, product
from math import inf, isinf, isnan, log, nextafter
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from flint import arb, ctx

from ..errors import BoundsError
from ..quantities import Quantity
from ..statement import Statement
from .balls import as_float, Enclosure, Jet, ONE, ZERO
from .evaluate import evaluator_of, Inputs
from .objective import centre
from .tape import Tape

MOST = 10
"""The largest number of uncertain constants."""
BOXES = 200
"""The largest number of boxes, which take some tenths of a second."""
TOLERANCE = 1e-9
"""The relative distance between an end of the range and a value of the bound up to which the end counts as attained."""
BITS, MORE_BITS = 128, 1200
FAR, NEAR = (1 << 40, 1 << 41), (500, 1000)
"""A limit is estimated at two points. Infinity is replaced by powers of two with the exponents ``FAR``, zero by their
inverses, and the distance from any other number is 2 to the power of minus ``NEAR``."""
STEADY = 1e-6
"""The relative change between these two points below which the bound has converged."""
LARGEST, TINY = 1.7e308, 1e-300

Ends = Mapping[str, tuple[Any, Any]]
"""The interval of every uncertain constant: two numbers, or two lists for a per-client constant."""
Box = dict[str, list[tuple[float, float]]]
"""The ends of every uncertain constant, for each client. An end outside an open domain is the next float inside."""


class NeverAppliesError(BoundsError):
    """The conditions of a bound fail for all values of its uncertain constants."""


class Range(NamedTuple):
    """An interval that contains all values; ``proven`` means that both ends are attained or approached."""

    low: float
    high: float
    proven: bool


def bound_range(bound: Statement, uncertain: Ends, outside: bool = False, **values: Any) -> Range:
    """Return the range of ``bound`` while every uncertain constant varies over its interval; ``values`` are the others.

    Entries of lists vary independently. For an infinite end, or one that is not in the domain, the limit of the bound
    counts. Invalid combinations (mu > L) are excluded, and so are points where conditions fail, unless ``outside``; if
    they fail everywhere, ``NeverAppliesError`` is raised. If the sign of a slope is certain, the extreme is at an end
    of the interval; otherwise boxes are split.
    """
    if len(uncertain) > MOST:
        raise BoundsError(f"at most {MOST} uncertain constants at once; got {len(uncertain)}")
    typical = {name: _within(bound.quantity(name), *pair) for name, pair in uncertain.items()}
    box = _Uncertain(evaluator_of(bound).inputs({**values, **typical}), uncertain, outside)
    (low, least), (high, most) = box.lowest(1), box.lowest(-1)
    if low == inf or high == inf:
        raise NeverAppliesError(f"{bound.name} does not apply on the whole interval: its conditions fail everywhere")
    proven = _near(low, least), _near(high, most)
    return Range(least if proven[0] else low, -(most if proven[1] else high), all(proven))


def combinations(bound: Statement, uncertain: Ends, most: int) -> list[dict[str, Any]]:
    """Return at most ``most`` points: the ends of all intervals and, if these are few, the middles as well.

    An infinite end is replaced by a thousand times the other end.
    """
    shares = (0.0, 0.5, 1.0) if 3 ** len(uncertain) <= most else (0.0, 1.0)
    sides = []
    for name, ends in uncertain.items():
        domain = bound.quantity(name).card.domain
        low, high = (np.clip(np.asarray(end, float), domain.low, domain.high) for end in ends)
        high = np.where(np.isinf(high), 1e3 * np.maximum(low, 1e-3), high)
        low = np.where(np.isinf(low), high - 1e3 * np.maximum(abs(high), 1.0), low)
        inside = [low + share * (high - low) for share in shares]
        inside = [np.rint(x) if domain.whole else x for x in inside]
        sides.append([x for x in inside if np.all(domain.contains(x))])
    points = islice(product(*sides), most)
    return [dict(zip(uncertain, (x[()] for x in point), strict=True)) for point in points]


def _near(end: float, reached: float) -> bool:
    return end == reached or reached - end <= TOLERANCE * max(abs(end), abs(reached))


def _within(q: Quantity, low: Any, high: Any) -> Any:
    """Return a value inside the interval and the domain, with which arguments can be checked."""
    domain = q.card.domain
    floor, top = (np.clip(np.asarray(end, dtype=float), domain.low, domain.high) for end in (low, high))
    first, last = np.where(np.isfinite(floor), floor, top - 1), np.where(np.isfinite(top), top, floor + 1)
    inside = np.where(first == last, first, last if q.card.at_most is None else first)
    inside = np.where(domain.contains(inside), inside, (first + last) / 2)
    return np.rint(inside) if domain.whole else inside


class _Uncertain:
    """A bound as a function of its uncertain constants."""

    def __init__(self, inputs: Inputs, ends: Ends, outside: bool) -> None:
        bound, (values,) = inputs.bound, inputs.points()
        self.cards = {q.name: q for q in bound.all_quantities if q.name in ends}
        relations = () if outside else bound.relations
        limits = [(q, q.card.at_most) for q in bound.all_quantities if q.card.at_most is not None]
        pairs = [(q, limit) for q, limit in limits if q.name in values and limit.name in values]
        valid = [q <= limit for q, limit in pairs if q.name in ends or limit.name in ends]
        tape = Tape((sp.Add(*bound.spelled_terms.values()), *relations, *valid))
        self.enclosure = Enclosure(tape, {name: xs for name, xs in values.items() if name not in ends}, inputs.width)
        used = self.enclosure.free
        self.start: Box = {name: _cut(q, *ends[name]) for name, q in self.cards.items() if name in used}

    def lowest(self, sign: int) -> tuple[float, float]:
        """Return a lower bound of all values and the smallest value found; of their negatives for sign -1."""
        floor = reached = inf
        boxes: list[tuple[float, int, Box]] = []
        new, seen = [self.start], 0
        while True:
            for box in new:
                lower, box = self.floor(box, sign)
                point = {n: [(x := self.middle(n, *pair), x) for pair in pairs] for n, pairs in box.items()}
                value = self.value(point, sign)
                reached = min(reached, value)
                seen += 1
                if point == box:
                    floor = min(floor, value)
                elif lower < inf:
                    heapq.heappush(boxes, (lower, seen, box))
            if not boxes:
                return floor, reached
            lower, _, box = heapq.heappop(boxes)
            new = self.split(box)
            if seen > BOXES or not new or lower >= reached - TOLERANCE * abs(reached):
                return min(floor, lower), reached

    def floor(self, box: Box, sign: int) -> tuple[float, Box]:
        """Return a lower bound of the values in a box, and the part of it where the slopes place the minimum."""
        jet, sure, never = self.run(box)
        if never:
            return inf, box
        if sure and any(a != b for pairs in box.values() for a, b in pairs):
            directions = {name: _direction(self.run(box, moving=name)[0], sign) for name in box}
            box = {name: [_end(pair, directions[name]) for pair in pairs] for name, pairs in box.items()}
            jet, _, _ = self.run(box)
        lower = jet.value[0].lower() if sign > 0 else -jet.value[1].upper()
        return (-inf if lower.is_nan() else as_float(lower)), box

    def run(self, box: Box, moving: str = "", place: int = 1, bits: int = BITS) -> tuple[Jet, bool, bool]:
        """Return values and slopes in a box, whether the conditions certainly hold in it, and whether one fails."""
        jets: dict[str, list[Jet]] = {}
        for name, pairs in box.items():
            # The entries of a list vary independently: the slope is that of any one of them.
            seed = None if name != moving else (ONE, ONE) if len(pairs) == 1 else (ZERO, ONE)
            ends = [[_number(self.cards[name], end, place, bits) for end in pair] for pair in pairs]
            jets[name] = [Jet((low, high), seed) for low, high in ends]
        values, sure, never = self.enclosure.enclose(jets, bits)
        return values[0], sure, never

    def value(self, point: Box, sign: int) -> float:
        """Return the value at a point, or the limit if it is not in the domain; infinite if a condition fails."""
        if not any(_limit_point(self.cards[name], x) for name, pairs in point.items() for x, _ in pairs):
            return _at(self.run(point), sign)
        before, last = (_at(self.run(point, place=place, bits=MORE_BITS), sign) for place in (0, 1))
        if abs(last) < TINY:
            return 0.0
        if before == last or isinf(last) or abs(last - before) <= STEADY * abs(last):
            return last
        return (inf if last > 0 else -inf) if abs(last) > abs(before) else 0.0

    def middle(self, name: str, low: float, high: float) -> float:
        if low == high:
            return low
        middle = centre(max(low, -LARGEST), min(high, LARGEST))
        return float(np.floor(middle)) if self.cards[name].card.domain.whole else middle

    def split(self, box: Box) -> list[Box]:
        """Return two halves of a box along its widest side, or nothing if no float lies between its ends."""
        sides = [(_width(*pair), name, i) for name, pairs in box.items() for i, pair in enumerate(pairs)]
        width, name, i = max(sides)
        low, high = box[name][i]
        middle = self.middle(name, low, high)
        if not width or middle in (low, high):
            return []
        halves = [(low, middle), (middle, high)]
        return [{**box, name: [*box[name][:i], half, *box[name][i + 1 :]]} for half in halves]


def _cut(q: Quantity, low: Any, high: Any) -> list[tuple[float, float]]:
    """Return the ends cut to the domain, for each client."""
    domain = q.card.domain
    first = nextafter(domain.low, inf) if domain.open_low else domain.low
    last = nextafter(domain.high, -inf) if domain.open_high else domain.high
    pairs = np.broadcast_arrays(np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float)))
    return [(max(a, first), min(b, last)) for a, b in zip(*(ends.tolist() for ends in pairs), strict=True)]


def _limit_point(q: Quantity, x: float) -> tuple[float, int] | None:
    """Return the end outside the domain that ``x`` stands for, if any, and the direction from it into the domain."""
    domain = q.card.domain
    if isinf(x):
        return x, 0
    if domain.open_low and x == nextafter(domain.low, inf):
        return domain.low, 1
    if domain.open_high and x == nextafter(domain.high, -inf):
        return domain.high, -1
    return None


def _number(q: Quantity, x: float, place: int, bits: int) -> Any:
    """Return an end as a ball; for an end outside the domain, the first or second point that approaches it."""
    if (limit := _limit_point(q, x)) is None:
        return arb(x)
    end, direction = limit
    if isinf(end):
        return arb((1 if end > 0 else -1, FAR[place]))
    with ctx.workprec(bits):
        return arb(end) + arb((direction, -(NEAR if end else FAR)[place]))


def _end(pair: tuple[float, float], direction: int) -> tuple[float, float]:
    """Return the end at which the minimum lies: the lower one if values increase, else the upper; both if unknown."""
    low, high = pair
    return (low, low) if direction > 0 else (high, high) if direction < 0 else pair


def _direction(jet: Jet, sign: int) -> int:
    """Return 1 if values certainly increase with a constant or do not depend on it, -1 if they decrease, else 0."""
    if jet.slope is None:
        return 1
    return sign if jet.slope[0] >= 0 else -sign if jet.slope[1] <= 0 else 0


def _at(result: tuple[Jet, bool, bool], sign: int) -> float:
    """Return the value at a point, infinite if a condition fails there."""
    ((low, high), _), _, never = result
    value = as_float(low / 2 + high / 2)
    return inf if never or isnan(value) else sign * value


def _width(low: float, high: float) -> float:
    """Return the distance of the ends, on a logarithmic scale if they have the same sign."""
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low > 0 or high < 0:
        return abs(log(abs(high)) - log(abs(low)))
    return (high / 2 - low / 2) / max(abs(low), abs(high)) * 2 if high > low else 0.0
