"""Figure 6: test accuracy over rounds."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Pair
from ..drawing import Axis, panels
from ..regimes import POINT
from ..runs import mean_rows, Runs
from . import grid, guards
from .grid import chosen, PLANS, problem
from .guards import Place, printed
from .reading import caption, cells_of, final, last
from .settings import FEDCOG, PLUGGED

TAIL = 7
"""The rounds after which a run counts as over are its last seventh: ten of seventy."""


def runs_of(scale: str) -> dict[str, list[Cell]]:
    """By method, the same runs as in Table 1; five baselines, which is what can be told apart."""
    methods = (*(m for m in PLUGGED if m in chosen(scale, "methods", PLUGGED)), FEDCOG)
    return {method: grid.runs(scale, method) for method in methods}


def cells(scale: str) -> list[Cell]:
    return [*cells_of(runs_of(scale)), *guards.harm_cells(scale)]


def data(runs: Runs, scale: str) -> Shown:
    found = runs_of(scale)
    rows = [
        row
        for method, each in found.items()
        for row in mean_rows((runs.curve(c, "test_accuracy") for c in each), "", method, grid.what_ran(each), 100.0)
    ]
    read = final(scale)
    ends = {method: [read(runs, c) for c in each] for method, each in found.items()}
    best = [Pair(f"FedCOG over {m}", ends[FEDCOG], ends[m]) for m in found if m != FEDCOG]
    still = [
        Pair(
            f"{m}, a point over its last gain",
            [POINT + e for e in earlier(runs, scale, found[m])],
            [last(runs, c) for c in found[m]],
        )
        for m in found
    ]
    place = Place(found, printed("1", "FedAvg", "CIFAR-10 NIID-1"))
    return Shown(
        caption(
            scale,
            "NIID-1",
            grid.tuned(found),
            grid.left_out(scale, ("methods", PLUGGED)),
            "band: one standard error over seeds",
        ),
        rows,
        conclusions=[
            judge("FedCOG is the most accurate in the end", best, POINT, guards.usual(runs, scale, place)),
            judge(
                "All methods are saturated: none gains more than a point in the last seventh of the rounds",
                still,
                regimes=guards.usual(
                    runs, scale, place._replace(methods={"FedAvg": found["FedAvg"]}), remedy=False, ended=False
                ),
            ),
        ],
        unavailable="" if problem(scale) else "data not available",
    )


def earlier(runs: Runs, scale: str, cells_: list[Cell]) -> list[float]:
    """Accuracy in percent a seventh of the rounds before the end; 0 for a run that diverged."""
    rounds = PLANS[scale].rounds[""]
    before = rounds - max(1, rounds // TAIL)
    told = [dict(zip(*runs.curve(c, "test_accuracy"), strict=True)).get(before, float("nan")) for c in cells_]
    return [0.0 if runs.diverged(c) else 100 * float(v) for c, v in zip(cells_, told, strict=True)]


def draw(shown: Shown) -> Any:
    return panels(shown.rows, Axis("round"), Axis("test accuracy (%)"))


ARTEFACT = Artefact("fedcog.figure_6", "accuracy over rounds", cells, data, draw)
