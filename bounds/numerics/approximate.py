"""Floats with bounds on their relative errors, which show where the results of plain floating point can be trusted.

``Approximate.value`` is exactly what ``Floats`` computes. ``error`` bounds, to first order, its relative difference
from the exact value of the formula: one number for the whole array if nothing cancels in it, infinite where nothing is
known because a number over- or underflowed or a comparison is too close to decide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from .floats import COMPARISONS, Floats

ROUNDING = 1.25 * 2.0**-53
"""An upper bound on the relative error of one operation. An exponential, logarithm or power counts as two to four."""
WHOLE = 2.0**53
TINY, HUGE = float(np.finfo(float).tiny), float(np.finfo(float).max)


class Approximate:
    """An array with a bound on the relative error of its entries: an array, or one number for all."""

    __slots__ = ("_ends", "error", "value")

    def __init__(self, value: Any, error: Any = 0.0) -> None:
        self.value, self.error = value, error
        self._ends: tuple[float, float] | None = (value, value) if isinstance(value, float) else None

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest entry; NaN if there is a NaN."""
        if self._ends is None:
            value = np.asarray(self.value)
            self._ends = float(np.minimum.reduce(value, axis=None)), float(np.maximum.reduce(value, axis=None))
        return self._ends

    @property
    def size(self) -> float:
        """The largest absolute value."""
        low, high = self.ends
        return max(-low, high)

    @property
    def worst(self) -> float:
        """The largest error."""
        return self.error if isinstance(self.error, float) else float(np.max(self.error))

    def of_one_sign_with(self, other: Approximate, minus: bool = False) -> bool:
        """Whether all entries of both arrays have one sign; with ``minus``, the other array is negated first."""
        (low, high), (least, most) = self.ends, other.ends
        least, most = (-most, -least) if minus else (least, most)
        return (low >= 0 and least >= 0) or (high <= 0 and most <= 0)


class Truth(NamedTuple):
    """Where a relation holds, and where this is undecided (``open``)."""

    holds: Any
    open: Any = False


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, float) and isinstance(b, float) else np.maximum(a, b)


