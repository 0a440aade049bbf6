"""FedInit's divergence against the relaxation, with the largest one that each theorem's conditions allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from bounds.catalog import get
from bounds.vocabulary import relaxation
from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Pair
from ..drawing import Axis, band, canvas, columns, finish, headed, legend, ran_words
from ..run_description import problem_words, Ran
from ..runs import Runs, standard_error
from ..style import GREY, MEASURED, REFERENCE, THEORY
from .grid import divergence, PLANS, relaxed, what_ran
from .settings import RELAXED

ROOM = 0.45
"""Of the height of the data, kept free above them for the limits' names."""
THEOREMS = {"fedinit.theorem_1": "1", "fedinit.theorem_2": "2", "fedinit.theorem_4": "4", "fedinit.theorem_5": "5"}
TRIED = np.linspace(0, 0.3, 30001)
SMALL = 1e-9
"""The proofs' lambda: any smaller is allowed where one is, so this one is where any is."""
ABOVE, BELOW = "relative to beta = 0", "bounds and exact value"
EXACT = {"mean_divergence": "mean over rounds", "final_divergence": "last round"}


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
    rows += _bounds(runs, scale)
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


def _bounds(runs: Runs, scale: str) -> list[dict[str, Any]]:
    table, ran = _table(runs, relaxed(scale, 0)), what_ran(relaxed(scale, 0))
    rows = []
    for quantity, at in table.items():
        words = f"bound, theorem {THEOREMS[quantity]}" if quantity in RELAXED else f"exact, {EXACT[quantity]}"
        rows += [_row(BELOW, words, beta, value, outside=outside, ran=ran) for beta, (value, outside) in at.items()]
    return rows


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


def draw(shown: Shown) -> Any:
    """Shares above, bounds below, limits through both."""
    made, axes = canvas(2, 1, 2, sharex=True)
    above, below = axes[0, 0], axes[1, 0]
    at = [row for row in shown.rows if row["panel"] == "limit"]
    for ax, panel in ((above, ABOVE), (below, BELOW)):
        for label in dict.fromkeys(row["curve"] for row in shown.rows if row["panel"] == panel):
            _one(ax, [row for row in shown.rows if row["panel"] == panel and row["curve"] == label], label)
        for row in at:
            if ("all conditions" in row["curve"]) == (ax is below):
                ax.axvline(row["x"], color=GREY, lw=0.7, ls="--" if ax is below else "-", zorder=0)
    finish(above, Axis(""), Axis(""))
    finish(below, Axis(""), Axis("", log=True))
    low, high = above.get_ylim()
    above.set_ylim(low, high + ROOM * (high - low))
    for letter, ax, panel in (("a", above, ABOVE), ("b", below, BELOW)):
        headed(ax, f"({letter}) {panel}", ran_words([row for row in shown.rows if row["panel"] == panel]))
    for row in at:
        _name(below if "all conditions" in row["curve"] else above, row)
    above.set_ylabel("share of divergence")
    below.set_ylabel("divergence")
    below.set_xlabel("relaxation beta")
    legend(made, axes, 2)
    return made


def _name(ax: Any, row: Mapping[str, Any]) -> None:
    if math.isfinite(row["x"]):
        words = row["curve"].partition(" all")[0].strip(",").replace("theorems ", "thm ")
        ax.text(row["x"], 0.97, words, transform=ax.get_xaxis_transform(), rotation=90, fontsize="small",
                color=GREY, ha="right", va="top")  # fmt: skip


def _one(ax: Any, rows: Sequence[Mapping[str, Any]], label: str) -> None:
    x, y, error = columns(rows, "x", "y", "error")
    if label.startswith("measured"):
        ax.errorbar(x, y, np.nan_to_num(error), fmt="o", ms=3, color=MEASURED, elinewidth=0.8, label=label, zorder=4)
        return
    colour = REFERENCE if label.startswith("exact") else THEORY
    thin = 0.8 if label.startswith("exact") else 1.4
    dash = ":" if label == "exact, last round" else (0, (4, 1)) if label.endswith("5") else "-"
    inside = np.where([row["outside"] for row in rows], np.nan, y)
    ax.plot(x, inside, color=colour, lw=thin, ls=dash, label=label)
    band(ax, x, y, error, colour)


ARTEFACTS = (Artefact("ours.relaxation", "divergence against the relaxation", data, draw),)
