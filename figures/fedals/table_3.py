"""Table 3: accuracy where the first L layers are the extractor, which is averaged less often."""

from __future__ import annotations

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import agreements, judge, leads
from ..runs import Runs
from ..sheets import sheet, tidy
from .beside import caption, compared, labelled
from .grid import PLANS, seeds, word
from .settings import ALPHA, LOCAL_STEPS

PRINTED = table("fedals", "Table 3", version="v2")
ROWS = tuple(dict.fromkeys(row for row, _ in PRINTED))
COLUMNS = ("CIFAR-10", "CIFAR-100", "SVHN")
BEST = "L=16"


def _runs(scale: str, row: str, column: str) -> list[Cell]:
    border = PLANS[scale].borders.get(int(row.partition("=")[2]))
    if border is None or column not in PLANS[scale].splits:
        return []
    return seeds(scale, column, "FedALS", "non-iid", border)


def cells(scale: str) -> list[Cell]:
    return [cell for column in COLUMNS for row in ROWS for cell in _runs(scale, row, column)]


def data(runs: Runs, scale: str) -> Shown:
    found = [
        compared(runs, scale, PRINTED[row, column], row, column, _runs(scale, row, column), _note(scale, row))
        for row in ROWS
        for column in COLUMNS
    ]
    shown = labelled(scale, found, PLANS[scale].splits)
    ran = [c for c in COLUMNS if any(e.ours for e in found if e.column == c)]
    return Shown(
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers{_borders(scale)}; with all layers in "
        f"the extractor it is FedAvg with {ALPHA * LOCAL_STEPS} local steps. {caption(scale, _shown(scale))}",
        tidy(shown),
        sheet(shown, "reported / ours"),
        [judge("the best split is after the first 16 of 20 layers", leads(found, BEST, columns=ran))],
        agreements(shown),
    )


def _shown(scale: str) -> list[str]:
    """The columns that the caption speaks of: those that are run, and those without data."""
    return [c for c in COLUMNS if c in PLANS[scale].splits or not word(scale, c)]


def _note(scale: str, row: str) -> str:
    border = PLANS[scale].borders.get(int(row.partition("=")[2]))
    return f"{border} of {PLANS[scale].layers} layers" if border else "no like in this network"


def _borders(scale: str) -> str:
    plan = PLANS[scale]
    if scale == "paper":
        return ""
    pairs = ", ".join(f"{border} for L = {printed}" for printed, border in plan.borders.items())
    return f" stands for as many of this network's {plan.layers}: {pairs}"


ARTEFACT = Artefact("fedals.table_3", "accuracy by the split into extractor and head", "FedALS, Table 3", cells, data)
