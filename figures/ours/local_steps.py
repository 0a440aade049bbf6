"""Figure of Decaying-K's number of local steps, as printed and as derived, beside the best in exact and real runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bounds.catalog import get
from empirics.experiments import Cell

from ..artefact import Content
from ..comparing import Finding, judge, Pair
from ..drawing import Axis, draw_by_meaning, each_panel, Row
from ..run_description import problem_words, RunInfo
from ..runs import Runs, standard_error
from ..style import BOUND, DASHED, DOTS, GREY, LineStyle, OTHER
from . import grid
from .grid import best_steps_cell, info_of, local_steps_cell, PLANS, SCALES_OF_LOSS

PRINTED, DERIVED = "decaying_k.k_star_rounds_printed", "decaying_k.k_star_rounds"
CURVES = {"K* printed, (10)": PRINTED, "K* derived": DERIVED}
BEST = "best found"
FACTOR = 2.0
"""Factor by which a formula may differ from the best number and still count as right."""

Points = dict[int, float]
"""Numbers of local steps by number of rounds."""


def data(runs: Runs, scale: str) -> Content:
    plan = PLANS[scale]
    steps, lengths, instances = plan.axes["steps"], plan.axes["lengths"], plan.counts["instances"]
    name, length = grid.data_set(scale), lengths[-2]

    def by_problem(factor: float = 1.0) -> list[dict[str, Points]]:
        every = (_quadratic_steps(runs, best_steps_cell(scale, i, factor)) for i in range(instances))
        return [one for one in every if one]

    there, trained = by_problem(), _trained_steps(runs, scale)
    exact = info_of(*(best_steps_cell(scale, i) for i in range(instances)))
    rows = _panel_rows("quadratics", "rounds", there, steps, exact)
    info = info_of(*(local_steps_cell(scale, k) for k in steps))
    rows += _panel_rows(name, "rounds", [trained] if trained else [], steps, info)
    panel = f"other units, after {length} round{'s' if length > 1 else ''}"
    for factor in SCALES_OF_LOSS:
        by_factor = [{label: {factor: points[length]} for label, points in one.items()} for one in by_problem(factor)]
        rows += _panel_rows(panel, "factor on the loss", by_factor, steps, exact)
    caption = (
        f"Best: the number of local steps among {', '.join(map(str, steps))} with the least squared gradient after "
        "that many rounds; open: at an end of that list, the best may lie beyond. Quadratics: "
        f"{instances} instances (geometric mean, bar one standard error), exact expectations, 4 clients, 2 take part, "
        f"G^2 the largest of all runs. {name}: {problem_words(grid.problem(scale))}, 10 clients, 5 take part, "
        f"Dirichlet 1, {plan.seeds} seeds. Step size 1/(4L) everywhere. Last: the same quadratics with the loss in "
        "other units, which changes no model."
    )
    return Content(caption, rows, findings=_findings(there, lengths))


# ---- best numbers of local steps ----


def _quadratic_steps(runs: Runs, cell: Cell) -> dict[str, Points]:
    """Return the best number and both formulas for one quadratic problem; empty if it was not run."""
    triples = runs.rows(cell, "rounds", "local_steps", "value")
    if not triples:
        return {}
    names = ("smoothness", "strong_convexity", "current_loss", "optimal_loss", "grad_cap_sq", "step_size", "cohort",
             "heterogeneity")  # fmt: skip
    values = {name: runs.fact(cell, name) for name in names}
    weights = runs.fact(cell, "client_gradient_variance")
    values |= {"client_gradient_variance": weights, "client_weight": [1 / len(weights)] * len(weights)}
    return _steps_by_rounds(triples, values)


def _trained_steps(runs: Runs, scale: str) -> dict[str, Points]:
    """Return the same on data; empty unless every number of local steps was run, as a missing one could be best."""
    steps = PLANS[scale].axes["steps"]
    listed = [local_steps_cell(scale, k) for k in steps]
    if not all([runs.result(cell) for cell in listed]):
        return {}
    triples: list[tuple[float, float, float]] = []
    for k, table in zip(steps, map(runs.columns, listed), strict=True):
        triples += [(int(r), k, m) for r, m in zip(table["rounds"], table["measured"], strict=True)]
    return _steps_by_rounds(triples, runs.fact(listed[0], "constants"))


def _steps_by_rounds(triples: Sequence[tuple[float, float, float]], values: Mapping[str, Any]) -> dict[str, Points]:
    """Return the number of steps with the smallest value, and both formulas, by number of rounds."""
    lengths = sorted({int(r) for r, _, _ in triples})
    by_curve: dict[str, Points] = {BEST: {r: float(min((v, k) for s, k, v in triples if s == r)[1]) for r in lengths}}
    for label, name in CURVES.items():
        bound, known = get(name), {r: {**values, "rounds": r} for r in lengths}
        used = [q.name for q in bound.quantities]
        by_curve[label] = {r: float(bound.formula(**{q: known[r][q] for q in used})) for r in lengths}
    return by_curve


def _panel_rows(
    name: str,
    x_name: str,
    problems: Sequence[Mapping[str, Mapping[Any, float]]],
    steps: Sequence[int],
    info: RunInfo | None,
) -> list[Any]:
    """Return the rows of a panel: geometric means over problems, and the standard errors of the logarithms."""
    rows: list[dict[str, Any]] = []
    for label in (*CURVES, BEST):
        for x in problems[0][label] if problems else ():
            logs = [math.log(points[label][x]) for points in problems]
            y = math.exp(np.mean(logs))
            error = standard_error(logs)
            edge = label == BEST and any(points[label][x] in (steps[0], steps[-1]) for points in problems)
            shared = {"panel": name, "x_name": x_name, "curve": label, "edge": edge}
            rows.append({**shared, "x": float(x), "y": y, "error": error, "ran": info})
    return rows


def _findings(problems: Sequence[Mapping[str, Points]], lengths: Sequence[int]) -> list[Finding]:
    first, last = lengths[0], lengths[-1]
    logs = [{label: {r: math.log(v) for r, v in points.items()} for label, points in one.items()} for one in problems]
    falls = Pair(
        f"best at {first} over at {last} rounds", [p[BEST][first] for p in logs], [p[BEST][last] for p in logs]
    )
    findings = [judge("the best number of local steps falls with the number of rounds", [falls])]
    middle = lengths[1:-1] or lengths
    for label in CURVES:
        pairs = [
            Pair(f"{r} rounds", [math.log(FACTOR)] * len(logs), [abs(p[label][r] - p[BEST][r]) for p in logs])
            for r in middle
        ]
        findings.append(judge(f"{label} is within a factor of {FACTOR:g} of the best number on quadratics", pairs))
    return findings


# ---- drawing ----

LOOKS = {"K* printed, (10)": LineStyle(OTHER, DASHED, ""), "K* derived": BOUND, BEST: DOTS}


def draw(content: Content) -> Any:
    """Draw formulas as lines and the best numbers as dots, open where the best may lie beyond the runs."""

    def panel(ax: Any, rows: Sequence[Row]) -> None:
        plain = [{**row, "error": row["y"] * math.expm1(row["error"]), "outside": row["edge"]} for row in rows]
        draw_by_meaning(ax, plain, LOOKS.__getitem__)  # the rows have errors of logarithms
        ax.axhline(1, color=GREY, lw=0.7, ls=":", zorder=0, label="one step, the fewest possible")

    return each_panel(content.rows, panel, Axis("", log=True), Axis("local steps", log=True), shared=True)
