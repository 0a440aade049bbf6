"""Pictures from rows: panels of curves with bands, one legend on top, the caption's words at the foot.

The rows are dicts with ``panel``, ``curve``, ``x``, ``y`` and ``error`` (half the band, NaN for none).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np

from .style import CYCLE, SILENT, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

COLOURS = (*CYCLE, "#c98b2b", "#3aa6b9", "#7a7a7a", "#b0568a", "#6b8e23", "#4b4b9b")
DASHES = ("-", (0, (4, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
MARKS = "osD^vP"
PANEL_HEIGHT, SHORTEST = 1.45, 5
"""Inches of one row of panels; how many strips have their place even where fewer are there."""
TWO_DECADES, FEW_TICKS = 100, 5
"""Ratios of the ends of a logarithmic axis: above the first only powers of ten have words, above the second 1, 2, 5."""


@dataclass(frozen=True)
class Axis:
    """An axis: its words, and whether it is logarithmic."""

    label: str
    log: bool = False


def canvas(rows: int, across: int, legend_lines: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure one column wide with ``rows`` x ``across`` axes (an array), made without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(WIDTH, 0.75 + 0.16 * legend_lines + PANEL_HEIGHT * rows), layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, across, squeeze=False, **options)


def each_panel(
    rows: Sequence[Row],
    draw: Callable[[Axes, list[Row]], None],
    x: Axis,
    y: Axis,
    *,
    wide: int = 2,
    legend_lines: int = 1,
    titled: bool = True,
    shared: bool = False,
) -> Any:
    """One axes per panel in the order of the rows, of which ``draw`` gets those of its own; ``shared``: one y for all.

    Words of ``x`` and ``y`` stand once each, where ``draw`` writes none.
    """
    names = list(dict.fromkeys(r["panel"] for r in rows))
    wide = min(wide, max(len(names), 1))
    made, axes = canvas(-(-len(names) // wide) or 1, wide, legend_lines, sharey=shared)
    for ax, name in zip(axes.flat, names, strict=False):
        draw(ax, [r for r in rows if r["panel"] == name])
        finish(ax, x, y, name if titled else "")
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    words(axes, x, y)
    legend(made, axes)
    return made


def panels(rows: Sequence[Row], x: Axis, y: Axis, *, points: bool = False, shared: bool = False) -> Any:
    """One axes per panel, one colour per curve; ``points`` joins few values by markers; ``shared``: one y for all."""
    curves = list(dict.fromkeys(r["curve"] for r in rows))

    def draw(ax: Axes, mine: list[Row]) -> None:
        for place, curve in enumerate(curves):
            if chosen := [r for r in mine if r["curve"] == curve]:
                one(ax, chosen, curve, place, points)

    titled = len({r["panel"] for r in rows}) > 1
    return each_panel(rows, draw, x, y, legend_lines=-(-len(curves) // 3), titled=titled, shared=shared)


def one(ax: Axes, rows: Sequence[Row], label: str, place: int, points: bool = False) -> None:
    """One curve with its band of errors, the ``place``-th of its picture."""
    at, value, error = columns(rows, "x", "y", "error")
    colour, dash = COLOURS[place % len(COLOURS)], DASHES[place // 4 % len(DASHES)]
    if points:
        ax.errorbar(at, value, np.nan_to_num(error), color=colour, ls=dash, lw=1, marker=MARKS[place % len(MARKS)],
                    ms=3, elinewidth=0.8, label=label)  # fmt: skip
        return
    ax.plot(at, value, color=colour, ls=dash, lw=1.1, label=label)
    band(ax, at, value, error, colour)


def band(ax: Axes, at: np.ndarray, value: np.ndarray, error: np.ndarray, colour: str) -> None:
    """The errors of a curve, where it has any."""
    if np.isfinite(error).any():
        ax.fill_between(at, value - np.nan_to_num(error), value + np.nan_to_num(error), color=colour, alpha=0.18, lw=0)


def columns(rows: Sequence[Row], *names: str) -> list[np.ndarray]:
    """Numbers of the rows, an array for each name."""
    return [np.array([float(row[name]) for row in rows]) for name in names]


def finish(ax: Axes, x: Axis, y: Axis, title: str = "") -> None:
    """Scales and title of one axes."""
    if x.log:
        ax.set_xscale("log")
        plain_ticks(ax.xaxis, ax.get_xlim())
    if y.log:
        ax.set_yscale("log")
        plain_ticks(ax.yaxis, ax.get_ylim())
    if title:
        ax.set_title(title, fontsize=7, parse_math=False)


def plain_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Words on a logarithmic axis only where they cannot run into one another."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ratio = limits[1] / limits[0]
    if ratio > TWO_DECADES:
        axis.set_minor_formatter(NullFormatter())
        return
    first = "125" if ratio > FEW_TICKS else "123456789"
    for set_words in (axis.set_major_formatter, axis.set_minor_formatter):
        set_words(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in first else ""))


def words(axes: Any, x: Axis, y: Axis) -> None:
    """The axes' words once each: x below the lowest visible axes of a column, y left of every row."""
    for column in axes.T if x.label else ():
        for ax in [ax for ax in column if ax.get_visible()][-1:]:
            ax.set_xlabel(x.label)
    for row in axes if y.label else ():
        row[0].set_ylabel(y.label)


def legend(made: Any, axes: Any, most: int = 3) -> None:
    """One legend on top, every label once; the foot belongs to the caption."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        made.legend(found.values(), found.keys(), loc="outside upper center", ncols=min(most, len(found)),
                    fontsize=6.5, handlelength=1.8, columnspacing=1.0)  # fmt: skip


def strips(
    rows: Sequence[Row], draw: Callable[[Axes, int, list[Row]], None], label: str, line: float, size: float
) -> Any:
    """A line of ``line`` inches for each name of ``row``, on which ``draw`` puts ratios at its height; 1 is marked."""
    names = list(dict.fromkeys(row["row"] for row in rows))
    made, axes = canvas(1, 1)
    made.set_figheight(0.7 + line * max(len(names), SHORTEST))
    ax = axes[0, 0]
    for place, name in enumerate(names):
        draw(ax, -place, [row for row in rows if row["row"] == name])
    ax.axvline(1, color=SILENT, lw=0.7, zorder=0)
    ax.set_xscale("log")
    ax.set_yticks([-i for i in range(len(names))], names, fontsize=size)
    ax.set_xlabel(label)
    legend(made, axes)
    return made


def nothing(why: str) -> Any:
    """A picture that says why there is nothing to draw."""
    made, axes = canvas(1, 1)
    axes[0, 0].set_axis_off()
    axes[0, 0].text(0.5, 0.5, why, ha="center", va="center", color=SILENT, wrap=True)
    return made
