"""Evaluate formulas in Arb's ball arithmetic (python-flint), at a point or over boxes, with any number of digits.

A ``Jet`` holds the ends of an interval that contains all values, and of one that contains all slopes with respect to
the quantity that varies (``None`` if the expression does not depend on it). At a point both ends are one ball, which
shrinks as the precision grows, also next to a removable singularity.

There are three uses. *Values* at a point: arguments are exactly the given floats, and the precision grows until the
result is known to the last digit of a float. *Jumps* at a point (comparisons, ceilings): an argument that is no count
stands for all numbers that round to it, since 0.1 is not exactly a float, nor is a step size of 1/(4 L) usually. A
condition ``<=`` then holds unless it fails for all of these numbers, ``<`` only if it holds for all of them, and a
ceiling is the smallest one for any of them. So 0.1 * 3 <= 0.3 holds and 0.1 * 3 < 0.3 does not. *Boxes* of one or more
quantities: the result of a comparison is a pair, whether it certainly holds and whether it certainly fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from types import MappingProxyType
from typing import Any, NamedTuple

import sympy as sp
from flint import arb, ctx, fmpq

from .floats import COMPARISONS, MARGIN
from .tape import Tape

LEVELS = (64, 128, 512, 2048, 10_000)
"""The precisions in bits tried in turn for values. A result that is zero up to rounding at the last one is zero."""
WITH_ERRORS = (200, 2000)
"""The precisions for jumps. With more bits, only the uncertainty of the arguments would be left."""
HALF_UNIT = 2.0**-53
"""The largest relative distance of a number from the float that it rounds to."""
FAR = 2**9000
"""The exponential of a larger number counts as infinite, and of its negative as zero."""
SMALL = 2.0**-20
"""The size below which the slope of log(1+x)/x is computed by its series."""
ZERO, ONE = arb(0), arb(1)
UP, DOWN, NAN = arb.pos_inf(), arb.neg_inf(), arb.nan()
Truth = tuple[bool, bool]
"""Whether a relation certainly holds, and whether it certainly fails."""


# ---- ends of intervals ----

Ends = tuple[Any, Any]
"""The ends of an interval, as balls; at a point twice the same object."""
ALL: Ends = (DOWN, UP)


class Jet(NamedTuple):
    """An interval of values and one of slopes, which is None if the expression is constant."""

    value: Ends
    slope: Ends | None = None


def at_ends(function: Callable[[Any], Any], ends: Ends) -> Ends:
    """Apply a function to both ends, only once if they are the same object."""
    first = function(ends[0])
    return first, first if ends[0] is ends[1] else function(ends[1])


def negative(ends: Ends) -> Ends:
    high, low = at_ends(lambda x: -x, ends)
    return low, high


def plus(p: Ends, q: Ends) -> Ends:
    low = p[0] + q[0]
    return low, low if p[0] is p[1] and q[0] is q[1] else p[1] + q[1]


def product(p: Ends, q: Ends) -> Ends:
    if p[0] is p[1] and q[0] is q[1]:
        at = _times(p[0], q[0])
        return at, at
    if p[0] >= 0 and q[0] >= 0:
        return _times(p[0], q[0]), _times(p[1], q[1])
    return _hull([_times(x, y) for x in p for y in q])


def _times(x: Any, y: Any) -> Any:
    """Return the product of two ends, where zero times infinity is zero."""
    product = x * y
    return ZERO if product.is_nan() and (x.is_zero() or y.is_zero()) else product


def _hull(numbers: Sequence[Any]) -> Ends:
    return reduce(lambda x, y: x.min(y), numbers), reduce(lambda x, y: x.max(y), numbers)


def _whole_power(ends: Ends, n: int) -> Ends:
    if n % 2 or ends[0] >= 0:
        return at_ends(lambda x: x**n, ends)
    low, high = _hull([x**n for x in ends])
    return (low, high) if ends[1] <= 0 else (ZERO, high)


def _log(x: Any) -> Any:
    return DOWN if x.is_zero() else x.log()


def _far_exp(x: Any) -> Any:
    """Return the exponential also of numbers too large for Arb, as ``2^n exp(r)`` with ``x = n log 2 + r``."""
    if abs(x) > FAR:
        return UP if x > 0 else ZERO
    result = x.exp()
    if result.is_finite() and (abs(x) < 1 << 60 or result.rel_accuracy_bits() > 0):
        return result
    log_2 = arb.const_log2()
    n = (x / log_2).floor().unique_fmpz()
    if n is not None:
        return (x - n * log_2).exp() * arb((1, n))
    return result if result.is_finite() and x < 0 else NAN


def _ratio_slope(x: Any) -> Any:
    """Return the slope of log(1+x)/x, which is -1/2 + 2x/3 - 3x^2/4 + ... near zero."""
    if abs(x) < SMALL:
        return -ONE / 2 + 2 * x / 3 + arb(0, (x * x).upper())
    return (1 / (1 + x) - x.log1p() / x) / x


def constant(x: Any, errors: bool = True) -> Jet:
    """Return a number as a jet; with ``errors``, the interval of all numbers that round to it."""
    x = arb(x)
    x = x + arb(0, abs(x).upper() * HALF_UNIT) if errors else x
    return Jet((x, x))


# ---- operations ----


def _entrywise(function: Any) -> Any:
    """Turn a method on single entries into one on lists of entries, where a list of one entry broadcasts."""

    def of_lists(self: Jets, *lists: Any) -> list[Any]:
        length = max(len(x) for x in lists if isinstance(x, list))
        rows = [x * length if isinstance(x, list) and len(x) == 1 else x for x in lists]
        return [function(self, *(x[i] if isinstance(x, list) else x for x in rows)) for i in range(length)]

    return of_lists


class Jets:
    """Operations on lists of jets, one for each of the ``width`` entries of the axis of reductions, or one for all.

    ``partial``: an expression may be undefined somewhere in the box; ``empty``: one is certainly undefined everywhere.
    ``deciding``: comparisons and ceilings are decided, as at a point; with ``errors``, arguments stand for all numbers
    that round to them, and ``lost`` is whether one became too uncertain to exponentiate. ``counts``: how often each
    entry of a list occurs along the axis (once, if empty).
    """

    def __init__(self, width: int, *, deciding: bool = False, errors: bool = False, counts: Sequence[int] = ()) -> None:
        self.width, self.deciding, self.errors, self.counts = width, deciding, errors, counts
        self.partial = self.empty = self.lost = False

    def need(self, possible: bool, certain: bool) -> None:
        """Record whether an operation is defined somewhere in the box, and whether it is everywhere."""
        self.partial |= not certain
        self.empty |= not possible

    def number(self, value: sp.Expr, near: float) -> list[Jet]:
        if value.is_Float:
            return [constant(near, self.errors)]
        if value.is_Rational:
            return [constant(fmpq(int(value.p), int(value.q)), errors=False)]
        return [constant(arb.pi() if value == sp.pi else arb(1).exp(), errors=False)]

    def truth(self, value: bool) -> list[Truth]:
        return [(value, not value)]

    @staticmethod
    def _chained(a: Jet, value: Ends, steep: Callable[[], Ends]) -> Jet:
        """Return the jet of a function of ``a`` with these values; ``steep`` gives the function's slopes."""
        return Jet(value) if a.slope is None else Jet(value, product(a.slope, steep()))

    def _nonnegative_part(self, ends: Ends, open_: bool) -> Ends:
        """Return the part of an interval that is nonnegative (positive if ``open_``), or NaN if there is none."""
        low, high = ends
        self.need(not high < 0, bool(low > 0 if open_ else low >= 0))
        return (NAN, NAN) if high < 0 else (low if low >= 0 else ZERO, high if high >= 0 else high.upper())

    # ---- arithmetic ----

    def _add(self, a: Jet, b: Jet) -> Jet:
        slope = b.slope if a.slope is None else a.slope if b.slope is None else plus(a.slope, b.slope)
        return Jet(plus(a.value, b.value), slope)

    def _negative(self, a: Jet) -> Jet:
        return Jet(negative(a.value), None if a.slope is None else negative(a.slope))

    def _subtract(self, a: Jet, b: Jet) -> Jet:
        return self._add(a, self._negative(b))

    def _multiply(self, a: Jet, b: Jet) -> Jet:
        value = product(a.value, b.value)
        if value[0].is_zero() and a.value[0] is a.value[1] and b.value[0] is b.value[1]:
            value = (a.value[0] * b.value[0],) * 2  # at a point, zero times infinity is undefined
        left = None if a.slope is None else product(a.slope, b.value)
        right = None if b.slope is None else product(a.value, b.slope)
        return Jet(value, right if left is None else left if right is None else plus(left, right))

    def _divide(self, a: Jet, b: Jet) -> Jet:
        if not (b.value[0].is_zero() and b.value[1].is_zero()):
            return self._multiply(a, self._inverse(b))
        self.need(False, False)
        positive, below = a.value[0] > 0, a.value[1] < 0
        return Jet((UP, UP), ALL) if positive else Jet((DOWN, DOWN), ALL) if below else Jet((NAN, NAN), (NAN, NAN))

    def _inverse(self, a: Jet) -> Jet:
        low, high = a.value
        self.need(True, bool(low > 0 or high < 0))
        value = ALL
        if low > 0 or high < 0 or low is high:
            value = at_ends(lambda x: 1 / x, (high, low))
        elif low >= 0 and not high.is_zero():
            value = 1 / high if high > 0 else ZERO, UP
        elif high <= 0 and not low.is_zero():
            value = DOWN, 1 / low if low < 0 else ZERO
        return self._chained(a, value, lambda: negative(product(value, value) if low >= 0 or high <= 0 else (ZERO, UP)))

    def _whole_power(self, a: Jet, n: int) -> Jet:
        return self._chained(
            a, _whole_power(a.value, n), lambda: at_ends(lambda x: n * x, _whole_power(a.value, n - 1))
        )

    def _square_root(self, a: Jet) -> Jet:
        low, high = self._nonnegative_part(a.value, open_=False)
        least, most = value = at_ends(lambda x: x.sqrt(), (low, high))
        return self._chained(a, value, lambda: (1 / (2 * most) if high > 0 else UP, 1 / (2 * least) if low > 0 else UP))

    def _power(self, a: Jet, n: Jet) -> Jet:
        if a.value[1] < 0 and n.value[0] is n.value[1] and n.value[0].is_integer():
            return self._raised_negative(a, n)
        base = self._nonnegative_part(a.value, open_=not n.value[0] >= 0)
        value = self._corners(base, n.value)
        result = self._chained(
            a, value, lambda: product(n.value, self._corners(base, at_ends(lambda x: x - 1, n.value)))
        )
        if n.slope is None:
            return result
        growing = product(n.slope, product(value, at_ends(_log, base)))
        return Jet(value, growing if result.slope is None else plus(result.slope, growing))

    def _raised_negative(self, a: Jet, n: Jet) -> Jet:
        """Return a negative base to an integer power. If the exponent varies, the slope is unknown."""
        exponent = int(n.value[0].unique_fmpz())
        result = self._whole_power(a, exponent) if exponent >= 0 else self._inverse(self._whole_power(a, -exponent))
        return result if n.slope is None else Jet(result.value, ALL)

    def _corners(self, base: Ends, exponent: Ends) -> Ends:
        """Return the interval of ``base ^ exponent`` for a nonnegative base."""
        if exponent[0] is exponent[1] and exponent[0].is_zero():
            return ONE, ONE
        return self._exp(product(exponent, at_ends(_log, base)))

    def _exp(self, ends: Ends) -> Ends:
        low, high = ends
        self.lost |= self.errors and bool(high - low > 2 or low.rad() > 1)
        if low is high:
            return at_ends(_far_exp, ends)
        low, high = _far_exp(low), _far_exp(high)
        return low if low > 0 else ZERO, UP if high.is_nan() else high

    def _growth(self, x: Jet, n: Jet) -> Jet:
        """Return ``(1+x)^n``."""
        low, high = x.value
        if not low > -1:
            return self._power(self._add(x, Jet((ONE, ONE))), n)
        log = self._chained(x, at_ends(lambda y: y.log1p(), x.value), lambda: (1 / (1 + high), 1 / (1 + low)))
        return self._exponential(self._multiply(n, log))

    def _exponential(self, a: Jet) -> Jet:
        value = self._exp(a.value)
        return self._chained(a, value, lambda: value)

    def _logarithm(self, a: Jet) -> Jet:
        low, high = self._nonnegative_part(a.value, open_=True)
        steep = (1 / high if high > 0 else ZERO, 1 / low if low > 0 else UP)
        return self._chained(a, at_ends(_log, (low, high)), lambda: steep)

    def _log_ratio(self, a: Jet) -> Jet:
        """Return log(1+x)/x, which is decreasing and convex."""
        low, high = a.value
        self.need(bool(high > -1), bool(low > -1))
        if not low > -1:
            return Jet(ALL, ALL)
        value = at_ends(lambda x: ONE if x.is_zero() else x.log1p() / x, (high, low))
        return self._chained(a, value, lambda: (_ratio_slope(low), _ratio_slope(high)))

    # ---- kinks and jumps ----

    def _absolute(self, a: Jet) -> Jet:
        return self._maximum(a, self._negative(a))

    def _minimum(self, a: Jet, b: Jet) -> Jet:
        return self._negative(self._maximum(self._negative(a), self._negative(b)))

    def _maximum(self, a: Jet, b: Jet) -> Jet:
        if a.value[0] > b.value[1]:
            return a
        if b.value[0] > a.value[1]:
            return b
        low = a.value[0].max(b.value[0])
        at_point = a.value[0] is a.value[1] and b.value[0] is b.value[1]
        value = low, low if at_point else a.value[1].max(b.value[1])
        if a.slope is None and b.slope is None:
            return Jet(value)
        (p, q), (r, s) = a.slope or (ZERO, ZERO), b.slope or (ZERO, ZERO)
        return Jet(value, (p.min(r), q.max(s)))

    def total(self, x: list[Jet]) -> list[Jet]:
        if len(x) == 1:
            return [self._multiply(x[0], constant(self.width, errors=False))] if self.width > 1 else x
        if self.counts:
            x = [self._multiply(jet, constant(n, errors=False)) for jet, n in zip(x, self.counts, strict=True)]
        return [reduce(self._add, x)]

    def largest(self, x: list[Jet]) -> list[Jet]:
        return [reduce(self._maximum, x)]

    def _ceiling(self, a: Jet) -> Jet:
        return self._step(a, lambda end: end.lower().ceil())

    def _floor(self, a: Jet) -> Jet:
        return self._step(a, lambda end: end.upper().floor())

    @staticmethod
    def _step(a: Jet, function: Callable[[Any], Any]) -> Jet:
        low, high = (function(end) if end.is_finite() else end for end in a.value)
        return Jet((low, high), None if a.slope is None else (ZERO, ZERO) if low == high else ALL)

    def _compare(self, a: Jet, b: Jet, relation: str, as_given: bool) -> Truth:
        if not self.deciding:
            return _compared(a.value, b.value, relation, 0.0 if as_given else MARGIN)
        if as_given:  # compare the floats exactly
            holds = COMPARISONS[relation](float(a.value[0].mid()), float(b.value[0].mid()))
        else:  # computed sides stand for all numbers that round to them
            p, q = ([x if x.is_exact() else constant(x, self.errors).value[0] for x in side.value] for side in (a, b))
            sure, never = _compared(p, q, relation, 0.0)
            finite = all(x.is_finite() for x in (*p, *q))
            holds = finite and (sure if relation in ("<", ">", "!=") else not never)
        return holds, not holds

    def _negated(self, a: Truth) -> Truth:
        return a[1], a[0]

    def _both(self, a: Truth, b: Truth) -> Truth:
        return a[0] and b[0], a[1] or b[1]

    def _either(self, a: Truth, b: Truth) -> Truth:
        return a[0] or b[0], a[1] and b[1]

    def _pieces(self, *parts: Any) -> Jet:
        """Return the hull of all values whose condition may be the first to hold."""
        able, sure = [], False
        for (sure, never), value in zip(parts[: len(parts) // 2], parts[len(parts) // 2 :], strict=True):
            if not never:
                able.append(value)
            if sure:
                break
        self.need(bool(able), bool(able) and sure)
        if len(able) == 1 and sure:
            only: Jet = able[0]
            return only
        if not able:
            return Jet(ALL, ALL)
        return Jet((_hull([v.value[0] for v in able])[0], _hull([v.value[1] for v in able])[1]), ALL)

    add, subtract, multiply, divide = map(_entrywise, (_add, _subtract, _multiply, _divide))
    whole_power, square_root, power, growth = map(_entrywise, (_whole_power, _square_root, _power, _growth))
    exponential, logarithm, log_ratio = map(_entrywise, (_exponential, _logarithm, _log_ratio))
    absolute, maximum, minimum = map(_entrywise, (_absolute, _maximum, _minimum))
    ceiling, floor, compare, pieces = map(_entrywise, (_ceiling, _floor, _compare, _pieces))
    negated, both, either = map(_entrywise, (_negated, _both, _either))


def _compared(a: Sequence[Any], b: Sequence[Any], relation: str, margin: float) -> Truth:
    if relation in (">=", ">"):
        a, b, relation = b, a, {">=": "<=", ">": "<"}[relation]
    if relation == "<=":
        return bool(a[1] <= b[0]), bool(a[0] > b[1])
    if relation == "<":  # by more than rounding, as in a call
        return bool(a[1] < b[0] - margin * abs(b[0])), bool(a[0] >= b[1] - margin * abs(b[1]))
    slack = margin * abs(b[1])
    same, apart = a[0] == a[1] == b[0] == b[1], bool(a[1] + slack < b[0] or a[0] > b[1] + slack)
    return (apart, same) if relation == "!=" else (same, apart)


# ---- formulas ----


class Enclosure:
    """A tape as a function of its free quantities, with numbers for all others.

    ``given`` holds these numbers by quantity: a list of floats over an axis of ``width`` entries, or of one for all.
    """

    def __init__(self, tape: Tape, given: Mapping[str, Sequence[float]], width: int) -> None:
        self.tape, self.given, self.width = tape, given, width
        self.free = {q.name for q in tape.leaves.values()} - given.keys()
        self.constants = cache(self._constants)

    def _constants(self, bits: int) -> tuple[dict[int, Any], bool, bool]:
        """Return the slots that do not depend on free quantities, and whether they are ``partial`` and ``empty``."""
        jets, leaves = Jets(self.width), self.tape.leaves.items()
        slots = {i: [constant(x, errors=False) for x in self.given[q.name]] for i, q in leaves if q.name in self.given}
        for slot, operation, arguments, extra in self.tape.steps:
            if slots.keys() >= {*arguments}:
                slots[slot] = getattr(jets, operation)(*[slots[i] for i in arguments], *extra)
        return slots, jets.partial, jets.empty

    def run(self, boxes: Mapping[str, list[Jet]], bits: int) -> tuple[list[Any], Jets]:
        """Return the outputs for free quantities in ``boxes``, and the ``Jets`` that say where they are defined."""
        with ctx.workprec(bits):
            jets = Jets(self.width)
            known, jets.partial, jets.empty = self.constants(bits)
            slots = self.tape.run(jets, boxes, known)
            return [slots[slot] for slot in self.tape.outputs], jets

    def enclose(self, boxes: Mapping[str, list[Jet]], bits: int) -> tuple[list[Jet], bool, bool]:
        """Return the first output, whether all others (conditions) certainly hold in the boxes, and whether one fails.

        The last is True only if the conditions certainly fail everywhere in the boxes.
        """
        (values, *truths), jets = self.run(boxes, bits)
        met = [truth for members in truths for truth in members]
        inside = not jets.partial and all(sure for sure, _ in met)
        return values, inside, jets.empty or any(never for _, never in met)


class Point:
    """A tape at one point.

    ``values`` holds a list of floats by quantity, over an axis of ``width`` entries or one for all; with ``exact``, of
    rational numbers that do not stand for any others. Identical entries, such as identical clients, are computed once.
    """

    def __init__(self, tape: Tape, values: Mapping[str, Sequence[Any]], width: int, exact: bool = False) -> None:
        self.tape, self.width, self.exact = tape, width, exact
        along = {name: list_ for name, list_ in values.items() if len(list_) > 1}
        kinds: dict[tuple[Any, ...], int] = {}
        self.kind_of = [kinds.setdefault(entry, len(kinds)) for entry in zip(*along.values(), strict=True)]
        self.counts = list(Counter(self.kind_of).values()) if 1 < len(kinds) < width else []
        self.given = {**values, **dict(zip(along, map(list, zip(*kinds, strict=True)), strict=True))}

    def jumps(self) -> list[Any]:
        """Return all slots with jumps decided, where arguments stand for all numbers that round to them.

        If a number becomes too uncertain (as a count to the power of 1e50), arguments are exact floats instead.
        """
        if not self.exact:
            for bits in WITH_ERRORS:
                jets = Jets(self.width, deciding=True, errors=True, counts=self.counts)
                slots = self._run(bits, jets)
                if jets.lost:
                    break
            else:
                return slots
        return self._run(LEVELS[-1], Jets(self.width, deciding=True, counts=self.counts))

    def holds(self) -> list[bool]:
        """Whether the first output, a relation, holds, for each distinct entry of the axis."""
        return [holds for holds, _ in self.jumps()[self.tape.outputs[0]]]

    def balls(self, accuracy: int = 60) -> list[list[Any]]:
        """Return every output to ``accuracy`` bits (a float has 53), or as well as the largest precision allows."""
        slots = self.jumps() if self.tape.jumps else []
        decided = {slot: slots[slot] for slot in self.tape.jumps}
        for bits in LEVELS:
            slots = self._run(bits, Jets(self.width, counts=self.counts), decided)
            outputs = [[_single_ball(jet) for jet in slots[slot]] for slot in self.tape.outputs]
            if all(_accurate(x, accuracy) for members in outputs for x in members):
                break
        return [self._for_all_entries(members) for members in outputs]

    def _for_all_entries(self, members: list[Any]) -> list[Any]:
        """Return one result for every entry along the axis, or one for all."""
        return [members[kind] for kind in self.kind_of] if self.counts and len(members) > 1 else members

    def values(self) -> list[list[float]]:
        """Return the nearest floats of every output: NaN if undefined, and zero only if the result is zero."""
        return [[as_float(x) for x in members] for members in self.balls()]

    def _run(self, bits: int, jets: Jets, decided: Mapping[int, Any] = MappingProxyType({})) -> list[Any]:
        with ctx.workprec(bits):
            leaves = {
                q.name: [constant(x, jets.errors and not q.card.domain.whole) for x in self.given[q.name]]
                for q in self.tape.leaves.values()
            }
            return self.tape.run(jets, leaves, decided)


def _single_ball(jet: Jet) -> Any:
    """Return the value of a jet at a point as one ball."""
    low, high = jet.value
    return low if low is high or low.is_nan() else NAN if high.is_nan() else low.union(high)


def _accurate(x: Any, accuracy: int = 60) -> bool:
    return bool(x.rel_accuracy_bits() >= accuracy or x.is_zero() or x.is_exact())


def as_float(x: Any) -> float:
    """Return the nearest float to a ball."""
    if x.is_nan():
        return float("nan")
    if not x.is_finite():
        return float("inf") if x > 0 else float("-inf") if x < 0 else float("nan")
    if not _accurate(x) and x.contains(0):
        return 0.0
    near = float(x.mid())
    return near or (0.0 if x.is_zero() else 5e-324 if x > 0 else -5e-324)
