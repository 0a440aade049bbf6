"""``fedbounds plot``: draw a bound term by term, or several bounds, along one quantity; mark where conditions fail."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError, OutsideConditionsWarning, unknown
from bounds.letters import unknown_quantity
from bounds.quantities import CLIENTS, Quantity
from bounds.showing.command_line import Report
from bounds.showing.files import refuse_foreign, to_write, whole, write_whole
from bounds.showing.loading import load
from bounds.showing.reading import given_values, Grid, grid, substitution_remarks, uncertainty_remarks, Value
from bounds.showing.usage import UsageError
from bounds.units import ONE
from bounds.vocabulary import clients

from .drawing import legend_on_top, new_figure, set_log_ticks
from .style import CYCLE, GREY, save, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE_RANGE = 100
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""
WRAP = 44
"""Characters of a line of an axis label."""
NOT_HERE = "does not apply"
TINTS = ("#a3c1e4", "#f2b8a6", "#a9d8c6", "#cdb7dd", "#e8dca0", "#c9c9c9", "#8fd0dc", "#e6a9c4")
"""Fill colours of stacked terms."""
SHADES = (*CYCLE, "#5b8fd0", "#e58a6b", "#63b59b", "#b48fcb")
"""Colours of curves, in order."""
MOST_CURVES = 8
WIDEST = 1e250
"""Largest ratio of the ends of an axis, and largest number, for which matplotlib finds ticks."""


def plot(
    *words: str | Bound, x: str = "", outside: bool = False, output: Path | str | None = None, **quantities: Any
) -> Report:
    """Draw one bound term by term, or compare several, along one quantity; a CSV file goes beside the picture.

    Args:
        words: One or more bounds, values as quantity=value, and files of constants as @file.json.
        x: The quantity to draw along, as QUANTITY=a:b:n; not needed where one range alone is given.
        outside: Draw the formula also where conditions fail.
        output: The picture (NAME.svg).
        quantities: Values by name.
    """
    named = [word for word in words if isinstance(word, Bound) or ("=" not in word and not word.startswith("@"))]
    if not named:
        raise UsageError("plot needs the name of a bound")
    bounds = list(map(load, named))
    values = [word for word in words if isinstance(word, str) and word not in named]
    ranges = [word for word in values if ":" in word and not word.startswith("@")]
    if not x and len(ranges) == 1:
        x = ranges[0]
        values.remove(x)
    if "=" not in x:
        raise UsageError(f"plot needs x=QUANTITY=a:b:n once, such as x=clients=2:40:39; got x={x}")
    if output == "":
        raise UsageError("-o needs the name of a file, such as picture.svg")
    path, *_ = output_paths(Path(output or "-vs-".join(bound.name for bound in bounds) + ".svg"))
    given = given_values([x, *values], quantities, bounds)
    picture = bound_curves(bounds, next(iter(given)), given)
    wrote = write(picture, path, outside=outside)
    remarks = [*notes(picture, outside), *uncertainty_remarks(bounds, given), *substitution_remarks(bounds, given)]
    return Report([], None, remarks=remarks, wrote=wrote)


@dataclass(frozen=True, eq=False)
class Curve:
    """One bound along x: ``formula``, ``terms``, where the bound ``holds``, and where each condition ``failed``."""

    name: str
    label: str
    formula: np.ndarray
    terms: dict[str, np.ndarray]
    holds: np.ndarray
    failed: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Picture:
    """The content of a plot: arrays over the sorted ``x``."""

    quantity: Quantity
    target: Quantity
    x: np.ndarray
    log_x: bool
    curves: tuple[Curve, ...]
    letters: tuple[str, str] = ("", "")
    """Symbols of the quantity and of the target in the paper of the first bound, in LaTeX."""


# ---- the numbers ----


def bound_curves(bounds: Sequence[Bound], x: str, given: Mapping[str, Value]) -> Picture:
    """Return values, terms and conditions of ``bounds`` along the sweep ``given[x]``.

    Other sweeps in ``given`` give one curve per point. Each bound takes the values that it uses; raise if none does.
    """
    check_comparable(bounds, x, given)
    if given[x].kind == "table":
        raise BoundsError(f"x={x} cannot be a list of lists: a curve runs over numbers")
    grids = [grid(b, {name: replace(given[name], optional=True) for name in (x, *given)}) for b in bounds]
    sweep = next((g.axes[0][x] for g in grids if g.axes and x in g.axes[0]), None)
    if sweep is None or len(set(sweep)) < 2:
        raise BoundsError(f"x={x} needs a range a:b:n with two or more different points")
    order = np.argsort(sweep)
    curves = [c for g in grids for c in _curves(g, x, order, len(grids) > 1)]
    if len(curves) > MOST_CURVES:
        raise BoundsError(f"{len(curves)} curves are too many for one picture; at most {MOST_CURVES}")
    points = np.asarray(sweep)[order]
    for numbers in (points, *(c.formula for c in curves)):
        _check_drawable(numbers)
    quantity = {q.name: q for g in grids for q in g.bound.quantities}.get(x, clients)
    target, own = bounds[0].target, bounds[0].letters
    letters = (own.get(quantity, quantity.card.letter), own.get(target, target.card.letter))
    return Picture(quantity, target, points, given[x].log and points[0] > 0, tuple(curves), letters)


def _check_drawable(numbers: np.ndarray) -> None:
    """Raise if an axis with these numbers would exceed the range of floating-point numbers."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if sizes.size and (sizes.max() > WIDEST * sizes.min() or sizes.max() > WIDEST or sizes.min() < 1 / WIDEST):
        raise BoundsError(
            f"numbers from {sizes.min():g} to {sizes.max():g} cannot be drawn on one axis; narrow the range"
        )


