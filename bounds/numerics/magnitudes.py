"""A certificate, for all points of a sweep at once, that floating point evaluates a formula well.

Running a formula on the *sizes* of its quantities (smallest and largest magnitude that is not zero, sign, relative
error) tells whether any intermediate result can leave the range of floats or lose its digits in a sum: a few dozen
operations on numbers, however many points there are. Sums of mixed signs that the sizes alone do not clear are named,
to be looked at point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp2, inf, log, log1p, log2, prod
from typing import NamedTuple

import numpy as np
import sympy as sp

from ..operators import AxisReduction, ClassMax, ClientMax, write_out_means
from ..quantities import Quantity
from .landscape import sides_of
from .rounding import RoundUp
from .stable import LogRatio, stable

REACH = 1000.0
"""Binary orders of magnitude from 1 that no intermediate result may pass; floats reach a little farther."""

FACTOR = 128.0
"""By how much a sum may be smaller than its summands: what it costs in digits is added to the error."""

LOSS = 2.0**20
"""The most relative error of a value, in units of rounding (2^-53): 1e-10."""

SIDE_LOSS = 2.0**14
"""The same for a side of a condition: two sides that are nearer than 2e-12 to one another are left to rounding."""

WHOLE = 53.0
"""Whole numbers below two to this are exact."""


class Size(NamedTuple):
    """Binary logarithms of the smallest and largest magnitude that is not zero (``high`` -inf: all are zero), the sign
    (0: either), whether some may be zero, the relative error in units of rounding, and whether all are whole numbers.
    """

    low: float
    high: float
    sign: int = 1
    zero: bool = False
    error: float = 0.0
    whole: bool = False


ZERO = Size(0.0, -inf, 1, True, 0.0, True)


class Doubt(Exception):
    """Some intermediate result may be out of range, or wrong in too many digits."""


class Unknown(Exception):
    """The formula has a function that nothing is known of here."""


def sizes(array: np.ndarray, whole: bool) -> Size:
    """The size of all numbers of an array."""
    least, most = float(array.min()), float(array.max())
    if least <= 0 <= most:
        magnitudes = np.abs(array[array != 0])
        if not magnitudes.size:
            return ZERO
        low, high = float(magnitudes.min()), float(magnitudes.max())
        return Size(log2(low), log2(high), _sign(least, most), bool(magnitudes.size < array.size), 0.0, whole)
    low, high = sorted((abs(least), abs(most)))
    return Size(log2(low), log2(high), _sign(least, most), False, 0.0, whole)


def _sign(least: float, most: float) -> int:
    return 1 if least >= 0 else -1 if most <= 0 else 0


def is_number(e: sp.Basic) -> bool:
    """True without quantities, and without sums over an axis, whose length is not known before there are values."""
    return not e.free_symbols and not e.has(AxisReduction)


Step = Callable[..., Size]


class Magnitudes:
    """The certificate of some values and relations; ``guards`` are the sums that may have to be looked at."""

    def __init__(self, values: Sequence[sp.Expr], relations: Sequence[sp.Basic]) -> None:
        self.leaves: dict[str, tuple[int, bool]] = {}
        self.constants: dict[int, Size] = {}
        self.tape: list[tuple[int, Step, tuple[int, ...]]] = []
        self.slots: dict[sp.Basic, int] = {}
        self.guards: list[sp.Basic] = []
        self.needed: set[int] = set()
        self.width = 1
        self.values = [self._slot(stable(write_out_means(e))) for e in values]
        self.sides = [self._slot(stable(write_out_means(e))) for e in sides_of(tuple(relations))]

    def doubts(self, arrays: Mapping[str, np.ndarray], width: int) -> tuple[int, ...] | None:
        """The numbers of the guards that every point has to pass; None where nothing can be said."""
        self.needed, self.width = set(), width
        found = dict(self.constants)
        for name, (slot, whole) in self.leaves.items():
            found[slot] = sizes(arrays[name], whole)
        try:
            for slot, step, args in self.tape:
                found[slot] = step(*[found[i] for i in args])
        except Doubt:
            return None
        well = all(found[i].error <= LOSS for i in self.values) and all(found[i].error <= SIDE_LOSS for i in self.sides)
        return tuple(sorted(self.needed)) if well else None

    # ---- compiling ----

    def _slot(self, e: sp.Basic) -> int:
        if e not in self.slots:
            slot = self._node(e)
            self.slots[e] = slot
        return self.slots[e]

    def _new(self) -> int:
        return len(self.leaves) + len(self.constants) + len(self.tape)

    def _node(self, e: sp.Basic) -> int:
        if isinstance(e, Quantity):
            slot = self._new()
            self.leaves[e.name] = (slot, e.card.domain.whole)
            return slot
        if is_number(e):
            slot = self._new()
            self.constants[slot] = _constant(e)
            return slot
        args = [self._slot(a) for a in e.args]
        step = self._step(e)
        slot = self._new()
        self.tape.append((slot, step, tuple(args)))
        return slot

    def _step(self, e: sp.Basic) -> Step:
        if isinstance(e, sp.Add):
            return self._guarded(e, e.args)
        if isinstance(e, AxisReduction):
            return self._reduction(e)
        if isinstance(e, sp.Pow):
            if e.exp.is_Rational:
                number = float(e.exp)
                return lambda base, _: fixed_power(base, number)
            return power
        for kind, step in STEPS.items():
            if isinstance(e, kind):
                return step
        raise Unknown(e.func.__name__)

    def _guarded(self, e: sp.Basic, args: Sequence[sp.Expr]) -> Step:
        """A sum that may cancel has a guard: at most ``FACTOR`` times smaller than its summands together."""
        if all(a.is_nonnegative for a in args) or all(a.is_nonpositive for a in args):
            return lambda *parts: add(parts, None)
        guard = self._new_guard(e, sp.Add(*map(sp.Abs, args), evaluate=False))
        return lambda *parts: add(parts, lambda: self.needed.add(guard))

    def _reduction(self, e: sp.Basic) -> Step:
        if isinstance(e, (ClientMax, ClassMax)):
            return lambda body: body
        guard = -1 if e.args[0].is_nonnegative else self._new_guard(e, e.func(sp.Abs(e.args[0])))
        return lambda body: self._sum(body, guard)

    def _sum(self, body: Size, guard: int) -> Size:
        if body.high == -inf or self.width == 1:
            return body
        more = log2(self.width)
        if body.whole and body.high + more <= WHOLE:
            return body._replace(high=body.high + more, sign=body.sign)
        size = body._replace(high=body.high + more, error=body.error + self.width, whole=False)
        if not body.sign:
            self.needed.add(guard)
            size = size._replace(low=size.low - log2(FACTOR), zero=True, error=FACTOR * size.error)
        return _checked(size)

    def _new_guard(self, total: sp.Basic, summands: sp.Basic) -> int:
        self.guards.append(sp.Ge(FACTOR * sp.Abs(total), summands, evaluate=False))
        return len(self.guards) - 1


# ---- the rules ----


def _checked(size: Size) -> Size:
    if size.low < -REACH or size.high > REACH:
        raise Doubt
    return size


def _constant(e: sp.Basic) -> Size:
    number = float(e)
    if number == 0:
        return ZERO
    exact = e.is_Float or (e.is_Rational and sp.Rational(number) == e)
    at = log2(abs(number))
    return Size(at, at, 1 if number > 0 else -1, False, 0.0 if exact else 2.0, bool(e.is_Integer and exact))


def multiply(*parts: Size) -> Size:
    if any(p.high == -inf for p in parts):
        return ZERO
    # Any product of some of them, in whatever order the code takes them.
    if sum(max(p.high, 0.0) for p in parts) > REACH or sum(min(p.low, 0.0) for p in parts) < -REACH:
        raise Doubt
    high = sum(p.high for p in parts)
    error = 0.0
    whole = all(p.whole for p in parts) and high <= WHOLE
    if not whole:
        rounding = sum(not (p.low == p.high and p.low.is_integer()) for p in parts)
        error = sum(p.error for p in parts) + max(rounding - 1, 0)
    sign = prod(p.sign for p in parts)
    return Size(sum(p.low for p in parts), high, sign, any(p.zero for p in parts), error, whole)


def add(parts: Sequence[Size], guard: Callable[[], None] | None) -> Size:
    parts = [p for p in parts if p.high > -inf]
    if len(parts) < 2:
        return parts[0] if parts else ZERO
    _checked(max(parts, key=lambda p: p.high)._replace(low=0.0))
    high = max(p.high for p in parts) + log2(len(parts))
    error = max(p.error for p in parts) + len(parts) - 1
    whole = all(p.whole for p in parts) and high <= WHOLE
    ends = {s: [(0.0 if p.zero else exp2(p.low), exp2(p.high)) for p in parts if p.sign in (s, 0)] for s in (1, -1)}
    if len(ends[1]) == len(parts) and not ends[-1] or not ends[1]:
        sign = 1 if ends[1] else -1
        low, zero = min(p.low for p in parts), all(p.zero for p in parts)
        return Size(low, high, sign, zero, 0.0 if whole else error, whole)
    surely = all(p.sign for p in parts)
    plus, minus = ([sum(e[i] for e in ends[s]) for i in (0, 1)] for s in (1, -1))
    sign = 1 if surely and plus[0] >= minus[1] else -1 if surely and minus[0] >= plus[1] else 0
    if whole:
        return Size(0.0, high, sign, True, 0.0, True)
    if len(parts) == 2 and not error - 1:  # of two exact numbers: rounded once
        return _checked(Size(min(p.low for p in parts) - WHOLE, high, sign, True, 1.0))
    larger, smaller = (plus[0], minus[1]) if sign > 0 else (minus[0], plus[1])
    if sign and larger + smaller <= FACTOR * (larger - smaller):
        left = larger - smaller
        return Size(log2(left), high, sign, False, (larger + smaller) / left * error)
    if guard is None:
        raise Doubt
    guard()
    return Size(min(p.low for p in parts) - log2(FACTOR), high, sign, True, FACTOR * error)


def fixed_power(base: Size, exponent: float) -> Size:
    if base.high == -inf:
        return ZERO if exponent > 0 else Size(0.0, 0.0)
    low, high = sorted((exponent * base.low, exponent * base.high))
    if base.whole and exponent > 0 and exponent.is_integer() and high <= WHOLE:
        error, whole = 0.0, True
    else:
        error, whole = abs(exponent) * base.error + max(1.0, abs(exponent)), False
    sign = base.sign if exponent % 2 == 1 else 1
    return _checked(Size(low, high, sign, base.zero and exponent > 0, error, whole))


def power(base: Size, exponent: Size) -> Size:
    if base.high == -inf or exponent.high == -inf:
        return Size(0.0, 0.0, 1, True, 2.0)
    ends = [s * e for e in (exp2(exponent.low), exp2(exponent.high)) for s in (1, -1) if exponent.sign in (s, 0)]
    corners = [e * b for e in ends for b in (base.low, base.high)] + ([0.0] if exponent.zero or not exponent.sign else [])
    steepest = max(map(abs, corners)) * log(2)
    error = exp2(exponent.high) * base.error + steepest * exponent.error + 2.0
    return _checked(Size(min(corners), max(corners), 1, base.zero, error))


def exponential(x: Size) -> Size:
    if x.high == -inf:
        return Size(0.0, 0.0)
    most = exp2(x.high)
    return _checked(Size(-most / log(2) * (x.sign < 1), most / log(2) * (x.sign > -1), 1, False, most * x.error + 2.0))


def logarithm(x: Size) -> Size:
    if x.zero or x.sign < 1:
        raise Doubt
    away = max(x.low, -x.high) * log(2)  # from log(1) = 0
    if away > 0:
        least, error = log2(away), x.error / away + 2.0
    elif x.error:
        raise Doubt
    else:
        least, error = -WHOLE, 2.0
    most = log2(max(abs(x.low), abs(x.high), exp2(least)))
    return Size(least, most, 1 if x.low >= 0 else -1 if x.high <= 0 else 0, away <= 0, error)


def ratio_of_logarithm(x: Size) -> Size:
    if x.high == -inf:
        return Size(0.0, 0.0)
    if x.high <= -1:
        return Size(-0.5, 0.5, 1, False, x.error + 4.0)
    if x.sign < 1:
        raise Doubt
    most = exp2(x.high)
    return Size(log2(log1p(most) / most), 0.0, 1, False, x.error + 4.0)


def extreme(*parts: Size) -> Size:
    """The largest or the smallest of some."""
    real = [p for p in parts if p.high > -inf] or [ZERO]
    signs = {p.sign for p in parts}
    return Size(
        min(p.low for p in real),
        max(p.high for p in real),
        signs.pop() if len(signs) == 1 else 0,
        any(p.zero for p in parts),
        max(p.error for p in parts),
        all(p.whole for p in parts),
    )


def absolute(x: Size) -> Size:
    return x._replace(sign=1)


def rounded_up(x: Size) -> Size:
    """By the slack of ``RoundUp`` a few roundings of the argument make no difference at whole numbers."""
    if x.high == -inf:
        return ZERO
    if x.error > 16 or x.sign < 1:
        raise Doubt
    high = max(x.high, 0.0) + 1.0
    return Size(0.0, high, 1, x.zero, 0.0, high <= WHOLE)


def rounded(x: Size) -> Size:
    """A plain ceiling or floor: of exact numbers alone."""
    if x.error:
        raise Doubt
    return Size(0.0, max(x.high, 0.0) + 1.0, x.sign, True, 0.0, x.high < WHOLE)


STEPS: dict[type[sp.Basic], Step] = {
    sp.Mul: multiply,
    sp.exp: exponential,
    sp.log: logarithm,
    LogRatio: ratio_of_logarithm,
    sp.Max: extreme,
    sp.Min: extreme,
    sp.Abs: absolute,
    RoundUp: rounded_up,
    sp.ceiling: rounded,
    sp.floor: rounded,
}
