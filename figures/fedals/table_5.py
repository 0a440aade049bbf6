"""Table 5: settings of the language model."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from .listing import shown


def cells(scale: str) -> list[Cell]:
    return []


def data(runs: Runs, scale: str) -> Shown:
    return shown(text=True)


ARTEFACT = Artefact("fedals.table_5", "settings of the language model", "FedALS, Table 5", cells, data)
