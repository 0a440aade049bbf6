"""Figure 2: local models after one more round: how far from the global one, and how accurate."""

from __future__ import annotations

from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge
from ..drawing import canvas, COLOURS, MARKS
from ..runs import Runs, standard_error
from .grid import chosen, problem
from .one_round import ahead, measured, MEASURES, runs_of
from .reading import caption
from .settings import COMPARED, FEDCOG

OTHERS = ("FedAvg", "FedProx")
METHODS = (*OTHERS, FEDCOG)


def cells(scale: str) -> list[Cell]:
    methods = chosen(scale, "compared", COMPARED)
    return [cell for method in METHODS if method in methods for cell in runs_of(scale, method)]


def data(runs: Runs, scale: str) -> Shown:
    rows = [
        {"panel": words, "curve": method, "x": x, "y": float(np.mean(told)), "error": standard_error(told)}
        for quantity, words in MEASURES.items()
        for x, method in enumerate(METHODS)
        if (told := measured(runs, scale, method, quantity))
    ]
    distance, common, own = MEASURES
    return Shown(
        caption(
            scale,
            "one round after FedAvg's, mean over clients (the paper shows each)",
            "bars: one standard error over seeds",
        ),
        rows,
        conclusions=[
            judge("FedCOG's local models are nearest to the global one", ahead(runs, scale, distance, OTHERS, True)),
            judge("FedCOG's local models are the most accurate on all classes", ahead(runs, scale, common, OTHERS)),
            judge("FedCOG's local models are the most accurate on their own classes", ahead(runs, scale, own, OTHERS)),
        ],
        unavailable="" if problem(scale) else "data not available",
    )


def draw(shown: Shown) -> Any:
    made, axes = canvas(1, len(MEASURES), 0)
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        points = [r for r in shown.rows if r["panel"] == words]
        for place, r in enumerate(points):
            ax.errorbar(r["x"], r["y"], r["error"], color=COLOURS[place], marker=MARKS[place], ms=4, elinewidth=0.8)
        ax.set_xlim(-0.5, len(METHODS) - 0.5)
        ax.set_xticks(range(len(METHODS)), METHODS, rotation=60, fontsize=6.5)
        ax.set_ylabel(words.replace(", ", ",\n").replace("distance of ", "distance of\n"), fontsize=6.5)
    return made


ARTEFACT = Artefact("fedcog.figure_2", "local models after one round", cells, data, draw)
