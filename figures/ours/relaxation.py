"""Figure of FedInit's divergence against the relaxation, with the largest relaxation that each theorem allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from bounds.catalog import get
from bounds.vocabulary import relaxation
from empirics.experiments import Cell

from ..artefact import Content
from ..comparing import judge, Pair
from ..drawing import add_legend, Axis, draw_by_meaning, new_figure, run_text, set_panel_title, set_scales
from ..run_description import problem_words, RunInfo
from ..runs import point_rows, Runs
from ..style import BOUND, DASHED, DOTS, EXACT, GREY, LineStyle, SOLID
from .grid import divergence_cells, info_of, PLANS, relaxed_cell
from .settings import RELAXED

HEADROOM = 0.45
"""Free space above the data for the names of the limits, relative to their height."""
THEOREMS = {"fedinit.theorem_1": "1", "fedinit.theorem_2": "2", "fedinit.theorem_4": "4", "fedinit.theorem_5": "5"}
CANDIDATES = np.linspace(0, 0.3, 30001)
SMALL = 1e-9
"""The proofs' lambda. If one value is allowed then so is any smaller one, so this one decides whether any is."""
ABOVE, BELOW = "relative to beta = 0", "bounds and exact value"
LINES = {"mean_divergence": "mean over rounds", "final_divergence": "last round"}


def _quadratics(scale: str) -> list[Cell]:
    return [relaxed_cell(scale, i) for i in range(PLANS[scale].counts["instances"])]


def data(runs: Runs, scale: str) -> Content:
    plan, trained = PLANS[scale], divergence_cells(scale, 0.0)
    on = info_of(*trained)
    rows = [
        row
        for curve, shares, info in (
            ("exact, quadratics", _exact_shares, info_of(*_quadratics(scale))),
            (f"measured, {on.ours.data if on else 'data'}", _measured_shares, on),
        )
        for beta in plan.axes["betas"]
        for row in point_rows(shares(runs, scale, beta), beta, curve, info, ABOVE, outside=False)
    ]
    first = relaxed_cell(scale, 0)
    for quantity, at in _table(runs, first).items():
        words = f"bound, theorem {THEOREMS[quantity]}" if quantity in RELAXED else f"exact, {LINES[quantity]}"
        rows += [_row(BELOW, words, b, value, outside=out, info=info_of(first)) for b, (value, out) in at.items()]
    rows += [_row("limit", words, limit, math.nan) for limit, words in limits(runs, scale)]
    caption = (
        "Divergence: mean squared distance of all clients' last models from the server's; half of the clients "
        f"averaged; mean over {plan.rounds['relaxed']} rounds. Above, as a share of that without relaxation: exact on "
        f"{plan.counts['instances']} quadratics of 4 clients inside the conditions on the step size (eta L K = 0.005), "
        f"band: standard error; dots: {problem_words(trained[0].arguments['problem'])}, 10 clients, Dirichlet 0.1, "
        f"step size 0.1, {len(trained)} seeds, OUTSIDE the conditions on the step size. Below: the first of the "
        "quadratics, bounds of theorem 4 (mean) and of theorem 5 "
        "(last round). Upright lines: the largest relaxation that the conditions allow, above by those on it alone, "
        "below by all together at the first quadratics; to the right the theorems named there do not apply."
    )
    return Content(caption, rows, findings=_findings(runs, scale))


def _row(
    panel: str, curve: str, x: float, y: float, outside: bool = False, info: RunInfo | None = None
) -> dict[str, Any]:
    return {"panel": panel, "curve": curve, "x": x, "y": y, "error": math.nan, "outside": outside, "ran": info}


# ---- limits ----


def limits(runs: Runs, scale: str) -> list[tuple[float, str]]:
    """Return the largest relaxation of each theorem, by the conditions on it alone and by all of them."""
    constants = runs.fact(relaxed_cell(scale, 0), "constants")
    alone: dict[float, list[str]] = {}
    joint: dict[float, list[str]] = {}
    for name, short in THEOREMS.items():
        alone.setdefault(separate_limit(name), []).append(short)
        if constants:
            joint.setdefault(joint_limit(name, constants), []).append(short)
    listed = [(limit, f"theorems {', '.join(names)}") for limit, names in alone.items()]
    return listed + [(limit, f"theorems {', '.join(names)}, all conditions") for limit, names in joint.items()]


@cache
def separate_limit(name: str) -> float:
    """Return the largest relaxation that the conditions on it alone allow."""
    relations = [condition.relation for condition in get(name).numeric_conditions]
    allowed = np.ones(len(CANDIDATES), dtype=bool)
    for relation in relations:
        if relation is not None and relation.free_symbols == {relaxation}:
            allowed &= sp.lambdify([relaxation], relation)(CANDIDATES)
    return float(CANDIDATES[allowed].max())


