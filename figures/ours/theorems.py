"""The theorems of every paper beside exact values on quadratics, and beside training on data.

A bound is a line, exact values are a thin line, measurements dots: rows from cells, and their drawing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import sympy as sp

from bounds.catalog import get
from bounds.vocabulary import clients as K, gradient_variance as s_sq, samples as n
from empirics.experiments import Cell
from paper_checks.validation.gaussian_mean import exact_mean

from ..artefact import Artefact, Shown
from ..comparing import counted, Judged, Reproduction
from ..drawing import Axis, by_meaning, each_panel, Row
from ..run_description import problem_words
from ..runs import Runs
from ..style import BOUND, DASHED, DOTS, DOTTED, EXACT, Line, OTHER, THEORY
from . import grid
from .grid import Draws, draws, exact, mean, PLANS, trained, what_ran
from .settings import COMPARED, PAPERS, QUANTITIES, REPAIRED, ROUNDS, title, TITLES

Rows = list[dict[str, Any]]
OPEN = Reproduction.UNDECIDED
ROUNDING = 1e-9
"""Relative difference that floating-point arithmetic may make between an exact value and a bound."""


# ---- rows ----


def rows_of(runs: Runs, cell: Cell, bound: str, where: str) -> Rows:
    """The rows of one panel from a cell of ``exact`` or ``trained``; ``where`` ends its title."""
    table = runs.columns(cell)
    if not table:
        return []
    panel = f"{TITLES[bound]}, {where}" if where else TITLES[bound]
    shared: dict[str, Any] = {"panel": panel, "bound": bound, "x_name": "rounds"}
    shared |= {"y_name": QUANTITIES[get(bound).target.name], "ran": what_ran(cell)}
    x = [float(r) for r in table["rounds"]]
    said = table.get("verdict", [""] * len(x))
    found = curve(shared, "bound", x, table["bound"], outside=table["outside"], verdict=said)
    if "exact" in table:
        found += curve(shared, "exact", x, table["exact"], outside=table["outside"])
    return found + curve(shared, "measured", x, table["measured"], table["error"], outside=table["outside"])


def curve(
    shared: dict[str, Any],
    name: str,
    x: Iterable[float],
    y: Sequence[float],
    error: Sequence[float] | None = None,
    outside: Sequence[bool] | None = None,
    verdict: Sequence[str] | None = None,
) -> Rows:
    """One row per point."""
    errors, outsides = error or [math.nan] * len(y), outside or [False] * len(y)
    return [
        {**shared, "curve": name, "x": a, "y": b, "error": e, "outside": bool(s), "verdict": v}
        for a, b, e, s, v in zip(x, y, errors, outsides, verdict or [""] * len(y), strict=True)
    ]


def held(words: str, rows: Rows) -> Judged:
    """Whether a theorem holds at all points inside its conditions; what was only measured counts by its tests."""
    places: dict[tuple[str, float], dict[str, dict[str, Any]]] = {}
    for row in rows:
        if not row["outside"]:
            places.setdefault((row["panel"], row["x"]), {})[row["curve"]] = row
    said = Counter(_verdict(found) for found in places.values() if "bound" in found)
    below, above, still_open = (said[v] for v in (Reproduction.REPRODUCED, Reproduction.CONTRADICTED, OPEN))
    why = f"{said.total()} points inside the conditions: {below} below the bound, {above} above, {still_open} open"
    return counted(words, below > 0 and not still_open, why, above > 0)


def _verdict(found: dict[str, dict[str, Any]]) -> Reproduction:
    if "exact" in found:
        below = found["exact"]["y"] <= found["bound"]["y"] * (1 + ROUNDING)
        return Reproduction.REPRODUCED if below else Reproduction.CONTRADICTED
    tested = {"holds here": Reproduction.REPRODUCED, "violated": Reproduction.CONTRADICTED}
    return tested.get(found["bound"]["verdict"], OPEN)


REPAIR = "bound, repaired"


def drawn_together(rows: Rows) -> Rows:
    """The rows with a repaired bound as a line in the panel of the printed one, where the same runs measure both."""
    found = []
    for row in rows:
        printed = REPAIRED.get(row["bound"])
        panel = row["panel"].replace(TITLES[row["bound"]], TITLES[printed]) if printed else row["panel"]
        if panel == row["panel"] or _measured(rows, row["panel"]) != _measured(rows, panel):
            found.append(row)
        elif row["curve"] == "bound":
            found.append({**row, "panel": panel, "curve": REPAIR})
    return found


def _measured(rows: Rows, panel: str) -> list[tuple[float, float]]:
    return [(row["x"], row["y"]) for row in rows if row["panel"] == panel and row["curve"] in ("exact", "measured")]


def remark(rows: Rows) -> str:
    """Which panels lie outside a theorem's conditions; empty for none."""
    panels = list(dict.fromkeys(row["panel"] for row in rows if row["outside"] and row["curve"] == "bound"))
    return f" OUTSIDE the conditions (dashed or open): {'; '.join(panels)}." if panels else ""


# ---- drawing ----

LOOKS = {"bound": BOUND, "exact": EXACT, "measured": DOTS, REPAIR: Line(OTHER, DASHED, "", 1.4)}
PART = Line(THEORY, DOTTED, "", 0.9)
"""Of a bound."""


def draw(shown: Shown) -> Any:
    """One axes per panel, in the order of the rows."""

    def panel(ax: Any, rows: list[Row]) -> None:
        by_meaning(ax, rows, lambda label: LOOKS.get(label, PART))

    return each_panel(shown.rows, panel, Axis("", log=True), Axis("", log=True))


