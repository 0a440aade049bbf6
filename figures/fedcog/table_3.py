"""Table 3: one round of a method with FedCOG on top of it against one more round without."""

from __future__ import annotations

from dataclasses import replace

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import by_place, judge, Pair
from ..regimes import POINT
from ..runs import Runs
from ..sheets import comparison, tidy
from ..stand_ins import remark
from . import grid
from .grid import chosen, PLANS, Setup
from .reading import caption, cells_of, entries, ERROR, one_more, Places, turned
from .settings import FEDCOG, KINDS, METHODS, PLUGGED

WITH, WITHOUT = "with FedCOG", "without FedCOG"


def places(scale: str) -> Places:
    """By split, of which ``NIID-2`` is the printed row ``CIFAR-10-2``, and method with or without FedCOG."""
    return {
        (f"CIFAR-10-{kind[-1]}", f"{method} {word}"): _runs(scale, method, word, Setup(kind=kind))
        for kind in KINDS
        for method in chosen(scale, "plugged", PLUGGED)
        for word in (WITHOUT, WITH)
    }


def _runs(scale: str, method: str, word: str, setup: Setup) -> list[Cell]:
    if word == WITHOUT:
        return grid.runs(scale, method, setup)
    if method == "FedAvg":
        return grid.runs(scale, FEDCOG, setup)
    plugged = grid.consensus(scale, METHODS[method])
    return grid.runs(scale, plugged, setup, first=method, rounds=PLANS[scale].counts["first"] + 1)


def data(runs: Runs, scale: str) -> Shown:
    rows = {f"CIFAR-10-{kind[-1]}": f"{grid.named(scale)}, {kind}" for kind in KINDS}
    found = entries(
        runs, "3", places(scale), one_more,
        named=lambda row, column: (rows.get(row, row), column), later=1,
    )  # fmt: skip
    at = by_place(found)
    pairs = [
        Pair(f"{m} gains, {kind}", at[row, f"{m} {WITH}"].ours, at[row, f"{m} {WITHOUT}"].ours)
        for kind, row in zip(KINDS, rows.values(), strict=True)
        for m in chosen(scale, "plugged", PLUGGED)
    ]
    columns = turned(found)
    shown = comparison(
        caption(scale, "here after the first round of either", ERROR, grid.tuned(scale), remark("flair", "")),
        columns,
        [judge("Every method gains by one round with FedCOG, in both splits", pairs, POINT)],
        "test accuracy (%)",
    )
    return replace(shown, rows=tidy(found))


ARTEFACT = Artefact("fedcog.table_3", "methods with FedCOG on top", lambda scale: cells_of(places(scale)), data)
