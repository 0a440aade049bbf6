"""FedALS Theorem 4.1 on handwritten digits: measured gap, bound (6) and its two terms against the number of clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast, TYPE_CHECKING

import matplotlib

from bounds.showing.command_line import Report
from paper_checks.validation.comparison import Comparison, Row as Measured
from paper_checks.validation.every import Survey

from .drawing import Axis, columns, each_panel, Row
from .style import GREY, MEASURED, save as write, STYLE, THEORY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST, SECOND, GAP = "its term 'local generalization'", "its term 'non-iidness'", "measured"
CURVES = {"generalization_gap": GAP, "bound": "bound (6)", "local generalization": FIRST, "non-iidness": SECOND}
LINES = {"bound (6)": "-", FIRST: "--", SECOND: ":"}


def data(rows: Iterable[Measured]) -> list[dict[str, Any]]:
    """Rows to draw, a panel for each problem and partition; a term that is zero (one client alone) is NaN."""
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


def panel(lines: Mapping[str, Any], ax: Axes, rows: Sequence[Row]) -> None:
    """Theory as ``lines`` of these dashes, measurement as dots with error bars, two powers through the first dot."""
    dots = [row for row in rows if row["curve"] == GAP]
    x, y, error = columns(dots, "x", "y", "error")
    for power, dash in ((1, "-"), (2, "--")) if dots else ():
        label = f"1/K{'^2' if power == 2 else ''}"
        ax.plot(x, y[0] * (x / x[0]) ** -power, color=GREY, lw=0.8, ls=dash, label=label)
    for label, dash in lines.items():
        at, value = columns([row for row in rows if row["curve"] == label], "x", "y")
        ax.plot(at, value, color=THEORY, ls=dash, label=label)
    ax.errorbar(x, y, error, fmt="o", ms=2.5, color=MEASURED, elinewidth=0.8, label="measured gap", zorder=4)
    ax.set_xlabel("clients K")


def save(result: Comparison, folder: Path) -> list[Path]:
    """Write ``NAME.svg`` and ``NAME.png`` beside the result's table; returns the paths."""
    x, y = Axis("", log=True), Axis("loss", log=True)
    with matplotlib.rc_context(cast(Any, STYLE)):
        made = each_panel(data(result.numbers()), partial(panel, LINES), x, y, legend_lines=2, shared=True)
        paths = [folder / f"{result.bound.name}{suffix}" for suffix in (".svg", ".png")]
        for path in paths:
            write(made, path)
    return paths


def write_all(found: Comparison | Survey | Report, folder: Path, command: str) -> list[Path]:
    """The table of a validation, its card, and the figure of the bound that has one."""
    if isinstance(found, Report):
        return []
    if isinstance(found, Survey):
        return [found.to_csv(folder / "validation.csv")]
    paths = found.write(folder, command)
    return paths + (save(found, folder) if "problems" in found.card else [])


def plain(found: Comparison | Survey | Report, command: str) -> Any:
    """What ``fedbounds validate --json`` prints."""
    return found.as_json(command) if isinstance(found, Comparison) else found.as_json()
