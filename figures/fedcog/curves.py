"""Figures 3 and 6: accuracy against the heterogeneity of the split and the weights of FedCOG, and over rounds."""

from __future__ import annotations

import math
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, figure, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, curves, each_panel, one, Row
from ..regimes import moved, POINT
from ..runs import line, point, Runs
from . import grid
from .grid import chosen, DIRICHLET, DIRICHLETS, FEDCOG, KINDS, left_out, PLANS, PLUGGED, Setup, unavailable, what_ran
from .reading import as_in_paper, BARS, caption, Compared, final, over, PLAIN, printed, usual, weight

# ---- Figure 3 ----

COMPARED = ("FedAvg", "FedProx", FEDCOG)
HETEROGENEITY, APART, DISTILLED = "(a) Dirichlet parameter", "(b) disagreement weight", "(c) distillation weight"
WEIGHTS = {
    APART: ("disagreement", "disagreements", grid.DISAGREEMENTS, grid.DISAGREEMENT),
    DISTILLED: ("distillation", "distillations", grid.DISTILLATIONS, grid.DISTILLATION),
}
"""By panel: the option, the axis of the plan, its values and the default among them."""
AXES = {HETEROGENEITY: ("dirichlets", DIRICHLETS), **{panel: row[1:3] for panel, row in WEIGHTS.items()}}
Place = tuple[str, str, float]
"""Panel, curve and x."""


def points(scale: str) -> dict[Place, list[Cell]]:
    found: dict[Place, list[Cell]] = {
        (HETEROGENEITY, method, beta): grid.runs(scale, method, Setup(dirichlet=beta))
        for beta in chosen(scale, *AXES[HETEROGENEITY])
        for method in COMPARED
    }
    for panel, (option, axis, every, _) in WEIGHTS.items():
        for kind in KINDS:
            for value in chosen(scale, axis, every):
                found[panel, f"FedCOG, {kind}", value] = grid.runs(scale, FEDCOG, Setup(kind=kind), **{option: value})
    return found


def weights(runs: Runs, scale: str) -> Shown:
    found = points(scale)
    told = {place: final(runs, scale, cells) for place, cells in found.items()}
    rows = [
        row
        for (panel, curve, x), cells in found.items()
        for row in point(told[panel, curve, x], x, curve, what_ran(cells), panel)
    ]
    left = [f"{panel}: {words}" for panel, axis in AXES.items() if (words := left_out(scale, axis))]
    said = caption(scale, "NIID-1 in (a)", over(scale), *left, BARS)
    judged = [*_heterogeneity(runs, scale, found, told), *(_default(runs, scale, found, told, p) for p in WEIGHTS)]
    return figure(said, rows, judged, unavailable(scale))


def _heterogeneity(
    runs: Runs, scale: str, found: dict[Place, list[Cell]], told: dict[Place, list[float]]
) -> list[Judged]:
    shown, a = chosen(scale, *AXES[HETEROGENEITY]), HETEROGENEITY
    low, high = min(shown), max(shown)
    worse = [Pair(f"{m}, beta = {high:g} over {low:g}", told[a, m, high], told[a, m, low]) for m in COMPARED]
    best = [
        Pair(f"FedCOG over {m}, beta = {beta:g}", told[a, FEDCOG, beta], told[a, m, beta])
        for beta in shown
        for m in COMPARED
        if m != FEDCOG
    ]
    every = [
        Compared(
            {m: found[a, m, beta] for m in COMPARED},
            printed("1", PLAIN, "CIFAR-10 NIID-1") if beta == DIRICHLET else math.nan,
            Setup(dirichlet=beta),
        )
        for beta in shown
    ]
    words = "All methods are less accurate on the most heterogeneous split than on the least"
    return [
        judge(words, worse, POINT, usual(runs, scale, *every, remedy=False)),
        judge("FedCOG is the most accurate at every heterogeneity", best, POINT, usual(runs, scale, *every)),
    ]


