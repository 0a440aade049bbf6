"""Table 5: FedCOG without generation, without disagreement, with hard labels, and in full."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import by_place, judge, Pair
from ..runs import Runs
from ..sheets import comparison
from .grid import runs as runs_of, Setup
from .reading import caption, cells_of, entries, ERROR, final, Places
from .settings import FEDCOG, KINDS, rows

NOISE, GLOBAL, HARD, FULL = rows("5")
VARIANTS: dict[str, dict[str, Any]] = {
    NOISE: {"steps": 0},
    GLOBAL: {"disagreement": 0.0},
    HARD: {"supervision": "predicted"},
    FULL: {},
}
"""What each row changes; which label the hard one is, is not stated: the released code takes the server's guess."""


def places(scale: str) -> Places:
    return {
        (row, kind): runs_of(scale, FEDCOG, Setup(kind=kind), **changes)
        for kind in KINDS
        for row, changes in VARIANTS.items()
    }


def plain(scale: str) -> dict[str, list[Cell]]:
    """FedAvg in both splits, of the same length."""
    return {kind: runs_of(scale, "FedAvg", Setup(kind=kind)) for kind in KINDS}


def cells(scale: str) -> list[Cell]:
    return cells_of(places(scale)) + cells_of(plain(scale))


def data(runs: Runs, scale: str) -> Shown:
    found = entries(runs, "5", places(scale))
    at = by_place(found)
    full = [
        Pair(f"full over {row}, {kind}", at[FULL, kind].ours, at[row, kind].ours)
        for kind in KINDS
        for row in VARIANTS
        if row != FULL
    ]
    noise = [
        Pair(f"FedAvg over noise, {kind}", [final(runs, c) for c in each], at[NOISE, kind].ours)
        for kind, each in plain(scale).items()
    ]
    return comparison(
        caption(scale, ERROR, "hard labels are those that the server's model predicts"),
        found,
        [
            judge("The full method beats noise, the global model alone and hard labels in both splits", full),
            judge("Distilling on noise is worse than FedAvg", noise),
        ],
        "test accuracy (%)",
    )


ARTEFACT = Artefact("fedcog.table_5", "parts of the method", "FedCOG, Table 5", cells, data)
