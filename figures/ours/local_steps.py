"""Decaying-K: the number of local steps as printed and as derived, beside the best that exact and real runs have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bounds.catalog import get
from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, by_meaning, each_panel, Row
from ..run_description import problem_words, Ran
from ..runs import Runs, standard_error
from ..style import BOUND, DASHED, DOTS, GREY, Line, OTHER
from . import grid
from .grid import best_steps, PLANS, SCALES_OF_LOSS, steps_on_data, what_ran

PRINTED, DERIVED = "decaying_k.k_star_rounds_printed", "decaying_k.k_star_rounds"
CURVES = {"K* printed, (10)": PRINTED, "K* derived": DERIVED}
BEST = "best found"
FACTOR = 2.0
"""How far a formula may be from the best number and still count as right."""

Points = dict[int, float]
"""A number of local steps by number of rounds."""


def data(runs: Runs, scale: str) -> Shown:
    plan = PLANS[scale]
    steps, lengths, instances = plan.axes["steps"], plan.axes["lengths"], plan.counts["instances"]
    name, length = grid.data(scale), lengths[-2]

    def found(factor: float = 1.0) -> list[dict[str, Points]]:
        every = (_instance(runs, best_steps(scale, i, factor)) for i in range(instances))
        return [one for one in every if one]

    there, trained = found(), _trained(runs, scale)
    exact = what_ran(*(best_steps(scale, i) for i in range(instances)))
    rows = _panel_rows("quadratics", "rounds", there, steps, exact)
    ran = what_ran(*(steps_on_data(scale, k) for k in steps))
    rows += _panel_rows(name, "rounds", [trained] if trained else [], steps, ran)
    panel = f"other units, {length} round{'s' if length > 1 else ''}"
    for factor in SCALES_OF_LOSS:
        kept = [{label: {factor: points[length]} for label, points in one.items()} for one in found(factor)]
        rows += _panel_rows(panel, "factor on the loss", kept, steps, exact)
    caption = (
        f"Best: the number of local steps among {', '.join(map(str, steps))} with the least squared gradient after "
        "that many rounds; open: at an end of that list, the best may lie beyond. Quadratics: "
        f"{instances} instances (geometric mean, bar one standard error), exact expectations, 4 clients, 2 take part, "
        f"G^2 the largest of all runs. {name}: {problem_words(grid.problem(scale))}, 10 clients, 5 take part, "
        f"Dirichlet 1, {plan.seeds} seeds. Step size 1/(4L) everywhere. Last: the same quadratics with the loss in "
        "other units, which changes no model."
    )
    return Shown(caption, rows, conclusions=_conclusions(there, lengths))


# ---- what is found ----


def _instance(runs: Runs, cell: Cell) -> dict[str, Points]:
    """Best and both formulas of one quadratic problem; empty where it was not run."""
    table = runs.columns(cell)
    if not table:
        return {}
    names = ("smoothness", "strong_convexity", "current_loss", "optimal_loss", "grad_cap_sq", "step_size", "cohort",
             "heterogeneity")  # fmt: skip
    values = {name: runs.fact(cell, name) for name in names}
    weights = runs.fact(cell, "client_gradient_variance")
    values |= {"client_gradient_variance": weights, "client_weight": [1 / len(weights)] * len(weights)}
    triples = zip(table["rounds"], table["local_steps"], table["value"], strict=True)
    return _found(list(triples), values)


def _trained(runs: Runs, scale: str) -> dict[str, Points]:
    """The same on data; empty unless every number of local steps was run, as the best could be a missing one."""
    steps = PLANS[scale].axes["steps"]
    listed = [steps_on_data(scale, k) for k in steps]
    if not all([runs.has(cell) for cell in listed]):
        return {}
    found: list[tuple[float, float, float]] = []
    for k, table in zip(steps, map(runs.columns, listed), strict=True):
        found += [(int(r), k, m) for r, m in zip(table["rounds"], table["measured"], strict=True)]
    return _found(found, runs.fact(listed[0], "constants"))


def _found(triples: Sequence[tuple[float, float, float]], values: Mapping[str, Any]) -> dict[str, Points]:
    """The number of steps with the smallest value, and both formulas, by number of rounds."""
    lengths = sorted({int(r) for r, _, _ in triples})
    found: dict[str, Points] = {BEST: {r: float(min((v, k) for s, k, v in triples if s == r)[1]) for r in lengths}}
    for label, name in CURVES.items():
        bound, known = get(name), {r: {**values, "rounds": r} for r in lengths}
        used = [q.name for q in bound.quantities]
        found[label] = {r: float(bound.formula(**{q: known[r][q] for q in used})) for r in lengths}
    return found


def _panel_rows(
    name: str, x_name: str, found: Sequence[Mapping[str, Mapping[Any, float]]], steps: Sequence[int], ran: Ran | None
) -> list[Any]:
    """Geometric means over problems, and the standard errors of their logarithms."""
    rows: list[dict[str, Any]] = []
    for label in (*CURVES, BEST):
        for x in found[0][label] if found else ():
            logs = [math.log(points[label][x]) for points in found]
            y = math.exp(np.mean(logs))
            error = standard_error(logs)
            edge = label == BEST and any(points[label][x] in (steps[0], steps[-1]) for points in found)
            shared = {"panel": name, "x_name": x_name, "curve": label, "edge": edge}
            rows.append({**shared, "x": float(x), "y": y, "error": error, "ran": ran})
    return rows


def _conclusions(found: Sequence[Mapping[str, Points]], lengths: Sequence[int]) -> list[Judged]:
    first, last = lengths[0], lengths[-1]
    logs = [{label: {r: math.log(v) for r, v in points.items()} for label, points in one.items()} for one in found]
    falls = Pair(
        f"best at {first} over at {last} rounds", [p[BEST][first] for p in logs], [p[BEST][last] for p in logs]
    )
    judged = [judge("the best number of local steps falls with the number of rounds", [falls])]
    middle = lengths[1:-1] or lengths
    for label in CURVES:
        pairs = [
            Pair(f"{r} rounds", [math.log(FACTOR)] * len(logs), [abs(p[label][r] - p[BEST][r]) for p in logs])
            for r in middle
        ]
        judged.append(judge(f"{label} is within a factor of {FACTOR:g} of the best number on quadratics", pairs))
    return judged


# ---- drawing ----

LOOKS = {"K* printed, (10)": Line(OTHER, DASHED, ""), "K* derived": BOUND, BEST: DOTS}


def draw(shown: Shown) -> Any:
    """Formulas as lines, what was found as dots, open where the best may lie beyond; errors are those of logarithms."""

    def panel(ax: Any, rows: Sequence[Row]) -> None:
        said = [{**row, "error": row["y"] * math.expm1(row["error"]), "outside": row["edge"]} for row in rows]
        by_meaning(ax, said, LOOKS.__getitem__)
        ax.axhline(1, color=GREY, lw=0.7, ls=":", zorder=0, label="one step, the fewest possible")

    return each_panel(shown.rows, panel, Axis("", log=True), Axis("local steps", log=True), shared=True)


ARTEFACTS = (Artefact("ours.local_steps", "local steps: printed, derived and best", data, draw),)
