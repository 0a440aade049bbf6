"""Interval arithmetic on NumPy arrays, rounded outwards: every result contains all values its operands allow.

An ``Interval`` is a pair of arrays ``lo <= hi`` whose last axis is the one reductions run over. Ends may be infinite;
an interval never contains an infinite number itself, so 0 times anything is 0. NumPy rounds +, -, *, / and sqrt to the
nearest float, its other functions to a few units in the last place; both are widened by more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .floats import Floats

Array = np.ndarray

MAX = float(np.finfo(float).max)
EPS = float(np.finfo(float).eps)
TINY = 5e-324


class Interval(NamedTuple):
    """All numbers from ``lo`` to ``hi``, elementwise."""

    lo: Array
    hi: Array

    def part(self, index: Array | slice) -> Interval:
        return Interval(self.lo[index], self.hi[index])


def point(value: Array) -> Interval:
    """The interval that holds one float only."""
    return Interval(value, value)


def everything(like: Array) -> Interval:
    return Interval(np.full(np.shape(like), -np.inf), np.full(np.shape(like), np.inf))


def outward(lo: Array, hi: Array, ulps: float = 1.0) -> Interval:
    """``[lo, hi]`` widened by ``ulps`` units in the last place (twice that at most)."""
    lo, hi = np.minimum(lo, MAX), np.maximum(hi, -MAX)
    return Interval(lo - (np.abs(lo) * (ulps * EPS) + TINY), hi + (np.abs(hi) * (ulps * EPS) + TINY))


def add(a: Interval, b: Interval) -> Interval:
    lo, hi = a.lo + b.lo, a.hi + b.hi
    wide = outward(lo, hi)
    # A sum of floats that comes out as zero is exact: subnormal numbers see to that.
    return Interval(np.where(lo == 0, 0.0, wide.lo), np.where(hi == 0, 0.0, wide.hi))


def negate(a: Interval) -> Interval:
    return Interval(-a.hi, -a.lo)


def multiply(a: Interval, b: Interval) -> Interval:
    if (a.lo >= 0).all() and (b.lo >= 0).all():
        wide = outward(_times(a.lo, b.lo), _times(a.hi, b.hi))
        return Interval(np.maximum(wide.lo, 0.0), np.where((a.hi == 0) | (b.hi == 0), 0.0, wide.hi))
    corners = [_times(x, y) for x in a for y in b]
    wide = outward(np.minimum.reduce(corners), np.maximum.reduce(corners))
    zero = ((a.lo == 0) & (a.hi == 0)) | ((b.lo == 0) & (b.hi == 0))
    same = ((a.lo >= 0) & (b.lo >= 0)) | ((a.hi <= 0) & (b.hi <= 0))
    opposite = ((a.lo >= 0) & (b.hi <= 0)) | ((a.hi <= 0) & (b.lo >= 0))
    lo = np.where(same, np.maximum(wide.lo, 0.0), wide.lo)
    hi = np.where(opposite, np.minimum(wide.hi, 0.0), wide.hi)
    return Interval(np.where(zero, 0.0, lo), np.where(zero, 0.0, hi))


def _times(x: Array, y: Array) -> Array:
    result = x * y
    return np.where(np.isnan(result), 0.0, result)


def inverse(a: Interval) -> Interval:
    """``1/a``; unbounded on both sides where zero lies inside."""
    with np.errstate(divide="ignore"):
        wide = outward(1.0 / (a.hi + 0.0), 1.0 / (a.lo + 0.0))
    positive, negative = a.lo >= 0, a.hi <= 0
    lo = np.where(positive, np.maximum(wide.lo, 0.0), np.where(negative & (a.hi < 0), wide.lo, -np.inf))
    hi = np.where(positive & (a.lo > 0), wide.hi, np.where(negative, np.minimum(wide.hi, 0.0), np.inf))
    both = positive & negative
    return Interval(np.where(both, -np.inf, lo), np.where(both, np.inf, hi))


def whole_power(a: Interval, n: int) -> Interval:
    """``a^n`` for a whole ``n`` of any sign."""
    if n < 0:
        return inverse(whole_power(a, -n))
    if n == 1:
        return a
    lo, hi = np.power(a.lo, n), np.power(a.hi, n)
    if n % 2:
        wide = outward(lo, hi, 8)
        return Interval(np.where(a.lo >= 0, np.maximum(wide.lo, 0.0), wide.lo), wide.hi)
    wide = outward(np.minimum(lo, hi), np.maximum(lo, hi), 8)
    inside = (a.lo <= 0) & (a.hi >= 0)
    return Interval(np.where(inside, 0.0, np.maximum(wide.lo, 0.0)), wide.hi)


def real_power(a: Interval, exponent: Interval) -> Interval:
    """``a^exponent`` on the part of ``a`` that is not negative: monotone in both, so extreme at a corner."""
    base = Interval(np.maximum(a.lo, 0.0), np.maximum(a.hi, 0.0))
    corners = [np.power(x, y) for x in base for y in exponent]
    wide = outward(np.minimum.reduce(corners), np.maximum.reduce(corners), 8)
    return Interval(np.maximum(wide.lo, 0.0), wide.hi)


def square_root(a: Interval) -> Interval:
    wide = outward(np.sqrt(np.maximum(a.lo, 0.0)), np.sqrt(np.maximum(a.hi, 0.0)))
    return Interval(np.maximum(wide.lo, 0.0), wide.hi)


def exponential(a: Interval) -> Interval:
    wide = outward(np.exp(a.lo), np.exp(a.hi), 8)
    return Interval(np.maximum(wide.lo, 0.0), wide.hi)


def logarithm(a: Interval) -> Interval:
    """``log(a)`` on the positive part of ``a``."""
    return outward(np.log(np.maximum(a.lo, 0.0)), np.log(np.maximum(a.hi, 0.0)), 8)


def log_ratio(a: Interval) -> Interval:
    """``log(1+a)/a``, continued by 1 at 0: it falls all the way, also through 0 where the quotient loses all digits."""
    return outward(_log_ratio(a.hi), _log_ratio(a.lo), 16)


def log_ratio_slope(a: Interval) -> Interval:
    """The derivative of ``log_ratio``: negative and rising."""
    wide = outward(_log_ratio_slope(a.lo), _log_ratio_slope(a.hi), 256)
    return Interval(wide.lo, np.minimum(wide.hi, 0.0))


def _log_ratio(x: Array) -> Array:
    return np.where(x == np.inf, 0.0, Floats.log_ratio(np.maximum(x, -1.0)))


def _log_ratio_slope(x: Array) -> Array:
    x = np.maximum(x, -1.0)
    small = np.abs(x) < 0.05
    safe = np.where(small, 1.0, x)
    exact = (1.0 / (1.0 + safe) - np.log1p(safe) / safe) / safe
    # The series of -sum_k (-x)^k (k+1)/(k+2); 0.05^14 is below a unit in the last place.
    near = np.where(small, x, 0.0)
    series = np.zeros_like(near)
    for k in reversed(range(16)):
        series = series * -near - (k + 1) / (k + 2)
    return np.where(x == np.inf, 0.0, np.where(small, series, exact))


def largest(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval that contains both."""
    return Interval(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def intersect(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def choose(where: Array, a: Interval, b: Interval) -> Interval:
    return Interval(np.where(where, a.lo, b.lo), np.where(where, a.hi, b.hi))


def monotone_step(function: Callable[[Array], Array], a: Interval) -> Interval:
    """A rising step function such as the ceiling; exact."""
    return Interval(function(a.lo), function(a.hi))


def axis_sum(a: Interval) -> Interval:
    """The sum over the last axis, which stays with length one."""
    count = a.lo.shape[-1]
    lo, hi = a.lo.sum(axis=-1, keepdims=True), a.hi.sum(axis=-1, keepdims=True)
    if count == 1:
        return a
    slack = 1.01 * count * EPS
    low = lo - (slack * np.abs(a.lo).sum(axis=-1, keepdims=True) + TINY)
    high = hi + (slack * np.abs(a.hi).sum(axis=-1, keepdims=True) + TINY)
    none = (a.lo == 0).all(axis=-1, keepdims=True), (a.hi == 0).all(axis=-1, keepdims=True)
    low = np.where(np.isnan(low), -np.inf, np.where((a.lo >= 0).all(axis=-1, keepdims=True), np.maximum(low, 0.0), low))
    high = np.where(np.isnan(high), np.inf, high)
    return Interval(np.where(none[0], 0.0, low), np.where(none[1], 0.0, high))


def axis_max(a: Interval) -> Interval:
    return Interval(a.lo.max(axis=-1, keepdims=True), a.hi.max(axis=-1, keepdims=True))
