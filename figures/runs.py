"""Stored runs, read once: curves and last values of the cells that a figure asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from empirics.experiments import Cell, Kept, Store

from .run_description import Ran

LEVEL = 0.05
"""Of error, of every interval and test."""
Curve = tuple[np.ndarray, np.ndarray]
"""Rounds and values."""


class Runs:
    """What a store holds (None: nothing), cell by cell; ``asked`` remembers the cells that were asked for."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._kept: dict[str, Kept | None] = {}
        self._columns: dict[str, dict[str, list[Any]]] = {}
        self._curves: dict[str, dict[tuple[str, str], Curve]] = {}
        self.asked: dict[str, Cell] = {}

    def kept(self, cell: Cell) -> Kept | None:
        """The result of a cell, None where it is missing or failed."""
        self.asked[cell.key] = cell
        if cell.key not in self._kept:
            self._kept[cell.key] = next(iter(self._store.of([cell])), None) if self._store is not None else None
        return self._kept[cell.key]

    def has(self, cell: Cell) -> bool:
        """Whether there is a result, be it of a run that diverged."""
        return self.kept(cell) is not None

    def diverged(self, cell: Cell) -> bool:
        """Whether the run left the finite numbers."""
        found = self.kept(cell)
        return found is not None and found.status == "diverged"

    def fact(self, cell: Cell, name: str) -> Any:
        """A single value that the run returned, None where it is missing."""
        found = self.kept(cell)
        return None if found is None else found.card.get("facts", {}).get(name)

    def columns(self, cell: Cell) -> dict[str, list[Any]]:
        """The cell's table, column by column; empty where it is missing."""
        found = self.kept(cell)
        if found is None:
            return {}
        if cell.key not in self._columns:
            self._columns[cell.key] = found.columns()
        return self._columns[cell.key]

    def curve(self, cell: Cell, quantity: str, layer: str = "") -> Curve:
        """A federation-wide quantity at its measured rounds; empty where it is missing."""
        return self._all(cell).get((quantity, layer), (np.empty(0), np.empty(0)))

    def layers(self, cell: Cell, quantity: str) -> list[str]:
        """The layers for which a quantity was measured, in the order of the network."""
        return [layer for name, layer in self._all(cell) if name == quantity and layer]

    def last(self, cell: Cell, quantity: str, window: int = 1, diverged: float = math.nan) -> float:
        """Its mean over the last ``window`` measurements; NaN where missing, ``diverged`` for a run that did so."""
        if self.diverged(cell):
            return diverged
        values = self.curve(cell, quantity)[1]
        return float(np.mean(values[-window:])) if len(values) else math.nan

    def accuracies(self, cells: Iterable[Cell], window: int = 1) -> list[float]:
        """Test accuracy of each run in percent, the mean over its last measurements; 0 for one that diverged."""
        return [100 * self.last(cell, "test_accuracy", window, diverged=0.0) for cell in cells]

    def percent(self, cells: Iterable[Cell]) -> list[Curve]:
        """Test accuracies over rounds in percent."""
        return [(at, 100 * values) for at, values in (self.curve(cell, "test_accuracy") for cell in cells)]

    def _all(self, cell: Cell) -> dict[tuple[str, str], Curve]:
        if cell.key not in self._curves:
            self._curves[cell.key] = _curves(self.columns(cell))
        return self._curves[cell.key]


def _curves(columns: dict[str, list[Any]]) -> dict[tuple[str, str], Curve]:
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    names = ("quantity", "layer", "client", "step", "round", "value")
    if not set(names) <= set(columns):
        return {}
    for quantity, layer, client, step, at, value in zip(*(columns[n] for n in names), strict=True):
        if client is None and step is None:
            found.setdefault((quantity, layer), []).append((at, value))
    return {key: (np.array([p[0] for p in ps]), np.array([p[1] for p in ps])) for key, ps in found.items()}


def mean_curve(
    curves: Iterable[Curve], spread: Callable[[Sequence[float]], float] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rounds, mean and ``spread`` over runs (one per seed; None: its standard error), as far as each run goes."""
    table: dict[float, list[float]] = {}
    for at, values in curves:
        for x, y in zip(at, values, strict=True):
            table.setdefault(float(x), []).append(float(y))
    x, of = sorted(table), spread or standard_error
    return np.array(x), np.array([np.mean(table[i]) for i in x]), np.array([of(table[i]) for i in x])


def mean_rows(
    curves: Iterable[Curve],
    panel: str,
    curve: str,
    ran: Ran | None,
    times: float = 1.0,
    spread: Callable[[Sequence[float]], float] | None = None,
    **more: Any,
) -> list[dict[str, Any]]:
    """The mean over runs as rows to draw; it and its ``spread`` are multiplied by ``times``; ``ran``: what ran."""
    return [
        {"panel": panel, "curve": curve, "x": x, "y": times * y, "error": times * error, **more, "ran": ran}
        for x, y, error in zip(*mean_curve(curves, spread), strict=True)
    ]


def line(
    runs: Runs,
    cells: Iterable[Cell],
    quantity: str,
    panel: str,
    curve: str,
    ran: Ran | None,
    times: float = 1.0,
    smoothing: int = 1,
) -> list[dict[str, Any]]:
    """``times`` a quantity over rounds to draw, averaged over ``smoothing`` measurements; a run that diverged counts as
    far as it went."""
    curves = ((at, times * values) for at, values in (runs.curve(cell, quantity) for cell in cells))
    found = mean_rows((smooth(one, smoothing) for one in curves), panel, curve, ran)
    return [row for row in found if math.isfinite(row["y"])]


def smooth(curve: Curve, over: int) -> Curve:
    """The running mean of the last ``over`` measurements, of fewer at the beginning."""
    at, values = curve
    if over == 1:
        return curve
    return at, np.array([values[max(0, i - over + 1) : i + 1].mean() for i in range(len(values))])


def point(values: Sequence[float], x: float, curve: str, ran: Ran | None, panel: str = "") -> list[dict[str, Any]]:
    """One point of a curve to draw: mean and standard error over seeds; nothing where nothing was measured."""
    seen = [v for v in values if math.isfinite(v)]
    if not seen:
        return []
    mean, error = float(np.mean(seen)), standard_error(seen)
    return [{"panel": panel, "curve": curve, "x": x, "y": mean, "error": error, "ran": ran}]


def standard_error(values: Sequence[float]) -> float:
    """Of the mean; NaN for a single value, and where one is infinite."""
    known = len(values) > 1 and bool(np.isfinite(values).all())
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if known else math.nan


def interval(values: Sequence[float], level: float = LEVEL) -> float:
    """Half the confidence interval (95 %) of the mean, by Student's t; NaN as for ``standard_error``."""
    return quantile(max(len(values) - 1, 1), level) * standard_error(values)


@cache
def quantile(freedom: int, level: float) -> float:
    """Of Student's t, which leaves ``level`` on both sides together."""
    from scipy.stats import t

    return float(t.ppf(1 - level / 2, freedom))