class Approximations:
    """Operations on ``Approximate`` numbers. Comparisons that are too close to decide are marked as open."""

    def __init__(self, width: int = 1) -> None:
        self.width, self.floats = width, Floats(width)

    def number(self, value: sp.Expr, near: float) -> Approximate:
        return Approximate(near, 0.0 if value.is_Integer and int(value) == near else ROUNDING)

    def truth(self, value: bool) -> Truth:
        return Truth(np.bool_(value))

    # ---- arithmetic ----

    def _of(self, value: Any, error: Any, *operands: Approximate, undefined: Any = False) -> Approximate:
        """Return the result of an operation with its error.

        The error is infinite where the value is infinite, NaN or subnormal although the operands are finite and not
        zero, unless the operation is certainly ``undefined`` there.
        """
        result = Approximate(value, error)
        low, high = result.ends
        if not (TINY <= low <= high <= HUGE or -HUGE <= low <= high <= -TINY):
            strange = ~((np.abs(value) >= TINY) & np.isfinite(value)) & ~np.asarray(undefined)
            for operand in operands:
                strange &= np.isfinite(operand.value) & (operand.value != 0)
            if np.any(strange):
                result.error = np.where(strange, np.inf, error)
        return result

    def _whole(self, result: Approximate, *operands: Approximate) -> Approximate:
        """Set the error to zero if the operands have none: these are integers, and the result is an exact integer."""
        if not any(operand.worst for operand in operands) and result.size <= WHOLE:
            result.error = 0.0
        return result

    def add(self, a: Approximate, b: Approximate) -> Approximate:
        return self._sum(a, b, a.value + b.value, a.of_one_sign_with(b))

    def subtract(self, a: Approximate, b: Approximate) -> Approximate:
        return self._sum(a, b, a.value - b.value, a.of_one_sign_with(b, minus=True))

    def _sum(self, a: Approximate, b: Approximate, value: Any, same_sign: bool) -> Approximate:
        if same_sign:
            error = _larger(a.error, b.error)
        else:
            lost = np.abs(a.value) * a.error + np.abs(b.value) * b.error
            error = np.where(lost == 0, 0.0, lost / np.abs(value))
        result = Approximate(value, error + ROUNDING)
        if not result.size <= HUGE:
            strange = ~np.isfinite(value) & np.isfinite(a.value) & np.isfinite(b.value)
            result.error = np.where(strange, np.inf, result.error)
        return self._whole(result, a, b)

    def multiply(self, a: Approximate, b: Approximate) -> Approximate:
        return self._whole(self._of(a.value * b.value, a.error + b.error + ROUNDING, a, b), a, b)

    def divide(self, a: Approximate, b: Approximate) -> Approximate:
        return self._of(self.floats.divide(a.value, b.value), a.error + b.error + ROUNDING, a, b)

    def whole_power(self, base: Approximate, exponent: int) -> Approximate:
        value = self.floats.whole_power(base.value, exponent)
        return self._whole(self._of(value, exponent * base.error + 2 * ROUNDING, base), base)

    def square_root(self, x: Approximate) -> Approximate:
        return self._of(self.floats.square_root(x.value), x.error / 2 + ROUNDING, x, undefined=x.value < 0)

    def power(self, base: Approximate, exponent: Approximate) -> Approximate:
        error = exponent.size * base.error + 4 * ROUNDING
        if exponent.worst:
            error = error + exponent.error * np.abs(exponent.value * np.log(np.abs(base.value)))
        value = self.floats.power(base.value, exponent.value)
        return self._of(value, error, base, exponent, undefined=np.isnan(value) & (base.value < 0))

    def growth(self, x: Approximate, exponent: Approximate) -> Approximate:
        log = np.abs(exponent.value * np.log1p(np.maximum(x.value, -1.0)))
        steep = np.abs(exponent.value * x.value / (1 + x.value))
        error = steep * x.error + log * (exponent.error + 2 * ROUNDING) + 4 * ROUNDING
        return self._of(self.floats.growth(x.value, exponent.value), np.where(x.value > -1, error, np.inf), x, exponent)

    def exponential(self, x: Approximate) -> Approximate:
        error = (x.size * x.error if x.worst else 0.0) + 2 * ROUNDING
        return self._of(self.floats.exponential(x.value), error, x)

    def logarithm(self, x: Approximate) -> Approximate:
        value = self.floats.logarithm(x.value)
        error = np.where(value == 0, np.where(np.asarray(x.error) == 0, 0.0, np.inf), x.error / np.abs(value))
        return Approximate(value, np.where(x.value <= 0, x.error, error) + 2 * ROUNDING)

    def log_ratio(self, x: Approximate) -> Approximate:
        steep = 1.0 if x.ends[0] >= -0.5 else 1 / np.abs(1 + np.minimum(x.value, 0.0))
        error = np.where(x.value > -1, steep * x.error, x.error) + 4 * ROUNDING
        return Approximate(self.floats.log_ratio(x.value), error)

    def absolute(self, x: Approximate) -> Approximate:
        return Approximate(self.floats.absolute(x.value), x.error)

    def maximum(self, a: Approximate, b: Approximate) -> Approximate:
        return Approximate(self.floats.maximum(a.value, b.value), _larger(a.error, b.error))

    def minimum(self, a: Approximate, b: Approximate) -> Approximate:
        return Approximate(self.floats.minimum(a.value, b.value), _larger(a.error, b.error))

    def total(self, x: Approximate) -> Approximate:
        value = self.floats.total(x.value)
        if x.of_one_sign_with(x):
            error = self.floats.largest(x.error)
        else:
            lost = self.floats.total(np.abs(x.value) * (x.error + self.width * ROUNDING))
            error = np.where(lost == 0, 0.0, lost / np.abs(value))
        overflown = ~np.isfinite(value) & np.isfinite(self.floats.largest(np.abs(x.value)))
        return Approximate(value, np.where(overflown, np.inf, error + self.width * ROUNDING))

    def largest(self, x: Approximate) -> Approximate:
        return Approximate(self.floats.largest(x.value), self.floats.largest(x.error))

    # ---- jumps ----

    def ceiling(self, x: Approximate) -> Approximate:
        return self._rounded(x, self.floats.ceiling(x.value))

    def floor(self, x: Approximate) -> Approximate:
        return self._rounded(x, self.floats.floor(x.value))

    def _rounded(self, x: Approximate, value: Any) -> Approximate:
        gap = np.abs(x.value - np.rint(x.value))
        near = np.isfinite(x.value) & (gap <= x.error * np.abs(x.value)) & (x.worst > 0)
        return Approximate(value, np.where(near | ~np.isfinite(x.error), np.inf, 0.0))

    def compare(self, a: Approximate, b: Approximate, relation: str, given: bool) -> Truth:
        """Compare two sides; no relation holds if a side is infinite or NaN."""
        holds = COMPARISONS[relation](a.value, b.value)
        if not (min(a.ends[0], b.ends[0]) >= -HUGE and max(a.ends[1], b.ends[1]) <= HUGE):
            holds = holds & np.isfinite(a.value) & np.isfinite(b.value)
        apart = max(a.ends[0] - b.ends[1], b.ends[0] - a.ends[1]) > a.size * a.worst + b.size * b.worst
        if given or apart or not (a.worst or b.worst):
            return Truth(holds)
        uncertainty = np.abs(a.value) * a.error + np.abs(b.value) * b.error
        poles = ~(np.isfinite(a.value) & np.isfinite(b.value)) & np.isfinite(a.error) & np.isfinite(b.error)
        return Truth(holds, ~(np.abs(a.value - b.value) > uncertainty) & ~poles)

    def negated(self, a: Truth) -> Truth:
        return Truth(np.logical_not(a.holds), a.open)

    def both(self, a: Truth, b: Truth) -> Truth:
        return Truth(np.logical_and(a.holds, b.holds), np.logical_or(a.open, b.open))

    def either(self, a: Truth, b: Truth) -> Truth:
        return Truth(np.logical_or(a.holds, b.holds), np.logical_or(a.open, b.open))

    def pieces(self, *parts: Any) -> Approximate:
        """Return the value of the first condition that holds; the error is infinite where a condition is open."""
        conditions, values = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        chosen = [condition.holds for condition in conditions]
        value = self.floats.pieces(*chosen, *(v.value for v in values))
        error = self.floats.pieces(*chosen, *(v.error for v in values))
        open_ = np.logical_or.reduce(np.broadcast_arrays(*(c.open for c in conditions)))
        return Approximate(value, np.where(np.isnan(error), 0.0, np.where(open_, np.inf, error)))
