"""How far every bound is above what it bounds, over all runs that are stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..captions import plural
from ..comparing import Judged
from ..drawing import columns, Row, strips
from ..runs import Runs
from ..style import MEASURED, REFERENCE
from . import beside, grid, theorems_fedals
from .grid import draws, exact, PLANS, trained
from .settings import COMPARED, PAPERS, ROUNDS, TITLES


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
        f"Bound divided by the exact value ({plural(plan.counts['compared'], 'federation')} of quadratics) or by the "
        f"mean of measurements ({grid.problem(scale)}; FedALS, one round: {families}), one mark per number of rounds "
        "or clients; short line: the geometric mean. Left of 1 a bound would be violated. Step sizes are those that the "
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
    words = "no bound is below what it bounds, inside its conditions"
    exact = [row for row in inside if row["curve"] == "exact" and row["ratio"] < 1 - beside.ROUNDING]
    return beside.never_below(words, inside, exact, "not measured", "{ratio:.3g}: {row}, {panel}")


def draw(shown: Shown) -> Any:
    """One line per bound, exact and measured ratios beside one another."""
    return strips(shown.rows, _line, "bound / value", 0.16, 6)


def _line(ax: Any, height: int, rows: list[Row]) -> None:
    for kind, colour, shift in (("exact", REFERENCE, 0.17), ("measured", MEASURED, -0.17)):
        if mine := [row for row in rows if row["curve"] == kind]:
            (ratios,), middle = columns(mine, "ratio"), height + shift
            face = ["white" if row["outside"] else colour for row in mine]
            ax.scatter(ratios, np.full(len(mine), middle), s=5, c=face, edgecolors=colour, lw=0.4, alpha=0.7)
            mean = float(np.exp(np.log(ratios).mean()))
            ax.plot([mean, mean], [middle - 0.2, middle + 0.2], color=colour, lw=1.3, label=kind)


ARTEFACT = Artefact("ours.tightness", "bound over value, every bound and every run", cells, data, draw)
