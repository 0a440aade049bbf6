"""Statistics of a series of values in a run: floats, fractions or linear forms.

The first axis of a series is time. A run of R rounds has R + 1 states (the server model before the first round and
after every round), R rounds, and one local iteration before every local step plus the last server model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from bounds.weights import Weights

from .origins import ITERATION, ROUND, STATE

COMBINE: Mapping[str, Callable[[Any, int], Any]] = {
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
"""Functions of (series, r) that compute a quantity for a run of r rounds from the series of another one.

The series is over states; ``now``, ``latest``, ``largest`` and ``steps`` also accept one over rounds."""
BY_ROUND = ("now", "next", "decrease", "change", "steps")
"""Keys of ``COMBINE`` that give one or more values per round; the others give one number for the whole run."""


def entries_of(series: Any, kind: str, per: str) -> Any:
    """Return the entries of a series that a statistic of this kind is taken over.

    As in the papers, means over t = 0 .. T-1 and minima over rounds leave out the last model; a minimum over iterations
    includes it.
    """
    if kind == "last":
        return series[-1:]
    return series if per == ROUND or (per == ITERATION and kind == "min") else series[:-1]


def times_of(kind: str, length: int, per: str, logged: Collection[int]) -> range:
    """The round numbers that a statistic over ``length`` rounds or iterations needs.

    ``logged`` are the numbers in a log. If 0 is among them they count states, the last of which is ``length``;
    otherwise they are the rounds 1 to ``length``. A minimum over iterations includes one more state.
    """
    includes_end = kind == "min" and per == ITERATION
    if kind == "last" or includes_end or 0 in logged:
        return entries_of(range(length + 1), kind, STATE if per == ROUND else per)
    return range(1, length + 1)


FOLDS: Mapping[str, Callable[[Any], Any]] = {  # by kind of statistic
    "last": lambda x: x[0],
    "min": np.min,
    "mean": lambda x: np.mean(x, axis=0),
    "expectation": lambda x: np.mean(x, axis=0),
    "every": lambda x: x,
}


def statistic_of(series: Any, kind: str, per: str, weights: Weights | None = None) -> Any:
    """The statistic of a series: one number, or an array for ``every``; ``weights`` are those of a mean."""
    entries = entries_of(series, kind, per)
    return weighted_mean(entries, weights) if kind in ("mean", "expectation") else FOLDS[kind](entries)


def weighted_mean(entries: Any, weights: Weights | None) -> Any:
    """The mean over the first axis of numbers, vectors or linear forms."""
    if weights is None:
        return FOLDS["mean"](entries)
    return sum(share * entry for share, entry in zip(weights.shares(len(entries)), entries, strict=True))
