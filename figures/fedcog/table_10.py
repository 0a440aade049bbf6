"""Table 10: accuracy for several numbers of generation steps."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, leads
from ..runs import Runs
from ..sheets import comparison
from . import grid
from .grid import chosen, PLANS
from .reading import caption, cells_of, entries, ERROR, Places, turned
from .settings import columns, FEDCOG, STEPS

ROW = "Accuracy"
DEFAULT = str(STEPS)


def changes(scale: str, column: str) -> dict[str, Any]:
    """As many times the default number of steps as in the paper."""
    return {} if column == DEFAULT else {"steps": PLANS[scale].counts["steps"] * int(column) // STEPS}


def places(scale: str) -> Places:
    shown = chosen(scale, "steps", columns("10"))
    return {(ROW, c): grid.runs(scale, FEDCOG, **changes(scale, c)) for c in shown}


def cells(scale: str) -> list[Cell]:
    return cells_of(places(scale))


def data(runs: Runs, scale: str) -> Shown:
    found = turned(entries(runs, "10", places(scale)))
    others = [c for c in chosen(scale, "steps", columns("10")) if c != DEFAULT]
    return comparison(
        caption(
            scale,
            "rows are the paper's numbers of steps; here as many times the default as 100 there; the paper does not "
            "state its split, here NIID-1",
            ERROR,
        ),
        found,
        [judge("The default number of generation steps beats fewer and more", leads(found, DEFAULT, others))],
        "steps: reported / ours (%)",
    )


ARTEFACT = Artefact("fedcog.table_10", "number of generation steps", "FedCOG, Table 10", cells, data)
