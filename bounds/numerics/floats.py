"""Operations on NumPy arrays or torch tensors in plain floating point.

With NumPy, the axis of reductions comes first: points are then adjacent in memory, and inner loops run over many points
instead of over a few clients.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
MARGIN = 2.0**-48
"""The relative distance below which both sides of a comparison count as equal if no ball arithmetic decides it: in
compiled functions, on the web page, and in searches for strict conditions."""
FORGIVEN = {"<=": MARGIN, "<": -MARGIN, ">=": -MARGIN, ">": MARGIN}


class Floats:
    """Operations of ``library`` on arrays with ``width`` entries along ``axis``, or one entry if all are equal.

    Comparisons and roundings treat numbers as equal if they may differ by rounding only.
    """

    def __init__(self, width: int = 1, library: Any = np, axis: int = 0) -> None:
        self.width, self.library, self.axis = width, library, axis
        self.divide, self.square_root, self.absolute = library.divide, library.sqrt, library.abs
        self.power = library.power if library is np else library.pow
        self.exponential, self.logarithm = library.exp, library.log
        self.maximum, self.minimum = library.maximum, library.minimum
        self.both, self.either, self.negated = library.logical_and, library.logical_or, library.logical_not

    add: Any = operator.add
    subtract: Any = operator.sub
    multiply: Any = operator.mul

    def number(self, value: sp.Expr, near: float) -> Any:
        return near if self.library is np else self.library.asarray(near, dtype=self.library.float64)

    def truth(self, value: bool) -> Any:
        return self.library.asarray(value)

    def whole_power(self, base: Any, exponent: int) -> Any:
        if exponent <= 4:  # NumPy's power is many times slower than a multiplication
            square = base * base
            return square if exponent == 2 else square * base if exponent == 3 else square * square
        return self.power(base, exponent)

    def growth(self, x: Any, exponent: Any) -> Any:
        """Return ``(1+x)^n`` without loss of precision for a small ``x``, differentiable where it is smooth."""
        of_logs = self.exponential(exponent * self.library.log1p(self.library.where(x > -1, x, 0.0)))
        return self.library.where(x > -1, of_logs, self.power(1 + x, exponent))

    def log_ratio(self, x: Any) -> Any:
        """Return ``log(1+x)/x``, and 1 at 0."""
        where, zero = self.library.where, x == 0
        return where(zero, 1.0, self.library.log1p(x) / where(zero, 1.0, x))

    def total(self, x: Any) -> Any:
        many = np.ndim(x) and x.shape[self.axis] > 1
        return self.library.sum(x, axis=self.axis, keepdims=True) if many else x * self.width

    def largest(self, x: Any) -> Any:
        return self.library.amax(x, axis=self.axis, keepdims=True) if np.ndim(x) else x

    def ceiling(self, x: Any) -> Any:
        return self.library.ceil(x - MARGIN * abs(x))

    def floor(self, x: Any) -> Any:
        return self.library.floor(x + MARGIN * abs(x))

    def compare(self, left: Any, right: Any, relation: str, given: bool) -> Any:
        """Compare two sides; if both are ``given``, not computed, without tolerance."""
        if given:
            return COMPARISONS[relation](left, right)
        if self.library is np and relation in FORGIVEN:
            low, high = (np.min(right), np.max(right)) if type(right) is np.ndarray else (right, right)
            if 0 <= low <= high < np.inf:  # the usual case, with fewer passes over the memory
                return COMPARISONS[relation](left, right * (1 + FORGIVEN[relation]))
        if relation in ("==", "!="):
            same = abs(left - right) <= MARGIN * abs(right)
            return same if relation == "==" else ~same
        margin = MARGIN * abs(right) if relation in ("<=", ">") else -MARGIN * abs(right)
        return COMPARISONS[relation](left - right, margin) & (abs(right) < np.inf)  # false at a pole

    def pieces(self, *parts: Any) -> Any:
        """Return the value of the first condition that holds, NaN if none does."""
        count = len(parts) // 2
        result: Any = np.nan
        for condition, value in reversed(list(zip(parts[:count], parts[count:], strict=True))):
            result = self.library.where(condition, value, result)
        return result
