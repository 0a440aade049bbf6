"""Table 9: accuracy of the clients' own models on test samples with their own share of classes."""

from __future__ import annotations

from empirics.experiments import Cell

from ..comparing import Entry, judge, Judged, leads
from ..runs import Runs
from . import grid
from .grid import PLANS
from .reading import accuracies, ERROR, mean_over_clients, Places
from .settings import columns

ROW = "Acc %"
TUNED = "FedCOG+FT"
WORDS = (
    "mean over clients, each on test samples with the class shares of its own; FT is the model after local training; "
    "coefficients of FedRep and Ditto are not stated (here as many steps for the head as for the body, weight 0.1)",
    ERROR,
)


def method(scale: str, column: str) -> str:
    """The method of a column; FT's models are those of local training, before they are averaged.

    FedRep's head takes as many steps as its body; Ditto's personal models take as many as the others.
    """
    if column == "FedRep":
        return f"fedrep(head_steps={PLANS[scale].setting['local_steps']})"
    return "ditto(fedavg())" if column == "Ditto" else column.removesuffix("+FT")


def places(scale: str) -> Places:
    return {(ROW, c): grid.runs(scale, method(scale, c)) for c in columns("9")}


def own(runs: Runs, cell: Cell) -> float:
    """Mean over clients in percent after the last round; 0 for a run that diverged."""
    if runs.diverged(cell):
        return 0.0
    return 100 * mean_over_clients(runs, cell, "local_accuracy_own", cell.arguments["rounds"])


def judged(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
    return [judge("FedCOG, fine-tuned, personalises best", leads(found, TUNED))]


CORNER = "reported / ours (%)"
ARTEFACT = accuracies("9", "personalised models", places, WORDS, judged, corner=CORNER, read=own, across=True)
