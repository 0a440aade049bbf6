"""Pictures from rows: panels of curves with bands, each with what ran below its title, one legend on top.

The rows are dicts with ``panel``, ``curve``, ``x``, ``y`` and ``error`` (half the band, NaN for none), and the columns
of what ran. A caption lies beside a picture, not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TYPE_CHECKING

import numpy as np

from .run_description import of_row, Setting
from .style import enlarged, heavier, line, SILENT, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

PANEL_HEIGHT, TITLE_HEIGHT, SHORTEST = 1.45, 0.26, 5
"""Inches of one row of panels, of the words above it; how many strips have their place even where fewer are there."""
MOST_BANDS = 6
"""Curves of a panel whose bands can be told apart; more have bars, each at places of its own."""
FIVE_DECADES, TWO_DECADES, FEW_TICKS = 1e5, 100, 5
"""Ratios of the ends of a logarithmic axis: above the first only some powers of ten have words, above the second all of
them, above the third 1, 2, 5."""
LETTERS = 64
"""Of a line above a panel as wide as the picture."""


@dataclass(frozen=True)
class Axis:
    """An axis: its words, and whether it is logarithmic."""

    label: str
    log: bool = False


def canvas(rows: int, across: int, legend_lines: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure as wide as the style with ``rows`` x ``across`` axes (an array), made without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 0.55 + 0.16 * legend_lines + (PANEL_HEIGHT + TITLE_HEIGHT) * rows
    made = Figure(figsize=(WIDTH * enlarged(), height * enlarged()), layout="constrained")
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
    if 1 < len(names) < axes.size:
        _widened(made, axes)
    for ax, name in zip(axes.flat, names, strict=False):
        mine = [r for r in rows if r["panel"] == name]
        draw(ax, mine)
        finish(ax, x, y, name if titled else "")
        said(ax, mine)
    words(axes, x, y)
    legend(made, axes)
    return made


def _widened(made: Any, axes: Any) -> None:
    """An odd panel is as wide as two: no place stays blank."""
    last = axes[-1, 0]
    spanned = made.add_subplot(last.get_gridspec()[-1, :], sharey=axes[0, 0] if len(axes) > 1 else None)
    if not last.get_shared_y_axes().joined(last, axes[0, 0]):
        spanned.remove()
        spanned = made.add_subplot(last.get_gridspec()[-1, :])
    for ax in axes[-1]:
        ax.remove()
    axes[-1, :] = spanned


def what_ran(rows: Sequence[Row], known: str = "") -> str:
    """What ran for these rows, but for the data and the clients that ``known`` words tell already."""
    told = []
    for ran in dict.fromkeys(map(of_row, rows)):
        data = "" if ran.data in known else ran.data
        clients = ("", "") if f"{ran.taking_part} " in f"{known} " else (ran.clients, ran.cohort)
        told.append(str(Setting(data, ran.network, *clients, ran.rounds)))
    return "; ".join(filter(None, told))


def said(ax: Axes, rows: Sequence[Row]) -> None:
    """What ran for a panel, in small letters between its title and its axes; nothing where nothing is run."""
    place, title = ax.get_subplotspec(), ax.get_title(loc="left")
    share = len(place.colspan) / place.get_gridspec().ncols if place else 1
    letters = int(LETTERS * enlarged() / heavier() * share)
    note = ax.annotate(
        fill(what_ran(rows, title), letters), (0, 1), (0, 2), "axes fraction", "offset points", fontsize="x-small",
        color=SILENT, va="bottom", parse_math=False, annotation_clip=False,
    )  # fmt: skip
    box = note.get_window_extent()
    height = box.height * 72 / ax.figure.dpi if note.get_text() else 0.0
    ax.set_title(fill(title, letters * 9 // 10), loc="left", pad=4 + height, parse_math=False)


def above(made: Any, rows: Sequence[Row]) -> None:
    """What ran for a whole picture that has no legend, on top of it."""
    made.suptitle(fill(what_ran(rows), LETTERS), x=0.02, ha="left", fontsize="x-small", color=SILENT)


def panels(rows: Sequence[Row], x: Axis, y: Axis, *, points: bool = False, shared: bool = False) -> Any:
    """One axes per panel, one colour per curve; ``points`` joins few values by markers; ``shared``: one y for all."""
    curves = list(dict.fromkeys(r["curve"] for r in rows))
    apart = len(curves) if len(curves) > MOST_BANDS else 0

    def draw(ax: Axes, mine: list[Row]) -> None:
        for place, curve in enumerate(curves):
            if chosen := [r for r in mine if r["curve"] == curve]:
                one(ax, chosen, curve, place, points, apart)

    titled = len({r["panel"] for r in rows}) > 1
    return each_panel(rows, draw, x, y, legend_lines=-(-len(curves) // 3), titled=titled, shared=shared)


def one(ax: Axes, rows: Sequence[Row], label: str, place: int, points: bool = False, apart: int = 0) -> None:
    """One curve with its band of errors, the ``place``-th of its picture; one of ``apart`` curves has bars instead."""
    at, value, error = columns(rows, "x", "y", "error")
    look = line(label, place)
    if points:
        ax.errorbar(at, value, np.nan_to_num(error), color=look.colour, ls=look.dash, lw=look.width,
                    marker=look.mark, ms=3, elinewidth=0.8, label=label)  # fmt: skip
        return
    ax.plot(at, value, color=look.colour, ls=look.dash, lw=look.width, label=label)
    if apart:
        own = np.arange(len(at)) % apart == place % apart
        ax.errorbar(at[own], value[own], np.nan_to_num(error[own]), color=look.colour, ls="", elinewidth=0.8)
        return
    band(ax, at, value, error, look.colour)


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
        ax.set_title(title, parse_math=False)


def plain_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Words on a logarithmic axis only where they cannot run into one another, all at ticks of one length."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ratio = limits[1] / limits[0]
    axis.set_minor_formatter(NullFormatter())
    if ratio > TWO_DECADES:
        if ratio < FIVE_DECADES:  # a small panel would leave some of them out
            axis.set_major_locator(LogLocator(numticks=99))
        return
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if ratio > FEW_TICKS else range(1, 10), numticks=99))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def words(axes: Any, x: Axis, y: Axis) -> None:
    """The axes' words once each: x below the lowest visible axes of a column, y left of every row."""
    for column in axes.T if x.label else ():
        for ax in [ax for ax in column if ax.get_visible()][-1:]:
            ax.set_xlabel(x.label)
    for row in axes if y.label else ():
        row[0].set_ylabel(y.label)


