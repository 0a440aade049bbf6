"""Draw pictures from rows: lettered panels of curves with error bands, a note on the runs, one legend.

Rows are dicts with ``panel``, ``curve``, ``x``, ``y`` and ``error`` (half the band, NaN for none), and the columns that
describe the runs. Captions are files beside the pictures.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from textwrap import fill
from typing import Any, TYPE_CHECKING

import numpy as np

from .run_description import setting_of_row, SettingText
from .style import DASHED, font_factor, GREY, line_style, LineStyle, WIDTH, width_factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

PANEL_HEIGHT, TITLE_HEIGHT = 1.45, 0.26
"""Inches of one row of panels, and of the text above it."""
MOST_BANDS = 6
"""Number of curves whose bands can be distinguished; more curves have error bars at alternating points instead."""
ACCURACY = "test accuracy (%)"
"""The title of axes and columns."""
FIVE_DECADES, TWO_DECADES, WIDE, FEW_TICKS = 1e5, 100, 60, 5
"""Ratios of the ends of a logarithmic axis. Above the first some powers of ten are labelled, above the second all of
them, above the fourth 1, 2, 5 times these; above the third 2 is left out along x."""
LETTERS = 52
"""Characters of a line above a panel as wide as the picture."""
X_LABEL = 0.14
"""Inches of a further row of x labels."""


@dataclass(frozen=True)
class Axis:
    """The label of an axis, and whether it is logarithmic."""

    label: str
    log: bool = False


def new_figure(rows: int, across: int, legend_lines: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure as wide as the style, made without pyplot, and its array of ``rows`` x ``across`` axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 0.55 + 0.16 * legend_lines + (PANEL_HEIGHT + TITLE_HEIGHT) * rows
    figure = Figure(figsize=(WIDTH * width_factor(), height * width_factor()), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, across, squeeze=False, **options)


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
    """Return a figure with one axes per panel, in the order of the rows.

    ``draw(ax, rows)`` is called with the rows of each panel. The label of ``x`` is written where the panel below has
    another scale, that of ``y`` once a row, unless ``draw`` sets labels. The note on the runs is written once if it is
    the same for all panels. A grid position without a panel holds the legend. ``wide`` is the number of panels per row,
    ``legend_lines`` the lines to reserve for the legend; with ``shared`` all panels have one vertical axis.
    """
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row["panel"], []).append(row)
    wide = min(wide, max(len(panels), 1))
    figure, axes = new_figure(-(-len(panels) // wide) or 1, wide, legend_lines, sharey=shared)
    info = [run_text(mine, name) for name, mine in panels.items()]
    everywhere = info[0] if len(set(info)) == 1 else ""
    for ax, letter, (name, mine), here in zip(axes.flat, ascii_lowercase, panels.items(), info, strict=False):
        draw(ax, mine)
        set_scales(ax, x, y)
        set_panel_title(ax, f"({letter}) {name}" if titled and len(panels) > 1 else "", "" if everywhere else here)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    label_axes(axes, x, y)
    spare = axes.flat[-1] if panels and len(panels) < axes.size else None
    if not add_legend(figure, axes, spare=spare, info=everywhere):
        set_figure_note(figure, everywhere)
    return figure


def run_text(rows: Sequence[Row], known: str = "") -> str:
    """Return a note on the runs of these rows, without the data and clients that the title ``known`` names already."""
    notes = []
    for info in dict.fromkeys(map(setting_of_row, rows)):
        data = "" if info.data in known else info.data
        clients = ("", "") if f"{info.taking_part} " in f"{known} " else (info.clients, info.cohort)
        notes.append(str(SettingText(data, info.network, *clients, info.rounds)))
    return "; ".join(filter(None, notes))


def set_panel_title(ax: Axes, title: str, info: str) -> None:
    """Write the title of a panel, and a note on its runs in small letters between title and axes."""
    place = ax.get_subplotspec()
    share = len(place.colspan) / place.get_gridspec().ncols if place else 1
    letters = int(LETTERS * width_factor() / font_factor() * share)
    note = ax.annotate(
        fill(info, letters), (0, 1), (0, 2), "axes fraction", "offset points", fontsize="small", color=GREY,
        va="bottom", parse_math=False, annotation_clip=False,
    )  # fmt: skip
    box = note.get_window_extent()
    height = box.height * 72 / ax.figure.dpi if info else 0.0
    ax.set_title(fill(title, letters), loc="left", pad=4 + height, parse_math=False)


def set_figure_note(figure: Any, info: str) -> None:
    """Write a note on the runs of a whole picture above it."""
    if info:
        letters = int(LETTERS * width_factor() / font_factor())
        figure.suptitle(fill(info, letters), x=0.02, ha="left", fontsize="small", color=GREY)


def draw_panels(
    rows: Sequence[Row], x: Axis, y: Axis, *, points: bool = False, shared: bool = False, named_axes: bool = False
) -> Any:
    """Return a figure of curves, one axes per panel, one style per curve.

    ``points`` adds a marker to every point; with ``named_axes`` the names of panels are below them, not above.
    """
    curves = list(dict.fromkeys(r["curve"] for r in rows))
    apart = len(curves) if len(curves) > MOST_BANDS else 0

    def draw(ax: Axes, mine: list[Row]) -> None:
        for place, curve in enumerate(curves):
            if chosen := [r for r in mine if r["curve"] == curve]:
                draw_curve(ax, chosen, curve, place, points, apart)
        if named_axes:
            ax.set_xlabel(mine[0]["panel"])

    return each_panel(rows, draw, x, y, legend_lines=-(-len(curves) // 3), titled=not named_axes, shared=shared)


def curve_drawing(x: Axis, y: Axis, **options: Any) -> Callable[[Any], Any]:
    """Return the ``draw`` function of an artefact that shows panels of curves."""
    return lambda content: draw_panels(content.rows, x, y, **options)


def meaning_drawing(looks: Callable[[str], LineStyle], x: Axis, y: Axis, **options: Any) -> Callable[[Any], Any]:
    """Return the ``draw`` function of an artefact that shows panels as ``draw_by_meaning`` draws them."""
    return lambda content: each_panel(content.rows, lambda ax, rows: draw_by_meaning(ax, rows, looks), x, y, **options)


def draw_curve(ax: Axes, rows: Sequence[Row], label: str, place: int, points: bool = False, apart: int = 0) -> None:
    """Draw one curve, the ``place``-th of its picture, with a band, or with bars at every ``apart``-th point."""
    at, value, error = columns(rows, "x", "y", "error")
    look = line_style(label, place)
    if points:
        ax.errorbar(at, value, np.nan_to_num(error), color=look.colour, ls=look.dash, lw=look.width,
                    marker=look.mark, ms=3, elinewidth=0.8, label=label)  # fmt: skip
        return
    ax.plot(at, value, color=look.colour, ls=look.dash, lw=look.width, label=label)
    if apart:
        own = np.arange(len(at)) % apart == place % apart
        ax.errorbar(at[own], value[own], np.nan_to_num(error[own]), color=look.colour, ls="", elinewidth=0.8)
        return
    draw_band(ax, at, value, error, look.colour)


def draw_band(ax: Axes, at: np.ndarray, value: np.ndarray, error: np.ndarray, colour: str) -> None:
    """Fill the error band of a curve; nothing is drawn without finite errors."""
    if np.isfinite(error).any():
        ax.fill_between(at, value - np.nan_to_num(error), value + np.nan_to_num(error), color=colour, alpha=0.18, lw=0)


def draw_by_meaning(ax: Axes, rows: Sequence[Row], looks: Callable[[str], LineStyle], *, banded: bool = False) -> None:
    """Draw the curves of a panel in the styles that ``looks`` returns for their names.

    A style without dashes means dots with error bars, which are open ``outside`` the conditions of a theorem. Any other
    style means a line, dashed outside, with an error band if ``banded``. Values that are not positive are left out. The
    rows give the axis labels (``x_name``, ``y_name``).
    """
    for label in dict.fromkeys(row["curve"] for row in rows):
        mine, look = [row for row in rows if row["curve"] == label], looks(label)
        x, y, error = columns(mine, "x", "y", "error")
        y, bars = np.where(y > 0, y, np.nan), np.nan_to_num(error)
        outside = np.array([bool(row.get("outside")) for row in mine])
        if look.dash:
            ax.plot(x, np.where(outside, np.nan, y), color=look.colour, ls=look.dash, lw=look.width, marker=look.mark,
                    label=label)  # fmt: skip
            if outside.any():
                ax.plot(x, y, color=look.colour, lw=1, ls=DASHED, label=f"{label}, outside", zorder=1)
            draw_band(ax, x, y, error if banded else np.full(len(x), np.nan), look.colour)
            continue
        lower = np.minimum(bars, 0.9 * np.nan_to_num(y, nan=1.0))
        for chosen, face in ((~outside, look.colour), (outside, "white")):
            if chosen.any():
                ax.errorbar(x[chosen], y[chosen], [lower[chosen], bars[chosen]], fmt=look.mark, ms=2.5, mfc=face,
                            elinewidth=0.8, color=look.colour, label=label, zorder=4)  # fmt: skip
    ax.set_xlabel(rows[0].get("x_name", ""))
    ax.set_ylabel(rows[0].get("y_name", ""))


def columns(rows: Sequence[Row], *names: str) -> list[np.ndarray]:
    """Return the columns of these names as arrays of numbers."""
    return [np.array([float(row[name]) for row in rows]) for name in names]


def set_scales(ax: Axes, x: Axis, y: Axis) -> None:
    """Set the scales and ticks of one axes."""
    if x.log:
        ax.set_xscale("log")
        set_log_ticks(ax.xaxis, ax.get_xlim())
    if y.log:
        ax.set_yscale("log")
        set_log_ticks(ax.yaxis, ax.get_ylim())


def set_log_ticks(axis: Any, limits: tuple[float, float]) -> None:
    """Label the ticks of a logarithmic axis as densely as its range allows without overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ratio = limits[1] / limits[0]
    axis.set_minor_formatter(NullFormatter())
    if ratio > TWO_DECADES:
        if ratio < FIVE_DECADES:  # matplotlib would leave some of them out in a small panel
            axis.set_major_locator(LogLocator(numticks=99))
        return
    crowded = axis.axis_name == "x" and ratio > WIDE  # 10 and 20 would touch
    few = (1.0, 5.0) if crowded else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=few if ratio > FEW_TICKS else range(1, 10), numticks=99))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def label_axes(axes: Any, x: Axis, y: Axis) -> None:
    """Write the label of x below the axes whose scale differs from the one below, that of y left of every row."""
    more = 0
    for place, row in enumerate(axes):
        below = axes[place + 1] if place + 1 < len(axes) else [None] * len(row)
        last = [ax.axison and (b is None or not b.axison or b.get_xlim() != ax.get_xlim())
                for ax, b in zip(row, below, strict=True)]  # fmt: skip
        for ax in itertools.compress(row, last) if x.label else ():
            ax.set_xlabel(x.label)
        if y.label:
            row[0].set_ylabel(y.label)
        more += any(ax.get_xlabel() for ax in row) and place + 1 < len(axes)
    figure = axes.flat[0].figure
    figure.set_figheight(figure.get_figheight() + more * X_LABEL * width_factor())


def add_legend(figure: Any, axes: Any, most: int = 3, spare: Any = None, info: str = "") -> bool:
    """Draw a legend in the ``spare`` axes, or on top with the note ``info``; return whether it has the note."""
    handles: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if len(handles) > 1 and spare is not None:
        spare.legend(handles.values(), handles.keys(), loc="center", handlelength=2.6)
    elif len(handles) > 1:
        return bool(legend_on_top(figure, handles, most, info) and info)
    return False


def legend_on_top(figure: Any, handles: Mapping[str, Any], most: int = 3, info: str = "") -> Any:
    """Draw a legend above the picture, in as many columns (up to ``most``) as fit; return it."""
    letters = int(LETTERS * width_factor() / font_factor())
    for columns in range(min(most, len(handles)), 0, -1):
        made_legend = figure.legend(
            handles.values(), handles.keys(), loc="outside upper left", ncols=columns, handlelength=2.6,
            columnspacing=1.0, title=fill(info, letters) or None, title_fontsize="small", alignment="left",
        )  # fmt: skip
        made_legend.get_title().set_color(GREY)
        if columns == 1 or made_legend.get_window_extent().width <= figure.bbox.width:
            return made_legend
        made_legend.remove()
    return None
