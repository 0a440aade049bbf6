"""An estimated constant: its value, the interval it lies in, and how it was obtained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds import vocabulary
from bounds.quantities import Quantity
from bounds.showing.tabular import Tabular

EXACT = "exact"
"""Counted, evaluated, minimised: the number itself."""
PROVED = "proved"
"""Meets its assumption at every model, or along every run of the plan: a theorem holds with it."""
LOWER = "lower"
"""A maximum over some models: the number that meets the assumption is at least this."""
INTERVAL = "interval"
"""Somewhere between its ends."""
CHOSEN = "chosen"
"""Free to choose, such as the B^2 that a G^2 goes with."""
PROVENANCE = (EXACT, PROVED, LOWER, INTERVAL, CHOSEN)
DECIDING = (EXACT, PROVED, CHOSEN)
"""With these a theorem holds as it stands; with others it is only shown."""


class Constant(NamedTuple):
    """``value`` (a list over the clients for some), certainly or with the stated error within ``low`` .. ``high``.

    ``how`` says in a sentence where the number comes from, ``provenance`` (one of ``PROVENANCE``) in a word. What a
    theorem may be given is the value of a constant that is proved: ``low`` then is what was seen of it on a path. A
    maximum along a path alone is a lower estimate: ``low`` is the value, ``high`` infinite. ``up_to`` are words of the
    plan, each with the largest value up to which the constant holds.
    """

    quantity: Quantity
    value: Any
    low: Any
    high: Any
    how: str
    provenance: str = INTERVAL
    up_to: tuple[tuple[str, float], ...] = ()

    @property
    def certain(self) -> bool:
        return bool(np.all(np.asarray(self.low) == np.asarray(self.high)))


def known(word: str, value: Any, how: str, provenance: str = EXACT) -> Constant:
    """A constant without uncertainty beyond rounding."""
    number = _plain(value)
    return Constant(getattr(vocabulary, word), number, number, number, how, provenance)


def between(word: str, value: float, low: float, high: float, how: str) -> Constant:
    """A constant that lies somewhere in an interval."""
    return Constant(getattr(vocabulary, word), float(value), float(low), float(high), how)


def at_least(word: str, value: Any, how: str, low: Any = None) -> Constant:
    """What was seen on a path (up to its error: ``low``), of a constant whose upper end is unknown."""
    number = _plain(value)
    high = np.full(np.shape(number), math.inf).tolist() if np.ndim(number) else math.inf
    ends = number if low is None else _plain(low)
    return Constant(getattr(vocabulary, word), number, ends, high, f"{how}: a lower estimate", LOWER)


def proved(cap: Constant, seen: Constant) -> Constant:
    """The closed form ``cap`` with what was ``seen`` of it as the low end of its interval."""
    low = np.minimum(seen.low, cap.value)
    how = f"{cap.how}; low end: {seen.how.removesuffix(': a lower estimate')}"
    return cap._replace(low=low.tolist() if low.ndim else float(low), how=how)


def _plain(value: Any) -> Any:
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array.tolist()


class Constants(Tabular, Mapping[str, Any]):
    """Constants by word as the object of ``as_json``, which a ``Scenario`` is made of, and as a table."""

    def __init__(self, found: Mapping[str, Constant]) -> None:
        self.found = dict(found)
        self._object = as_json(self.found)

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
        """A row per word: value, low and high end (lists for each client), provenance, how."""
        return [
            {"quantity": word, "value": c.value, "low": c.low, "high": c.high, "provenance": c.provenance, "how": c.how}
            for word, c in self.found.items()
        ]

    def __repr__(self) -> str:
        return f"<Constants {', '.join(self.found)}>"


def as_json(constants: Mapping[str, Constant], about: str = "") -> dict[str, Any]:
    """A JSON object that every verb reads as ``@file.json``: values by word, and notes under words that begin with _.

    ``_interval`` holds the ends of uncertain constants (null: unbounded), ``_how`` where numbers come from,
    ``_provenance`` the same as one of the words ``PROVENANCE``, ``_up_to`` the plans for which one holds.
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
