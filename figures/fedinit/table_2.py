"""Table 2: test accuracy of six methods as they are and from the relaxed start (RI)."""

from __future__ import annotations

from collections.abc import Sequence

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..ran import of
from ..regimes import POINT, Regime
from ..runs import Runs
from ..sheets import comparison, entry
from .grid import column, missing, PLANS, runs as grid_runs
from .reading import accuracies, caption, each, ends, guards, RELAXED, SPREAD
from .settings import BASELINES, CIFAR10, RELAXATIONS, Setup

PRINTED = table("fedinit", "Table 2")
STARTS = ("vanilla", "+RI")
HELPED = BASELINES[:4]
"""Methods that RI helps in all four columns as printed; FedDyn and FedCM lose in two each."""


def _runs(scale: str, setup: Setup, method: str, start: str) -> list[Cell]:
    there = method == "FedAvg" or start == "vanilla" or setup in PLANS[scale].axes["with_ri"]
    return grid_runs(scale, setup, method, RELAXATIONS[setup.share] if start == "+RI" else 0.0) if there else []


def cells(scale: str) -> list[Cell]:
    return each(CIFAR10, lambda s: [c for m in BASELINES for start in STARTS for c in _runs(scale, s, m, start)])


def data(runs: Runs, scale: str) -> Shown:
    found = [
        entry(
            PRINTED[f"{method}/{start}", "CIFAR-10 ResNet-18-GN/" + setup.column.partition("/")[2]],
            f"{method}/{start}",
            column(scale, setup),
            accuracies(runs, scale, _runs(scale, setup, method, start)),
            missing(scale, setup),
            of(_runs(scale, setup, method, start), setup.in_paper),
        )
        for method in BASELINES
        for start in STARTS
        for setup in CIFAR10
    ]
    more = "RI: from the relaxed start. Test accuracy (%): reported / ours."
    words = caption(scale, CIFAR10, more, ends(scale), RELAXED, SPREAD)
    return comparison(words, found, conclusions(runs, found, scale))


def conclusions(runs: Runs, entries: list[Entry], scale: str) -> list[Judged]:
    """What Section 5.1 and Appendix B.2.2 conclude, over the columns in which all of RI's runs are planned."""
    setups = [s for s in PLANS[scale].axes["with_ri"] if not missing(scale, s)]
    seen = [column(scale, s) for s in setups]

    def guarded(methods: Sequence[str], size: bool = False) -> list[Regime]:
        return guards(runs, scale, setups, methods, size=size)

    return [
        judge(
            "RI makes every one of the six methods more accurate in every setup",
            gains(entries, BASELINES, seen),
            POINT,
            guarded(BASELINES),
        ),
        judge(
            "RI makes FedAvg, FedAdam, FedSAM and SCAFFOLD more accurate",
            gains(entries, HELPED, seen),
            POINT,
            guarded(HELPED),
        ),
        judge(
            "RI gives FedAvg over 3 points in every setup",
            gains(entries, ["FedAvg"], seen, 3.0),
            POINT,
            guarded(["FedAvg"], size=True),
        ),
        judge(
            "RI gives SCAFFOLD about 2 points (1.5 or more) in every setup",
            gains(entries, ["SCAFFOLD"], seen, 1.5),
            POINT,
            guarded(["FedAvg", "SCAFFOLD"], size=True),
        ),
    ]


def gains(
    entries: list[Entry], methods: list[str] | tuple[str, ...], columns: list[str], points: float = 0.0
) -> list[Pair]:
    """RI's runs over the vanilla ones, by more than some points."""
    at = by_place(entries)
    return [
        Pair(f"{m} +RI over vanilla, {c}", at[f"{m}/+RI", c].ours, at[f"{m}/vanilla", c].ours, points)
        for m in methods
        for c in columns
    ]


ARTEFACT = Artefact("fedinit.table_2", "what the relaxed start adds to each method", cells, data)
