"""The theorems of every paper beside exact values on quadratics, and beside training on data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sympy as sp

from bounds.vocabulary import clients as K, gradient_variance as s_sq, samples as n
from empirics.experiments import Cell
from paper_checks.validation.gaussian_mean import exact_mean

from ..artefact import Artefact, Shown
from ..run_description import problem_words
from ..runs import Runs
from . import bound_vs_runs, grid
from .grid import Draws, draws, exact, mean, PLANS, trained
from .settings import COMPARED, PAPERS, ROUNDS, title, TITLES

QUADRATICS, DATA = "quadratics", "data"
SIDES: dict[str, Callable[[str, str], Cell]] = {QUADRATICS: lambda s, b: exact(s, b, 0), DATA: trained}
"""Where a bound is compared with runs, and that run."""


def cells_of(paper: str, sides: Sequence[str], scale: str) -> list[Cell]:
    """The comparisons of one paper that are drawn."""
    return [SIDES[side](scale, bound) for bound in COMPARED[paper] for side in sides]


def data_of(paper: str, sides: Sequence[str], more: str, runs: Runs, scale: str) -> Shown:
    """Its rows, and whether every theorem held; ``more`` ends the caption."""
    names = {QUADRATICS: QUADRATICS, DATA: grid.data(scale)} if len(sides) > 1 else dict.fromkeys(sides, "")
    rows, judged = [], []
    for bound in COMPARED[paper]:
        mine = [row for s in sides for row in bound_vs_runs.rows_of(runs, SIDES[s](scale, bound), bound, names[s])]
        judged.append(bound_vs_runs.held(f"{title(bound)}: holds wherever its conditions are met", mine))
        rows += mine
    rows = bound_vs_runs.drawn_together(rows)
    caption = " ".join(_caption(scale)[side] for side in sides)
    return Shown(f"{caption} Bars: one standard error.{more}{bound_vs_runs.remark(rows)}", rows, conclusions=judged)


def _caption(scale: str) -> dict[str, str]:
    plan = PLANS[scale]
    fixed = plan.setting.get("step_size")
    size = f"{fixed:g}" if fixed else "the largest inside the conditions, 1/L halved again and again"
    return {
        QUADRATICS: f"Quadratics: 4 clients, 2 parameters, 3 local steps; thin line: exact expectation, dots: mean of "
        f"{plan.counts['runs']} sampled runs; step size: {size}.",
        DATA: f"{problem_words(grid.problem(scale))}, 10 clients, Dirichlet 1, 5 local steps, batch 32, "
        f"{plan.seeds} seeds, step size the largest inside the conditions, constants in closed form where there "
        "is one.",
    }


def _of_paper(paper: str, more: str = "", sides: Sequence[str] = (QUADRATICS, DATA), suffix: str = "") -> Artefact:
    """The figure of one paper."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    title = f"the theorems of {PAPERS[paper]} beside exact values and measurements{where}"
    cells, data = partial(cells_of, paper, sides), partial(data_of, paper, sides, more)
    return Artefact(f"ours.theorems_{paper}{suffix}", title, cells, data, bound_vs_runs.draw)


# ---- FedALS: the bounds of one round and of many ----

SAMPLES, VARIANCE = 20, 2.0
"""Of the mean's estimation: samples per client, and the total variance of one in two dimensions."""
DISTANCES = "squared distances"
CURVES = {"bound": "bound", "first term alone": "first term", "measured": "measured for the bound"}
"""What is drawn of one round, by the names in its cell."""


def federations(scale: str) -> list[Draws]:
    """Those drawn here: the first model, IID and skewed."""
    return [f for f in PLANS[scale].axes["draws"] if f.model == "ridge"]


def _fedals_cells(scale: str) -> list[Cell]:
    return [mean(scale), *(draws(scale, f) for f in federations(scale)), *(trained(scale, b) for b in ROUNDS)]


