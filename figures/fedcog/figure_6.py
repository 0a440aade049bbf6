"""Figure 6: test accuracy over rounds."""

from __future__ import annotations

from empirics.experiments import Cell

from ..comparing import judge, Judged, Pair
from ..regimes import POINT
from ..runs import Runs
from ..specification import figure, Line, over_rounds
from . import grid, guards
from .grid import chosen, PLANS, problem
from .guards import Compared, printed
from .reading import caption, each, final, last
from .settings import FEDCOG, PLUGGED

TAIL = 7
"""The rounds after which a run counts as over are its last seventh: ten of seventy."""


def runs_of(scale: str) -> dict[str, list[Cell]]:
    """By method, the same runs as in Table 1; five baselines, which is what can be told apart."""
    methods = (*(m for m in PLUGGED if m in chosen(scale, "methods", PLUGGED)), FEDCOG)
    return {method: grid.runs(scale, method) for method in methods}


def _lines(scale: str) -> list[Line]:
    return [
        Line("", method, cells, "test_accuracy", grid.what_ran(cells), 100.0)
        for method, cells in runs_of(scale).items()
    ]


def _caption(runs: Runs, scale: str) -> str:
    left, bands = grid.left_out(scale, ("methods", PLUGGED)), "band: one standard error over seeds"
    return caption(scale, "NIID-1", grid.tuned(runs_of(scale)), left, bands)


def _findings(runs: Runs, scale: str) -> list[Judged]:
    found = runs_of(scale)
    ends = {method: each(final(scale))(runs, cells) for method, cells in found.items()}
    best = [Pair(f"FedCOG over {m}", ends[FEDCOG], ends[m]) for m in found if m != FEDCOG]
    still = [
        Pair(
            f"{m}, a point over its last gain",
            [POINT + e for e in earlier(runs, scale, found[m])],
            each(last)(runs, found[m]),
        )
        for m in found
    ]
    place = Compared(found, printed("1", "FedAvg", "CIFAR-10 NIID-1"))
    plain = place._replace(methods={"FedAvg": found["FedAvg"]})
    saturated = "All methods are saturated: none gains more than a point in the last seventh of the rounds"
    return [
        judge("FedCOG is the most accurate in the end", best, POINT, guards.usual(runs, scale, place)),
        judge(saturated, still, regimes=guards.usual(runs, scale, plain, remedy=False, ended=False)),
    ]


def earlier(runs: Runs, scale: str, cells_: list[Cell]) -> list[float]:
    """Accuracy in percent a seventh of the rounds before the end; 0 for a run that diverged."""
    rounds = PLANS[scale].rounds[""]
    before = rounds - max(1, rounds // TAIL)
    told = [dict(zip(*runs.curve(c, "test_accuracy"), strict=True)).get(before, float("nan")) for c in cells_]
    return [0.0 if runs.diverged(c) else 100 * float(v) for c, v in zip(cells_, told, strict=True)]


ARTEFACTS = {
    "figure_6": figure(
        "fedcog.figure_6", "accuracy over rounds", _lines, _caption, _findings, over_rounds("test accuracy (%)"),
        more=guards.harm_cells, unavailable=lambda scale: "" if problem(scale) else "data not available",
    ),
}  # fmt: skip