def check_comparable(bounds: Sequence[Bound], x: str, given: Mapping[str, Value]) -> None:
    used = {q.name for b in bounds for q in b.quantities}
    used |= {clients.name} if any(b.axis == CLIENTS for b in bounds) else set()
    names = " or ".join(b.name for b in bounds)
    for name, value in given.items():
        if name not in used and (not value.optional or name == x):
            raise unknown_quantity(f"quantity of {names}", name, used)
    units = {str(b.target.card.unit) for b in bounds}
    if len(units) > 1:
        raise BoundsError(f"these bounds cannot share an axis: their units are {', '.join(sorted(units))}")


def _curves(span: Grid, x: str, order: np.ndarray, named: bool) -> list[Curve]:
    axes = [axis for axis in span.axes if x not in axis]
    flat = len(axes) == len(span.axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        formula = span.bound.formula(**span.values)
        terms = span.bound.parts(outside=True, **span.values)
        shape = (*span.shape, *np.shape(formula)[len(span.shape) :])
        failed = _failures(span, shape)
    if len(shape) > len(span.shape):  # a curve for each client or class
        axes.append({"client" if span.bound.axis == CLIENTS else "class": [[each] for each in range(shape[-1])]})

    def along(array: Any, index: tuple[int, ...]) -> np.ndarray:
        full = np.broadcast_to(array, shape)
        place: Any = index if flat else (order, *index)
        return np.broadcast_to(full[place], (len(order),))

    curves = []
    for index in np.ndindex(*(len(next(iter(a.values()))) for a in axes)):
        at = [f"{q} = {v[i]:.4g}" if np.ndim(v[i]) == 0 else f"{q} {i + 1}"
              for i, axis in zip(index, axes, strict=True) for q, v in axis.items()]  # fmt: skip
        met = {words: along(where, index) for words, where in failed.items()}
        holds = ~np.logical_or.reduce([np.zeros(len(order), dtype=bool), *met.values()])
        label = _label(span.bound, at, named)
        lines = {name: along(term, index) for name, term in terms.items()}
        curves.append(Curve(span.bound.name, label, along(formula, index), lines, holds, met))
    return curves


def _label(bound: Bound, at: Sequence[str], named: bool) -> str:
    label = "\n".join([*([bound.name] if named or not at else []), *at])
    return label + ("\n(up to a constant)" if bound.relation == "<~" else "")


def _failures(span: Grid, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return where each numeric condition fails, by its text; conditions that hold everywhere are left out."""
    failures: dict[str, np.ndarray] = {}
    for condition in span.bound.failed(**span.values):
        alone = replace(span.bound, conditions=(condition,))
        used = {q.name for q in alone.quantities} | ({clients.name} if alone.axis == CLIENTS else set())
        fails = ~np.asarray(alone.holds(**{n: v for n, v in span.values.items() if n in used}))
        failures[condition.words] = np.broadcast_to(fails | failures.get(condition.words, False), shape)
    return failures


def _spans(where: np.ndarray) -> list[tuple[int, int]]:
    """Return (start, stop) of every interval of indices on which ``where`` is true."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(change[::2], change[1::2], strict=True)]


def notes(picture: Picture, outside: bool) -> list[str]:
    """Return one sentence per bound and condition that fails somewhere, with the points at which it fails."""
    lines = []
    for curve in picture.curves:
        for words, fails in curve.failed.items():
            if fails.any():
                ends = [(picture.x[a], picture.x[b - 1]) for a, b in _spans(fails)]
                where = " and ".join(
                    f"at {a:.4g}" if a == b else f"at the points from {a:.4g} to {b:.4g}" for a, b in ends
                )
                mark = "OUTSIDE (dashed)" if outside else "does not apply"
                who = "" if len(picture.curves) == 1 else f"{curve.label.splitlines()[0]}: "
                lines.append(f"{who}{mark} {where}; not met: {words}")
    return list(dict.fromkeys(lines))


# ---- the table beside the picture ----


def rows(picture: Picture) -> list[list[Any]]:
    """Return the CSV table: curve, part (total or a term), x, value, whether the conditions hold, which ones fail."""
    table: list[list[Any]] = [["bound", "curve", "part", picture.quantity.name, "value", "holds", "failed"]]
    for curve in picture.curves:
        for part, values in {"total": curve.formula, **curve.terms}.items():
            for i, (x, value, holds) in enumerate(zip(picture.x, values, curve.holds, strict=True)):
                failed = "; ".join(words for words, fails in curve.failed.items() if fails[i])
                table.append(
                    [curve.name, curve.label.replace("\n", " "), part, float(x), float(value), bool(holds), failed]
                )
    return table


# ---- the picture ----


def draw(ax: Axes, picture: Picture, *, outside: bool = False) -> None:
    """Draw a picture: terms stacked for one curve (lines on a logarithmic axis), totals for several."""
    if picture.log_x:
        ax.set_xscale("log")
        set_log_ticks(ax.xaxis, (picture.x[0], picture.x[-1]))
    x, alone = picture.x, picture.curves[0] if len(picture.curves) == 1 else None
    shown = [np.where(c.holds | outside, c.formula, np.nan) for c in picture.curves]
    logarithmic = _spans_decades(shown)
    if logarithmic:
        ax.set_yscale("log")
    ax.set_xlim(x[0], x[-1])
    terms = alone.terms if alone and len(alone.terms) > 1 else {}
    if alone and not logarithmic and all(np.nanmin(t[alone.holds], initial=0.0) >= 0 for t in terms.values()):
        below = np.zeros_like(alone.formula)
        for (name, term), tint in zip(terms.items(), cycle(TINTS)):
            ax.fill_between(x, below, below + term, where=alone.holds, color=tint, lw=0, label=name)
            below = below + term
    elif alone:
        for (name, term), colour in zip(terms.items(), cycle(SHADES[1:])):
            _line(ax, x, term, alone, outside, color=colour, lw=1.0, label=name)
    for curve, colour in zip(picture.curves, SHADES, strict=False):
        silent = "" if outside or curve.holds.any() else f" ({NOT_HERE} here)"
        dashed = " (dashed: OUTSIDE)" if outside and not curve.holds.all() else ""
        label = " ".join(curve.label.split())
        _line(ax, x, curve.formula, curve, outside, color=colour, label=f"{label}{silent}{dashed}")
        beside = np.zeros_like(curve.holds)  # the last points where a theorem applies
        beside[1:] |= ~curve.holds[:-1]
        beside[:-1] |= ~curve.holds[1:]
        limits = np.flatnonzero(curve.holds & beside)
        ax.plot(x[limits], curve.formula[limits], "o", mfc="white", mec=colour, mew=1.0, ms=4)
    if not logarithmic and all(np.nanmin(v, initial=0.0) >= 0 for v in shown):
        ax.set_ylim(bottom=0)
    ax.set_ylim(ax.get_ylim())
    if alone:
        _shade_outside(ax, x, alone, outside)
    both = zip(picture.letters, (picture.quantity, picture.target), strict=True)
    along, up = (f"${letter}${_unit(quantity)}" for letter, quantity in both)
    ax.set_title(fill(picture.target.card.meaning, WRAP), loc="left", parse_math=False)
    ax.set_ylabel(up)
    meaning = picture.quantity.card.meaning.replace("$", r"\$")
    ax.set_xlabel(f"{fill(meaning, WRAP)}  {along}", fontsize="small")


def _unit(quantity: Quantity) -> str:
    unit = quantity.card.unit
    raised = re.sub(r"\^(\d+(?:/\d+)?)", r"$^{\1}$", str(unit))
    return "" if unit == ONE else f" [{raised}]"


def _spans_decades(shown: Sequence[np.ndarray]) -> bool:
    positive = np.concatenate([v[np.isfinite(v)] for v in shown])
    return bool(positive.size and positive.min() > 0 and positive.max() > WIDE_RANGE * positive.min())


def _line(ax: Axes, x: np.ndarray, y: np.ndarray, curve: Curve, outside: bool, **style: Any) -> None:
    """Draw a line, solid where the theorem applies, and with ``outside`` dashed elsewhere."""
    ax.plot(x, np.where(curve.holds, y, np.nan), ls="-", **style)
    if outside:
        near = ~curve.holds
        near[1:] |= ~curve.holds[:-1]
        near[:-1] |= ~curve.holds[1:]
        ax.plot(x, np.where(near, y, np.nan), ls=(0, (3, 2)), **{**style, "label": ""})


def _shade_outside(ax: Axes, x: np.ndarray, curve: Curve, outside: bool) -> None:
    """Hatch and label the ranges of x in which the bound does not apply."""
    edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])  # half-way between neighbouring points
    for low, high in (edges[[a, b]].tolist() for a, b in _spans(~curve.holds)):
        ax.axvspan(low, high, facecolor="#f0f0f0", edgecolor="#d5d5d5", hatch="////", lw=0, zorder=0)
        for edge in (low, high):
            if x[0] < edge < x[-1]:
                ax.axvline(edge, color=GREY, lw=0.8, ls=":")
        middle = np.sqrt(low * high) if ax.get_xscale() == "log" else (low + high) / 2
        ax.text(middle, 0.97, "OUTSIDE" if outside else NOT_HERE, transform=ax.get_xaxis_transform(), ha="center",
                va="top", color=GREY, rotation=90, fontsize=7)  # fmt: skip


