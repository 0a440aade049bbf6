"""The numbers of ``fedbounds plot``: bounds along one quantity, with their terms and their conditions' limits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError, OutsideConditionsWarning
from bounds.letters import unknown_quantity
from bounds.quantities import CLIENTS, Quantity
from bounds.showing.values import Grid, grid, Value
from bounds.vocabulary import clients

MOST_CURVES = 8
WIDEST = 1e250
"""Ratio of the ends of an axis, and size of its numbers, up to which matplotlib finds ticks."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One bound along x. ``formula`` and ``terms`` are defined everywhere; ``failed`` tells where which words fail."""

    name: str
    label: str
    formula: np.ndarray
    terms: dict[str, np.ndarray]
    holds: np.ndarray
    failed: dict[str, np.ndarray]

    @property
    def value(self) -> np.ndarray:
        """The bound, NaN where it does not apply."""
        return np.where(self.holds, self.formula, np.nan)


@dataclass(frozen=True, eq=False)
class Picture:
    """Everything a plot shows, in arrays over the sorted ``x``."""

    quantity: Quantity
    target: Quantity
    x: np.ndarray
    log_x: bool
    curves: tuple[Curve, ...]
    letters: tuple[str, str] = ("", "")
    """Of the quantity and of the target in the paper of the first bound, in LaTeX."""


# ---- the numbers ----


def data(bounds: Sequence[Bound], x: str, given: Mapping[str, Value]) -> Picture:
    """Values, terms and conditions of ``bounds`` along the sweep ``given[x]``; other sweeps give a curve per point.

    A value that some of the bounds do not use is left to the others; one that none uses is refused.
    """
    _check(bounds, x, given)
    if given[x].kind == "table":
        raise BoundsError(f"x={x} cannot be a list of lists: a curve runs over numbers")
    first = {x: given[x], **{name: replace(v, optional=True) for name, v in given.items() if name != x}}
    grids = [grid(b, {n: v if n != x else replace(v, optional=True) for n, v in first.items()}) for b in bounds]
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
    """No axis holds numbers whose ratio, or whose ends with some room around them, are beyond floating-point."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if sizes.size and (sizes.max() > WIDEST * sizes.min() or sizes.max() > WIDEST or sizes.min() < 1 / WIDEST):
        raise BoundsError(
            f"numbers from {sizes.min():g} to {sizes.max():g} cannot be drawn on one axis; narrow the range"
        )


def _check(bounds: Sequence[Bound], x: str, given: Mapping[str, Value]) -> None:
    used = {q.name for b in bounds for q in b.quantities}
    used |= {clients.name} if any(b.axis == CLIENTS for b in bounds) else set()
    names = " or ".join(b.name for b in bounds)
    for name, value in given.items():
        if name not in used and (not value.optional or name == x):
            raise unknown_quantity(f"quantity of {names}", name, used)
    units = {str(b.target.card.unit) for b in bounds}
    if len(units) > 1:
        raise BoundsError(f"these bounds cannot share an axis: their units are {', '.join(sorted(units))}")
    for b in bounds:
        if b.target.card.axis:
            raise BoundsError(
                f"{b.name} has one value for each of the {b.target.card.axis}; it cannot be drawn as a curve"
            )


def _curves(span: Grid, x: str, order: np.ndarray, named: bool) -> list[Curve]:
    axes = [axis for axis in span.axes if x not in axis]
    flat = len(axes) == len(span.axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        formula = span.bound.formula(**span.values)
        terms = span.bound.parts(outside=True, **span.values)
        failed = _failures(span)

    def along(array: Any, index: tuple[int, ...]) -> np.ndarray:
        full = np.broadcast_to(array, span.shape)
        place: Any = index if flat else (order, *index)
        return np.broadcast_to(full[place], (len(order),))

    made = []
    for index in np.ndindex(*(len(next(iter(a.values()))) for a in axes)):
        at = [f"{q} = {v[i]:.4g}" if np.ndim(v[i]) == 0 else f"{q} {i + 1}"
              for i, axis in zip(index, axes, strict=True) for q, v in axis.items()]  # fmt: skip
        met = {words: along(where, index) for words, where in failed.items()}
        holds = ~np.logical_or.reduce([np.zeros(len(order), dtype=bool), *met.values()])
        label = _label(span.bound, at, named)
        lines = {name: along(term, index) for name, term in terms.items()}
        made.append(Curve(span.bound.name, label, along(formula, index), lines, holds, met))
    return made


def _label(bound: Bound, at: Sequence[str], named: bool) -> str:
    label = "\n".join([*([bound.name] if named or not at else []), *at])
    return label + ("\n(up to a constant)" if bound.relation == "<~" else "")


def _failures(span: Grid) -> dict[str, np.ndarray]:
    """Where each numeric condition fails, by its words; conditions that hold everywhere are left out."""
    found: dict[str, np.ndarray] = {}
    for condition in span.bound.failed(**span.values):
        alone = replace(span.bound, conditions=(condition,))
        used = {q.name for q in alone.quantities} | ({clients.name} if alone.axis == CLIENTS else set())
        fails = ~np.asarray(alone.holds(**{n: v for n, v in span.values.items() if n in used}))
        found[condition.words] = np.broadcast_to(fails | found.get(condition.words, False), span.shape)
    return found


def stretches(x: np.ndarray, where: np.ndarray) -> list[tuple[float, float]]:
    """The intervals of ``x`` on which ``where`` is true; a border lies half-way between neighbouring points."""
    edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
    return [(float(edges[a]), float(edges[b])) for a, b in _spans(where)]


def runs(x: np.ndarray, where: np.ndarray) -> list[tuple[float, float]]:
    """The first and last point of ``x`` of every run on which ``where`` is true."""
    return [(float(x[a]), float(x[b - 1])) for a, b in _spans(where)]


def _spans(where: np.ndarray) -> list[tuple[int, int]]:
    change = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(change[::2], change[1::2], strict=True)]


def _range(low: float, high: float) -> str:
    return f"at {low:.4g}" if low == high else f"at the points from {low:.4g} to {high:.4g}"


def notes(picture: Picture, outside: bool) -> list[str]:
    """Where a theorem does not apply, and which conditions fail there."""
    lines = []
    for curve in picture.curves:
        for words, fails in curve.failed.items():
            if fails.any():
                where = " and ".join(_range(*ends) for ends in runs(picture.x, fails))
                mark = "OUTSIDE (dashed)" if outside else "does not apply"
                who = "" if len(picture.curves) == 1 else f"{curve.label.splitlines()[0]}: "
                lines.append(f"{who}{mark} {where}; not met: {words}")
    return list(dict.fromkeys(lines))


# ---- the table beside the picture ----


def rows(picture: Picture) -> list[list[Any]]:
    """One row per number: curve, part (total or a term), x, value, whether the conditions hold, which words fail."""
    table: list[list[Any]] = [["bound", "curve", "part", picture.quantity.name, "value", "holds", "failed"]]
    for curve in picture.curves:
        for part, values in {"total": curve.formula, **curve.terms}.items():
            for i, (x, value, holds) in enumerate(zip(picture.x, values, curve.holds, strict=True)):
                failed = "; ".join(words for words, fails in curve.failed.items() if fails[i])
                table.append(
                    [curve.name, curve.label.replace("\n", " "), part, float(x), float(value), bool(holds), failed]
                )
    return table
