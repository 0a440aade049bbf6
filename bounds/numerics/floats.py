"""Operations on NumPy arrays or torch tensors in plain floating point.

In NumPy the axis that reductions run over comes first: points then lie next to each other in memory, and NumPy runs
along many points instead of along a handful of clients.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
MARGIN = 2.0**-48
"""Sides of a comparison that are nearer than this, relatively, count as equal where no ball decides:
in compiled functions, which run on plain floats as torch and the page do, and in searches for strict conditions."""
FORGIVEN = {"<=": MARGIN, "<": -MARGIN, ">=": -MARGIN, ">": MARGIN}


class Floats:
    """Operations of ``library`` on arrays with ``width`` entries along ``axis``, or one if all are equal.

    Comparisons and roundings treat numbers as equal that rounding alone may keep apart.
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
        """``(1+x)^n`` without losing the digits of a small ``x``, with a slope where there is one."""
        of_logs = self.exponential(exponent * self.library.log1p(self.library.where(x > -1, x, 0.0)))
        return self.library.where(x > -1, of_logs, self.power(1 + x, exponent))

    def log_ratio(self, x: Any) -> Any:
        """``log(1+x)/x``, continued by 1 at 0."""
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
        """Sides that are ``given`` are compared as they are."""
        if given:
            return COMPARISONS[relation](left, right)
        if self.library is np and relation in FORGIVEN:
            low, high = (np.min(right), np.max(right)) if type(right) is np.ndarray else (right, right)
            if 0 <= low <= high < np.inf:  # as most are: fewer passes over the memory
                return COMPARISONS[relation](left, right * (1 + FORGIVEN[relation]))
        if relation in ("==", "!="):
            same = abs(left - right) <= MARGIN * abs(right)
            return same if relation == "==" else ~same
        margin = MARGIN * abs(right) if relation in ("<=", ">") else -MARGIN * abs(right)
        return COMPARISONS[relation](left - right, margin) & (abs(right) < np.inf)  # nothing is compared with a pole

    def pieces(self, *parts: Any) -> Any:
        """The value of the first condition that holds, NaN where none does."""
        count = len(parts) // 2
        result: Any = np.nan
        for condition, value in reversed(list(zip(parts[:count], parts[count:], strict=True))):
            result = self.library.where(condition, value, result)
        return result
