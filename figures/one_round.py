"""FedALS Theorem 4.1 on handwritten digits: measured gap, bound (6) and its two terms against the number of clients."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast, NamedTuple, TYPE_CHECKING

import numpy as np

from paper_checks.validation.comparison import Comparison, Row

from .drawing import Axis, canvas, words
from .style import MEASURED, save as write, SILENT, STYLE, THEORY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST, SECOND = "local generalization", "non-iidness"
CURVES = {"gap": "generalization_gap", "bound": "bound", "first": FIRST, "second": SECOND}


class Panel(NamedTuple):
    """One federation: numbers of clients, and value and standard error of every curve in ``CURVES``."""

    title: str
    clients: np.ndarray
    values: dict[str, np.ndarray]
    errors: dict[str, np.ndarray]


def data(rows: Iterable[Row]) -> list[Panel]:
    """The panels in the order in which the rows name them; a term that is zero (one client alone) is left out."""
    table = [row for row in rows if row.clients is not None and row.quantity in CURVES.values()]
    return [
        _panel(f"{problem.split('(')[0]}, {'iid' if partition == 'iid()' else 'label skew'}", chosen)
        for problem, partition in dict.fromkeys((row.problem, row.partition) for row in table)
        if (chosen := [row for row in table if (row.problem, row.partition) == (problem, partition)])
    ]


def _panel(title: str, rows: list[Row]) -> Panel:
    clients = sorted({row.clients for row in rows if row.clients is not None})
    found = {(row.quantity, row.clients): row for row in rows}
    chosen = {name: [found[quantity, k] for k in clients] for name, quantity in CURVES.items()}
    values = {name: np.array([row.value for row in line]) for name, line in chosen.items()}
    errors = {name: np.array([float(row.standard_error or 0.0) for row in line]) for name, line in chosen.items()}
    return Panel(title, np.array(clients), {n: np.where(v > 0, v, np.nan) for n, v in values.items()}, errors)


def draw(ax: Axes, panel: Panel) -> None:
    """Theory as lines, measurement as dots with error bars, two guides through the gap at the smallest K."""
    x, y, error = panel.clients, panel.values, panel.errors
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.plot(x, y["bound"], color=THEORY, label="bound (6)")
    ax.plot(x, y["first"], color=THEORY, linestyle="--", linewidth=0.9, label=f"its term '{FIRST}'")
    ax.plot(x, y["second"], color=THEORY, linestyle=":", linewidth=1.1, label=f"its term '{SECOND}'")
    if len(x) == 1:  # else its neighbourhood is so narrow that the words beside it would be metres away
        ax.set_xlim(x[0] / 2, x[0] * 2)
    guide = np.geomspace(x[0], x[-1], 50)
    for power in (1, 2):
        line = y["gap"][0] * (guide / x[0]) ** -power
        ax.plot(guide, line, color=SILENT, linewidth=0.7, zorder=1)
        words = "$1/K$" if power == 1 else "$1/K^2$"
        ax.text(guide[-1] * 1.25, line[-1], words, color=SILENT, fontsize=6.5, va="center", clip_on=False)
    ax.errorbar(
        x, y["gap"], yerr=error["gap"], fmt="o", markersize=3, color=MEASURED, elinewidth=1, label="measured gap"
    )
    ax.set_title(panel.title)
    ax.set_xticks(x, [str(k) for k in x])
    ax.set_xticks([], minor=True)


def figure(panels: list[Panel]) -> Any:
    """All panels on one scale in two columns, one legend below."""
    lines = -(-len(panels) // 2)
    made, axes = canvas(lines, 2, sharex=True, sharey=True)
    made.set_figheight(0.6 + 1.4 * lines)
    for ax, panel in zip(axes.flat, panels, strict=False):
        draw(ax, panel)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("number of clients $K$")
    words(axes, Axis(""), Axis("loss"))
    made.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=7)
    return made


def save(result: Comparison, folder: Path) -> list[Path]:
    """Write ``NAME.svg`` and ``NAME.png`` beside the result's table; returns the paths."""
    import matplotlib

    with matplotlib.rc_context(cast(Any, STYLE)):
        made = figure(data(result.rows()))
        paths = [folder / f"{result.bound.name}{suffix}" for suffix in (".svg", ".png")]
        for path in paths:
            write(made, str(path))
    return paths
