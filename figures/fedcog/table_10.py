"""Table 10: accuracy for several numbers of generation steps."""

from __future__ import annotations

from typing import Any

from ..comparing import Entry, judge, Judged, leads
from ..runs import Runs
from . import grid
from .grid import chosen, PLANS
from .reading import accuracies, ERROR, Places
from .settings import columns, FEDCOG, STEPS

ROW = "Accuracy"
DEFAULT = str(STEPS)
WORDS = (
    "rows are the paper's numbers of steps; here as many times the default as 100 there; the paper does not state its "
    "split, here NIID-1",
    ERROR,
)


def changes(scale: str, column: str) -> dict[str, Any]:
    """As many times the default number of steps as in the paper."""
    return {} if column == DEFAULT else {"steps": PLANS[scale].counts["steps"] * int(column) // STEPS}


def places(scale: str) -> Places:
    shown = chosen(scale, "steps", columns("10"))
    return {(ROW, c): grid.runs(scale, FEDCOG, **changes(scale, c)) for c in shown}


def judged(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
    others = [c for c in chosen(scale, "steps", columns("10")) if c != DEFAULT]
    return [judge("The default number of generation steps beats fewer and more", leads(found, DEFAULT, others))]


CORNER = "steps: reported / ours (%)"
ARTEFACT = accuracies("10", "number of generation steps", places, WORDS, judged, corner=CORNER, across=True)
