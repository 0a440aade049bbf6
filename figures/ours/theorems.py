"""Figures of the theorems of every paper beside exact values on quadratics and training on data.

A bound is a line, exact values are a thin line, measurements are dots.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bounds.catalog import get
from empirics.experiments import Cell

from ..artefact import Content
from ..comparing import exact_finding, Finding, Reproduction
from ..drawing import Axis, meaning_drawing
from ..run_description import problem_words
from ..runs import Runs
from ..style import BOUND, DASHED, DOTS, DOTTED, EXACT, LineStyle, OTHER, THEORY
from . import DATA, grid, QUADRATICS
from .grid import exact_cell, Federation, info_of, mean_cell, one_round_cell, PLANS, training_cell
from .settings import COMPARED, QUANTITIES, REPAIRED, ROUNDS, title, TITLES

Rows = list[dict[str, Any]]
OPEN = Reproduction.UNDECIDED
ROUNDING = 1e-9
"""Relative difference between an exact value and a bound that counts as rounding."""


# ---- rows ----


def rows_of(runs: Runs, cell: Cell, bound: str, where: str) -> Rows:
    """Return the rows of one panel from an exact or training cell; ``where`` ends its title."""
    table = runs.columns(cell)
    if not table:
        return []
    panel = f"{TITLES[bound]}, {where}" if where else TITLES[bound]
    shared: dict[str, Any] = {"panel": panel, "bound": bound, "x_name": "rounds"}
    shared |= {"y_name": QUANTITIES[get(bound).target.name], "ran": info_of(cell)}
    x = [float(r) for r in table["rounds"]]
    verdicts, outside = table.get("verdict", [""] * len(x)), table["outside"]
    rows = curve(shared, "bound", x, table["bound"], outside=outside, verdict=verdicts)
    if "exact" in table:
        rows += curve(shared, "exact", x, table["exact"], outside=outside)
    return rows + curve(shared, "measured", x, table["measured"], table["error"], outside=outside)


def curve(
    shared: dict[str, Any],
    name: str,
    x: Iterable[float],
    y: Sequence[float],
    error: Sequence[float] | None = None,
    outside: Sequence[bool] | None = None,
    verdict: Sequence[str] | None = None,
) -> Rows:
    """Return one row per point of a curve."""
    errors, outsides = error or [math.nan] * len(y), outside or [False] * len(y)
    return [
        {**shared, "curve": name, "x": a, "y": b, "error": e, "outside": bool(s), "verdict": v}
        for a, b, e, s, v in zip(x, y, errors, outsides, verdict or [""] * len(y), strict=True)
    ]


def theorem_finding(words: str, rows: Rows) -> Finding:
    """Judge whether a theorem holds at all points inside its conditions, by exact values or else by the tests."""
    places: dict[tuple[str, float], dict[str, dict[str, Any]]] = {}
    for row in rows:
        if not row["outside"]:
            places.setdefault((row["panel"], row["x"]), {})[row["curve"]] = row
    counts = Counter(_verdict(curves) for curves in places.values() if "bound" in curves)
    below, above, still_open = (counts[v] for v in (Reproduction.REPRODUCED, Reproduction.CONTRADICTED, OPEN))
    why = f"{counts.total()} points inside the conditions: {below} below the bound, {above} above, {still_open} open"
    return exact_finding(words, below > 0 and not still_open, why, above > 0)


def _verdict(curves: dict[str, dict[str, Any]]) -> Reproduction:
    if "exact" in curves:
        below = curves["exact"]["y"] <= curves["bound"]["y"] * (1 + ROUNDING)
        return Reproduction.REPRODUCED if below else Reproduction.CONTRADICTED
    tested = {"holds here": Reproduction.REPRODUCED, "violated": Reproduction.CONTRADICTED}
    return tested.get(curves["bound"]["verdict"], OPEN)


REPAIR = "bound, repaired"


def merge_repaired(rows: Rows) -> Rows:
    """Return the rows with repaired bounds moved into the panel of the printed one, if the same runs measure both."""
    merged = []
    for row in rows:
        printed = REPAIRED.get(row["bound"])
        panel = row["panel"].replace(TITLES[row["bound"]], TITLES[printed]) if printed else row["panel"]
        if panel == row["panel"] or _measured(rows, row["panel"]) != _measured(rows, panel):
            merged.append(row)
        elif row["curve"] == "bound":
            merged.append({**row, "panel": panel, "curve": REPAIR})
    return merged


def _measured(rows: Rows, panel: str) -> list[tuple[float, float]]:
    return [(row["x"], row["y"]) for row in rows if row["panel"] == panel and row["curve"] in ("exact", "measured")]


def outside_note(rows: Rows) -> str:
    """Return the caption's note on the panels outside a theorem's conditions; empty if there are none."""
    panels = list(dict.fromkeys(row["panel"] for row in rows if row["outside"] and row["curve"] == "bound"))
    return f" OUTSIDE the conditions (dashed or open): {'; '.join(panels)}." if panels else ""


# ---- drawing ----

LOOKS = {"bound": BOUND, "exact": EXACT, "measured": DOTS, REPAIR: LineStyle(OTHER, DASHED, "", 1.4)}
PART = LineStyle(THEORY, DOTTED, "", 0.9)
"""Style of the terms of a bound."""


draw = meaning_drawing(lambda label: LOOKS.get(label, PART), Axis("", log=True), Axis("", log=True))

# ---- one paper ----

NOTES = {
    "fedinit": "Relaxation 0.06, half of the clients averaged, lambda the best that is allowed.",
    "decaying_k": "Least squared gradient over all local iterations, at the average of all clients.",
    "fedcog": "Before generation sets in, so that the objective is the task's alone; all clients take part.",
}
"""What the caption of a paper's figure says besides."""
SIDES: dict[str, Callable[[str, str], Cell]] = {QUADRATICS: lambda s, b: exact_cell(s, b, 0), DATA: training_cell}
"""By kind of problem: the cell that compares a bound with its runs."""


