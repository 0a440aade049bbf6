"""Statistics of a series, for numbers of any kind: floats, fractions, linear forms.

A series has times on the first axis. A run of R rounds has R + 1 states (the server model before the first round and
after every one) and R rounds; local iterations are those that a step follows, and the last server model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from bounds.weights import Weights

from .words import ITERATION, ROUND, STATE

MADE: Mapping[str, Callable[[Any, int], Any]] = {
    "now": lambda x, r: x[:r],
    "next": lambda x, r: x[1 : r + 1],
    "first": lambda x, r: x[0],
    "end": lambda x, r: x[r],
    "latest": lambda x, r: x[r - 1],
    "mean": lambda x, r: np.mean(x[:r], axis=0),
    "roots": lambda x, r: np.sqrt(x[:r]).sum(axis=0),
    "decrease": lambda x, r: x[:r] - x[1 : r + 1],
    "change": lambda x, r: x[1 : r + 1] - x[:r],
    "largest": lambda x, r: np.max(x[:r]),
    "steps": lambda x, r: x[:r].reshape(-1),
}
"""From the states (for ``now``, ``latest``, ``largest`` and ``steps``: or the rounds) to the values of r rounds."""
SEVERAL = ("now", "next", "decrease", "change", "steps")
"""Those with a value per round, or more; the others are one number of a whole run."""


def counted(series: Any, kind: str, per: str) -> Any:
    """The entries of a series that a statistic of this kind is over.

    Means over t = 0 .. T-1 leave out the last model, as the papers' do, and so does a minimum over rounds; a minimum
    over iterations includes it.
    """
    if kind == "last":
        return series[-1:]
    return series if per == ROUND or (per == ITERATION and kind == "min") else series[:-1]


def needed(kind: str, length: int, per: str, there: Collection[int]) -> range:
    """The numbers of the times that a statistic over ``length`` rounds or iterations is over.

    ``there`` are the numbers in a table: with a 0 among them they are states, the last of which is ``length``; without
    one they are the rounds 1 to ``length``. A minimum over iterations includes one more state.
    """
    whole = kind == "min" and per == ITERATION
    if kind == "last" or whole or 0 in there:
        return counted(range(length + 1), kind, STATE if per == ROUND else per)
    return range(1, length + 1)


FOLDS: Mapping[str, Callable[[Any], Any]] = {
    "last": lambda x: x[0],
    "min": np.min,
    "mean": lambda x: np.mean(x, axis=0),
    "expectation": lambda x: np.mean(x, axis=0),
    "every": lambda x: x,
}


def folded(series: Any, kind: str, per: str, weights: Weights | None = None) -> Any:
    """The statistic of a series: one number, or several for ``every``; ``weights`` (numbers) of a mean."""
    entries = counted(series, kind, per)
    return weighed(entries, weights) if kind in ("mean", "expectation") else FOLDS[kind](entries)


def weighed(entries: Any, weights: Weights | None) -> Any:
    """The mean of entries on the first axis, which may be numbers, vectors or linear forms."""
    if weights is None:
        return FOLDS["mean"](entries)
    return sum(share * entry for share, entry in zip(weights.shares(len(entries)), entries, strict=True))
