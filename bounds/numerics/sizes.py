"""How large numbers are: the rules by which sizes go through the operations of a formula.

A ``Size`` speaks of all numbers of an array at once. Every rule gives a size that holds for any numbers of the sizes it
was given, or raises ``Doubt`` where floats may be left on the way or too many digits lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, exp2, floor, inf, log, log1p, log2, prod
from typing import NamedTuple

import numpy as np
import sympy as sp

REACH = 1000.0
"""Binary orders of magnitude from 1 that no intermediate result may pass; floats reach a little farther."""

FACTOR = 256.0
"""By how much a sum may be smaller than its summands: what it costs in digits is added to the error."""

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


def of(array: np.ndarray, whole: bool) -> Size:
    """The size of all numbers of an array."""
    if array.size == 1 and (number := abs(array.item())):
        return Size(log2(number), log2(number), 1 if array.item() > 0 else -1, False, 0.0, whole)
    least, most = float(array.min()), float(array.max())
    if least <= 0 <= most:
        magnitudes = np.abs(array[array != 0])
        if not magnitudes.size:
            return ZERO
        low, high = float(magnitudes.min()), float(magnitudes.max())
        return Size(log2(low), log2(high), _sign(least, most), bool(magnitudes.size < array.size), 0.0, whole)
    low, high = sorted((abs(least), abs(most)))
    return Size(log2(low), log2(high), _sign(least, most), False, 0.0, whole)


def to_powers_of_two(size: Size) -> Size:
    """A size that holds whatever the numbers between the powers of two around it are."""
    return size if size.high == -inf else size._replace(low=float(floor(size.low)), high=float(ceil(size.high)))


def _sign(least: float, most: float) -> int:
    return 1 if least >= 0 else -1 if most <= 0 else 0


def constant(e: sp.Basic) -> Size:
    number = float(e)
    if number == 0:
        return ZERO
    exact = e.is_Float or (e.is_Rational and sp.Rational(number) == e)
    at = log2(abs(number))
    return Size(at, at, 1 if number > 0 else -1, False, 0.0 if exact else 2.0, bool(e.is_Integer and exact))


def checked(size: Size) -> Size:
    if size.low < -REACH or size.high > REACH:
        raise Doubt
    return size


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
    checked(max(parts, key=lambda p: p.high)._replace(low=0.0))
    high = max(p.high for p in parts) + log2(len(parts))
    error = max(p.error for p in parts) + len(parts) - 1
    whole = all(p.whole for p in parts) and high <= WHOLE
    ends = {s: [(0.0 if p.zero else exp2(p.low), exp2(p.high)) for p in parts if p.sign in (s, 0)] for s in (1, -1)}
    if (len(ends[1]) == len(parts) and not ends[-1]) or not ends[1]:
        sign = 1 if ends[1] else -1
        low, zero = min(p.low for p in parts), all(p.zero for p in parts)
        return Size(low, high, sign, zero, 0.0 if whole else error, whole)
    surely = all(p.sign for p in parts)
    plus, minus = ([sum(e[i] for e in ends[s]) for i in (0, 1)] for s in (1, -1))
    sign = 1 if surely and plus[0] >= minus[1] else -1 if surely and minus[0] >= plus[1] else 0
    if whole:
        return Size(0.0, high, sign, True, 0.0, True)
    if len(parts) == 2 and not error - 1:  # of two exact numbers: rounded once
        return checked(Size(min(p.low for p in parts) - WHOLE, high, sign, True, 1.0))
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
    return checked(Size(low, high, sign, base.zero and exponent > 0, error, whole))


def power(base: Size, exponent: Size) -> Size:
    if base.high == -inf or exponent.high == -inf:
        return Size(0.0, 0.0, 1, True, 2.0)
    ends = [s * e for e in (exp2(exponent.low), exp2(exponent.high)) for s in (1, -1) if exponent.sign in (s, 0)]
    corners = [e * b for e in ends for b in (base.low, base.high)] + (
        [0.0] if exponent.zero or not exponent.sign else []
    )
    steepest = max(map(abs, corners)) * log(2)
    error = exp2(exponent.high) * base.error + steepest * exponent.error + 2.0
    return checked(Size(min(corners), max(corners), 1, base.zero, error))


def exponential(x: Size) -> Size:
    if x.high == -inf:
        return Size(0.0, 0.0)
    most = exp2(x.high)
    return checked(Size(-most / log(2) * (x.sign < 1), most / log(2) * (x.sign > -1), 1, False, most * x.error + 2.0))


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
