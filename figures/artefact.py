"""Define a figure or table: a function from runs to the content it shows, and a function that draws this content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TYPE_CHECKING

from bounds.papers import PAPERS
from empirics.experiments import Cell

from .comparing import Finding
from .runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def functions_of(folder: str) -> Callable[..., Callable[..., Any]]:
    """Return ``lazy``, which names a function of a module in a folder, and imports the module when it is called.

    ``lazy("tables.swept", "6")(runs, scale)`` calls ``swept("6", runs, scale)`` of the folder's ``tables``.
    """

    def lazy(function: str, *first: Any) -> Callable[..., Any]:
        module, _, name = function.partition(".")
        return lambda *more: getattr(import_module(f"{folder}.{module}"), name)(*first, *more)

    return lazy


@dataclass(frozen=True, eq=False)
class Artefact:
    """One figure or table by ``name`` (``fedinit.table_3``).

    ``data(runs, scale)`` returns the content, also where ``runs`` lacks results: it is called without any to find the
    runs that it reads. ``draw(content)`` returns a matplotlib figure of it (None for a table). ``pack`` names another
    artefact that reads all of the same runs, whose file of packed runs serves both. ``reads(scale)`` lists the runs
    directly, for artefacts whose ``data`` would be slow to call for that purpose.
    """

    title: str
    data: Callable[[Runs, str], Content]
    draw: Callable[[Content], Figure] | None = None
    pack: str = ""
    reads: Callable[[str], list[Cell]] | None = None
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
