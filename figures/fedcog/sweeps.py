"""Tables 6 to 8: four methods along one number of the setting; what these tables share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import agreements, Entry, judge, Judged, leads
from ..runs import Runs
from ..sheets import sheet, tidy
from .grid import chosen, run, seeds, Setup
from .reading import caption, cells_of, entries, ERROR, Places
from .settings import columns, COMPARED, FEDCOG

Conclusions = Callable[[Sequence[Entry], Sequence[str], Sequence[str]], list[Judged]]
"""From the entries, the methods and the columns that were run."""


def table(number: str, title: str, axis: str, words: str, setup: Callable[[str], Setup], more: Conclusions) -> Artefact:
    """The artefact of one of these tables: ``setup`` of a printed column; ``words`` say what the columns are."""

    def places(scale: str) -> Places:
        return {
            (method, column): [run(scale, method, seed, setup(column)) for seed in seeds(scale)]
            for column in chosen(scale, axis, columns(number))
            for method in chosen(scale, "swept", COMPARED)
        }

    def cells(scale: str) -> list[Cell]:
        return cells_of(places(scale))

    def data(runs: Runs, scale: str) -> Shown:
        found = entries(runs, number, places(scale))
        shown, methods = chosen(scale, axis, columns(number)), chosen(scale, "swept", COMPARED)
        best = judge(f"FedCOG is the most accurate for every {axis_word(axis)}", leads(found, FEDCOG, columns=shown))
        return Shown(
            caption(scale, words, ERROR),
            tidy(found),
            sheet(found, "test accuracy (%)"),
            [best, *more(found, methods, shown)],
            agreements(found),
        )

    return Artefact(f"fedcog.table_{number}", title, f"FedCOG, Table {number}", cells, data)


def axis_word(axis: str) -> str:
    """What a column is, in the singular."""
    return {"taus": "number of local steps", "rates": "participation rate", "clients": "number of clients"}[axis]
