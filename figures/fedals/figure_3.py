"""Figure 3: test loss of the language model over rounds on MultiNLI, non-iid and iid."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from . import curves
from .beside import caption, label
from .grid import word
from .settings import TEXT


def cells(scale: str) -> list[Cell]:
    return curves.cells(scale, TEXT)


def data(runs: Runs, scale: str) -> Shown:
    there = bool(word(scale, TEXT))
    return Shown(
        caption(scale, [TEXT], tables=False),
        curves.rows(runs, scale, TEXT),
        conclusions=curves.conclusions(runs, scale, TEXT) if there else [],
        unavailable="" if there else label(scale, TEXT),
    )


def draw(shown: Shown) -> Any:
    return curves.draw(shown.rows, "test loss")


ARTEFACT = Artefact("fedals.figure_3", "test loss over rounds, non-iid and iid", "FedALS, Figure 3", cells, data, draw)
