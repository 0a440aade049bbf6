"""Table 3: accuracy where the first L layers are the extractor, which is averaged less often."""

from __future__ import annotations

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import judge, leads
from ..runs import Runs
from ..sheets import comparison
from .beside import caption, compared, labelled
from .grid import PLANS, seeds, word
from .settings import ALPHA, LOCAL_STEPS

PRINTED = table("fedals", "Table 3", version="v2")
ROWS = tuple(dict.fromkeys(row for row, _ in PRINTED))
COLUMNS = ("CIFAR-10", "CIFAR-100", "SVHN")
BEST = "L=16"


def _border(scale: str, row: str) -> int | None:
    """Layers of this scale's network that the extractor has in a row; None where there is no such border."""
    return dict(PLANS[scale].axes["borders"]).get(int(row.partition("=")[2]))


def _runs(scale: str, row: str, column: str) -> list[Cell]:
    border = _border(scale, row)
    there = border is not None and column in PLANS[scale].axes["splits"]
    return seeds(scale, column, "FedALS", "non-iid", border) if there else []


def cells(scale: str) -> list[Cell]:
    return [cell for column in COLUMNS for row in ROWS for cell in _runs(scale, row, column)]


def data(runs: Runs, scale: str) -> Shown:
    layers, splits = PLANS[scale].counts["layers"], PLANS[scale].axes["splits"]
    borders = {row: _border(scale, row) for row in ROWS}
    notes = {row: f"{b} of {layers} layers" if b else "no like in this network" for row, b in borders.items()}
    found = [
        compared(runs, scale, PRINTED[row, column], row, column, _runs(scale, row, column), notes[row])
        for row in ROWS
        for column in COLUMNS
    ]
    ran = [c for c in COLUMNS if any(e.ours for e in found if e.column == c)]
    told = [c for c in COLUMNS if c in splits or not word(scale, c)]
    return comparison(
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers{_borders(scale)}; with all layers in "
        f"the extractor it is FedAvg with {ALPHA * LOCAL_STEPS} local steps. {caption(scale, told)}",
        labelled(scale, found, splits),
        [judge("the best split is after the first 16 of 20 layers", leads(found, BEST, columns=ran))],
    )


def _borders(scale: str) -> str:
    if scale == "paper":
        return ""
    plan = PLANS[scale]
    pairs = ", ".join(f"{border} for L = {printed}" for printed, border in plan.axes["borders"])
    return f" stands for as many of this network's {plan.counts['layers']}: {pairs}"


ARTEFACT = Artefact("fedals.table_3", "accuracy by the split into extractor and head", cells, data)
