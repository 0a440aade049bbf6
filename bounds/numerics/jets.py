"""Formulas and their slopes over whole boxes of numbers, in Arb's ball arithmetic: results hold all that is possible.

A *jet* is ``(low, high, least slope, largest slope)``: four balls, the last two ``None`` where the quantity whose slope
is asked for does not occur. Nothing overflows, and with more bits a jet at a point is as sharp as one likes, also next
to a removable singularity. A comparison is a pair: whether it surely holds, and whether it surely fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
from flint import arb, ctx

from .balls import Balls, each
from .floats import MARGIN
from .tape import Step, Tape

Jet = tuple[Any, Any, Any, Any]
Truth = tuple[bool, bool]
ZERO, ONE = arb(0), arb(1)
UP, DOWN = arb.pos_inf(), arb.neg_inf()
EVERYTHING: Jet = (DOWN, UP, DOWN, UP)
SMALL = 2.0**-20
"""Below this the slope of log(1+x)/x is taken from its series."""


def constant(low: Any, high: Any = None) -> Jet:
    return low, low if high is None else high, None, None


# ---- pairs of balls, the ends of an interval ----


def _times(x: Any, y: Any) -> Any:
    """The product of two ends; zero times what has no end is zero."""
    product = x * y
    return ZERO if product.is_nan() and (x.is_zero() or y.is_zero()) else product


def product(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """``[a, b] [c, d]``."""
    if a >= 0 and c >= 0:
        return _times(a, c), _times(b, d)
    return _hull(_times(a, c), _times(a, d), _times(b, c), _times(b, d))


def _hull(first: Any, *others: Any) -> tuple[Any, Any]:
    low = high = first
    for other in others:
        low, high = low.min(other), high.max(other)
    return low, high


def _added(a: Jet, low: Any, high: Any) -> tuple[Any, Any]:
    return (low, high) if a[2] is None else (a[2] + low, a[3] + high)


class Jets:
    """Operations on lists of jets, one for each entry of the axis of reductions or one for all.

    ``partial``: somewhere in the box an expression may be no real number; ``empty``: one surely is none everywhere.
    """

    def __init__(self, width: int, partial: bool = False, empty: bool = False) -> None:
        self.width, self.balls = width, Balls(width)
        self.partial, self.empty = partial, empty

    def need(self, possible: bool, certain: bool) -> None:
        self.partial |= not certain
        self.empty |= not possible

    def number(self, value: sp.Expr, near: float) -> list[Jet]:
        return [constant(self.balls.number(value, near)[0])]

    def truth(self, value: bool) -> list[Truth]:
        return [(value, not value)]

    # ---- arithmetic ----

    def add(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._sum, a, b)

    def subtract(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(lambda x, y: self._sum(x, self._negative(y)), a, b)

    @staticmethod
    def _sum(a: Jet, b: Jet) -> Jet:
        if b[2] is None:
            return a[0] + b[0], a[1] + b[1], a[2], a[3]
        return a[0] + b[0], a[1] + b[1], *_added(a, b[2], b[3])

    @staticmethod
    def _negative(a: Jet) -> Jet:
        return (-a[1], -a[0], None, None) if a[2] is None else (-a[1], -a[0], -a[3], -a[2])

    def multiply(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._product, a, b)

    @staticmethod
    def _product(a: Jet, b: Jet) -> Jet:
        value = product(a[0], a[1], b[0], b[1])
        if a[2] is None:
            return (*value, None, None) if b[2] is None else (*value, *product(a[0], a[1], b[2], b[3]))
        left = product(a[2], a[3], b[0], b[1])
        if b[2] is None:
            return *value, *left
        right = product(a[0], a[1], b[2], b[3])
        return *value, left[0] + right[0], left[1] + right[1]

    def divide(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(lambda x, y: self._product(x, self._inverse(y)), a, b)

    def _inverse(self, a: Jet) -> Jet:
        low, high = a[0], a[1]
        self.need(not (low.is_zero() and high.is_zero()), bool(low > 0 or high < 0))
        if low > 0 or high < 0:
            value = 1 / high, 1 / low
        elif low >= 0 and not high.is_zero():
            value = 1 / high if high > 0 else ZERO, UP
        elif high <= 0 and not low.is_zero():
            value = DOWN, 1 / low if low < 0 else ZERO
        else:
            value = DOWN, UP
        if a[2] is None:
            return *value, None, None
        least, most = product(*value, *value) if low >= 0 or high <= 0 else (ZERO, UP)
        return *value, *product(least, most, -a[3], -a[2])

    def whole_power(self, base: list[Jet], exponent: int) -> list[Jet]:
        return each(lambda a: self._whole_power(a, exponent), base)

    def _whole_power(self, a: Jet, n: int) -> Jet:
        value = self._raised_whole(a[0], a[1], n)
        if a[2] is None:
            return *value, None, None
        low, high = self._raised_whole(a[0], a[1], n - 1)
        return *value, *product(a[2], a[3], n * low, n * high)

    @staticmethod
    def _raised_whole(low: Any, high: Any, n: int) -> tuple[Any, Any]:
        if n % 2 or low >= 0:
            return low**n, high**n
        ends = _hull(low**n, high**n)
        return ends if high <= 0 else (ZERO, ends[1])

    def square_root(self, x: list[Jet]) -> list[Jet]:
        return each(self._square_root, x)

    def _square_root(self, a: Jet) -> Jet:
        low, high = self._kept(a[0], a[1], open_=False)
        value = low.sqrt(), high.sqrt()
        return self._chained(a, value, (1 / (2 * value[1]) if high > 0 else UP, 1 / (2 * value[0]) if low > 0 else UP))

    def _kept(self, low: Any, high: Any, open_: bool) -> tuple[Any, Any]:
        """The part of an interval that is not negative (positive, if ``open_``)."""
        self.need(not high < 0, bool(low > 0 if open_ else low >= 0))
        return low if low >= 0 else ZERO, high if high >= 0 else ZERO.max(high)

    @staticmethod
    def _chained(a: Jet, value: tuple[Any, Any], steep: tuple[Any, Any]) -> Jet:
        """What a function makes of a jet: its values, and its own slopes times those of its argument."""
        return (*value, None, None) if a[2] is None else (*value, *product(a[2], a[3], *steep))

    def power(self, base: list[Jet], exponent: list[Jet]) -> list[Jet]:
        return each(self._power, base, exponent)

    def _power(self, a: Jet, n: Jet) -> Jet:
        low, high = self._kept(a[0], a[1], open_=not n[0] >= 0)
        value = self._corners(low, high, n[0], n[1])
        result: Jet = (*value, None, None)
        if a[2] is not None:
            steep = product(n[0], n[1], *self._corners(low, high, n[0] - 1, n[1] - 1))
            result = (*value, *product(a[2], a[3], *steep))
        if n[2] is not None:
            growing = product(*value, self._log(low), self._log(high))
            result = (*value, *_added(result, *product(n[2], n[3], *growing)))
        return result

    def _corners(self, low: Any, high: Any, least: Any, most: Any) -> tuple[Any, Any]:
        """``[low, high]^[least, most]`` of a base that is not negative."""
        return self._exp(*product(least, most, self._log(low), self._log(high)))

    def _exp(self, low: Any, high: Any) -> tuple[Any, Any]:
        low, high = (found if (found := end.exp()).is_finite() else self.balls.exp(end) for end in (low, high))
        return low if low > 0 else ZERO, UP if high.is_nan() else high

    @staticmethod
    def _log(x: Any) -> Any:
        return DOWN if x.is_zero() else x.log()

    def growth(self, x: list[Jet], exponent: list[Jet]) -> list[Jet]:
        return each(self._grown, x, exponent)

    def _grown(self, x: Jet, n: Jet) -> Jet:
        """``(1+x)^n``."""
        if x[0] > -1:
            log = self._chained(x, (x[0].log1p(), x[1].log1p()), (1 / (1 + x[1]), 1 / (1 + x[0])))
            return self._exponential(self._product(n, log))
        shifted = self._sum(x, constant(ONE))
        if n[0] is n[1] and n[0].is_integer() and n[0] >= 0:
            return self._whole_power(shifted, int(n[0].mid().unique_fmpz()))
        return self._power(shifted, n)

    def exponential(self, x: list[Jet]) -> list[Jet]:
        return each(self._exponential, x)

    def _exponential(self, a: Jet) -> Jet:
        value = self._exp(a[0], a[1])
        return self._chained(a, value, value)

    def logarithm(self, x: list[Jet]) -> list[Jet]:
        return each(self._logarithm, x)

    def _logarithm(self, a: Jet) -> Jet:
        low, high = self._kept(a[0], a[1], open_=True)
        value = self._log(low), self._log(high)
        return self._chained(a, value, (1 / high if high > 0 else ZERO, 1 / low if low > 0 else UP))

    def log_ratio(self, x: list[Jet]) -> list[Jet]:
        return each(self._log_ratio, x)

    def _log_ratio(self, a: Jet) -> Jet:
        """It falls all the way, and its slope, which is negative, rises."""
        self.need(bool(a[1] > -1), bool(a[0] > -1))
        if not a[0] > -1:
            return EVERYTHING
        low, high = (ONE if x.is_zero() else x.log1p() / x for x in (a[1], a[0]))
        return self._chained(a, (low, high), (_ratio_slope(a[0]), _ratio_slope(a[1])))

    # ---- kinks and jumps ----

    def absolute(self, x: list[Jet]) -> list[Jet]:
        return each(lambda a: self._maximum(a, self._negative(a)), x)

    def maximum(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._maximum, a, b)

    def minimum(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(lambda x, y: self._negative(self._maximum(self._negative(x), self._negative(y))), a, b)

    @staticmethod
    def _maximum(a: Jet, b: Jet) -> Jet:
        if a[0] > b[1]:
            return a
        if b[0] > a[1]:
            return b
        value = a[0].max(b[0]), a[1].max(b[1])
        if a[2] is None and b[2] is None:
            return *value, None, None
        (p, q), (r, s) = ((ZERO, ZERO) if j[2] is None else j[2:] for j in (a, b))
        return *value, p.min(r), q.max(s)

    def total(self, x: list[Jet]) -> list[Jet]:
        if len(x) == 1:
            return [self._product(x[0], constant(arb(self.width)))] if self.width > 1 else x
        whole = x[0]
        for other in x[1:]:
            whole = self._sum(whole, other)
        return [whole]

    def largest(self, x: list[Jet]) -> list[Jet]:
        whole = x[0]
        for other in x[1:]:
            whole = self._maximum(whole, other)
        return [whole]

    def ceiling(self, x: list[Jet]) -> list[Jet]:
        return each(lambda a: self._step(a, lambda end: (end - MARGIN * abs(end)).ceil()), x)

    def floor(self, x: list[Jet]) -> list[Jet]:
        return each(lambda a: self._step(a, lambda end: (end + MARGIN * abs(end)).floor()), x)

    @staticmethod
    def _step(a: Jet, function: Callable[[Any], Any]) -> Jet:
        low, high = function(a[0].lower()), function(a[1].upper())
        if a[2] is None:
            return low, high, None, None
        return (low, high, ZERO, ZERO) if low == high else (low, high, DOWN, UP)

    def compare(self, a: list[Jet], b: list[Jet], relation: str, given: bool) -> list[Truth]:
        return each(lambda x, y: _compared(x, y, relation, 0.0 if given else MARGIN), a, b)

    @staticmethod
    def negated(a: list[Truth]) -> list[Truth]:
        return [(never, sure) for sure, never in a]

    @staticmethod
    def both(a: list[Truth], b: list[Truth]) -> list[Truth]:
        return each(lambda x, y: (x[0] and y[0], x[1] or y[1]), a, b)

    @staticmethod
    def either(a: list[Truth], b: list[Truth]) -> list[Truth]:
        return each(lambda x, y: (x[0] or y[0], x[1] and y[1]), a, b)

    def pieces(self, *parts: list[Any]) -> list[Jet]:
        count = len(parts) // 2
        return each(lambda *entries: self._pieces(entries[:count], entries[count:]), *parts)

    def _pieces(self, conditions: Sequence[Truth], values: Sequence[Jet]) -> Jet:
        """All that the first condition which may hold allows, and those after it while none surely does."""
        able = []
        for (sure, never), value in zip(conditions, values, strict=True):
            if not never:
                able.append(value)
            if sure:
                break
        self.need(bool(able), bool(able) and sure)
        if len(able) == 1 and sure:
            return able[0]
        if not able:
            return EVERYTHING
        low, high = _hull(*(v[0] for v in able))[0], _hull(*(v[1] for v in able))[1]
        return low, high, DOWN, UP


def _compared(a: Jet, b: Jet, relation: str, margin: float) -> Truth:
    if relation in (">=", ">"):
        a, b, relation = b, a, {">=": "<=", ">": "<"}[relation]
    if relation == "<=":
        return bool(a[1] <= b[0]), bool(a[0] > b[1])
    if relation == "<":  # by more than rounding, as a call decides it
        return bool(a[1] < b[0] - margin * abs(b[0])), bool(a[0] >= b[1] - margin * abs(b[1]))
    room = margin * abs(b[1])
    same, apart = a[0] == a[1] == b[0] == b[1], bool(a[1] + room < b[0] or a[0] > b[1] + room)
    return (apart, same) if relation == "!=" else (same, apart)


def _ratio_slope(x: Any) -> Any:
    """The slope of log(1+x)/x, which is -1/2 + 2x/3 - 3x^2/4 + ... near zero."""
    if abs(x) < SMALL:
        return -ONE / 2 + 2 * x / 3 + arb(0, (x * x).upper())
    return (1 / (1 + x) - x.log1p() / x) / x


class Enclosure:
    """A tape with numbers put in for all quantities but the free ones.

    ``given`` has a list of floats by quantity, over an axis of ``width`` entries or one for all.
    """

    def __init__(self, tape: Tape, given: Mapping[str, Sequence[float]], width: int) -> None:
        self.tape, self.given, self.width = tape, given, width
        self.free = {slot: q.name for slot, q in tape.leaves.items() if q.name not in given}
        self.folded: dict[int, tuple[list[Any], list[Step], bool, bool]] = {}

    def _fold(self) -> tuple[list[Any], list[Step], bool, bool]:
        """What no free quantity changes, worked out once, and the steps that are left."""
        held: list[Any] = [None] * self.tape.size
        jets, left, open_ = Jets(self.width), [], set(self.free)
        for slot, q in self.tape.leaves.items():
            if slot not in open_:
                held[slot] = [constant(arb(x)) for x in self.given[q.name]]
        for step in self.tape.steps:
            if open_.isdisjoint(step.arguments):
                held[step.slot] = getattr(jets, step.operation)(*[held[i] for i in step.arguments], *step.extra)
            else:
                open_.add(step.slot)
                left.append(step)
        return held, left, jets.partial, jets.empty

    def run(self, boxes: Mapping[str, list[Jet]], bits: int) -> tuple[list[Any], Jets]:
        """The outputs where the free quantities are in ``boxes``; and whether they are real numbers there."""
        with ctx.workprec(bits):
            if bits not in self.folded:
                self.folded[bits] = self._fold()
            known, left, partial, empty = self.folded[bits]
            held, jets = known.copy(), Jets(self.width, partial, empty)
            for slot, name in self.free.items():
                held[slot] = boxes[name]
            for slot, operation, arguments, extra in left:
                held[slot] = getattr(jets, operation)(*[held[i] for i in arguments], *extra)
            return [held[slot] for slot in self.tape.outputs], jets
