"""How far every bound is above what it bounds, over all runs that are stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import Judged, Reproduction
from ..drawing import canvas, legend
from ..runs import Runs
from ..style import MEASURED, REFERENCE, SILENT
from . import beside, grid, theorems_fedals
from .grid import draws, exact, PLANS, trained
from .settings import COMPARED, PAPERS, ROUNDS, TITLES

LINE, SHORTEST = 0.16, 5
"""Inches of one bound, and how many have their place even where none is there."""


def cells(scale: str) -> list[Cell]:
    plan, bounds = PLANS[scale], [bound for named in COMPARED.values() for bound in named]
    found = [exact(scale, bound, i) for bound in bounds for i in range(plan.counts["compared"])]
    return [*found, *(trained(scale, b) for b in (*bounds, *ROUNDS)), *(draws(scale, f) for f in plan.axes["draws"])]


def data(runs: Runs, scale: str) -> Shown:
    plan, name = PLANS[scale], grid.data(scale)
    rows: list[dict[str, Any]] = []
    for federation in plan.axes["draws"]:
        rows += _ratios("FedALS, one round", theorems_fedals.one_round(runs, scale, federation), ("measured",))
    compared = [bound for named in COMPARED.values() for bound in named]
    for bound in (*ROUNDS, *compared):
        title = f"{PAPERS[bound.partition('.')[0]]}, {TITLES[bound]}"
        for i in range(plan.counts["compared"] if bound in compared else 0):
            rows += _ratios(title, beside.rows_of(runs, exact(scale, bound, i), bound, str(i)), ("exact",))
        rows += _ratios(title, beside.rows_of(runs, trained(scale, bound), bound, name), ("measured",))
    families = ", ".join(f.words for f in plan.axes["draws"])
    caption = (
        f"Bound divided by the exact value ({plan.counts['compared']} federations of quadratics) or by the mean of "
        f"measurements ({grid.problem(scale)}; FedALS, one round: {families}), one mark per number of rounds or "
        "clients; short line: the geometric mean. Left of 1 a bound would be violated. Step sizes are those that the "
        "conditions allow. Values that are not positive have no ratio and are left out."
    )
    return Shown(caption + beside.remark([r for r in rows if r["curve"] == "bound"]), rows, conclusions=[_judged(rows)])


def _ratios(name: str, rows: Iterable[dict[str, Any]], kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Bound over value at every place where both are positive."""
    listed = list(rows)
    bounds = {(r["panel"], r["x"]): r for r in listed if r["curve"] == "bound"}
    found = []
    for row in listed:
        bound = bounds.get((row["panel"], row["x"]))
        if row["curve"] in kinds and bound and row["y"] > 0 and math.isfinite(bound["y"]):
            shared = {"panel": row["panel"], "row": name, "curve": row["curve"], "x": row["x"]}
            found.append({**shared, "ratio": bound["y"] / row["y"], "outside": bool(bound["outside"])})
    return found


def _judged(rows: Sequence[dict[str, Any]]) -> Judged:
    inside = [row for row in rows if not row["outside"]]
    below = [row for row in inside if row["ratio"] < 1]
    words = "no bound is below what it bounds, inside its conditions"
    if not inside:
        return Judged(words, Reproduction.UNDECIDED, "not measured")
    least = min(inside, key=lambda row: float(row["ratio"]))
    sure = [row for row in below if row["curve"] == "exact" and row["ratio"] < 1 - beside.ROUNDING]
    verdict = Reproduction.NOT if sure else Reproduction.UNDECIDED if below else Reproduction.REPRODUCED
    said = f"{len(below)} of {len(inside)} ratios below 1; least {least['ratio']:.3g}: {least['row']}, {least['panel']}"
    return Judged(words, verdict, said)


def draw(shown: Shown) -> Any:
    """One line per bound, exact and measured ratios beside one another."""
    names = list(dict.fromkeys(row["row"] for row in shown.rows))
    made, axes = canvas(1, 1)
    made.set_figheight(0.7 + LINE * max(len(names), SHORTEST))
    ax = axes[0, 0]
    for kind, colour, shift in (("exact", REFERENCE, 0.17), ("measured", MEASURED, -0.17)):
        for place, name in enumerate(names):
            mine = [row for row in shown.rows if row["row"] == name and row["curve"] == kind]
            if not mine:
                continue
            ratios = np.array([row["ratio"] for row in mine])
            face = ["white" if row["outside"] else colour for row in mine]
            ax.scatter(ratios, np.full(len(mine), -place + shift), s=5, c=face, edgecolors=colour, lw=0.4, alpha=0.7)
            mean = float(np.exp(np.log(ratios).mean()))
            ax.plot([mean, mean], [-place + shift - 0.2, -place + shift + 0.2], color=colour, lw=1.3, label=kind)
    ax.axvline(1, color=SILENT, lw=0.7, zorder=0)
    ax.set_xscale("log")
    ax.set_yticks([-i for i in range(len(names))], names, fontsize=6)
    ax.set_xlabel("bound / value")
    legend(made, axes)
    return made


ARTEFACT = Artefact("ours.tightness", "bound over value, every bound and every run", cells, data, draw)