# ---- one paper ----

QUADRATICS, DATA = "quadratics", "data"
SIDES: dict[str, Callable[[str, str], Cell]] = {QUADRATICS: lambda s, b: exact(s, b, 0), DATA: trained}
"""Where a bound is compared with runs, and that run."""


def data_of(paper: str, sides: Sequence[str], more: str, runs: Runs, scale: str) -> Shown:
    """Its rows, and whether every theorem held; ``more`` ends the caption."""
    names = {QUADRATICS: QUADRATICS, DATA: grid.data(scale)} if len(sides) > 1 else dict.fromkeys(sides, "")
    rows, judged = [], []
    for bound in COMPARED[paper]:
        mine = [row for s in sides for row in rows_of(runs, SIDES[s](scale, bound), bound, names[s])]
        judged.append(held(f"{title(bound)}: holds wherever its conditions are met", mine))
        rows += mine
    rows = drawn_together(rows)
    caption = " ".join(_caption(scale)[side] for side in sides)
    return Shown(f"{caption} Bars: one standard error.{more}{remark(rows)}", rows, conclusions=judged)


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
    return Artefact(f"ours.theorems_{paper}{suffix}", title, partial(data_of, paper, sides, more), draw)


# ---- FedALS: the bounds of one round and of many ----

SAMPLES, VARIANCE = 20, 2.0
"""Of the mean's estimation: samples per client, and the total variance of one in two dimensions."""
DISTANCES = "squared distances"
CURVES = {"bound": "bound", "first term alone": "first term", "measured": "measured for the bound"}
"""What is drawn of one round, by the names in its cell."""


def federations(scale: str) -> list[Draws]:
    """Those drawn here: the first model, IID and skewed."""
    return [f for f in PLANS[scale].axes["draws"] if f.model == "ridge"]


def _fedals(runs: Runs, scale: str) -> Shown:
    plan = PLANS[scale]
    parts = [distances(runs, scale), *(one_round(runs, scale, f) for f in federations(scale))]
    names = [DISTANCES, *(f.words for f in federations(scale))]
    for bound in ROUNDS:
        parts.append(rows_of(runs, trained(scale, bound), bound, ""))
        names.append(TITLES[bound])
    judged = [
        held(f"FedALS, {name}: holds wherever its conditions are met", part)
        for name, part in zip(names, parts, strict=True)
    ]
    rows = drawn_together([row for part in parts for row in part])
    caption = (
        f"One averaging round of exact minimisers: squared distances to a mean ({20 * plan.seeds} draws of {SAMPLES} "
        "samples per client, thin line: exact); ridge on digits with penalty 0.5, identical clients or with Dirichlet "
        "0.3 "
        f"classes ({federations(scale)[0].seeds} draws of {SAMPLES} samples per client, a control variate of mean zero "
        f"subtracted everywhere). Many rounds: {problem_words(grid.problem(scale, fresh=True))}, 10 clients, "
        f"Dirichlet 1, fresh samples in each of 5 local steps, batch 8, {plan.seeds} seeds; step size 1/L. Bars: one "
        "standard error; what is not positive is not drawn."
    )
    return Shown(caption + remark(rows), rows, conclusions=judged)


def _shared(panel: str, cell: Cell) -> dict[str, Any]:
    words = {"panel": panel, "bound": "fedals.one_round", "x_name": "clients", "y_name": "gap of the loss"}
    return {**words, "ran": what_ran(cell)}


def distances(runs: Runs, scale: str) -> Rows:
    """Bound, exact and measured gap of squared distances to a mean at every number of clients."""
    table = runs.columns(mean(scale))
    if not table:
        return []
    shared = _shared(DISTANCES, mean(scale))
    formulas, counts = exact_mean(), table["clients"]
    at = {n: SAMPLES, s_sq: sp.nsimplify(VARIANCE)}
    bound, exact = ([float(e.subs({**at, K: count})) for count in counts] for e in (formulas.bound, formulas.gap))
    found = curve(shared, "bound", counts, bound) + curve(shared, "exact", counts, exact)
    return found + curve(shared, "measured", counts, table["value"], table["error"])


def one_round(runs: Runs, scale: str, federation: Draws) -> Rows:
    """Bound, its first term alone and the measured gap at every number of clients."""
    table = runs.columns(draws(scale, federation))
    if not table:
        return []
    shared = _shared(federation.words, draws(scale, federation))
    places = list(zip(*(table[k] for k in ("quantity", "clients", "value", "error", "verdict")), strict=True))
    found: Rows = []
    for name, quantity in CURVES.items():
        points = [place[1:] for place in places if place[0] == quantity]
        clients, values, errors, verdicts = (list(column) for column in zip(*points, strict=True))
        found += curve(shared, name, clients, values, errors, verdict=verdicts)
    return found


_FEDINIT = " Relaxation 0.06, half of the clients averaged, lambda the best that is allowed."
_DECAYING_K = " Least squared gradient over all local iterations, at the average of all clients."
_FEDCOG = " Before generation sets in, so that the objective is the task's alone; all clients take part."
ARTEFACTS = (
    Artefact(
        "ours.theorems_fedals", "the theorems of FedALS beside exact values and measurements", _fedals,
        draw,
    ),
    _of_paper("fedinit", _FEDINIT, (QUADRATICS,)),
    _of_paper("fedinit", _FEDINIT, (DATA,), "_data"),
    _of_paper("decaying_k", _DECAYING_K),
    _of_paper("fedcog", _FEDCOG),
)  # fmt: skip
