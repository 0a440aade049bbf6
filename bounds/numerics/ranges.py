"""A bound at uncertain constants: an interval that holds all its values while every constant runs over its own."""

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
from .evaluate import evaluator_of, Given
from .objective import centre
from .tape import Tape

MOST = 10
"""Uncertain constants at once."""
BOXES = 200
"""Boxes that are examined: some tenths of a second."""
TOLERANCE = 1e-9
"""Relative distance between a value that the bound has and an end of its interval, up to which the end is proven."""
BITS, MORE_BITS = 128, 1200
FAR, NEAR = (1 << 40, 1 << 41), (500, 1000)
"""Infinity is approached as powers of two with these exponents, zero as their inverses, other numbers up to 2^-NEAR."""
STEADY = 1e-6
"""Relative change between the last two such places below which a bound has arrived at its limit."""
LARGEST, TINY = 1.7e308, 1e-300

Ends = Mapping[str, tuple[Any, Any]]
"""The interval of every uncertain constant; two lists for one that varies over clients."""
Box = dict[str, list[tuple[float, float]]]
"""For every uncertain constant its ends, for each client; one that does not belong to the domain is the next float."""


class SilentError(BoundsError):
    """The conditions of a bound fail wherever its constants may lie."""


class Range(NamedTuple):
    """An interval that holds all values; ``proven``: the bound comes as near to both ends as one likes."""

    low: float
    high: float
    proven: bool


def bound_range(bound: Statement, uncertain: Ends, outside: bool = False, **values: Any) -> Range:
    """The interval of ``bound`` while every uncertain constant runs over its own; ``values`` are the others.

    Where the sign of a slope is known the constant is at an end of its interval, elsewhere boxes are split. An end that
    is infinite, or that the domain leaves out, counts with the limit of the bound there. Nonsense (mu > L) and points
    where the bound's conditions fail do not count (``outside``: the formula there does). Every entry of a list moves by
    itself.
    """
    known = {q.name for q in bound.quantities}
    ends = {name: pair for name, pair in uncertain.items() if name in known}
    if len(ends) > MOST:
        raise BoundsError(f"at most {MOST} uncertain constants at once; got {len(ends)}")
    for name, (low, high) in ends.items():
        if not np.all(np.asarray(low) <= np.asarray(high)):
            raise BoundsError(f"{name}: the ends of an interval must be in order; got {low} > {high}")
    typical = {name: _within(bound.quantity(name), *pair) for name, pair in ends.items()}
    box = _Uncertain(evaluator_of(bound).given({**values, **typical}), ends, outside)
    (low, least), (high, most) = box.lowest(1), box.lowest(-1)
    if low == inf or high == inf:
        raise SilentError(f"{bound.name} does not apply on the whole interval: its conditions fail everywhere")
    proven = _near(low, least), _near(high, most)
    return Range(least if proven[0] else low, -(most if proven[1] else high), all(proven))


def combinations(bound: Statement, uncertain: Ends, most: int) -> list[dict[str, Any]]:
    """Places in the intervals of the uncertain constants: their ends and, as long as these are few, their middles.

    A constant without an end is followed to a thousand times its known one.
    """
    names = [name for name in uncertain if name in {q.name for q in bound.quantities}]
    shares = (0.0, 0.5, 1.0) if 3 ** len(names) <= most else (0.0, 1.0)
    sides = []
    for name in names:
        domain = bound.quantity(name).card.domain
        low, high = (np.clip(np.asarray(end, float), domain.low, domain.high) for end in uncertain[name])
        high = np.where(np.isinf(high), 1e3 * np.maximum(low, 1e-3), high)
        low = np.where(np.isinf(low), high - 1e3 * np.maximum(abs(high), 1.0), low)
        inside = [low + share * (high - low) for share in shares]
        inside = [np.rint(x) if domain.whole else x for x in inside]
        sides.append([x for x in inside if np.all(domain.contains(x))])
    places = list(islice(product(*sides), most))
    return [dict(zip(names, (x[()] for x in place), strict=True)) for place in places]


def _near(end: float, reached: float) -> bool:
    return end == reached or reached - end <= TOLERANCE * max(abs(end), abs(reached))


def _within(q: Quantity, low: Any, high: Any) -> Any:
    """A value inside of the interval and the domain, for what is checked of every value."""
    domain = q.card.domain
    floor, top = (np.clip(np.asarray(end, dtype=float), domain.low, domain.high) for end in (low, high))
    first, last = np.where(np.isfinite(floor), floor, top - 1), np.where(np.isfinite(top), top, floor + 1)
    inside = np.where(first == last, first, last if q.card.at_most is None else first)
    inside = np.where(domain.contains(inside), inside, (first + last) / 2)
    return np.rint(inside) if domain.whole else inside


