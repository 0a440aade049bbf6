"""Table 3: accuracy where the first L layers are the extractor, which is averaged less often."""

from __future__ import annotations

from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import Entry, judge, Judged, leads
from ..ran import beside
from ..regimes import POINT
from ..runs import Runs
from ..sheets import comparison
from .beside import caption, compared, label, labelled
from .grid import PLANS, seeds, word
from .guards import plain, usual
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
    shown = {column: [cell for row in ROWS for cell in _runs(scale, row, column)] for column in COLUMNS}
    return [cell for column, found in shown.items() if found for cell in (*found, *plain(scale, column))]


def data(runs: Runs, scale: str) -> Shown:
    layers, splits = PLANS[scale].counts["layers"], PLANS[scale].axes["splits"]
    borders = {row: _border(scale, row) for row in ROWS}
    notes = {row: f"{b} of {layers} layers" if b else "no like in this network" for row, b in borders.items()}
    found = [
        compared(runs, scale, PRINTED[row, column], row, column, _runs(scale, row, column), notes[row])
        for row in ROWS
        for column in COLUMNS
    ]
    ran = [c for c in COLUMNS if any(_runs(scale, row, c) for row in ROWS)]
    told = [c for c in COLUMNS if c in splits or not word(scale, c)]
    named = {row: _name(scale, row) for row in ROWS}
    shown = labelled(scale, [replace(e, row=named[e.row]) for e in found], splits)
    used = {(c, named[row]): _runs(scale, row, c) for c in COLUMNS for row in ROWS}
    used |= {(c, f"FedAvg {split}"): seeds(scale, c, "FedAvg", split) for c in ran for split in ("iid", "non-iid")}
    return comparison(
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers{_borders(scale)}; with all layers in "
        f"the extractor it is FedAvg with {ALPHA * LOCAL_STEPS} local steps. {caption(scale, told, used)}",
        shown,
        [_best(runs, scale, shown, named[BEST], column, label(scale, column, splits)) for column in ran],
    )


def _best(runs: Runs, scale: str, shown: list[Entry], row: str, column: str, name: str) -> Judged:
    """That the row is the best of a column."""
    rows = {other: cells for other in ROWS if (cells := _runs(scale, other, column))}
    words = f"the best split is after the first {row.removeprefix('L=')} layers, {name}"
    return judge(words, leads(shown, row, columns=[name]), POINT, usual(runs, scale, column, rows))


def _name(scale: str, row: str) -> str:
    """A row with as many of this network's layers as stand for the printed ones."""
    plan, border = PLANS[scale], _border(scale, row)
    ours = f"{border} of {plan.counts['layers']}" if border else ""
    return f"L={beside(ours, row.removeprefix('L=') + ' of 20')}" if ours else row


def _borders(scale: str) -> str:
    if scale == "paper":
        return ""
    plan = PLANS[scale]
    pairs = ", ".join(f"{border} for L = {printed}" for printed, border in plan.axes["borders"])
    first = min(border for _, border in plan.axes["borders"])
    alike = ", ".join(f"L = {p}" for p, b in plan.axes["borders"] if b == first)
    return f" stands for as many of this network's {plan.counts['layers']}: {pairs}; L = 1 would be the run of {alike}"


ARTEFACT = Artefact("fedals.table_3", "accuracy by the split into extractor and head", cells, data)
