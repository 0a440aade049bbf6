"""A bound as a line, exact values as a thin line, measurements as dots: rows from cells, and their drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bounds.catalog import get
from empirics.experiments import Cell

from ..artefact import Shown
from ..comparing import Judged, Reproduction
from ..drawing import Axis, columns, each_panel, Row
from ..runs import Runs
from ..style import Dash, DASHED, DOTTED, MEASURED, OTHER, REFERENCE, SOLID, THEORY
from .grid import what_ran
from .settings import QUANTITIES, REPAIRED, TITLES

Rows = list[dict[str, Any]]
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
    said = [_verdict(found) for found in places.values() if "bound" in found]
    count = {verdict: said.count(verdict) for verdict in Reproduction}
    verdict = (
        Reproduction.CONTRADICTED
        if count[Reproduction.CONTRADICTED]
        else Reproduction.REPRODUCED
        if count[Reproduction.REPRODUCED] and not count[Reproduction.UNDECIDED]
        else Reproduction.UNDECIDED
    )
    why = f"{len(said)} points inside the conditions: {count[Reproduction.REPRODUCED]} below the bound, "
    return Judged(
        words, verdict, f"{why}{count[Reproduction.CONTRADICTED]} above, {count[Reproduction.UNDECIDED]} open"
    )


def _verdict(found: dict[str, dict[str, Any]]) -> Reproduction:
    if "exact" in found:
        below = found["exact"]["y"] <= found["bound"]["y"] * (1 + ROUNDING)
        return Reproduction.REPRODUCED if below else Reproduction.CONTRADICTED
    tested = {"holds here": Reproduction.REPRODUCED, "violated": Reproduction.CONTRADICTED}
    return tested.get(found["bound"]["verdict"], Reproduction.UNDECIDED)


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

LOOKS: dict[str, tuple[str, float, Dash]] = {"bound": (THEORY, 1.6, SOLID), REPAIR: (OTHER, 1.4, DASHED)}
"""Colour, width and dashes of a bound; a part of one is thin and dotted."""


def draw(shown: Shown) -> Any:
    """One axes per panel, in the order of the rows."""
    return each_panel(shown.rows, _panel, Axis("", log=True), Axis("", log=True))


def _panel(ax: Any, rows: Sequence[Row]) -> None:
    for label in dict.fromkeys(row["curve"] for row in rows):
        _one(ax, [row for row in rows if row["curve"] == label], label)
    ax.set_xlabel(rows[0]["x_name"])
    ax.set_ylabel(rows[0]["y_name"])


def _one(ax: Any, rows: Sequence[Row], label: str) -> None:
    """One curve by what it means; what is not positive has no place on a logarithmic axis."""
    x, y, error = columns(rows, "x", "y", "error")
    y = np.where(y > 0, y, np.nan)
    outside = np.array([row["outside"] for row in rows])
    if label == "measured":
        lower = np.minimum(np.nan_to_num(error), 0.9 * np.nan_to_num(y, nan=1.0))
        ax.errorbar(x, y, [lower, np.nan_to_num(error)], fmt="o", ms=2.5, elinewidth=0.8, color=MEASURED, label=label,
                    zorder=4)  # fmt: skip
    elif label == "exact":
        ax.plot(x, y, color=REFERENCE, lw=0.8, label=label)
    else:
        colour, width, dash = LOOKS.get(label, (THEORY, 0.9, DOTTED))
        ax.plot(x, np.where(outside, np.nan, y), color=colour, lw=width, ls=dash, label=label)
        if outside.any():
            ax.plot(x, y, color=colour, lw=1, ls=DASHED, label=f"{label}, outside", zorder=1)
