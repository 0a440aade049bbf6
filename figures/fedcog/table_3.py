"""Table 3: one round of a method with FedCOG on top of it against one more round without."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import agreements, by_place, judge, Pair
from ..runs import Runs
from ..sheets import sheet, tidy
from ..stand_ins import remark
from .grid import chosen, consensus, PLANS, run, seeds, Setup
from .reading import caption, cells_of, entries, ERROR, one_more, Places, PLAIN, turned
from .settings import FEDCOG, KINDS, METHODS, PLUGGED

WITH, WITHOUT = "with FedCOG", "without FedCOG"


def row_of(kind: str) -> str:
    """The printed row of a split."""
    return f"CIFAR-10-{kind[-1]}"


def places(scale: str) -> Places:
    return {
        (row_of(kind), f"{method} {word}"): [_run(scale, method, word, seed, Setup(kind=kind)) for seed in seeds(scale)]
        for kind in KINDS
        for method in chosen(scale, "plugged", PLUGGED)
        for word in (WITHOUT, WITH)
    }


def _run(scale: str, method: str, word: str, seed: int, setup: Setup) -> Cell:
    if word == WITHOUT:
        return run(scale, method, seed, setup)
    if method == "FedAvg":
        return run(scale, FEDCOG, seed, setup)
    plugged = consensus(scale, METHODS[method])
    return run(scale, plugged, seed, setup, first=method, rounds=PLANS[scale].first + 1)


def cells(scale: str) -> list[Cell]:
    return cells_of(places(scale))


def data(runs: Runs, scale: str) -> Shown:
    found = entries(runs, "3", places(scale), one_more)
    at = by_place(found)
    pairs = [
        Pair(
            f"{method} gains, {kind}",
            at[row_of(kind), f"{method} {WITH}"].ours,
            at[row_of(kind), f"{method} {WITHOUT}"].ours,
        )
        for kind in KINDS
        for method in chosen(scale, "plugged", PLUGGED)
    ]
    told = turned(found)
    return Shown(
        caption(scale, "here after the first round of either", ERROR, PLAIN, remark("flair", "")),
        tidy(found),
        sheet(told, "test accuracy (%)"),
        [judge("Every method gains by one round with FedCOG, in both splits", pairs)],
        agreements(told),
    )


ARTEFACT = Artefact("fedcog.table_3", "methods with FedCOG on top", "FedCOG, Table 3", cells, data)
