"""Operations on NumPy arrays in plain floating point, and on torch tensors.

The axis that reductions run over comes first here: points then lie next to each other in memory, and NumPy runs along
many points instead of along a handful of clients.
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
    """Operations on arrays whose first axis has ``width`` entries, or one if all are equal.

    Comparisons and roundings treat numbers as equal that rounding alone may keep apart.
    """

    def __init__(self, width: int = 1) -> None:
        self.width = width

    def number(self, value: sp.Expr, near: float) -> Any:
        return near

    def truth(self, value: bool) -> Any:
        return np.bool_(value)

    add: Any = operator.add
    subtract: Any = operator.sub
    multiply: Any = operator.mul
    divide: Any = np.divide
    power: Any = np.power
    square_root: Any = np.sqrt
    exponential: Any = np.exp
    logarithm: Any = np.log
    absolute: Any = np.abs
    maximum: Any = np.maximum
    minimum: Any = np.minimum
    both: Any = np.logical_and
    either: Any = np.logical_or
    negated: Any = np.logical_not

    @staticmethod
    def whole_power(base: Any, exponent: int) -> Any:
        if exponent <= 4:  # NumPy's power is many times slower than a multiplication
            square = base * base
            return square if exponent == 2 else square * base if exponent == 3 else square * square
        return np.power(base, exponent)

    @staticmethod
    def growth(x: Any, exponent: Any) -> Any:
        """``(1+x)^n`` without losing the digits of a small ``x``."""
        with np.errstate(all="ignore"):
            return np.where(x > -1, np.exp(exponent * np.log1p(x)), np.power(1 + x, exponent))

    @staticmethod
    def log_ratio(x: Any) -> Any:
        """``log(1+x)/x``, continued by 1 at 0."""
        zero = x == 0
        return np.where(zero, 1.0, np.log1p(x) / np.where(zero, 1.0, x))

    def total(self, x: Any) -> Any:
        return np.sum(x, axis=0, keepdims=True) if np.ndim(x) and len(x) > 1 else x * self.width

    def largest(self, x: Any) -> Any:
        return np.max(x, axis=0, keepdims=True) if np.ndim(x) else x

    @staticmethod
    def ceiling(x: Any) -> Any:
        return np.ceil(x - MARGIN * np.abs(x))

    @staticmethod
    def floor(x: Any) -> Any:
        return np.floor(x + MARGIN * np.abs(x))

    def compare(self, left: Any, right: Any, relation: str, given: bool) -> Any:
        """Sides that are ``given`` are compared as they are."""
        if given:
            return COMPARISONS[relation](left, right)
        plain = type(right) is np.ndarray and relation in FORGIVEN
        if plain and 0 <= np.min(right) <= np.max(right) < np.inf:  # as most are: fewer passes over the memory
            return COMPARISONS[relation](left, right * (1 + FORGIVEN[relation]))
        if relation in ("==", "!="):
            same = abs(left - right) <= MARGIN * abs(right)
            return same if relation == "==" else ~same
        margin = MARGIN * abs(right) if relation in ("<=", ">") else -MARGIN * abs(right)
        return COMPARISONS[relation](left - right, margin) & (abs(right) < np.inf)  # nothing is compared with a pole

    @staticmethod
    def pieces(*parts: Any) -> Any:
        """The value of the first condition that holds, NaN where none does."""
        count = len(parts) // 2
        result: Any = np.nan
        for condition, value in reversed(list(zip(parts[:count], parts[count:], strict=True))):
            result = np.where(condition, value, result)
        return result


def tensors(width: int) -> Any:
    """The same operations on torch tensors, with the axis of reductions last."""
    import torch

    def lifted(function: Callable[..., Any]) -> Any:
        return staticmethod(lambda *args: function(*(torch.as_tensor(a, dtype=torch.float64) for a in args)))

    def ratio_of_log(x: Any) -> Any:
        return torch.where(x == 0, 1.0, torch.log1p(x) / torch.where(x == 0, 1.0, x))

    def grown(x: Any, exponent: Any) -> Any:
        near = torch.exp(exponent * torch.log1p(torch.where(x > -1, x, 0.0)))
        return torch.where(x > -1, near, (1 + x) ** exponent)

    class Tensors(Floats):
        divide = lifted(torch.divide)
        power = lifted(torch.pow)
        square_root = lifted(torch.sqrt)
        exponential = lifted(torch.exp)
        logarithm = lifted(torch.log)
        absolute = lifted(torch.abs)
        ceiling = lifted(torch.ceil)
        floor = lifted(torch.floor)
        maximum = lifted(torch.maximum)
        minimum = lifted(torch.minimum)
        whole_power = lifted(torch.pow)
        growth = lifted(grown)
        log_ratio = lifted(ratio_of_log)
        both = torch.logical_and
        either = torch.logical_or
        negated = torch.logical_not

        def truth(self, value: bool) -> Any:
            return torch.as_tensor(value)

        def total(self, x: Any) -> Any:
            x = torch.as_tensor(x, dtype=torch.float64)
            return torch.sum(x, dim=-1, keepdim=True) if x.ndim and x.shape[-1] > 1 else x * self.width

        def largest(self, x: Any) -> Any:
            x = torch.as_tensor(x, dtype=torch.float64)
            return torch.amax(x, dim=-1, keepdim=True) if x.ndim else x

        @staticmethod
        def pieces(*parts: Any) -> Any:
            count = len(parts) // 2
            result: Any = torch.nan
            for condition, value in reversed(list(zip(parts[:count], parts[count:], strict=True))):
                result = torch.where(torch.as_tensor(condition), value, result)
            return result

    return Tensors(width)
