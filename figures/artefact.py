"""A figure or a table: the runs it reads, the numbers it shows, and how these are drawn, three functions apart."""

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
    """Everything an artefact shows at one scale. ``rows`` is the CSV beside it, and all that may be drawn.

    ``sheet`` is a table as printed, its header first. ``caption`` says which data, how many rounds and seeds, and what
    differs from the paper. ``unavailable`` says why there are no numbers of ours to show.
    """

    caption: str
    rows: Sequence[Mapping[str, Any]]
    sheet: Sequence[Sequence[str]] = ()
    conclusions: Sequence[Judged] = ()
    agreement: Sequence[Agreement] = ()
    unavailable: str = ""


@dataclass(frozen=True)
class Artefact:
    """One figure or table by ``name`` (``fedinit.table_3``); ``draw`` is None for a table.

    ``cells(scale)`` are the runs that it reads, ``data(runs, scale)`` the numbers from them, ``draw(shown)`` a
    matplotlib figure of these numbers alone. ``pack`` names another artefact that reads all of these runs:
    they are packed once, with those of that one.
    """

    name: str
    title: str
    cells: Callable[[str], Sequence[Cell]]
    data: Callable[[Runs, str], Shown]
    draw: Callable[[Shown], Any] | None = None
    pack: str = ""

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