def _fedals(runs: Runs, scale: str) -> Shown:
    plan = PLANS[scale]
    parts = [distances(runs, scale), *(one_round(runs, scale, f) for f in federations(scale))]
    names = [DISTANCES, *(f.words for f in federations(scale))]
    for bound in ROUNDS:
        parts.append(bound_vs_runs.rows_of(runs, trained(scale, bound), bound, ""))
        names.append(TITLES[bound])
    judged = [
        bound_vs_runs.held(f"FedALS, {name}: holds wherever its conditions are met", part)
        for name, part in zip(names, parts, strict=True)
    ]
    rows = bound_vs_runs.drawn_together([row for part in parts for row in part])
    caption = (
        f"One averaging round of exact minimisers: squared distances to a mean ({20 * plan.seeds} draws of {SAMPLES} "
        "samples per client, thin line: exact); ridge on digits with penalty 0.5, clients alike or with Dirichlet 0.3 "
        f"classes ({federations(scale)[0].seeds} draws of {SAMPLES} samples per client, a control variate of mean zero "
        f"subtracted everywhere). Many rounds: {problem_words(grid.problem(scale, fresh=True))}, 10 clients, "
        f"Dirichlet 1, fresh samples in each of 5 local steps, batch 8, {plan.seeds} seeds; step size 1/L. Bars: one "
        "standard error; what is not positive is not drawn."
    )
    return Shown(caption + bound_vs_runs.remark(rows), rows, conclusions=judged)


def _shared(panel: str, cell: Cell) -> dict[str, Any]:
    words = {"panel": panel, "bound": "fedals.one_round", "x_name": "clients", "y_name": "gap of the loss"}
    return {**words, "ran": grid.what_ran(cell)}


def distances(runs: Runs, scale: str) -> bound_vs_runs.Rows:
    """Bound, exact and measured gap of squared distances to a mean at every number of clients."""
    table = runs.columns(mean(scale))
    if not table:
        return []
    shared = _shared(DISTANCES, mean(scale))
    formulas, counts = exact_mean(), table["clients"]
    at = {n: SAMPLES, s_sq: sp.nsimplify(VARIANCE)}
    bound, exact = ([float(e.subs({**at, K: count})) for count in counts] for e in (formulas.bound, formulas.gap))
    found = bound_vs_runs.curve(shared, "bound", counts, bound) + bound_vs_runs.curve(shared, "exact", counts, exact)
    return found + bound_vs_runs.curve(shared, "measured", counts, table["value"], table["error"])


def one_round(runs: Runs, scale: str, federation: Draws) -> bound_vs_runs.Rows:
    """Bound, its first term alone and the measured gap at every number of clients."""
    table = runs.columns(draws(scale, federation))
    if not table:
        return []
    shared = _shared(federation.words, draws(scale, federation))
    places = list(zip(*(table[k] for k in ("quantity", "clients", "value", "error", "verdict")), strict=True))
    found: bound_vs_runs.Rows = []
    for name, quantity in CURVES.items():
        points = [place[1:] for place in places if place[0] == quantity]
        clients, values, errors, verdicts = (list(column) for column in zip(*points, strict=True))
        found += bound_vs_runs.curve(shared, name, clients, values, errors, verdict=verdicts)
    return found


_FEDINIT = " Relaxation 0.06, half of the clients averaged, lambda the best that is allowed."
_DECAYING_K = " Least squared gradient over all local iterations, at the average of all clients."
_FEDCOG = " Before generation sets in, so that the objective is the task's alone; all clients take part."
ARTEFACTS = {
    "theorems_fedals": Artefact(
        "ours.theorems_fedals", "the theorems of FedALS beside exact values and measurements", _fedals_cells, _fedals,
        bound_vs_runs.draw,
    ),
    "theorems_fedinit": _of_paper("fedinit", _FEDINIT, (QUADRATICS,)),
    "theorems_fedinit_data": _of_paper("fedinit", _FEDINIT, (DATA,), "_data"),
    "theorems_decaying_k": _of_paper("decaying_k", _DECAYING_K),
    "theorems_fedcog": _of_paper("fedcog", _FEDCOG),
}  # fmt: skip
