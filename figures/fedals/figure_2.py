"""Figure 2: test accuracy over rounds on SVHN, non-iid and iid; on CIFAR-10 where SVHN is not here."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from . import curves
from .beside import caption
from .grid import word


def _column(scale: str) -> str:
    return "SVHN" if word(scale, "SVHN") else "CIFAR-10"


def cells(scale: str) -> list[Cell]:
    return curves.cells(scale, _column(scale))


def data(runs: Runs, scale: str) -> Shown:
    column = _column(scale)
    missing = "" if column == "SVHN" else f"SVHN: data not available; the same curves on {column}. "
    return Shown(
        missing + caption(scale, [column], tables=False),
        curves.rows(runs, scale, column),
        conclusions=curves.conclusions(runs, scale, column),
        unavailable="" if word(scale, column) else "SVHN: data not available",
    )


def draw(shown: Shown) -> Any:
    return curves.draw(shown.rows, "test accuracy (%)")


ARTEFACT = Artefact(
    "fedals.figure_2", "test accuracy over rounds, non-iid and iid", "FedALS, Figure 2", cells, data, draw
)
