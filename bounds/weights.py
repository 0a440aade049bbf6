"""Weights of a mean over a run: how much each round or iteration counts, as data of the statistic that is bounded.

Entry t = 0, 1, ... counts in proportion to ``growth**t * (offset + t)**power``. Which entries there are (the models
before every round, those after every local step) is what the statistic says; a factor that all weights share, such as a
first exponent, cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TYPE_CHECKING

from .errors import DeclarationError

if TYPE_CHECKING:  # training reads weights in numbers, and SymPy takes longer to load than a short run takes
    import sympy as sp


@dataclass(frozen=True)
class Weights:
    """Geometric, polynomial, or a product of both; numbers, or expressions of the bound's quantities (no abbreviation).

    All parts are dimensionless, ``growth`` and ``offset`` positive. As it is declared it weighs all entries equally.

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
        """The quantities that its parts are made of, sorted by name."""
        return tuple(sorted({q.name for x in vars(self).values() if _symbolic(x) for q in x.free_symbols}))

    def at(self, value: Callable[[sp.Basic], Any]) -> Weights:
        """The same weights in numbers: ``value`` evaluates an expression."""
        told = {n: value(x) for n, x in vars(self).items() if _symbolic(x)}
        return replace(self, **told) if told else self

    def growth_at(self, t: int) -> Any:
        """What entry t = 1, 2, ... counts over the entry before it: a running mean needs no more of the weights."""
        return self.growth * ((self.offset + t) / (self.offset + t - 1)) ** self.power

    def shares(self, count: int) -> list[Any]:
        """What each of ``count`` entries counts, in the kind of number of the parts; together they count 1."""
        last = count - 1 if self.growth > 1 else 0  # no number grows beyond what floats hold
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
