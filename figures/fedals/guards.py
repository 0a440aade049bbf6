"""What FedALS's findings need before they are judged, with the paper's numbers from its Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..regimes import ceiling, drift, horizon, learnt, level, POINT, Regime, treatment
from ..run_description import of
from ..runs import Runs
from .grid import best, place, seeds
from .reported_vs_ours import label, results
from .settings import in_paper, TEXT

TABLE_1 = {
    (method, name.partition("/")[2]): one for (name, method), one in table("fedals", "Table 1", version="v1").items()
}
"""By method with its split, and data set: the version whose table is whole."""
PLAIN_STEPS = " (SCAFFOLD's printed controls assume steps without momentum: fedals.algorithm_3.momentum)"
NEARLY = 0.01
"""Of a language model's loss, what a point of accuracy is elsewhere."""


def printed(column: str, row: str) -> float:
    """What Table 1 prints, such that higher is better: accuracies in percent."""
    return (-1.0 if column == TEXT else 100.0) * float(TABLE_1[row, column].value)


def plain(scale: str, column: str) -> list[Cell]:
    """FedAvg on both splits: how much there is to cure."""
    return [cell for split in ("iid", "non-iid") for cell in seeds(scale, column, "FedAvg", split)]


def usual(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], wanted: str = "", cure: bool = True
) -> list[Regime]:
    """The guards of a finding that compares these methods, by name, for non-iid clients on the data behind a column.

    ``wanted``: the paper's data, where these are another set's. ``cure``: the finding is a gain, so that there must be
    drift to cure, and room for improvement.
    """
    there = wanted or column
    iid, apart = (_accuracies(runs, scale, column, split) for split in ("iid", "non-iid"))
    reported = {split: printed(there, f"FedAvg {split}") for split in ("iid", "non-iid")}
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there))
    guards = [*trained(runs, scale, column, methods, there, "non-iid"), *level(ran, apart, reported["non-iid"])]
    if column != TEXT:
        guards += learnt(ran, iid)
    if cure:
        guards += [drift(label(scale, column), iid, apart, reported["iid"] - reported["non-iid"])]
        guards += ceiling(apart, reported["non-iid"])
    return guards


def trained(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], there: str, split: str
) -> list[Regime]:
    """That these are as long as the paper's, or FedAvg has levelled off; and equally trained, step sizes searched."""
    searched = [name for name, cells in methods.items() if cells and best(scale, place(cells[0].arguments))]
    alike = treatment(methods, searched)
    if "momentum" in alike.words and any("scaffold" in str(place(c[0].arguments)) for c in methods.values() if c):
        alike = replace(alike, words=alike.words + PLAIN_STEPS)
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there, split))
    quantity, times, near = ("test_loss", 1.0, NEARLY) if column == TEXT else ("test_accuracy", 100.0, POINT)
    curves = [runs.curve(cell, quantity) for cell in seeds(scale, column, "FedAvg", split)]
    return [horizon(ran, [(at, times * values) for at, values in curves], near), alike]


def _accuracies(runs: Runs, scale: str, column: str, split: str) -> list[float]:
    """FedAvg's, by seed; of a language model minus its loss."""
    values = results(runs, scale, column, seeds(scale, column, "FedAvg", split))
    return [-value for value in values] if column == TEXT else values
