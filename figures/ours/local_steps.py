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
from ..drawing import Axis, canvas, finish, legend
from ..runs import Runs, standard_error
from ..style import MEASURED, OTHER, THEORY
from .grid import best_steps, PLANS, SCALES_OF_LOSS, steps_on_data

PRINTED, DERIVED = "decaying_k.k_star_rounds_printed", "decaying_k.k_star_rounds"
CURVES = {"K* printed, (10)": PRINTED, "K* derived": DERIVED}
BEST = "best found"
FACTOR = 2.0
"""How far a formula may be from the best number and still count as right."""

Points = dict[int, float]
"""A number of local steps by number of rounds."""


def cells(scale: str) -> list[Cell]:
    plan = PLANS[scale]
    exact = [best_steps(scale, i, factor) for i in range(plan.instances) for factor in SCALES_OF_LOSS]
    return [*exact, *(steps_on_data(scale, k) for k in plan.steps)]


def data(runs: Runs, scale: str) -> Shown:
    plan = PLANS[scale]
    instances = [_instance(runs, best_steps(scale, i)) for i in range(plan.instances)]
    there = [found for found in instances if found]
    rows = _panel("quadratics", "rounds", there, plan.steps)
    rows += _panel(plan.data, "rounds", [found] if (found := _trained(runs, scale)) else [], plan.steps)
    for factor in SCALES_OF_LOSS:
        scaled = [found for i in range(plan.instances) if (found := _instance(runs, best_steps(scale, i, factor)))]
        length = plan.lengths[-2]
        kept = [{name: {factor: points[length]} for name, points in found.items()} for found in scaled]
        rows += _panel(
            f"other units, {length} rounds" if length > 1 else "other units, 1 round",
            "factor on the loss",
            kept,
            plan.steps,
        )
    caption = (
        f"Best: the number of local steps among {', '.join(map(str, plan.steps))} with the least squared gradient "
        "after so many rounds; open: at an end of that list, the best may lie beyond. Quadratics: "
        f"{plan.instances} instances (geometric mean, bar one standard error), exact expectations, 4 clients, 2 take "
        f"part, G^2 the largest of all runs. {plan.data}: {plan.problem}, 10 clients, 5 take part, Dirichlet 1, "
        f"{plan.seeds} seeds. Step "
        "size 1/(4L) everywhere. Last: the same quadratics with the loss in other units, which changes no model."
    )
    return Shown(caption, rows, conclusions=_conclusions(there, plan.lengths))


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
    steps = PLANS[scale].steps
    listed = [steps_on_data(scale, k) for k in steps]
    if not all(runs.has(cell) for cell in listed):
        return {}
    found: list[tuple[float, float, float]] = []
    for k, table in zip(steps, map(runs.columns, listed), strict=True):
        found += [(int(r), k, m) for r, m in zip(table["rounds"], table["measured"], strict=True)]
    return _found(found, runs.fact(listed[0], "constants"))


def _found(triples: Sequence[tuple[float, float, float]], values: Mapping[str, Any]) -> dict[str, Points]:
    """The number of steps with the least value, and both formulas, by number of rounds."""
    lengths = sorted({int(r) for r, _, _ in triples})
    best = {r: float(min((v, k) for s, k, v in triples if s == r)[1]) for r in lengths}
    return {BEST: best, **{label: {r: _formula(name, values, r) for r in lengths} for label, name in CURVES.items()}}


def _formula(name: str, values: Mapping[str, Any], rounds: int) -> float:
    bound = get(name)
    known = {**values, "rounds": rounds}
    return float(bound.formula(**{q.name: known[q.name] for q in bound.quantities}))


def _panel(
    name: str, x_name: str, found: Sequence[Mapping[str, Mapping[Any, float]]], steps: Sequence[int]
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
            rows.append({**shared, "x": float(x), "y": y, "error": error})
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


def draw(shown: Shown) -> Any:
    """Formulas as lines, what was found as dots."""
    names = list(dict.fromkeys(row["panel"] for row in shown.rows))
    made, axes = canvas(-(-len(names) // 2) or 1, 2, sharey=True)
    for ax, name in zip(axes.flat, names, strict=False):
        mine = [row for row in shown.rows if row["panel"] == name]
        for label, colour in zip((*CURVES, BEST), (OTHER, THEORY, MEASURED), strict=True):
            _one(ax, [row for row in mine if row["curve"] == label], label, colour)
        finish(ax, Axis("", log=True), Axis("", log=True), name)
        ax.set_xlabel(mine[0]["x_name"])
    for ax in axes[:, 0]:
        ax.set_ylabel("local steps")
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    legend(made, axes)
    return made


def _one(ax: Any, rows: Sequence[Mapping[str, Any]], label: str, colour: str) -> None:
    x, y, error = (np.array([float(row[k]) for row in rows]) for k in ("x", "y", "error"))
    if label != BEST:
        ax.plot(x, y, color=colour, label=label, ls="-" if label == "K* derived" else (0, (4, 1.5)))
        return
    edge = np.array([bool(row["edge"]) for row in rows])
    bars = np.stack([y - y * np.exp(-np.nan_to_num(error)), y * np.exp(np.nan_to_num(error)) - y])
    for chosen, face in ((~edge, colour), (edge, "white")):
        if chosen.any():
            ax.errorbar(x[chosen], y[chosen], bars[:, chosen], fmt="o", ms=3, mfc=face, color=colour,
                        elinewidth=0.8, label=label, zorder=4)  # fmt: skip


ARTEFACT = Artefact("ours.local_steps", "local steps: printed, derived and best", "", cells, data, draw)
