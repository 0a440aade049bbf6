"""A constant of a problem: its value, the interval it lies in, and its origin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds import vocabulary
from bounds.quantities import Quantity
from bounds.scenario_values import Provenance
from bounds.showing.tables import Tabular

DECIDING = (Provenance.EXACT, Provenance.PROVED, Provenance.CHOSEN)
"""A theorem holds with these; with others its value is only an illustration."""


class Constant(NamedTuple):
    """``value`` (for some quantities a list over the clients), in the interval ``low`` .. ``high``.

    ``how`` is a sentence on the number's origin, ``provenance`` its reliability. A theorem holds with the value
    of a constant that is proved, whose ``low`` is the maximum found along a path. A maximum along a path is otherwise a
    lower estimate: ``low`` is the value and ``high`` infinite. ``up_to`` has quantities of the plan, with the largest
    value for which the constant holds.
    """

    quantity: Quantity
    value: Any
    low: Any
    high: Any
    how: str
    provenance: Provenance = Provenance.INTERVAL
    up_to: tuple[tuple[str, float], ...] = ()

    @property
    def certain(self) -> bool:
        return bool(np.all(np.asarray(self.low) == np.asarray(self.high)))


def certain_constant(word: str, value: Any, how: str, provenance: Provenance = Provenance.EXACT) -> Constant:
    """A constant without uncertainty beyond rounding."""
    number = _plain(value)
    return Constant(getattr(vocabulary, word), number, number, number, how, provenance)


def between(word: str, value: float, low: float, high: float, how: str) -> Constant:
    """A constant in the interval ``low`` .. ``high``."""
    return Constant(getattr(vocabulary, word), float(value), float(low), float(high), how)


def at_least(word: str, value: Any, how: str, low: Any = None) -> Constant:
    """A constant with no known upper end, whose maximum on a path is ``value`` (``low`` if that has an error)."""
    number = _plain(value)
    high = np.full(np.shape(number), math.inf).tolist() if np.ndim(number) else math.inf
    ends = number if low is None else _plain(low)
    return Constant(getattr(vocabulary, word), number, ends, high, f"{how}: a lower estimate", Provenance.LOWER)


def with_low_end(cap: Constant, estimate: Constant) -> Constant:
    """The closed form ``cap`` with the low end of an estimate."""
    low = np.minimum(estimate.low, cap.value)
    how = f"{cap.how}; low end: {estimate.how.removesuffix(': a lower estimate')}"
    return cap._replace(low=low.tolist() if low.ndim else float(low), how=how)


def _plain(value: Any) -> Any:
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array.tolist()


class Constants(Tabular, Mapping[str, Any]):
    """Constants as the mapping of ``as_json``, which ``Scenario.of`` accepts, and as a table."""

    def __init__(self, constants: Mapping[str, Constant]) -> None:
        self.constants = dict(constants)
        self._object = as_json(self.constants)

    def __getitem__(self, word: str) -> Any:
        return self._object[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._object)

    def __len__(self) -> int:
        return len(self._object)

    def as_json(self) -> dict[str, Any]:
        return self._object

    def __str__(self) -> str:
        return self.to_json()

    def records(self) -> list[dict[str, Any]]:
        """A row per constant: value, low and high end (lists for clients), provenance, how."""
        return [
            {"quantity": word, "value": c.value, "low": c.low, "high": c.high, "provenance": c.provenance, "how": c.how}
            for word, c in self.constants.items()
        ]

    def __repr__(self) -> str:
        return f"<Constants {', '.join(self.constants)}>"


def as_json(constants: Mapping[str, Constant], about: str = "") -> dict[str, Any]:
    """Return a JSON object that every verb reads as ``@file.json``: values by name, and notes under names with _.

    ``_interval`` has the ends of uncertain constants (null: unbounded), ``_how`` the origins as sentences,
    ``_provenance`` their reliability, ``_up_to`` the plans for which a constant holds.
    """
    return {
        **{name: c.value for name, c in constants.items()},
        "_about": about,
        "_interval": {name: [_end(c.low), _end(c.high)] for name, c in constants.items() if not c.certain},
        "_how": {name: c.how for name, c in constants.items()},
        "_provenance": {name: c.provenance for name, c in constants.items()},
        "_up_to": {name: dict(c.up_to) for name, c in constants.items() if c.up_to},
    }


def _end(value: Any) -> Any:
    if np.ndim(value):
        return [_end(part) for part in value]
    return float(value) if math.isfinite(value) else None
