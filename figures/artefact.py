"""A figure or a table: the numbers it shows, which ask for the runs that it reads, and how these are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bounds.papers import PAPERS
from empirics.experiments import Cell

from .comparing import Agreement, Judged
from .runs import Runs


def no_runs(scale: str) -> list[Cell]:
    """The cells of what is computed without any run."""
    return []


@dataclass(frozen=True)
class Shown:
    """Everything a figure or table shows at one scale. ``rows`` is the CSV beside it, and all that may be drawn.

    ``sheet`` is a table as printed, its header first. ``caption`` says which data, how many rounds and seeds, and what
    differs from the paper. ``unavailable`` says why there are no numbers of ours to show.
    """

    caption: str
    rows: Sequence[Mapping[str, Any]]
    sheet: Sequence[Sequence[str]] = ()
    conclusions: Sequence[Judged] = ()
    agreement: Sequence[Agreement] = ()
    unavailable: str = ""


def figure(caption: str, rows: Sequence[Mapping[str, Any]], judged: Sequence[Judged], unavailable: str) -> Shown:
    """What a figure shows; nothing is judged where it is ``unavailable``, which says why."""
    return Shown(caption, rows, conclusions=[] if unavailable else judged, unavailable=unavailable)


@dataclass(frozen=True)
class Artefact:
    """One figure or table by ``name`` (``fedinit.table_3``); ``draw`` is None for a table.

    ``data(runs, scale)`` are the numbers, ``draw(shown)`` a matplotlib figure of these numbers alone. ``pack`` names
    another artefact that reads all of these runs: they are packed once, with those of that one. ``reads(scale)`` are
    the runs where asking the numbers for them would take long.
    """

    name: str
    title: str
    data: Callable[[Runs, str], Shown]
    draw: Callable[[Shown], Any] | None = None
    pack: str = ""
    reads: Callable[[str], Sequence[Cell]] | None = None

    def cells(self, scale: str) -> Sequence[Cell]:
        """The runs that it reads, each once."""
        if self.reads is not None:
            return self.reads(scale)
        runs = Runs()
        self.data(runs, scale)
        return list(runs.asked.values())

    @property
    def packed_in(self) -> str:
        """The name of the pack that its runs are in."""
        return self.pack or self.name

    @property
    def paper(self) -> str:
        """The short name of the paper, or ``ours``."""
        return self.name.partition(".")[0]

    @property
    def source(self) -> str:
        """The place in the paper, such as ``FedInit, Table 3``; empty for ours."""
        kind, _, number = self.name.partition(".")[2].partition("_")
        return f"{PAPERS[self.paper].short}, {kind.capitalize()} {number}" if self.paper in PAPERS else ""
