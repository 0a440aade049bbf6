"""Formulas in Arb's ball arithmetic (python-flint), at a point or over whole boxes: as many digits as it takes, and
numbers of any size.

A *jet* is ``(low, high, least slope, largest slope)``: the ends of an interval that holds all that is possible, and of
one that holds all slopes in the quantity that moves (``None`` where that does not occur). At a point both ends are one
ball, and with more bits it is as sharp as one likes, also next to a removable singularity.

Three questions are asked. *Values* at a point: given numbers are the floats that they are, and the precision grows
until the result is known to the last digit of a float. *Jumps* at a point (comparisons, ceilings): a given number that
is not a count stands for all numbers that round to it, since 0.1 is not exactly a float and a step size of 1/(4 L)
seldom is. A condition ``<=`` then holds unless it fails for all of these numbers, ``<`` only if it holds for all of
them, and a ceiling is the smallest that any of them has. So 0.1 * 3 <= 0.3 holds and 0.1 * 3 < 0.3 does not. *Boxes* of
one or more quantities: a comparison is a pair, whether it surely holds and whether it surely fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq

from .floats import COMPARISONS, MARGIN
from .tape import Step, Tape

LEVELS = (64, 128, 512, 2048, 10_000)
"""Bits for values, one after the other; what is zero up to rounding with the most is zero."""
WITH_ERRORS = (200, 2000)
"""Bits for jumps: beyond them only the errors of the given numbers are left."""
HALF_UNIT = 2.0**-53
"""How far a number may be from the float that it rounds to, relatively."""
FAR = 2**9000
"""The exponential of a larger number is taken as infinite (or zero): nothing brings it back into range."""
Jet = tuple[Any, Any, Any, Any]
Truth = tuple[bool, bool]
ZERO, ONE = arb(0), arb(1)
UP, DOWN, NAN = arb.pos_inf(), arb.neg_inf(), arb.nan()
EVERYTHING: Jet = (DOWN, UP, DOWN, UP)
NOTHING: Jet = (NAN, NAN, NAN, NAN)
SMALL = 2.0**-20
"""Below this the slope of log(1+x)/x is taken from its series."""


def constant(x: Any) -> Jet:
    return x, x, None, None


# ---- pairs of balls, the ends of an interval ----


def _times(x: Any, y: Any) -> Any:
    """The product of two ends; zero times what has no end is zero."""
    product = x * y
    return ZERO if product.is_nan() and (x.is_zero() or y.is_zero()) else product


def product(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """``[a, b] [c, d]``."""
    if a is b and c is d:
        at = _times(a, c)
        return at, at
    if a >= 0 and c >= 0:
        return _times(a, c), _times(b, d)
    return _hull(_times(a, c), _times(a, d), _times(b, c), _times(b, d))


def _hull(first: Any, *others: Any) -> tuple[Any, Any]:
    low = high = first
    for other in others:
        low, high = low.min(other), high.max(other)
    return low, high


def _both(function: Callable[[Any], Any], low: Any, high: Any) -> tuple[Any, Any]:
    """A function at both ends, once where they are one."""
    first = function(low)
    return first, first if low is high else function(high)


def each(function: Callable[..., Any], *lists: list[Any]) -> list[Any]:
    """A function of the entries of lists, of which some have one for all."""
    length = max(map(len, lists))
    return [function(*(x[i if len(x) > 1 else 0] for x in lists)) for i in range(length)]


def given(x: Any, errors: bool = True) -> Jet:
    """A given number, or all that round to it."""
    x = arb(x)
    return constant(x + arb(0, abs(x).upper() * HALF_UNIT) if errors else x)


def _added(a: Jet, low: Any, high: Any) -> tuple[Any, Any]:
    return (low, high) if a[2] is None else (a[2] + low, a[3] + high)


class Jets:
    """Operations on lists of jets, one for each entry of the axis of reductions or one for all.

    ``partial``: somewhere in the box an expression may be no real number; ``empty``: one surely is none everywhere.
    ``deciding``: comparisons and ceilings are decided as at a point; with ``errors`` given numbers stand for all that
    round to them, and ``lost`` says whether one was not known to a factor of e.
    """

    def __init__(self, width: int, *, deciding: bool = False, errors: bool = False) -> None:
        self.width, self.deciding, self.errors = width, deciding, errors
        self.partial = self.empty = self.lost = False

    def need(self, possible: bool, certain: bool) -> None:
        self.partial |= not certain
        self.empty |= not possible

    def number(self, value: sp.Expr, near: float) -> list[Jet]:
        if value.is_Float:
            return [given(near, self.errors)]
        if value.is_Rational:
            return [constant(arb(fmpq(int(value.p), int(value.q))))]
        return [constant(arb.pi() if value == sp.pi else arb(1).exp())]

    def truth(self, value: bool) -> list[Truth]:
        return [(value, not value)]

    # ---- arithmetic ----

    def add(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._sum, a, b)

    def subtract(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(lambda x, y: self._sum(x, self._negative(y)), a, b)

    @staticmethod
    def _sum(a: Jet, b: Jet) -> Jet:
        low = a[0] + b[0]
        high = low if a[0] is a[1] and b[0] is b[1] else a[1] + b[1]
        return (low, high, a[2], a[3]) if b[2] is None else (low, high, *_added(a, b[2], b[3]))

    @staticmethod
    def _negative(a: Jet) -> Jet:
        high, low = _both(lambda x: -x, a[0], a[1])
        return (low, high, None, None) if a[2] is None else (low, high, -a[3], -a[2])

    def multiply(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._product, a, b)

    @staticmethod
    def _product(a: Jet, b: Jet) -> Jet:
        value = product(a[0], a[1], b[0], b[1])
        if value[0].is_zero() and a[0] is a[1] and b[0] is b[1]:  # at a point zero times infinity is no number
            value = (a[0] * b[0],) * 2
        if a[2] is None:
            return (*value, None, None) if b[2] is None else (*value, *product(a[0], a[1], b[2], b[3]))
        left = product(a[2], a[3], b[0], b[1])
        if b[2] is None:
            return *value, *left
        right = product(a[0], a[1], b[2], b[3])
        return *value, left[0] + right[0], left[1] + right[1]

    def divide(self, a: list[Jet], b: list[Jet]) -> list[Jet]:
        return each(self._over, a, b)

    def _over(self, a: Jet, b: Jet) -> Jet:
        if not (b[0].is_zero() and b[1].is_zero()):
            return self._product(a, self._inverse(b))
        self.need(False, False)
        return (UP, UP, *EVERYTHING[2:]) if a[0] > 0 else (DOWN, DOWN, *EVERYTHING[2:]) if a[1] < 0 else NOTHING

    def _inverse(self, a: Jet) -> Jet:
        low, high = a[0], a[1]
        self.need(True, bool(low > 0 or high < 0))
        value: tuple[Any, Any]
        if low > 0 or high < 0 or low is high:
            value = _both(lambda x: 1 / x, high, low)
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
            return _both(lambda x: x**n, low, high)
        ends = _hull(low**n, high**n)
        return ends if high <= 0 else (ZERO, ends[1])

    def square_root(self, x: list[Jet]) -> list[Jet]:
        return each(self._square_root, x)

    def _square_root(self, a: Jet) -> Jet:
        low, high = self._kept(a[0], a[1], open_=False)
        value = _both(lambda x: x.sqrt(), low, high)
        return self._chained(a, value, (1 / (2 * value[1]) if high > 0 else UP, 1 / (2 * value[0]) if low > 0 else UP))

    def _kept(self, low: Any, high: Any, open_: bool) -> tuple[Any, Any]:
        """The part of an interval that is not negative (positive, if ``open_``); none of a negative one."""
        self.need(not high < 0, bool(low > 0 if open_ else low >= 0))
        return (NAN, NAN) if high < 0 else (low if low >= 0 else ZERO, high if high >= 0 else high.upper())

    @staticmethod
    def _chained(a: Jet, value: tuple[Any, Any], steep: tuple[Any, Any]) -> Jet:
        """What a function makes of a jet: its values, and its own slopes times those of its argument."""
        return (*value, None, None) if a[2] is None else (*value, *product(a[2], a[3], *steep))

    def power(self, base: list[Jet], exponent: list[Jet]) -> list[Jet]:
        return each(self._power, base, exponent)

    def _power(self, a: Jet, n: Jet) -> Jet:
        if a[1] < 0 and n[0] is n[1] and n[0].is_integer():
            return self._raised_negative(a, n)
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

    def _raised_negative(self, a: Jet, n: Jet) -> Jet:
        """A negative number to the power of a count: of one that moves the slope is not known."""
        exponent = int(n[0].unique_fmpz())
        result = self._whole_power(a, exponent) if exponent >= 0 else self._inverse(self._whole_power(a, -exponent))
        return result if n[2] is None else (*result[:2], DOWN, UP)

    def _corners(self, low: Any, high: Any, least: Any, most: Any) -> tuple[Any, Any]:
        """``[low, high]^[least, most]`` of a base that is not negative."""
        if least is most and least.is_zero():
            return ONE, ONE
        return self._exp(*product(least, most, *_both(self._log, low, high)))

    def _exp(self, low: Any, high: Any) -> tuple[Any, Any]:
        self.lost |= self.errors and bool(high - low > 2 or low.rad() > 1)
        if low is high:
            return _both(_far_exp, low, high)
        low, high = _far_exp(low), _far_exp(high)
        return low if low > 0 else ZERO, UP if high.is_nan() else high

    @staticmethod
    def _log(x: Any) -> Any:
        return DOWN if x.is_zero() else x.log()

    def growth(self, x: list[Jet], exponent: list[Jet]) -> list[Jet]:
        return each(self._grown, x, exponent)

    def _grown(self, x: Jet, n: Jet) -> Jet:
        """``(1+x)^n``."""
        if x[0] > -1:
            log = self._chained(x, _both(lambda y: y.log1p(), x[0], x[1]), (1 / (1 + x[1]), 1 / (1 + x[0])))
            return self._exponential(self._product(n, log))
        return self._power(self._sum(x, constant(ONE)), n)

    def exponential(self, x: list[Jet]) -> list[Jet]:
        return each(self._exponential, x)

    def _exponential(self, a: Jet) -> Jet:
        value = self._exp(a[0], a[1])
        return self._chained(a, value, value)

    def logarithm(self, x: list[Jet]) -> list[Jet]:
        return each(self._logarithm, x)

    def _logarithm(self, a: Jet) -> Jet:
        low, high = self._kept(a[0], a[1], open_=True)
        value = _both(self._log, low, high)
        return self._chained(a, value, (1 / high if high > 0 else ZERO, 1 / low if low > 0 else UP))

    def log_ratio(self, x: list[Jet]) -> list[Jet]:
        return each(self._log_ratio, x)

    def _log_ratio(self, a: Jet) -> Jet:
        """It falls all the way, and its slope, which is negative, rises."""
        self.need(bool(a[1] > -1), bool(a[0] > -1))
        if not a[0] > -1:
            return EVERYTHING
        low, high = _both(lambda x: ONE if x.is_zero() else x.log1p() / x, a[1], a[0])
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
        low = a[0].max(b[0])
        value = low, low if a[0] is a[1] and b[0] is b[1] else a[1].max(b[1])
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
        return each(lambda a: self._step(a, lambda end: end.lower().ceil()), x)

    def floor(self, x: list[Jet]) -> list[Jet]:
        return each(lambda a: self._step(a, lambda end: end.upper().floor()), x)

    @staticmethod
    def _step(a: Jet, function: Callable[[Any], Any]) -> Jet:
        low, high = (function(end) if end.is_finite() else end for end in a[:2])
        if a[2] is None:
            return low, high, None, None
        return (low, high, ZERO, ZERO) if low == high else (low, high, DOWN, UP)

    def compare(self, a: list[Jet], b: list[Jet], relation: str, given: bool) -> list[Truth]:
        if self.deciding:
            return each(lambda x, y: self._decided(x, y, relation, given), a, b)
        return each(lambda x, y: _compared(x, y, relation, 0.0 if given else MARGIN), a, b)

    def _decided(self, a: Jet, b: Jet, relation: str, as_given: bool) -> Truth:
        """Computed sides stand for all numbers that round to them; given ones are the floats that they are."""
        if as_given:
            holds = COMPARISONS[relation](float(a[0].mid()), float(b[0].mid()))
        else:
            a, b = ((_rounded(x[0], self.errors), _rounded(x[1], self.errors), None, None) for x in (a, b))
            sure, never = _compared(a, b, relation, 0.0)
            finite = all(x.is_finite() for x in (*a[:2], *b[:2]))
            holds = finite and (sure if relation in ("<", ">", "!=") else not never)
        return holds, not holds

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


def _rounded(x: Any, errors: bool) -> Any:
    return x if x.is_exact() else given(x, errors)[0]


def _far_exp(x: Any) -> Any:
    """Beyond what Arb takes, ``2^n exp(r)`` with ``x = n log 2 + r``, where the precision tells ``n``."""
    if abs(x) > FAR:
        return UP if x > 0 else ZERO
    found = x.exp()
    if found.is_finite() and (abs(x) < 1 << 60 or found.rel_accuracy_bits() > 0):
        return found
    log_2 = arb.const_log2()
    n = (x / log_2).floor().unique_fmpz()
    if n is not None:
        return (x - n * log_2).exp() * arb((1, n))
    return found if found.is_finite() and x < 0 else NAN


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
                held[slot] = [given(x, errors=False) for x in self.given[q.name]]
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
            held, jets = known.copy(), Jets(self.width)
            jets.partial, jets.empty = partial, empty
            for slot, name in self.free.items():
                held[slot] = boxes[name]
            for slot, operation, arguments, extra in left:
                held[slot] = getattr(jets, operation)(*[held[i] for i in arguments], *extra)
            return [held[slot] for slot in self.tape.outputs], jets


class Point:
    """A tape at one point: lists of floats by quantity, over an axis of ``width`` entries."""

    def __init__(self, tape: Tape, values: Mapping[str, Sequence[float]], width: int) -> None:
        self.tape, self.given, self.width = tape, values, width

    def jumps(self) -> list[Any]:
        """What every slot holds, where given numbers stand for all that round to them.

        Where that leaves nothing of a number (a count to the power of 1e50, say), they are the floats that they are.
        """
        for bits in WITH_ERRORS:
            jets = Jets(self.width, deciding=True, errors=True)
            held = self._run(bits, jets)
            if jets.lost:
                return self._run(LEVELS[-1], Jets(self.width, deciding=True))
        return held

    def holds(self) -> list[bool]:
        """Whether the first output, a relation, holds at each entry."""
        return [holds for holds, _ in self.jumps()[self.tape.outputs[0]]]

    def balls(self) -> list[list[Any]]:
        """Every output, as exactly as a float can hold, or as the largest precision tells."""
        decided = self.jumps() if self.tape.jumps else None
        for bits in LEVELS:
            held = self._run(bits, Jets(self.width), decided)
            found = [[_one(jet) for jet in held[slot]] for slot in self.tape.outputs]
            if all(_known(x) for members in found for x in members):
                break
        return found

    def values(self) -> list[list[float]]:
        """For every output the nearest floats; NaN is no real number, and nothing but zero becomes zero."""
        return [[as_float(x) for x in members] for members in self.balls()]

    def _run(self, bits: int, jets: Jets, decided: Sequence[Any] | None = None) -> list[Any]:
        with ctx.workprec(bits):
            leaves = {
                q.name: [given(x, jets.errors and not q.card.domain.whole) for x in self.given[q.name]]
                for q in self.tape.leaves.values()
            }
            return self.tape.run(jets, leaves, decided)


def _one(jet: Jet) -> Any:
    """The ball of a jet at a point."""
    low, high = jet[0], jet[1]
    return low if low is high or low.is_nan() else NAN if high.is_nan() else low.union(high)


def _known(x: Any) -> bool:
    return bool(x.rel_accuracy_bits() >= 60 or x.is_zero() or x.is_exact())


def as_float(x: Any) -> float:
    """The nearest float of a ball."""
    if x.is_nan():
        return float("nan")
    if not x.is_finite():
        return float("inf") if x > 0 else float("-inf") if x < 0 else float("nan")
    if not _known(x) and x.contains(0):
        return 0.0
    near = float(x.mid())
    return near or (0.0 if x.is_zero() else 5e-324 if x > 0 else -5e-324)
