"""Elasticities: by how many percent a bound changes when one quantity grows by one percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TYPE_CHECKING

import numpy as np
import sympy as sp

from ..operators import write_out_means
from ..quantities import Quantity
from ..vocabulary import client_weight
from . import alike, intervals as iv
from .enclosure import Enclosed
from .intervals import Array, Interval

if TYPE_CHECKING:
    from ..core import Bound

SHARP = 1e-6
"""Relative width up to which an interval of slopes counts as one number; a kink gives a wide one."""


def elasticities(bound: Bound, values: Mapping[str, Any]) -> dict[str, Any]:
    """``d log(bound) / d log(q)`` for every quantity ``q`` with a value, by forward differentiation.

    For a quantity with one value per client (or class) it is the elasticity for scaling all of them together.
    ``client_weight`` is left out: weights sum to 1 and cannot be scaled (with ``clients`` that are all alike, theirs
    change with their number). Fixed quantities count as well. NaN where the
    theorem is silent, where the bound is 0, and where no derivative is defined: at a kink of a maximum, and in
    quantities inside a rounding to whole numbers. Entries have the shape of the bound's value.
    """
    if alike.applies(bound, values):
        return elasticities(bound._evaluator.special.bound, bound._evaluator.for_special(values))
    arrays, shape = bound._evaluator.prepare(values)
    sweep, width = (shape[:-1], shape[-1]) if bound.axis else (shape, 1)
    numbers = {name: _rows(array, sweep, bool(bound.axis)) for name, array in arrays.items()}
    silent = ~np.asarray(bound._evaluator.holds(values)).reshape(sweep)
    formula = write_out_means(sp.Add(*bound.spelled_terms.values()))
    spread = {**numbers, "": np.zeros((int(np.prod(sweep)), width))}
    result = {}
    for q in bound._all:
        if q == client_weight:
            continue
        rows = _elasticity(formula, q, spread)
        keeps = bound.axis and bound.target.card.axis
        out = np.broadcast_to(rows, (len(rows), width)).reshape(shape) if keeps else rows.reshape(sweep)
        out = np.where(silent[..., None] if keeps else silent, np.nan, out)
        result[q.name] = out if out.ndim else out.item()
    return result


def _elasticity(formula: sp.Expr, q: Quantity, numbers: Mapping[str, Array]) -> Array:
    """One elasticity per point, (points, 1), or (points, clients) where the bound has a value for every client."""
    points = len(numbers[""])
    rounded = any(q in step.free_symbols for step in formula.atoms(sp.ceiling, sp.floor))
    if q not in formula.free_symbols or rounded:
        return np.full((points, 1), np.nan if rounded else 0.0)
    at = np.broadcast_to(numbers[q.name], (points, numbers[q.name].shape[-1]))
    (jet,), domains = Enclosed([formula], q, numbers).run(iv.point(at), iv.point(at), np.arange(points))
    value, slope = _sharp(jet.value), _sharp(jet.slope or iv.point(np.zeros((1, 1))))
    with np.errstate(all="ignore"):
        ratio = np.where(value == 0, np.nan, slope / value)
    return np.where(domains.empty[:, None], np.nan, np.broadcast_to(ratio, (points, ratio.shape[-1])))


def _rows(array: Array, sweep: tuple[int, ...], has_axis: bool) -> Array:
    full = array if has_axis else array[..., None]
    return np.broadcast_to(full, (*sweep, full.shape[-1])).reshape(-1, full.shape[-1])


def _sharp(a: Interval) -> Array:
    with np.errstate(all="ignore"):
        middle = a.lo / 2 + a.hi / 2
        # Rounding leaves a few units in the last place of the largest intermediate result: allow for cancellation.
        return np.where(a.hi - a.lo <= SHARP * np.abs(middle), middle, np.where(a.hi - a.lo < 1e-300, 0.0, np.nan))
