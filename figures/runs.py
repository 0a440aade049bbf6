"""Read stored runs: the curves and last values of the cells that a figure requests, and their means over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from empirics.experiments import Cell, Kept, Store

from .run_description import FEWEST, RunInfo

LEVEL = 0.05
"""Error level of all confidence intervals and tests."""
Curve = tuple[np.ndarray, np.ndarray]
"""Rounds and values, two arrays of one length."""


class Runs:
    """The results in a store (None: no results), read once per cell; ``requested`` collects the cells by key."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._kept: dict[str, Kept | None] = {}
        self._curves: dict[str, dict[tuple[str, str], Curve]] = {}
        self.requested: dict[str, Cell] = {}

    def result(self, cell: Cell) -> Kept | None:
        """Return the result of a cell, or None if it is missing or failed."""
        self.requested[cell.key] = cell
        if cell.key not in self._kept:
            self._kept[cell.key] = next(iter(self._store.of([cell])), None) if self._store is not None else None
        return self._kept[cell.key]

    def diverged(self, cell: Cell) -> bool:
        """Whether the run diverged (``run_status``)."""
        result = self.result(cell)
        return result is not None and result.status == "diverged"

    def fact(self, cell: Cell, name: str) -> Any:
        """Return a single value that the run recorded, or None if it is missing."""
        result = self.result(cell)
        return None if result is None else result.card.get("facts", {}).get(name)

    def columns(self, cell: Cell) -> dict[str, list[Any]]:
        """Return the table of a run by column; empty if it is missing."""
        result = self.result(cell)
        return {} if result is None else result.columns()

    def rows(self, cell: Cell, *names: str) -> list[tuple[Any, ...]]:
        """Return these columns of the table of a run, row by row; empty if it is missing or has not all of them."""
        columns = self.columns(cell)
        return list(zip(*(columns[name] for name in names), strict=True)) if set(names) <= set(columns) else []

    def accuracies_at(self, cells: Iterable[Cell], at: Callable[[Cell], int]) -> list[float]:
        """Return the test accuracy of each run in percent after round ``at(cell)``; 0 if it diverged."""
        measured = [(cell, dict(zip(*self.curve(cell, "test_accuracy"), strict=True))) for cell in cells]
        return [0.0 if self.diverged(cell) else 100 * float(by.get(at(cell), math.nan)) for cell, by in measured]

    def curve(self, cell: Cell, quantity: str, layer: str = "") -> Curve:
        """Return a federation-wide quantity over its measured rounds; two empty arrays if it is missing."""
        return self._all_curves(cell).get((quantity, layer), (np.empty(0), np.empty(0)))

    def last(self, cell: Cell, quantity: str, window: int = 1, diverged: float = math.nan) -> float:
        """Return the mean of the last ``window`` measurements; NaN if missing, ``diverged`` for a run that diverged."""
        if self.diverged(cell):
            return diverged
        values = self.curve(cell, quantity)[1]
        return float(np.mean(values[-window:])) if len(values) else math.nan

    def accuracies(self, cells: Iterable[Cell], window: int = 1) -> list[float]:
        """Return the test accuracy of each run in percent, as the mean of its last measurements; 0 if it diverged."""
        return [100 * self.last(cell, "test_accuracy", window, diverged=0.0) for cell in cells]

    def percent(self, cells: Iterable[Cell]) -> list[Curve]:
        """Return the curve of test accuracy in percent of each run."""
        return [(rounds, 100 * values) for rounds, values in (self.curve(cell, "test_accuracy") for cell in cells)]

    def _all_curves(self, cell: Cell) -> dict[tuple[str, str], Curve]:
        """Return all federation-wide curves of a run by (quantity, layer)."""
        if cell.key not in self._curves:
            points: dict[tuple[str, str], list[tuple[float, float]]] = {}
            result = self.result(cell)
            for quantity, layer, round_, value in () if result is None else result.readings():
                points.setdefault((quantity, layer), []).append((round_, value))
            self._curves[cell.key] = {
                key: (np.array([p[0] for p in ps]), np.array([p[1] for p in ps])) for key, ps in points.items()
            }
        return self._curves[cell.key]


def mean_curve(
    curves: Iterable[Curve], spread: Callable[[Sequence[float]], float] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rounds, mean and ``spread`` (default: standard error) over the runs that were measured at each round."""
    table: dict[float, list[float]] = {}
    for rounds, values in curves:
        for x, y in zip(rounds, values, strict=True):
            table.setdefault(float(x), []).append(float(y))
    x, spread = sorted(table), spread or standard_error
    return np.array(x), np.array([np.mean(table[i]) for i in x]), np.array([spread(table[i]) for i in x])


def mean_rows(
    curves: Iterable[Curve],
    panel: str,
    curve: str,
    info: RunInfo | None,
    times: float = 1.0,
    spread: Callable[[Sequence[float]], float] | None = None,
    **more: Any,
) -> list[dict[str, Any]]:
    """Return the mean over runs as rows to draw; mean and ``spread`` are multiplied by ``times``.

    Fewer than ``FEWEST`` runs have no spread: its band would be wider than the curves are apart.
    """
    curves = list(curves)
    spread = spread if len(curves) >= FEWEST else lambda values: math.nan
    return [
        {"panel": panel, "curve": curve, "x": x, "y": times * y, "error": times * error, **more, "ran": info}
        for x, y, error in zip(*mean_curve(curves, spread), strict=True)
    ]


def curve_rows(
    runs: Runs,
    cells: Iterable[Cell],
    quantity: str,
    panel: str,
    curve: str,
    info: RunInfo | None,
    times: float = 1.0,
    smoothing: int = 1,
) -> list[dict[str, Any]]:
    """Return the finite mean over runs of ``times`` a quantity as rows, a running mean of ``smoothing`` points."""
    scaled = ((rounds, times * values) for rounds, values in (runs.curve(cell, quantity) for cell in cells))
    rows = mean_rows((running_mean(one, smoothing) for one in scaled), panel, curve, info)
    return [row for row in rows if math.isfinite(row["y"])]


def running_mean(curve: Curve, over: int) -> Curve:
    """Return the mean of the last ``over`` measurements at each round, of fewer at the beginning."""
    rounds, values = curve
    if over == 1:
        return curve
    return rounds, np.array([values[max(0, i - over + 1) : i + 1].mean() for i in range(len(values))])


def point_rows(
    values: Sequence[float], x: float, curve: str, info: RunInfo | None, panel: str = "", **more: Any
) -> list[dict[str, Any]]:
    """Return the row of one point: mean and standard error over seeds; no row if no value is finite."""
    finite = [v for v in values if math.isfinite(v)]
    if not finite:
        return []
    mean, error = float(np.mean(finite)), standard_error(finite)
    return [{"panel": panel, "curve": curve, "x": x, "y": mean, "error": error, **more, "ran": info}]


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean; NaN for fewer than two values and if one is not finite."""
    if len(values) < 2 or not np.isfinite(values).all():
        return math.nan
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def half_interval(values: Sequence[float], level: float = LEVEL) -> float:
    """Return half the confidence interval of the mean by Student's t (default 95 %); NaN as for ``standard_error``."""
    return quantile(max(len(values) - 1, 1), level) * standard_error(values)


@cache
def quantile(freedom: int, level: float) -> float:
    """Return the quantile of Student's t beyond which ``level`` lies on both sides together."""
    from scipy.stats import t

    return float(t.ppf(1 - level / 2, freedom))
