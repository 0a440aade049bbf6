"""What the figures of single papers share: bounds beside exact values on quadratics, and beside training on data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from . import beside
from .grid import exact, PLANS, trained
from .settings import COMPARED, PAPERS, TITLES

QUADRATICS, DATA = "quadratics", "data"
SIDES: dict[str, Callable[[str, str], Cell]] = {QUADRATICS: lambda s, b: exact(s, b, 0), DATA: trained}
"""Where a bound is held against runs, and the cell of it."""


def cells_of(paper: str, sides: Sequence[str], scale: str) -> list[Cell]:
    """The comparisons of one paper that are drawn."""
    return [SIDES[side](scale, bound) for bound in COMPARED[paper] for side in sides]


def data_of(paper: str, sides: Sequence[str], more: str, runs: Runs, scale: str) -> Shown:
    """Its rows, and whether every theorem held; ``more`` ends the caption."""
    plan = PLANS[scale]
    names = {QUADRATICS: QUADRATICS, DATA: plan.data} if len(sides) > 1 else dict.fromkeys(sides, "")
    rows, judged = [], []
    for bound in COMPARED[paper]:
        mine = [row for s in sides for row in beside.rows_of(runs, SIDES[s](scale, bound), bound, names[s])]
        judged.append(beside.held(f"{PAPERS[paper]}, {TITLES[bound]}: holds wherever its conditions are met", mine))
        rows += mine
    caption = " ".join(_caption(scale)[side] for side in sides)
    return Shown(f"{caption} Bars: one standard error.{more}{beside.remark(rows)}", rows, conclusions=judged)


def _caption(scale: str) -> dict[str, str]:
    plan = PLANS[scale]
    size = f"{plan.step_size:g}" if plan.step_size else "the largest inside the conditions, 1/L halved again and again"
    return {
        QUADRATICS: f"Quadratics: 4 clients, 2 parameters, 3 local steps; thin line: exact expectation, dots: mean of "
        f"{plan.runs} sampled runs; step size: {size}.",
        DATA: f"{plan.data}: {plan.problem}, 10 clients, Dirichlet 1, 5 local steps, batch 32, {plan.seeds} seeds, "
        "step size the largest inside the conditions, constants in closed form where there is one.",
    }


def draw(shown: Shown) -> Any:
    return beside.draw(list(map(dict, shown.rows)))


def of_paper(paper: str, more: str = "", sides: Sequence[str] = (QUADRATICS, DATA), suffix: str = "") -> Artefact:
    """The figure of one paper."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    title = f"the theorems of {PAPERS[paper]} beside exact values and measurements{where}"
    cells, data = partial(cells_of, paper, sides), partial(data_of, paper, sides, more)
    return Artefact(f"ours.theorems_{paper}{suffix}", title, "", cells, data, draw)