def _default(
    runs: Runs, scale: str, found: dict[Place, list[Cell]], told: dict[Place, list[float]], panel: str
) -> Judged:
    _, axis, every, default = WEIGHTS[panel]
    weights, what = chosen(scale, axis, every), panel[4:]
    pairs = [
        Pair(f"{default:g} over {other:g}, {curve}", told[panel, curve, default], told[panel, curve, other])
        for curve in (f"FedCOG, {kind}" for kind in KINDS)
        for other in weights
        if other != default
    ]
    regimes = [
        moved(f"accuracy by the {what}, {kind}", [told[panel, f"FedCOG, {kind}", w] for w in weights]) for kind in KINDS
    ]
    for kind in KINDS:
        cells, setup = found.get((panel, f"FedCOG, {kind}", default), []), Setup(kind=kind)
        place = Compared({"its default": cells}, printed("1", PLAIN, f"CIFAR-10 {kind}"), setup)
        regimes += [*usual(runs, scale, place), as_in_paper(cells, setup)]
        if panel == APART:  # its runs distil with the weight of the plan
            regimes += weight(scale, cells)
    return judge(f"{default:g} is the best {what} in both splits", pairs, POINT, dict.fromkeys(regimes))


def _draw_weights(shown: Shown) -> Any:
    names = list(dict.fromkeys(r["curve"] for r in shown.rows))

    def panel(ax: Any, rows: list[Row]) -> None:
        for place, curve in enumerate(names):
            if mine := [r for r in rows if r["curve"] == curve]:
                one(ax, mine, curve, place, points=True)
        ax.set_xlabel(rows[0]["panel"])

    x, y = Axis("", log=True), Axis("test accuracy (%)")
    return each_panel(shown.rows, panel, x, y, legend_lines=2, titled=False)


# ---- Figure 6 ----

TAIL = 7
"""The rounds after which a run counts as over are its last seventh: ten of seventy."""


def over_rounds(runs: Runs, scale: str) -> Shown:
    """The same runs as in Table 1; five baselines, which is what can be distinguished."""
    methods = (*(m for m in PLUGGED if m in chosen(scale, "methods", PLUGGED)), FEDCOG)
    found = {method: grid.runs(scale, method) for method in methods}
    rows = [
        row
        for method, cells in found.items()
        for row in line(runs, cells, "test_accuracy", "", method, what_ran(cells), 100.0)
    ]
    ends = {method: final(runs, scale, cells) for method, cells in found.items()}
    best = [Pair(f"FedCOG over {m}", ends[FEDCOG], ends[m]) for m in found if m != FEDCOG]
    still = [
        Pair(
            f"{m}, a point over its last gain",
            [POINT + e for e in earlier(runs, scale, cells)],
            runs.accuracies(cells),
        )
        for m, cells in found.items()
    ]
    place = Compared(found, printed("1", PLAIN, "CIFAR-10 NIID-1"))
    plain = place._replace(methods={PLAIN: found[PLAIN]})
    saturated = "All methods are saturated: none gains more than a point in the last seventh of the rounds"
    judged = [
        judge("FedCOG is the most accurate in the end", best, POINT, usual(runs, scale, place)),
        judge(saturated, still, regimes=usual(runs, scale, plain, remedy=False, ended=False)),
    ]
    left, bands = left_out(scale, ("methods", PLUGGED)), "band: one standard error over seeds"
    return figure(caption(scale, "NIID-1", grid.tuned(found), left, bands), rows, judged, unavailable(scale))


def earlier(runs: Runs, scale: str, cells: list[Cell]) -> list[float]:
    """Accuracy in percent a seventh of the rounds before the end; 0 for a run that diverged."""
    rounds = PLANS[scale].rounds[""]
    before = rounds - max(1, rounds // TAIL)
    told = [dict(zip(*curve, strict=True)).get(before, math.nan) for curve in runs.percent(cells)]
    return [0.0 if runs.diverged(cell) else float(value) for cell, value in zip(cells, told, strict=True)]


ARTEFACTS = (
    Artefact("fedcog.figure_3", "heterogeneity and weights", weights, _draw_weights),
    Artefact(
        "fedcog.figure_6", "accuracy over rounds", over_rounds, curves(Axis("round"), Axis("test accuracy (%)"))
    ),
)  # fmt: skip
