"""Weights of a mean over the rounds or iterations of a run.

Entry t = 0, 1, ... has a weight proportional to ``growth**t * (offset + t)**power``. The statistic says what the
entries are, such as the models before every round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TYPE_CHECKING

from .errors import DeclarationError

if TYPE_CHECKING:  # training uses numeric weights, and importing SymPy takes longer than a short run
    import sympy as sp


@dataclass(frozen=True)
class Weights:
    """Weights that are geometric, polynomial, or a product of both; the default weights are equal.

    The parts are dimensionless numbers or expressions of the bound's quantities (not of its abbreviations); ``growth``
    and ``offset`` are positive.

    >>> Weights(growth=2).shares(3)
    [0.14285714285714285, 0.2857142857142857, 0.5714285714285714]
    """

    growth: Any = 1
    offset: Any = 1
    power: Any = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if _symbolic(value):
                continue
            if isinstance(value, (str, bool)) or not hasattr(value, "__pow__") or not math.isfinite(value):
                raise DeclarationError(f"the {name} of weights must be a number or an expression; got {value!r}")
            if name != "power" and not value > 0:
                raise DeclarationError(f"the {name} of weights must be positive; got {value}")

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the quantities in its parts, sorted."""
        return tuple(sorted({q.name for x in vars(self).values() if _symbolic(x) for q in x.free_symbols}))

    def at(self, value: Callable[[sp.Basic], Any]) -> Weights:
        """Return the same weights as numbers; ``value`` evaluates an expression."""
        numbers = {n: value(x) for n, x in vars(self).items() if _symbolic(x)}
        return replace(self, **numbers) if numbers else self

    def growth_at(self, t: int) -> Any:
        """Return the weight of entry t = 1, 2, ... divided by that of entry t - 1, as a running mean needs it."""
        return self.growth * ((self.offset + t) / (self.offset + t - 1)) ** self.power

    def shares(self, count: int) -> list[Any]:
        """Return the weights of ``count`` entries, which sum to 1, in the number type of the parts."""
        last = count - 1 if self.growth > 1 else 0  # so that no power overflows
        raw = [self.growth ** (t - last) * (self.offset + t) ** self.power for t in range(count)]
        total = sum(raw)
        return [each / total for each in raw]

    def __str__(self) -> str:
        parts = []
        if self.growth != 1:
            parts.append(f"({self.growth})^t")
        if self.power != 0:
            parts.append(f"({self.offset} + t)^{self.power}")
        return " ".join(parts) or "1"


def _symbolic(value: Any) -> bool:
    """Whether this is an expression and not a number."""
    return hasattr(value, "free_symbols")
