"""Figures and tables by specification: the runs behind each number, how it is read off them, caption and findings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import Reported

from .artefact import Artefact, no_runs, Shown
from .comparing import Entry, Judged
from .drawing import Axis, panels
from .run_description import Ran
from .runs import Curve, mean_rows, point, Runs
from .sheets import comparison, entry

Cells = Callable[[str], Sequence[Cell]]
"""Runs by scale."""
Words = Callable[[str], str]
"""A caption, or a reason, by scale."""
Reader = Callable[[Runs, Sequence[Cell]], Sequence[float]]
"""One number per run, NaN for a run that is missing."""


@dataclass(frozen=True)
class Place:
    """One place of a table: what the paper prints there (shown ``times`` as much ``over`` a unit), and our runs."""

    printed: Reported | None
    row: str
    column: str
    cells: Sequence[Cell]
    read: Reader
    note: str | Callable[[Runs], str] = ""
    ran: Ran | None = None
    times: float = 1.0
    over: float = 1.0

    def entry(self, runs: Runs) -> Entry:
        """The same with the numbers of the runs."""
        note = self.note if isinstance(self.note, str) else self.note(runs)
        found = entry(self.printed, self.row, self.column, self.read(runs, self.cells), note, self.ran)
        reported, std = (self.times * value / self.over for value in (found.reported, found.reported_std))
        return replace(found, reported=reported, reported_std=std)


def each_once(cells: Iterable[Cell]) -> list[Cell]:
    """The runs in their order, each once."""
    return list({cell.key: cell for cell in cells}.values())


def table(
    name: str,
    title: str,
    places: Callable[[str], Sequence[Place]],
    caption: Words,
    findings: Callable[[Runs, str, list[Entry]], list[Judged]],
    *,
    more: Cells = no_runs,
    ranked: Callable[[Entry], bool] = lambda entry: True,
    **layout: Any,
) -> Artefact:
    """A table of reported numbers beside ours.

    ``more``: runs that only the findings need; ``ranked``: which entries the rank agreement compares; ``layout``: the
    corner and the digits of the sheet.
    """

    def cells(scale: str) -> list[Cell]:
        return each_once(cell for cells in (*(place.cells for place in places(scale)), more(scale)) for cell in cells)

    def data(runs: Runs, scale: str) -> Shown:
        found = [place.entry(runs) for place in places(scale)]
        judged = findings(runs, scale, found)
        return comparison(caption(scale), found, judged, ranked=list(filter(ranked, found)), **layout)

    return Artefact(name, title, cells, data)


@dataclass(frozen=True)
class Line:
    """A curve over rounds: mean and error over runs of ``times`` a quantity, smoothed over a number of measurements."""

    panel: str
    curve: str
    cells: Sequence[Cell]
    quantity: str
    ran: Ran | None
    times: float = 1.0
    smoothing: int = 1

    def rows(self, runs: Runs) -> list[dict[str, Any]]:
        """What is drawn; a run that diverged counts as far as it went."""
        curves = ((at, self.times * values) for at, values in (runs.curve(c, self.quantity) for c in self.cells))
        found = mean_rows((smooth(one, self.smoothing) for one in curves), self.panel, self.curve, self.ran)
        return [row for row in found if math.isfinite(row["y"])]


@dataclass(frozen=True)
class Point:
    """A point of a curve: mean and error over runs of the number that is read off them."""

    panel: str
    curve: str
    x: float
    cells: Sequence[Cell]
    read: Reader
    ran: Ran | None

    def rows(self, runs: Runs) -> list[dict[str, Any]]:
        """What is drawn; nothing where nothing was measured."""
        return point(self.read(runs, self.cells), self.x, self.curve, self.ran, self.panel)


def figure(
    name: str,
    title: str,
    drawn: Callable[[str], Sequence[Line] | Sequence[Point]],
    caption: Callable[[Runs, str], str],
    findings: Callable[[Runs, str], list[Judged]],
    draw: Callable[[Shown], Any],
    *,
    more: Cells = no_runs,
    unavailable: Words = lambda scale: "",
    pack: str = "",
) -> Artefact:
    """A figure of lines or points; nothing is judged where it is ``unavailable``, which says why."""

    def cells(scale: str) -> list[Cell]:
        return each_once(cell for cells in (*(one.cells for one in drawn(scale)), more(scale)) for cell in cells)

    def data(runs: Runs, scale: str) -> Shown:
        reason = unavailable(scale)
        rows = [row for one in drawn(scale) for row in one.rows(runs)]
        judged = [] if reason else findings(runs, scale)
        return Shown(caption(runs, scale), rows, conclusions=judged, unavailable=reason)

    return Artefact(name, title, cells, data, draw, pack)


def over_rounds(y: str, shared: bool = False) -> Callable[[Shown], Any]:
    """The drawing of curves over rounds."""
    return lambda shown: panels(shown.rows, Axis("round"), Axis(y), shared=shared)


def smooth(curve: Curve, over: int) -> Curve:
    """The running mean of the last ``over`` measurements, of fewer at the beginning."""
    at, values = curve
    if over == 1:
        return curve
    return at, np.array([values[max(0, i - over + 1) : i + 1].mean() for i in range(len(values))])
