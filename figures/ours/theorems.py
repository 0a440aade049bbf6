"""What the figures of single papers share: bounds beside exact values on quadratics, and beside training on data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..runs import Runs
from . import beside, grid
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
    names = {QUADRATICS: QUADRATICS, DATA: grid.data(scale)} if len(sides) > 1 else dict.fromkeys(sides, "")
    rows, judged = [], []
    for bound in COMPARED[paper]:
        mine = [row for s in sides for row in beside.rows_of(runs, SIDES[s](scale, bound), bound, names[s])]
        judged.append(beside.held(f"{PAPERS[paper]}, {TITLES[bound]}: holds wherever its conditions are met", mine))
        rows += mine
    caption = " ".join(_caption(scale)[side] for side in sides)
    return Shown(f"{caption} Bars: one standard error.{more}{beside.remark(rows)}", rows, conclusions=judged)


def _caption(scale: str) -> dict[str, str]:
    plan = PLANS[scale]
    fixed = plan.setting.get("step_size")
    size = f"{fixed:g}" if fixed else "the largest inside the conditions, 1/L halved again and again"
    return {
        QUADRATICS: f"Quadratics: 4 clients, 2 parameters, 3 local steps; thin line: exact expectation, dots: mean of "
        f"{plan.counts['runs']} sampled runs; step size: {size}.",
        DATA: f"{grid.data(scale)}: {grid.problem(scale)}, 10 clients, Dirichlet 1, 5 local steps, batch 32, "
        f"{plan.seeds} seeds, step size the largest inside the conditions, constants in closed form where there "
        "is one.",
    }


def _of_paper(paper: str, more: str = "", sides: Sequence[str] = (QUADRATICS, DATA), suffix: str = "") -> Artefact:
    """The figure of one paper."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    title = f"the theorems of {PAPERS[paper]} beside exact values and measurements{where}"
    cells, data = partial(cells_of, paper, sides), partial(data_of, paper, sides, more)
    return Artefact(f"ours.theorems_{paper}{suffix}", title, cells, data, beside.draw)


_FEDINIT = " Relaxation 0.06, half of the clients averaged, lambda the best that is allowed."
_DECAYING_K = " Least squared gradient over all local iterations, at the average of all clients."
_FEDCOG = " Before generation sets in, so that the objective is the task's alone; all clients take part."
ARTEFACTS = {
    "theorems_fedinit": _of_paper("fedinit", _FEDINIT, (QUADRATICS,)),
    "theorems_fedinit_data": _of_paper("fedinit", _FEDINIT, (DATA,), "_data"),
    "theorems_decaying_k": _of_paper("decaying_k", _DECAYING_K),
    "theorems_fedcog": _of_paper("fedcog", _FEDCOG),
}
