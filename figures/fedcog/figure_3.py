"""Figure 3: accuracy against the heterogeneity of the split and against the two weights of FedCOG."""

from __future__ import annotations

import math
from typing import Any

from empirics.experiments import Cell

from ..artefact import Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, each_panel, one, Row
from ..regimes import moved, POINT
from ..runs import Runs
from ..specification import figure, Point
from . import guards, settings as paper
from .grid import chosen, left_out, problem, runs as runs_of, Setup, what_ran
from .guards import Compared, printed
from .reading import caption, each, final, over
from .settings import FEDCOG, KINDS

METHODS = ("FedAvg", "FedProx", FEDCOG)
HETEROGENEITY, APART, DISTILLED = "(a) Dirichlet parameter", "(b) disagreement weight", "(c) distillation weight"
WEIGHTS = {
    APART: ("disagreement", "disagreements", paper.DISAGREEMENTS, paper.DISAGREEMENT),
    DISTILLED: ("distillation", "distillations", paper.DISTILLATIONS, paper.DISTILLATION),
}
"""By panel: the option, the axis of the plan, its values and the default among them."""
AXES = [
    (HETEROGENEITY, "dirichlets", paper.DIRICHLETS),
    *((panel, axis, every) for panel, (_, axis, every, _) in WEIGHTS.items()),
]
Points = dict[tuple[str, str, float], list[Cell]]
"""Runs by panel, curve and x."""


def points(scale: str) -> Points:
    found: Points = {
        (HETEROGENEITY, method, beta): runs_of(scale, method, Setup(dirichlet=beta))
        for beta in chosen(scale, "dirichlets", paper.DIRICHLETS)
        for method in METHODS
    }
    for panel, (option, axis, every, _) in WEIGHTS.items():
        for kind in KINDS:
            for weight in chosen(scale, axis, every):
                found[panel, f"FedCOG, {kind}", weight] = runs_of(scale, FEDCOG, Setup(kind=kind), **{option: weight})
    return found


def _points(scale: str) -> list[Point]:
    read = each(final(scale))
    return [Point(panel, curve, x, cells, read, what_ran(cells)) for (panel, curve, x), cells in points(scale).items()]


def _more(scale: str) -> list[Cell]:
    plain = [cell for kind in KINDS for cell in runs_of(scale, "FedAvg", Setup(kind=kind))]
    return [*guards.harm_cells(scale), *plain]


def _caption(runs: Runs, scale: str) -> str:
    left = [f"{panel}: {words}" for panel, axis, every in AXES if (words := left_out(scale, (axis, every)))]
    return caption(scale, "NIID-1 in (a)", *over(scale), *left, "bars: one standard error over seeds")


Told = dict[tuple[str, str, float], list[float]]


def _findings(runs: Runs, scale: str) -> list[Judged]:
    told = {place: each(final(scale))(runs, cells) for place, cells in points(scale).items()}
    return [*_heterogeneity(runs, scale, told), *(_default(runs, scale, told, panel) for panel in WEIGHTS)]


def _heterogeneity(runs: Runs, scale: str, told: Told) -> list[Judged]:
    shown = chosen(scale, "dirichlets", paper.DIRICHLETS)
    low, high = min(shown), max(shown)
    a = HETEROGENEITY
    worse = [Pair(f"{m}, beta = {high:g} over {low:g}", told[a, m, high], told[a, m, low]) for m in METHODS]
    best = [
        Pair(f"FedCOG over {m}, beta = {beta:g}", told[a, FEDCOG, beta], told[a, m, beta])
        for beta in shown
        for m in METHODS
        if m != FEDCOG
    ]
    found, default = points(scale), paper.DIRICHLET
    every = [
        Compared(
            {m: found[a, m, beta] for m in METHODS},
            printed("1", "FedAvg", "CIFAR-10 NIID-1") if beta == default else math.nan,
            Setup(dirichlet=beta),
        )
        for beta in shown
    ]
    return [
        judge(
            "All methods are less accurate on the most heterogeneous split than on the least",
            worse,
            POINT,
            guards.usual(runs, scale, *every, remedy=False),
        ),
        judge("FedCOG is the most accurate at every heterogeneity", best, POINT, guards.usual(runs, scale, *every)),
    ]


def _default(runs: Runs, scale: str, told: Told, panel: str) -> Judged:
    _, axis, every, default = WEIGHTS[panel]
    pairs = [
        Pair(f"{default:g} over {weight:g}, {curve}", told[panel, curve, default], told[panel, curve, weight])
        for curve in (f"FedCOG, {kind}" for kind in KINDS)
        for weight in chosen(scale, axis, every)
        if weight != default
    ]
    weights = chosen(scale, axis, every)
    regimes = [
        moved(f"accuracy by the {panel[4:]}, {kind}", [told[panel, f"FedCOG, {kind}", w] for w in weights])
        for kind in KINDS
    ]
    for kind in KINDS:
        cells, setup = points(scale).get((panel, f"FedCOG, {kind}", default), []), Setup(kind=kind)
        place = Compared({"its default": cells}, printed("1", "FedAvg", f"CIFAR-10 {kind}"), setup)
        regimes += [*guards.usual(runs, scale, place), guards.as_in_paper(cells, setup)]
        if panel == APART:  # its runs distil with the weight of the plan
            regimes += guards.weight(scale, cells)
    return judge(f"{default:g} is the best {panel[4:]} in both splits", pairs, POINT, dict.fromkeys(regimes))


def draw(shown: Shown) -> Any:
    curves = list(dict.fromkeys(r["curve"] for r in shown.rows))

    def panel(ax: Any, rows: list[Row]) -> None:
        for place, curve in enumerate(curves):
            if mine := [r for r in rows if r["curve"] == curve]:
                one(ax, mine, curve, place, points=True)
        ax.set_xlabel(rows[0]["panel"])

    x, y = Axis("", log=True), Axis("test accuracy (%)")
    return each_panel(shown.rows, panel, x, y, legend_lines=2, titled=False)


ARTEFACTS = {
    "figure_3": figure(
        "fedcog.figure_3", "heterogeneity and weights", _points, _caption, _findings, draw, more=_more,
        unavailable=lambda scale: "" if problem(scale) else "data not available",
    ),
}  # fmt: skip