class _Uncertain:
    """A bound as a function of its uncertain constants."""

    def __init__(self, values: Given, ends: Ends, outside: bool) -> None:
        bound, (given,) = values.bound, values.points()
        self.cards = {q.name: q for q in bound._all if q.name in ends}
        relations = () if outside else bound.relations
        limited = [q for q in bound._all if q.card.at_most is not None and {q.name, q.card.at_most.name} <= set(given)]
        sense = [q <= q.card.at_most for q in limited if {q.name, q.card.at_most.name} & set(ends)]  # type: ignore
        tape = Tape((sp.Add(*bound.spelled_terms.values()), *relations, *sense))
        self.enclosure = Enclosure(tape, {name: xs for name, xs in given.items() if name not in ends}, values.width)
        used = set(self.enclosure.free.values())
        self.start: Box = {name: _cut(q, *ends[name]) for name, q in self.cards.items() if name in used}

    def lowest(self, sign: int) -> tuple[float, float]:
        """A lower bound of all values (of their negatives, for sign -1), and the smallest one that is reached."""
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
        """A lower bound of the values in a box, and the part of it where they are lowest, where slopes tell."""
        jet, sure, never = self.run(box)
        if never:
            return inf, box
        if sure and any(a != b for pairs in box.values() for a, b in pairs):
            ways = {name: _way(self.run(box, moving=name)[0], sign) for name in box}
            box = {name: [_end(pair, ways[name]) for pair in pairs] for name, pairs in box.items()}
            jet, _, _ = self.run(box)
        lower = jet.value[0].lower() if sign > 0 else -jet.value[1].upper()
        return (-inf if lower.is_nan() else as_float(lower)), box

    def run(self, box: Box, moving: str = "", place: int = 1, bits: int = BITS) -> tuple[Jet, bool, bool]:
        """Values and slopes in a box, whether the conditions surely hold in it, and whether one surely fails."""
        jets: dict[str, list[Jet]] = {}
        for name, pairs in box.items():
            # The entries of a list move by themselves, so that each has a slope of its own.
            seed = None if name != moving else (ONE, ONE) if len(pairs) == 1 else (ZERO, ONE)
            ends = [[_number(self.cards[name], end, place, bits) for end in pair] for pair in pairs]
            jets[name] = [Jet((low, high), seed) for low, high in ends]
        values, sure, never = self.enclosure.judged(jets, bits)
        return values[0], sure, never

    def value(self, point: Box, sign: int) -> float:
        """The value at a point, or where values lead on the way to one that does not belong to the domain; infinity
        where the bound does not apply."""
        far = [x for name, pairs in point.items() for x, _ in pairs if _approached(self.cards[name], x)]
        if not far:
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
        """Two halves of a box, none where nothing lies between its ends."""
        sides = [(_width(*pair), name, i) for name, pairs in box.items() for i, pair in enumerate(pairs)]
        width, name, i = max(sides)
        low, high = box[name][i]
        middle = self.middle(name, low, high)
        if not width or middle in (low, high):
            return []
        halves = [(low, middle), (middle, high)]
        return [{**box, name: [*box[name][:i], half, *box[name][i + 1 :]]} for half in halves]


def _cut(q: Quantity, low: Any, high: Any) -> list[tuple[float, float]]:
    """The ends within the domain, for each client."""
    domain = q.card.domain
    first = nextafter(domain.low, inf) if domain.open_low else domain.low
    last = nextafter(domain.high, -inf) if domain.open_high else domain.high
    pairs = np.broadcast_arrays(np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float)))
    return [(max(a, first), min(b, last)) for a, b in zip(*(ends.tolist() for ends in pairs), strict=True)]


def _approached(q: Quantity, x: float) -> tuple[float, int] | None:
    """The end that a number stands for which does not belong to the domain, and which way the domain lies from it."""
    domain = q.card.domain
    if isinf(x):
        return x, 0
    if domain.open_low and x == nextafter(domain.low, inf):
        return domain.low, 1
    if domain.open_high and x == nextafter(domain.high, -inf):
        return domain.high, -1
    return None


def _number(q: Quantity, x: float, place: int, bits: int) -> Any:
    """The ball of an end; of one that does not belong to the domain, the first or the second place on the way to it."""
    if (approached := _approached(q, x)) is None:
        return arb(x)
    end, way = approached
    if isinf(end):
        return arb((1 if end > 0 else -1, FAR[place]))
    with ctx.workprec(bits):
        return arb(end) + arb((way, -(NEAR if end else FAR)[place]))


def _end(pair: tuple[float, float], way: int) -> tuple[float, float]:
    """The lower end of what rises, the upper end of what falls, all of an interval where that is open."""
    low, high = pair
    return (low, low) if way > 0 else (high, high) if way < 0 else pair


def _way(jet: Jet, sign: int) -> int:
    """1 where values surely rise with a constant (or do not depend on it), -1 where they fall, else 0."""
    if jet.slope is None:
        return 1
    return sign if jet.slope[0] >= 0 else -sign if jet.slope[1] <= 0 else 0


def _at(found: tuple[Jet, bool, bool], sign: int) -> float:
    ((low, high), _), _, never = found
    value = as_float(low / 2 + high / 2)
    return inf if never or isnan(value) else sign * value


def _width(low: float, high: float) -> float:
    """How far apart ends are, in equal ratios where they have one sign."""
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low > 0 or high < 0:
        return abs(log(abs(high)) - log(abs(low)))
    return (high / 2 - low / 2) / max(abs(low), abs(high)) * 2 if high > low else 0.0