def write(picture: Picture, path: Path, *, outside: bool = False) -> list[Path]:
    """Write the picture to ``path`` (format by its suffix), its numbers as CSV and its caption; return their paths."""

    def drawn() -> Any:
        lines = picture.curves[0].terms if len(picture.curves) == 1 else picture.curves
        figure, axes = new_figure(1, 1, len(lines))
        draw(axes[0, 0], picture, outside=outside)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        legend_on_top(figure, dict(zip(labels, handles, strict=True)), 2)
        return figure

    return write_files(output_paths(path), drawn, rows(picture), _caption(picture, outside))


def _caption(picture: Picture, outside: bool) -> str:
    """Return the caption: what is drawn, and where which conditions fail."""
    labels = "; ".join(dict.fromkeys(" ".join(curve.label.split()) for curve in picture.curves))
    title = f"**{picture.target.card.meaning} against {picture.quantity.name}.** {labels}."
    return "\n\n".join([title, *notes(picture, outside)]) + "\n"


def write_files(
    paths: Sequence[Path], drawn: Callable[[], Any], numbers: Iterable[Sequence[Any]], caption: str
) -> list[Path]:
    """Write the picture that ``drawn()`` returns and the CSV (both or neither), then the caption; return the paths."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    path, beside, words = paths
    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise unknown("picture format", path.suffix, [f".{ending}" for ending in known])
    settings: Any = STYLE
    with matplotlib.rc_context(settings), whole(path) as image:
        save(drawn(), image)
        with whole(beside) as table, table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(numbers)
    return [path, beside, write_whole(words, caption)]


def output_paths(path: Path, begins: str = "bound,curve,part,") -> tuple[Path, Path, Path]:
    """Return the paths of the picture (default: SVG), its CSV and its caption.

    Raise if one cannot be written, or would replace a file that is no such caption or CSV (``begins`` is its start).
    """
    if path.is_dir():
        raise BoundsError(f"{path} is a folder; name a file, such as {path / 'picture.svg'}")
    if path.exists() and not path.is_file():
        raise BoundsError(f"{path} is not a file; a picture needs one to be written to, such as picture.svg")
    path = path if path.suffix else path.with_suffix(".svg")
    beside, caption = path.with_suffix(".csv"), path.with_suffix(".caption.md")
    refuse_foreign(beside, begins)
    refuse_foreign(caption, "**")
    for each in (path, beside, caption):
        to_write(each)
    return path, beside, caption
