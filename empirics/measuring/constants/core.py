"""An estimated constant: its value, the interval it lies in, and how it was obtained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds import vocabulary
from bounds.quantities import Quantity


class Constant(NamedTuple):
    """``value`` (a list over the clients for some), certainly or with the stated error within ``low`` .. ``high``.

    ``how`` says in a sentence where the number comes from. A maximum along a path is a lower estimate: ``low`` is the
    value, ``high`` a bound that is known anyway, or infinite.
    """

    quantity: Quantity
    value: Any
    low: Any
    high: Any
    how: str

    @property
    def certain(self) -> bool:
        return bool(np.all(np.asarray(self.low) == np.asarray(self.high)))


def known(word: str, value: Any, how: str) -> Constant:
    """A constant without uncertainty beyond rounding."""
    plain = np.asarray(value, dtype=float)
    number = float(plain) if plain.ndim == 0 else plain.tolist()
    return Constant(getattr(vocabulary, word), number, number, number, how)


def between(word: str, value: float, low: float, high: float, how: str) -> Constant:
    """A constant that lies somewhere in an interval."""
    return Constant(getattr(vocabulary, word), float(value), float(low), float(high), how)


def as_json(constants: Mapping[str, Constant], about: str = "") -> dict[str, Any]:
    """A JSON object that every verb reads as ``@file.json``: values by word, and notes under words that begin with _.

    ``_interval`` holds the ends of uncertain constants (null: unbounded), ``_how`` where numbers come from.
    """
    return {
        **{name: c.value for name, c in constants.items()},
        "_about": about,
        "_interval": {name: [_end(c.low), _end(c.high)] for name, c in constants.items() if not c.certain},
        "_how": {name: c.how for name, c in constants.items()},
    }


def _end(value: Any) -> Any:
    if np.ndim(value):
        return [_end(part) for part in value]
    return float(value) if math.isfinite(value) else None
