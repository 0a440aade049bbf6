"""Table 5: FedCOG without generation, without disagreement, with hard labels, and in full."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..comparing import by_place, Entry, judge, Judged, Pair
from ..runs import Runs
from .grid import runs as runs_of, Setup
from .reading import accuracies, cells_of, ERROR, final, Places
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


def judged(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
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
    return [
        judge("The full method beats noise, the global model alone and hard labels in both splits", full),
        judge("Distilling on noise is worse than FedAvg", noise),
    ]


WORDS = (ERROR, "hard labels are those that the server's model predicts")
ARTEFACT = accuracies("5", "parts of the method", places, WORDS, judged, more=lambda scale: cells_of(plain(scale)))
