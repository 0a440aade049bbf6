"""Draw the validation of FedALS Theorem 4.1: measured gap, bound (6) and its two terms by number of clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, TYPE_CHECKING

import matplotlib

from bounds.showing.command_line import Report
from paper_checks.validation.comparison import Comparison, Row as Measured
from paper_checks.validation.survey import Survey

from .drawing import Axis, columns, draw_by_meaning, each_panel, Row
from .style import BOUND, DOTS, GREY, save as write, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST, SECOND, GAP = "its term 'local generalization'", "its term 'non-iidness'", "measured"
CURVES = {"generalization_gap": GAP, "bound": "bound (6)", "local generalization": FIRST, "non-iidness": SECOND}
ALONE = "first term alone"
"""The bound as the paper's discussion reads it."""
LOOKS = {GAP: DOTS, **{term: replace(BOUND, dash=dash) for term, dash in ((FIRST, "--"), (SECOND, ":"), (ALONE, ":"))}}


def data(rows: Iterable[Measured]) -> list[dict[str, Any]]:
    """Return the rows to draw, one panel per problem and partition; zeros (a single client) become NaN."""
    return [
        {
            "panel": f"{row.problem.split('(')[0]}, {'iid' if row.partition == 'iid()' else 'label skew'}",
            "curve": CURVES[row.quantity],
            "x": float(row.clients),
            "y": row.value if row.value > 0 else float("nan"),
            "error": row.standard_error,
        }
        for row in sorted(rows, key=lambda row: row.clients)
        if row.quantity in CURVES
    ]


def panel(ax: Axes, rows: Sequence[Row]) -> None:
    """Draw 1/K and 1/K^2 through the first measurement, then the curves in the styles of their meaning."""
    if dots := [row for row in rows if row["curve"] == GAP]:
        x, y = columns(dots, "x", "y")
        for power, dash in ((1, "-"), (2, "--")):
            label = f"1/K{'^2' if power == 2 else ''}"
            ax.plot(x, y[0] * (x / x[0]) ** -power, color=GREY, lw=0.8, ls=dash, label=label)
    draw_by_meaning(ax, rows, lambda label: LOOKS.get(label, BOUND))
    ax.set(xlabel="clients K", ylabel="")


def save_figure(result: Comparison, folder: Path) -> list[Path]:
    """Write the figure as ``NAME.svg`` and ``NAME.png`` into the folder; return the paths."""
    x, y = Axis("", log=True), Axis("loss", log=True)
    with matplotlib.rc_context(cast(Any, STYLE)):
        figure = each_panel(data(result.numbers()), panel, x, y, legend_lines=2, shared=True)
        paths = [folder / f"{result.bound.name}{suffix}" for suffix in (".svg", ".png")]
        for path in paths:
            write(figure, path)
    return paths


def write_all(result: Comparison | Survey | Report, folder: Path, command: str) -> list[Path]:
    """Write the table of a validation, its card, and for this theorem the figure; return the paths."""
    if isinstance(result, Report):
        return []
    if isinstance(result, Survey):
        return [result.to_csv(folder / "validation.csv")]
    paths = result.write(folder, command)
    return paths + (save_figure(result, folder) if "problems" in result.card else [])


def as_json(result: Comparison | Survey | Report, command: str) -> Any:
    """Return what ``fedbounds validate --json`` prints."""
    return result.as_json(command) if isinstance(result, Comparison) else result.as_json()
