"""Define a figure or table: a function from runs to the content it shows, and a function that draws this content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

from bounds.papers import PAPERS
from empirics.experiments import Cell

from .comparing import Finding
from .runs import Runs

if TYPE_CHECKING:
    from .sheets import Agreement


def no_runs(scale: str) -> list[Cell]:
    """Return no cells: the ``reads`` of an artefact that is computed without runs."""
    return []


Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Content:
    """Everything a figure or table shows at one scale. ``rows`` become the CSV, from which alone a picture is drawn.

    ``sheet`` is the table as printed, header first. ``caption`` states data, rounds, seeds and what differs from the
    paper. ``unavailable`` is the reason why there are no numbers of ours, empty if there are.
    """

    caption: str
    rows: Rows
    sheet: Sequence[Sequence[str]] = ()
    findings: Sequence[Finding] = ()
    agreement: Sequence[Agreement] = ()
    unavailable: str = ""


def figure_content(caption: str, rows: Rows, findings: Sequence[Finding], unavailable: str) -> Content:
    """Return the content of a figure, without findings if it is ``unavailable`` (the reason)."""
    return Content(caption, rows, findings=[] if unavailable else findings, unavailable=unavailable)


Function = Any
"""A function, or in a paper's table its name in the paper's folder (``module.function``), or a tuple of this name and
first arguments; ``catalogue.artefact`` replaces names by functions."""


@dataclass(frozen=True, eq=False)
class Artefact:
    """One figure or table by ``name`` (``fedinit.table_3``).

    ``data(runs, scale)`` returns the content, ``draw(content)`` a matplotlib figure of it (None for a table).
    ``pack`` names another artefact that reads all of the same runs, whose file of packed runs serves both.
    ``reads(scale)`` lists the runs directly, for artefacts whose ``data`` would be slow to call for that purpose.
    """

    title: str
    data: Function
    draw: Function = None
    pack: str = ""
    reads: Function = None
    name: str = ""

    def cells(self, scale: str) -> list[Cell]:
        """Return the runs that the artefact reads at a scale, each once; this may compute all that it shows."""
        if self.reads is not None:
            return list({cell.key: cell for cell in self.reads(scale)}.values())
        runs = Runs()
        self.data(runs, scale)
        return list(runs.requested.values())

    @property
    def paper(self) -> str:
        """The key of the paper (``fedinit``), or ``ours``."""
        return self.name.partition(".")[0]

    @property
    def source(self) -> str:
        """The place in the paper, such as ``FedInit, Table 3``; empty for figures of our own."""
        kind, _, number = self.name.partition(".")[2].partition("_")
        return f"{PAPERS[self.paper].short}, {kind.capitalize()} {number}" if self.paper in PAPERS else ""
