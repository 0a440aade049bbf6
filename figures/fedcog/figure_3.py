"""Figure 3: accuracy against the heterogeneity of the split and against the two weights of FedCOG."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, canvas, finish, legend, one
from ..runs import Runs
from . import settings as paper
from .grid import chosen, run, seeds, Setup
from .reading import caption, final, tidy_curves
from .settings import FEDCOG, KINDS

METHODS = ("FedAvg", "FedProx", FEDCOG)
HETEROGENEITY, APART, DISTILLED = "(a) Dirichlet parameter", "(b) disagreement weight", "(c) distillation weight"
WEIGHTS = {
    APART: ("disagreement", "disagreements", paper.DISAGREEMENTS, paper.DISAGREEMENT),
    DISTILLED: ("distillation", "distillations", paper.DISTILLATIONS, paper.DISTILLATION),
}
"""By panel: the option, the axis of the plan, its values and the default among them."""
Points = dict[tuple[str, str, float], list[Cell]]
"""Runs by panel, curve and x."""


def points(scale: str) -> Points:
    found: Points = {}
    for beta in chosen(scale, "dirichlets", paper.DIRICHLETS):
        for method in METHODS:
            setup = Setup(dirichlet=beta)
            found[HETEROGENEITY, method, beta] = [run(scale, method, seed, setup) for seed in seeds(scale)]
    for panel, (option, axis, every, default) in WEIGHTS.items():
        for kind in KINDS:
            for weight in chosen(scale, axis, every):
                changes = {} if weight == default else {option: weight}
                cells_ = [run(scale, FEDCOG, seed, Setup(kind=kind), **changes) for seed in seeds(scale)]
                found[panel, f"FedCOG, {kind}", weight] = cells_
    return found


def cells(scale: str) -> list[Cell]:
    return [cell for each in points(scale).values() for cell in each]


def data(runs: Runs, scale: str) -> Shown:
    told = {place: [final(runs, cell) for cell in each] for place, each in points(scale).items()}
    return Shown(
        caption(scale, "NIID-1 in (a)", "bars: one standard error over seeds"),
        tidy_curves((*place, values) for place, values in told.items()),
        conclusions=[*_heterogeneity(scale, told), *(_default(scale, told, panel) for panel in WEIGHTS)],
        unavailable="" if seeds(scale) else "data not available",
    )


Told = dict[tuple[str, str, float], list[float]]


def _heterogeneity(scale: str, told: Told) -> list[Judged]:
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
    return [
        judge("All methods are less accurate on the most heterogeneous split than on the least", worse),
        judge("FedCOG is the most accurate at every heterogeneity", best),
    ]


def _default(scale: str, told: Told, panel: str) -> Judged:
    _, axis, every, default = WEIGHTS[panel]
    pairs = [
        Pair(f"{default:g} over {weight:g}, {curve}", told[panel, curve, default], told[panel, curve, weight])
        for curve in (f"FedCOG, {kind}" for kind in KINDS)
        for weight in chosen(scale, axis, every)
        if weight != default
    ]
    return judge(f"{default:g} is the best {panel[4:]} in both splits", pairs)


def draw(shown: Shown) -> Any:
    made, axes = canvas(2, 2, 2)
    curves = list(dict.fromkeys(r["curve"] for r in shown.rows))
    for ax, panel in zip(axes.flat, (HETEROGENEITY, *WEIGHTS), strict=False):
        for curve in curves:
            chosen_rows = [r for r in shown.rows if (r["panel"], r["curve"]) == (panel, curve)]
            if chosen_rows:
                one(ax, chosen_rows, curve, curves.index(curve), points=True)
        finish(ax, Axis("", log=True), Axis(""))
        ax.set_xlabel(panel)
    axes[1, 1].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("test accuracy (%)")
    legend(made, axes)
    return made


ARTEFACT = Artefact("fedcog.figure_3", "heterogeneity and weights", "FedCOG, Figure 3", cells, data, draw)