def joint_limit(name: str, constants: Mapping[str, float]) -> float:
    """Return the largest relaxation at which all numeric conditions hold for these constants; NaN if there is none."""
    bound = get(name)
    known = {**dict.fromkeys((q.name for q in bound.quantities), 1.0), **constants}
    values = {q.name: known[q.name] for q in bound.quantities}
    allowed = np.asarray(bound.holds(**{**values, "relaxation": CANDIDATES, "contraction": SMALL}))
    return float(CANDIDATES[allowed].max()) if allowed.any() else math.nan


# ---- curves ----


def _exact_shares(runs: Runs, scale: str, beta: float) -> list[float]:
    """Return the mean divergence relative to that without relaxation, by quadratic problem."""
    tables = [at["mean_divergence"] for cell in _quadratics(scale) if (at := _table(runs, cell))]
    return [at[beta][0] / at[0.0][0] for at in tables]


def _table(runs: Runs, cell: Cell) -> dict[str, dict[float, tuple[float, bool]]]:
    """Return the value and whether it is outside the conditions, by quantity and relaxation."""
    by_quantity: dict[str, dict[float, tuple[float, bool]]] = {}
    for beta, quantity, value, outside in runs.rows(cell, "beta", "quantity", "value", "outside"):
        by_quantity.setdefault(quantity, {})[float(beta)] = (value, outside)
    return by_quantity


def _measured_shares(runs: Runs, scale: str, beta: float) -> list[float]:
    """Return the mean divergence relative to that without relaxation, by seed; infinite for a run that diverged."""
    values, start = (
        [runs.last(cell, "divergence", window=10**6, diverged=math.inf) for cell in divergence_cells(scale, b)]
        for b in (beta, 0.0)
    )
    return [a / b for a, b in zip(values, start, strict=True)]


def _findings(runs: Runs, scale: str) -> list[Any]:
    small = [beta for beta in PLANS[scale].axes["betas"] if 0 < beta <= 0.1]
    lower = {
        kind: [Pair(f"beta = {b:g}, {kind}", [1.0] * len(of), of) for b in small for of in [shares(runs, scale, b)]]
        for kind, shares in (("data", _measured_shares), ("exact", _exact_shares))
    }
    bound = _table(runs, relaxed_cell(scale, 0)).get("fedinit.theorem_4", {})
    inside = [value for value, outside in bound.values() if not outside]
    rises = (
        f"inside its conditions the bound of theorem 4 goes from {inside[0]:.3g} to {inside[-1]:.3g}" if inside else ""
    )
    return [
        judge("a small relaxation lowers the divergence on data", lower["data"]),
        judge(f"a small relaxation lowers the exact divergence on quadratics; {rises}", lower["exact"]),
    ]


# ---- drawing ----


def _look(label: str) -> LineStyle:
    if label.startswith("measured"):
        return DOTS
    if label.startswith("exact"):
        return replace(EXACT, dash=":" if label.endswith("last round") else SOLID)
    return replace(BOUND, dash=DASHED if label.endswith("5") else SOLID)


def draw(content: Content) -> Any:
    """Draw shares above, bounds below, and the limits in both."""
    figure, axes = new_figure(2, 1, 2, sharex=True)
    above, below = axes[0, 0], axes[1, 0]
    for letter, ax, panel, y in (("a", above, ABOVE, "share of divergence"), ("b", below, BELOW, "divergence")):
        mine = [row for row in content.rows if row["panel"] == panel and not row["outside"]]
        if mine:
            draw_by_meaning(ax, mine, _look, banded=True)
        set_scales(ax, Axis(""), Axis("", log=ax is below))
        set_panel_title(ax, f"({letter}) {panel}", run_text(mine))
        ax.set_ylabel(y)
    low, high = above.get_ylim()
    above.set_ylim(low, high + HEADROOM * (high - low))
    for row in content.rows:
        if row["panel"] == "limit" and math.isfinite(row["x"]):
            ax = below if "all conditions" in row["curve"] else above
            ax.axvline(row["x"], color=GREY, lw=0.7, ls="--" if ax is below else "-", zorder=0)
            words = row["curve"].partition(" all")[0].strip(",").replace("theorems ", "thm ")
            ax.text(row["x"], 0.97, words, transform=ax.get_xaxis_transform(), rotation=90, fontsize="small",
                    color=GREY, ha="right", va="top")  # fmt: skip
    below.set_xlabel("relaxation beta")
    add_legend(figure, axes, 2)
    return figure
