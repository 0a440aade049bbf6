"""Floats with a bound on their relative error: which of the numbers that plain floating point gives can be trusted?

``Approximate.value`` holds exactly what ``Floats`` computes; ``error`` bounds, to first order, by how much it may
differ from the formula's own value, relatively: one number for a whole array where nothing cancels in it, infinite
where nothing is known (a number over- or underflowed on the way, a comparison is too near to call).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from .floats import COMPARISONS, Floats

ROUNDING = 1.25 * 2.0**-53
"""An upper bound on the relative error of one operation; an exponential, logarithm or power counts as two to four."""
WHOLE = 2.0**53
TINY, HUGE = float(np.finfo(float).tiny), float(np.finfo(float).max)


class Approximate:
    """An array and a bound on the relative error of its entries, an array or one number for all."""

    __slots__ = ("_ends", "error", "value")

    def __init__(self, value: Any, error: Any = 0.0) -> None:
        self.value, self.error = value, error
        self._ends: tuple[float, float] | None = (value, value) if isinstance(value, float) else None

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest entry; NaN if one of them is."""
        if self._ends is None:
            value = np.asarray(self.value)
            self._ends = float(np.minimum.reduce(value, axis=None)), float(np.maximum.reduce(value, axis=None))
        return self._ends

    @property
    def sign(self) -> int:
        """1 or -1 where no entry is of the other sign, else 0."""
        low, high = self.ends
        return 1 if low >= 0 else -1 if high <= 0 else 0

    @property
    def size(self) -> float:
        """The largest absolute value."""
        low, high = self.ends
        return max(-low, high)

    @property
    def worst(self) -> float:
        """The largest error."""
        return self.error if isinstance(self.error, float) else float(np.max(self.error))


class Truth:
    """Where something holds, and where that is open."""

    __slots__ = ("holds", "open")

    def __init__(self, holds: Any, open_: Any = False) -> None:
        self.holds, self.open = holds, open_


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, float) and isinstance(b, float) else np.maximum(a, b)


def _checked(value: Any, error: Any, *operands: Approximate, undefined: Any = False) -> Approximate:
    """The result of an operation; nothing is known where it left the range of floats, or has no value though its
    operands are ordinary, unless it is surely ``undefined``."""
    found = Approximate(value, error)
    low, high = found.ends
    if not (TINY <= low <= high <= HUGE or -HUGE <= low <= high <= -TINY):
        strange = ~((np.abs(value) >= TINY) & np.isfinite(value)) & ~np.asarray(undefined)
        for operand in operands:
            strange &= np.isfinite(operand.value) & (operand.value != 0)
        if np.any(strange):
            found.error = np.where(strange, np.inf, error)
    return found


def _whole(found: Approximate, *operands: Approximate) -> Approximate:
    """Numbers without error are whole, and so are their sums and products, as far as floats hold whole numbers."""
    if not any(operand.worst for operand in operands) and found.size <= WHOLE:
        found.error = 0.0
    return found