def legend(made: Any, axes: Any, most: int = 3) -> None:
    """One legend on top, every label once."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        made.legend(found.values(), found.keys(), loc="outside upper center", ncols=min(most, len(found)),
                    handlelength=2.6, columnspacing=1.0)  # fmt: skip


def strips(
    rows: Sequence[Row], draw: Callable[[Axes, int, list[Row]], None], label: str, height: float, size: str
) -> Any:
    """A line of ``height`` inches for each name of ``row``, on which ``draw`` puts ratios at its place; 1 is marked.

    Names come by the geometric mean of their ratios, the smallest on top.
    """
    ratios: dict[str, list[float]] = {}
    for row in rows:
        ratios.setdefault(row["row"], []).append(float(row["ratio"]))
    names = sorted(ratios, key=lambda name: float(np.log(ratios[name]).mean()))
    made, axes = canvas(1, 1)
    made.set_figheight((0.7 + height * max(len(names), SHORTEST)) * enlarged())
    ax = axes[0, 0]
    for place, name in enumerate(names):
        draw(ax, -place, [row for row in rows if row["row"] == name])
    ax.axvline(1, color=SILENT, lw=0.7, zorder=0)
    ax.set_xscale("log")
    ax.set_yticks([-i for i in range(len(names))], names, fontsize=size)
    ax.set_xlabel(label)
    legend(made, axes, most=2)
    return made
