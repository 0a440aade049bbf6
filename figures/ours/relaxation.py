"""FedInit's divergence against the relaxation, with the largest one that each theorem's conditions allow."""

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

from ..artefact import Artefact, Shown
from ..comparing import judge, Pair
from ..drawing import Axis, by_meaning, canvas, finish, headed, legend, ran_words
from ..run_description import problem_words, Ran
from ..runs import Runs, standard_error
from ..style import BOUND, DASHED, DOTS, EXACT, GREY, Line, SOLID
from .grid import divergence, PLANS, relaxed, what_ran
from .settings import RELAXED

ROOM = 0.45
"""Of the height of the data, kept free above them for the limits' names."""
THEOREMS = {"fedinit.theorem_1": "1", "fedinit.theorem_2": "2", "fedinit.theorem_4": "4", "fedinit.theorem_5": "5"}
TRIED = np.linspace(0, 0.3, 30001)
SMALL = 1e-9
"""The proofs' lambda: any smaller is allowed where one is, so this one is where any is."""
ABOVE, BELOW = "relative to beta = 0", "bounds and exact value"
LINES = {"mean_divergence": "mean over rounds", "final_divergence": "last round"}


def _quadratics(scale: str) -> list[Cell]:
    return [relaxed(scale, i) for i in range(PLANS[scale].counts["instances"])]


def data(runs: Runs, scale: str) -> Shown:
    plan, trained = PLANS[scale], divergence(scale, 0.0)
    on = what_ran(*trained)
    rows = [
        _row(ABOVE, curve, beta, float(np.mean(known)), standard_error(known), ran=ran)
        for curve, shares, ran in (
            ("exact, quadratics", _exact_shares, what_ran(*_quadratics(scale))),
            (f"measured, {on.ours.data if on else 'data'}", _measured_shares, on),
        )
        for beta in plan.axes["betas"]
        if (known := [v for v in shares(runs, scale, beta) if math.isfinite(v)])
    ]
    first = relaxed(scale, 0)
    for quantity, at in _table(runs, first).items():
        words = f"bound, theorem {THEOREMS[quantity]}" if quantity in RELAXED else f"exact, {LINES[quantity]}"
        rows += [_row(BELOW, words, b, value, outside=out, ran=what_ran(first)) for b, (value, out) in at.items()]
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
    return Shown(caption, rows, conclusions=_conclusions(runs, scale))


def _row(panel: str, curve: str, x: float, y: float, error: float = math.nan, outside: bool = False,
         ran: Ran | None = None) -> dict[str, Any]:  # fmt: skip
    return {"panel": panel, "curve": curve, "x": x, "y": y, "error": error, "outside": outside, "ran": ran}


# ---- limits ----


def limits(runs: Runs, scale: str) -> list[tuple[float, str]]:
    """The largest relaxation by theorem: by conditions on it alone, and by all of them at the first quadratics."""
    constants = runs.fact(relaxed(scale, 0), "constants")
    alone: dict[float, list[str]] = {}
    joint: dict[float, list[str]] = {}
    for name, short in THEOREMS.items():
        alone.setdefault(alone_limit(name), []).append(short)
        if constants:
            joint.setdefault(joint_limit(name, constants), []).append(short)
    listed = [(limit, f"theorems {', '.join(names)}") for limit, names in alone.items()]
    return listed + [(limit, f"theorems {', '.join(names)}, all conditions") for limit, names in joint.items()]


@cache
def alone_limit(name: str) -> float:
    """The largest relaxation that the conditions on it alone allow."""
    found = [c.relation for c in get(name).numeric_conditions]
    relations = [relation for relation in found if relation is not None and relation.free_symbols == {relaxation}]
    kept = np.ones(len(TRIED), dtype=bool)
    for relation in relations:
        kept &= sp.lambdify([relaxation], relation)(TRIED)
    return float(TRIED[kept].max())


def joint_limit(name: str, constants: Mapping[str, float]) -> float:
    """The largest relaxation with which all numeric conditions hold at these numbers; NaN where none does."""
    bound = get(name)
    known = {**dict.fromkeys((q.name for q in bound.quantities), 1.0), **constants}
    values = {q.name: known[q.name] for q in bound.quantities}
    held = np.asarray(bound.holds(**{**values, "relaxation": TRIED, "contraction": SMALL}))
    return float(TRIED[held].max()) if held.any() else math.nan