class Approximations:
    """Operations on ``Approximate`` numbers; comparisons that are too near to call are left open."""

    def __init__(self, width: int = 1) -> None:
        self.width, self.floats = width, Floats(width)

    def number(self, value: sp.Expr, near: float) -> Approximate:
        return Approximate(near, 0.0 if value.is_Integer and int(value) == near else ROUNDING)

    def truth(self, value: bool) -> Truth:
        return Truth(np.bool_(value))

    # ---- arithmetic ----

    def add(self, a: Approximate, b: Approximate) -> Approximate:
        return _whole(self._sum(a, b, a.value + b.value, a.sign * b.sign > 0), a, b)

    def subtract(self, a: Approximate, b: Approximate) -> Approximate:
        return _whole(self._sum(a, b, a.value - b.value, a.sign * b.sign < 0), a, b)

    def _sum(self, a: Approximate, b: Approximate, value: Any, same_sign: bool) -> Approximate:
        if same_sign:
            found = Approximate(value, _larger(a.error, b.error) + ROUNDING)
            return found if found.ends[1] <= HUGE and found.ends[0] >= -HUGE else _checked(value, found.error, a, b)
        lost = np.abs(a.value) * a.error + np.abs(b.value) * b.error
        error = np.where(lost == 0, 0.0, lost / np.abs(value)) + ROUNDING
        strange = ~np.isfinite(value) & np.isfinite(a.value) & np.isfinite(b.value)
        return Approximate(value, np.where(strange, np.inf, error))

    def multiply(self, a: Approximate, b: Approximate) -> Approximate:
        return _whole(_checked(a.value * b.value, a.error + b.error + ROUNDING, a, b), a, b)

    def divide(self, a: Approximate, b: Approximate) -> Approximate:
        return _checked(self.floats.divide(a.value, b.value), a.error + b.error + ROUNDING, a, b)

    def whole_power(self, base: Approximate, exponent: int) -> Approximate:
        error = exponent * base.error + 2 * ROUNDING
        return _whole(_checked(self.floats.whole_power(base.value, exponent), error, base), base)

    def square_root(self, x: Approximate) -> Approximate:
        return _checked(self.floats.square_root(x.value), x.error / 2 + ROUNDING, x, undefined=x.value < 0)

    def power(self, base: Approximate, exponent: Approximate) -> Approximate:
        error = exponent.size * base.error + 4 * ROUNDING
        if exponent.worst:
            error = error + exponent.error * np.abs(exponent.value * np.log(np.abs(base.value)))
        value = self.floats.power(base.value, exponent.value)
        return _checked(value, error, base, exponent, undefined=np.isnan(value) & (base.value < 0))

    def growth(self, x: Approximate, exponent: Approximate) -> Approximate:
        value = self.floats.growth(x.value, exponent.value)
        log = np.abs(exponent.value * np.log1p(np.maximum(x.value, -1.0)))
        steep = np.abs(exponent.value * x.value / (1 + x.value))
        error = steep * x.error + log * (exponent.error + 2 * ROUNDING) + 4 * ROUNDING
        return _checked(value, np.where(x.value > -1, error, np.inf), x, exponent)

    def exponential(self, x: Approximate) -> Approximate:
        error = (x.size * x.error if x.worst else 0.0) + 2 * ROUNDING
        found = Approximate(self.floats.exponential(x.value), error)
        if not TINY <= found.ends[0] <= found.ends[1] <= HUGE:
            sound = (found.value >= TINY) & (found.value <= HUGE) | ~np.isfinite(x.value)
            found.error = np.where(sound, error, np.inf)
        return found

    def logarithm(self, x: Approximate) -> Approximate:
        value = self.floats.logarithm(x.value)
        error = np.where(value == 0, np.where(np.asarray(x.error) == 0, 0.0, np.inf), x.error / np.abs(value))
        return Approximate(value, np.where(x.value <= 0, x.error, error) + 2 * ROUNDING)

    def log_ratio(self, x: Approximate) -> Approximate:
        value = self.floats.log_ratio(x.value)
        steep = 1.0 if x.ends[0] >= -0.5 else 1 / np.abs(1 + np.minimum(x.value, 0.0))
        return Approximate(value, np.where(x.value > -1, steep * x.error, x.error) + 4 * ROUNDING)

    def absolute(self, x: Approximate) -> Approximate:
        return Approximate(self.floats.absolute(x.value), x.error)

    def maximum(self, a: Approximate, b: Approximate) -> Approximate:
        return Approximate(self.floats.maximum(a.value, b.value), _larger(a.error, b.error))

    def minimum(self, a: Approximate, b: Approximate) -> Approximate:
        return Approximate(self.floats.minimum(a.value, b.value), _larger(a.error, b.error))

    def total(self, x: Approximate) -> Approximate:
        value = self.floats.total(x.value)
        if x.sign:
            error = np.max(x.error, axis=0, keepdims=True) if np.ndim(x.error) else x.error
        else:
            lost = self.floats.total(np.abs(x.value) * (x.error + self.width * ROUNDING))
            error = np.where(lost == 0, 0.0, lost / np.abs(value))
        overflown = ~np.isfinite(value) & np.isfinite(self.floats.largest(np.abs(x.value)))
        return Approximate(value, np.where(overflown, np.inf, error + self.width * ROUNDING))

    def largest(self, x: Approximate) -> Approximate:
        error = np.max(x.error, axis=0, keepdims=True) if np.ndim(x.error) else x.error
        return Approximate(self.floats.largest(x.value), error)

    # ---- jumps ----

    def ceiling(self, x: Approximate) -> Approximate:
        return self._rounded(x, self.floats.ceiling(x.value))

    def floor(self, x: Approximate) -> Approximate:
        return self._rounded(x, self.floats.floor(x.value))

    def _rounded(self, x: Approximate, value: Any) -> Approximate:
        whole = np.rint(x.value)
        near = np.isfinite(x.value) & (np.abs(x.value - whole) <= x.error * np.abs(x.value)) & (x.worst > 0)
        return Approximate(value, np.where(near | ~np.isfinite(x.error), np.inf, 0.0))

    def compare(self, a: Approximate, b: Approximate, relation: str, given: bool) -> Truth:
        """No comparison with a pole or an undefined number is met."""
        holds = COMPARISONS[relation](a.value, b.value)
        if not (min(a.ends[0], b.ends[0]) >= -HUGE and max(a.ends[1], b.ends[1]) <= HUGE):
            holds = holds & np.isfinite(a.value) & np.isfinite(b.value)
        return Truth(holds, not given and self._near(a, b))

    @staticmethod
    def _near(a: Approximate, b: Approximate) -> Any:
        """Where errors may have turned a comparison round."""
        if not a.worst and not b.worst:
            return False
        most = a.size * a.worst + b.size * b.worst
        if max(a.ends[0] - b.ends[1], b.ends[0] - a.ends[1]) > most:
            return False
        uncertainty = np.abs(a.value) * a.error + np.abs(b.value) * b.error
        near = ~(np.abs(a.value - b.value) > uncertainty)
        poles = ~(np.isfinite(a.value) & np.isfinite(b.value)) & np.isfinite(a.error) & np.isfinite(b.error)
        return near & ~poles

    @staticmethod
    def negated(a: Truth) -> Truth:
        return Truth(np.logical_not(a.holds), a.open)

    @staticmethod
    def both(a: Truth, b: Truth) -> Truth:
        return Truth(np.logical_and(a.holds, b.holds), np.logical_or(a.open, b.open))

    @staticmethod
    def either(a: Truth, b: Truth) -> Truth:
        return Truth(np.logical_or(a.holds, b.holds), np.logical_or(a.open, b.open))

    def pieces(self, *parts: Any) -> Approximate:
        count = len(parts) // 2
        conditions, values = parts[:count], parts[count:]
        chosen = [condition.holds for condition in conditions]
        value = self.floats.pieces(*chosen, *(v.value for v in values))
        error = self.floats.pieces(*chosen, *(v.error for v in values))
        open_ = np.logical_or.reduce(np.broadcast_arrays(*(c.open for c in conditions)))
        return Approximate(value, np.where(np.isnan(error), 0.0, np.where(open_, np.inf, error)))