def of_paper(paper: str, sides: Sequence[str], runs: Runs, scale: str) -> Content:
    """Return the content of a paper's figure and whether every theorem holds."""
    names = {QUADRATICS: QUADRATICS, DATA: grid.data_set(scale)} if len(sides) > 1 else dict.fromkeys(sides, "")
    rows, findings = [], []
    for bound in COMPARED[paper]:
        mine = [row for s in sides for row in rows_of(runs, SIDES[s](scale, bound), bound, names[s])]
        findings.append(theorem_finding(f"{title(bound)}: holds wherever its conditions are met", mine))
        rows += mine
    rows = merge_repaired(rows)
    caption = " ".join(_caption(scale)[side] for side in sides)
    return Content(f"{caption} Bars: one standard error. {NOTES[paper]}{outside_note(rows)}", rows, findings=findings)


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


# ---- FedALS: the bounds of one round and of many ----

SAMPLES, VARIANCE = 20, 2.0
"""Estimation of a mean: samples per client, and the total variance of a sample in two dimensions."""
DISTANCES = "squared distances"
CURVES = {"bound": "bound", "first term alone": "first term", "measured": "measured for the bound"}
"""Curves of one round, and their names in the table of its run."""


def federations(scale: str) -> list[Federation]:
    """Return the federations of this figure: the first model, IID and skewed."""
    return [f for f in PLANS[scale].axes["draws"] if f.model == "ridge"]


def of_fedals(runs: Runs, scale: str) -> Content:
    plan = PLANS[scale]
    parts = [distance_rows(runs, scale), *(one_round_rows(runs, scale, f) for f in federations(scale))]
    names = [DISTANCES, *(f.words for f in federations(scale))]
    for bound in ROUNDS:
        parts.append(rows_of(runs, training_cell(scale, bound), bound, ""))
        names.append(TITLES[bound])
    findings = [
        theorem_finding(f"FedALS, {name}: holds wherever its conditions are met", part)
        for name, part in zip(names, parts, strict=True)
    ]
    rows = merge_repaired([row for part in parts for row in part])
    caption = (
        f"One averaging round of exact minimisers: squared distances to a mean ({20 * plan.seeds} draws of {SAMPLES} "
        "samples per client, thin line: exact); ridge on digits with penalty 0.5, identical clients or with Dirichlet "
        "0.3 "
        f"classes ({federations(scale)[0].seeds} draws of {SAMPLES} samples per client, a control variate of mean zero "
        f"subtracted everywhere). Many rounds: {problem_words(grid.problem(scale, fresh=True))}, 10 clients, "
        f"Dirichlet 1, fresh samples in each of 5 local steps, batch 8, {plan.seeds} seeds; step size 1/L. Bars: one "
        "standard error; what is not positive is not drawn."
    )
    return Content(caption + outside_note(rows), rows, findings=findings)


def _shared(panel: str, cell: Cell) -> dict[str, Any]:
    words = {"panel": panel, "bound": "fedals.one_round", "x_name": "clients", "y_name": "gap of the loss"}
    return {**words, "ran": info_of(cell)}


def distance_rows(runs: Runs, scale: str) -> Rows:
    """Return bound, exact and measured gap of squared distances to a mean for each number of clients."""
    table = runs.columns(mean_cell(scale))
    if not table:
        return []
    shared = _shared(DISTANCES, mean_cell(scale))
    counts = table["clients"]
    mean = {"clients": counts, "local_gap": VARIANCE / SAMPLES, "client_distance_sq": 0.0, "smoothness": 1.0}
    formulas = [get(f"fedals.gaussian_mean_{name}").equal_clients() for name in ("bound", "gap")]
    bound, exact = (f(**{q.name: mean[q.name] for q in f.quantities}).tolist() for f in formulas)
    rows = curve(shared, "bound", counts, bound) + curve(shared, "exact", counts, exact)
    return rows + curve(shared, "measured", counts, table["value"], table["error"])


def one_round_rows(runs: Runs, scale: str, federation: Federation) -> Rows:
    """Return bound, its first term alone and the measured gap for each number of clients."""
    cell = one_round_cell(scale, federation)
    places = runs.rows(cell, "quantity", "clients", "value", "error", "verdict")
    if not places:
        return []
    shared = _shared(federation.words, cell)
    rows: Rows = []
    for name, quantity in CURVES.items():
        points = [place[1:] for place in places if place[0] == quantity]
        clients, values, errors, verdicts = (list(column) for column in zip(*points, strict=True))
        rows += curve(shared, name, clients, values, errors, verdict=verdicts)
    return rows
