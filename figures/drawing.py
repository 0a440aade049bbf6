"""Pictures from rows: lettered panels of curves with bands, what ran above them, one legend.

The rows are dicts with ``panel``, ``curve``, ``x``, ``y`` and ``error`` (half the band, NaN for none), and the columns
of what ran. A caption lies beside a picture, not in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from textwrap import fill
from typing import Any, TYPE_CHECKING

import numpy as np

from .run_description import of_row, Setting
from .style import DASHED, enlarged, GREY, heavier, Line, line, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

PANEL_HEIGHT, TITLE_HEIGHT = 1.45, 0.26
"""Inches of one row of panels, and of the words above it."""
MOST_BANDS = 6
"""Curves of a panel whose bands can be distinguished; more have bars, each at places of its own."""
FIVE_DECADES, TWO_DECADES, FEW_TICKS = 1e5, 100, 5
"""Ratios of the ends of a logarithmic axis: above the first only some powers of ten have words, above the second all of
them, above the third 1, 2, 5."""
LETTERS = 52
"""Of a line above a panel as wide as the picture."""
X_LABEL = 0.14
"""Inches of the words below one more row of panels."""


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

    Words of ``x`` stand where the panel below has another scale, those of ``y`` once a row, where ``draw`` writes none.
    What ran stands once where it is the same for all panels. A place without a panel has the legend.
    """
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row["panel"], []).append(row)
    wide = min(wide, max(len(panels), 1))
    made, axes = canvas(-(-len(panels) // wide) or 1, wide, legend_lines, sharey=shared)
    ran = [ran_words(mine, name) for name, mine in panels.items()]
    everywhere = ran[0] if len(set(ran)) == 1 else ""
    for ax, letter, (name, mine), here in zip(axes.flat, ascii_lowercase, panels.items(), ran, strict=False):
        draw(ax, mine)
        finish(ax, x, y)
        headed(ax, f"({letter}) {name}" if titled and len(panels) > 1 else "", "" if everywhere else here)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    words(axes, x, y)
    spare = axes.flat[-1] if panels and len(panels) < axes.size else None
    if not legend(made, axes, spare=spare, ran=everywhere):
        note(made, everywhere)
    return made


def ran_words(rows: Sequence[Row], known: str = "") -> str:
    """What ran for these rows, but for the data and the clients that ``known`` words tell already."""
    told = []
    for ran in dict.fromkeys(map(of_row, rows)):
        data = "" if ran.data in known else ran.data
        clients = ("", "") if f"{ran.taking_part} " in f"{known} " else (ran.clients, ran.cohort)
        told.append(str(Setting(data, ran.network, *clients, ran.rounds)))
    return "; ".join(filter(None, told))


def headed(ax: Axes, title: str, ran: str) -> None:
    """The title of a panel, and what ran for it in small letters between the title and the axes."""
    place = ax.get_subplotspec()
    share = len(place.colspan) / place.get_gridspec().ncols if place else 1
    letters = int(LETTERS * enlarged() / heavier() * share)
    note = ax.annotate(
        fill(ran, letters), (0, 1), (0, 2), "axes fraction", "offset points", fontsize="small", color=GREY,
        va="bottom", parse_math=False, annotation_clip=False,
    )  # fmt: skip
    box = note.get_window_extent()
    height = box.height * 72 / ax.figure.dpi if ran else 0.0
    ax.set_title(fill(title, letters), loc="left", pad=4 + height, parse_math=False)


def note(made: Any, ran: str) -> None:
    """What ran for a whole picture, on top of it."""
    if ran:
        letters = int(LETTERS * enlarged() / heavier())
        made.suptitle(fill(ran, letters), x=0.02, ha="left", fontsize="small", color=GREY)


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


def curves(x: Axis, y: Axis, **options: Any) -> Callable[[Any], Any]:
    """The drawing of what an artefact shows as panels of curves."""
    return lambda shown: panels(shown.rows, x, y, **options)


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


def by_meaning(ax: Axes, rows: Sequence[Row], looks: Callable[[str], Line], *, banded: bool = False) -> None:
    """Curves by the look of what they mean: one without dashes is dots with error bars, open where ``outside`` the
    conditions of a theorem; any other is a line, dashed there, with a band of its errors if ``banded``.

    What is not positive is not drawn. Words along the axes are those of the rows.
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
            band(ax, x, y, error if banded else np.full(len(x), np.nan), look.colour)
            continue
        lower = np.minimum(bars, 0.9 * np.nan_to_num(y, nan=1.0))
        for chosen, face in ((~outside, look.colour), (outside, "white")):
            if chosen.any():
                ax.errorbar(x[chosen], y[chosen], [lower[chosen], bars[chosen]], fmt=look.mark, ms=2.5, mfc=face,
                            elinewidth=0.8, color=look.colour, label=label, zorder=4)  # fmt: skip
    ax.set_xlabel(rows[0].get("x_name", ""))
    ax.set_ylabel(rows[0].get("y_name", ""))


def columns(rows: Sequence[Row], *names: str) -> list[np.ndarray]:
    """Numbers of the rows, an array for each name."""
    return [np.array([float(row[name]) for row in rows]) for name in names]


def finish(ax: Axes, x: Axis, y: Axis) -> None:
    """Scales and ticks of one axes."""
    if x.log:
        ax.set_xscale("log")
        plain_ticks(ax.xaxis, ax.get_xlim())
    if y.log:
        ax.set_yscale("log")
        plain_ticks(ax.yaxis, ax.get_ylim())


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
    """Words of x below the axes of a column whose scale is not that of the next, of y left of every row."""
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
    made = axes.flat[0].figure
    made.set_figheight(made.get_figheight() + more * X_LABEL * enlarged())


def legend(made: Any, axes: Any, most: int = 3, spare: Any = None, ran: str = "") -> bool:
    """One legend, on top with what ``ran`` or in the ``spare`` axes, every label once; whether it says what ran."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1 and spare is not None:
        spare.legend(found.values(), found.keys(), loc="center", handlelength=2.6)
    elif len(found) > 1:
        return bool(on_top(made, found, most, ran) and ran)
    return False


def on_top(made: Any, found: Mapping[str, Any], most: int = 3, ran: str = "") -> Any:
    """A legend of ``found`` handles by label in as many columns as the picture is wide."""
    letters = int(LETTERS * enlarged() / heavier())
    for columns in range(min(most, len(found)), 0, -1):
        made_legend = made.legend(
            found.values(), found.keys(), loc="outside upper left", ncols=columns, handlelength=2.6, columnspacing=1.0,
            title=fill(ran, letters) or None, title_fontsize="small", alignment="left",
        )  # fmt: skip
        made_legend.get_title().set_color(GREY)
        if columns == 1 or made_legend.get_window_extent().width <= made.bbox.width:
            return made_legend
        made_legend.remove()
    return None
