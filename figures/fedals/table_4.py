"""Table 4: settings of image classification."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from .listing import shown


def cells(scale: str) -> list[Cell]:
    return []


def data(runs: Runs, scale: str) -> Shown:
    return shown(text=False)


ARTEFACT = Artefact("fedals.table_4", "settings of image classification", "FedALS, Table 4", cells, data)
