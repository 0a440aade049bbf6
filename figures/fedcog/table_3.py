"""Table 3: one round of a method with FedCOG on top of it against one more round without."""

from __future__ import annotations

from dataclasses import replace

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import by_place, judge, Pair
from ..regimes import POINT, Regime
from ..runs import Runs
from ..sheets import comparison, tidy
from ..stand_ins import remark
from . import grid, guards
from .grid import chosen, PLANS, Setup
from .guards import Place, printed
from .reading import caption, cells_of, entries, ERROR, one_more, Places, turned
from .settings import FEDCOG, KINDS, PLUGGED

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
    plugged = grid.consensus(scale, grid.call(scale, method))
    return grid.runs(scale, plugged, setup, first=method, rounds=PLANS[scale].counts["first"] + 1)


def cells(scale: str) -> list[Cell]:
    return [*cells_of(places(scale)), *guards.harm_cells(scale)]


def _guards(runs: Runs, scale: str) -> list[Regime]:
    """A method is compared with itself: it alone must be trained alike, with FedCOG and without."""
    at = places(scale)
    told = []
    for kind in KINDS:
        row = f"CIFAR-10-{kind[-1]}"
        for m in chosen(scale, "plugged", PLUGGED):
            both = {word: at[row, f"{m} {word}"] for word in (WITHOUT, WITH)}
            told.append(Place({**both, FEDCOG: both[WITH]}, printed("3", row, f"FedAvg {WITHOUT}"), Setup(kind=kind)))
    return guards.usual(runs, scale, *told, later=1)


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
        caption(
            scale,
            "here after the first round of either",
            ERROR,
            grid.tuned({m: _runs(scale, m, WITHOUT, Setup()) for m in chosen(scale, "plugged", PLUGGED)}),
            grid.left_out(scale, ("plugged", PLUGGED)),
            remark("flair", ""),
        ),
        columns,
        [judge("Every method gains by one round with FedCOG, in both splits", pairs, POINT, _guards(runs, scale))],
        "test accuracy (%)",
    )
    return replace(shown, rows=tidy(found))


ARTEFACT = Artefact("fedcog.table_3", "methods with FedCOG on top", cells, data)
