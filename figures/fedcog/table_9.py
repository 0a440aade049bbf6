"""Table 9: accuracy of the clients' own models on test samples with their own share of classes."""

from __future__ import annotations

from functools import partial

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, leads
from ..runs import Runs
from ..sheets import comparison
from . import grid
from .grid import PLANS
from .reading import caption, cells_of, entries, ERROR, mean_over_clients, Places, turned
from .settings import columns

ROW = "Acc %"
TUNED = "FedCOG+FT"


def method(scale: str, column: str) -> str:
    """The method of a column; FT's models are those of local training, before they are averaged.

    FedRep's head takes as many steps as its body; Ditto's personal models take as many as the others.
    """
    if column == "FedRep":
        return f"fedrep(head_steps={PLANS[scale].setting['local_steps']})"
    return "ditto(fedavg())" if column == "Ditto" else column.removesuffix("+FT")


def places(scale: str) -> Places:
    return {(ROW, c): grid.runs(scale, method(scale, c)) for c in columns("9")}


def cells(scale: str) -> list[Cell]:
    return cells_of(places(scale))


def own(runs: Runs, cell: Cell, scale: str) -> float:
    """Mean over clients in percent after the last round; 0 for a run that diverged."""
    if runs.diverged(cell):
        return 0.0
    return 100 * mean_over_clients(runs, cell, "local_accuracy_own", PLANS[scale].rounds[""])


def data(runs: Runs, scale: str) -> Shown:
    found = turned(entries(runs, "9", places(scale), partial(own, scale=scale)))
    return comparison(
        caption(
            scale,
            "mean over clients, each on test samples with the class shares of its own; FT is the model after local "
            "training; coefficients of FedRep and Ditto are not stated (here as many steps for the head as for the "
            "body, weight 0.1)",
            ERROR,
        ),
        found,
        [judge("FedCOG, fine-tuned, personalises best", leads(found, TUNED))],
        "reported / ours (%)",
    )


ARTEFACT = Artefact("fedcog.table_9", "personalised models", "FedCOG, Table 9", cells, data)