# ---- curves ----


def _exact_shares(runs: Runs, scale: str, beta: float) -> list[float]:
    """Of the mean divergence without relaxation, by quadratic problem."""
    tables = [at["mean_divergence"] for cell in _quadratics(scale) if (at := _table(runs, cell))]
    return [at[beta][0] / at[0.0][0] for at in tables]


def _table(runs: Runs, cell: Cell) -> dict[str, dict[float, tuple[float, bool]]]:
    """Value and whether it is outside, by quantity and relaxation."""
    table = runs.columns(cell)
    found: dict[str, dict[float, tuple[float, bool]]] = {}
    for beta, quantity, value, outside in zip(
        *(table.get(k, []) for k in ("beta", "quantity", "value", "outside")), strict=True
    ):
        found.setdefault(quantity, {})[float(beta)] = (value, outside)
    return found


def _measured_shares(runs: Runs, scale: str, beta: float) -> list[float]:
    """Of the mean divergence over rounds without relaxation, seed by seed; infinite for a run that diverged."""
    values, start = (
        [runs.last(cell, "divergence", window=10**6, diverged=math.inf) for cell in divergence(scale, b)]
        for b in (beta, 0.0)
    )
    return [a / b for a, b in zip(values, start, strict=True)]


def _conclusions(runs: Runs, scale: str) -> list[Any]:
    small = [beta for beta in PLANS[scale].axes["betas"] if 0 < beta <= 0.1]
    lower = {
        kind: [Pair(f"beta = {b:g}, {kind}", [1.0] * len(of), of) for b in small for of in [shares(runs, scale, b)]]
        for kind, shares in (("data", _measured_shares), ("exact", _exact_shares))
    }
    bound = _table(runs, relaxed(scale, 0)).get("fedinit.theorem_4", {})
    inside = [value for value, outside in bound.values() if not outside]
    rises = (
        f"inside its conditions the bound of theorem 4 goes from {inside[0]:.3g} to {inside[-1]:.3g}" if inside else ""
    )
    return [
        judge("a small relaxation lowers the divergence on data", lower["data"]),
        judge(f"a small relaxation lowers the exact divergence on quadratics; {rises}", lower["exact"]),
    ]


# ---- drawing ----


def _look(label: str) -> Line:
    if label.startswith("measured"):
        return DOTS
    if label.startswith("exact"):
        return replace(EXACT, dash=":" if label.endswith("last round") else SOLID)
    return replace(BOUND, dash=DASHED if label.endswith("5") else SOLID)


def draw(shown: Shown) -> Any:
    """Shares above, bounds below, limits through both."""
    made, axes = canvas(2, 1, 2, sharex=True)
    above, below = axes[0, 0], axes[1, 0]
    for letter, ax, panel, y in (("a", above, ABOVE, "share of divergence"), ("b", below, BELOW, "divergence")):
        mine = [row for row in shown.rows if row["panel"] == panel and not row["outside"]]
        if mine:
            by_meaning(ax, mine, _look, banded=True)
        finish(ax, Axis(""), Axis("", log=ax is below))
        headed(ax, f"({letter}) {panel}", ran_words(mine))
        ax.set_ylabel(y)
    low, high = above.get_ylim()
    above.set_ylim(low, high + ROOM * (high - low))
    for row in shown.rows:
        if row["panel"] == "limit" and math.isfinite(row["x"]):
            ax = below if "all conditions" in row["curve"] else above
            ax.axvline(row["x"], color=GREY, lw=0.7, ls="--" if ax is below else "-", zorder=0)
            words = row["curve"].partition(" all")[0].strip(",").replace("theorems ", "thm ")
            ax.text(row["x"], 0.97, words, transform=ax.get_xaxis_transform(), rotation=90, fontsize="small",
                    color=GREY, ha="right", va="top")  # fmt: skip
    below.set_xlabel("relaxation beta")
    legend(made, axes, 2)
    return made


ARTEFACTS = (Artefact("ours.relaxation", "divergence against the relaxation", data, draw),)
