"""Elasticities: the percent change of a bound when one quantity grows by one percent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from ..quantities import Quantity
from ..statement import Statement
from ..vocabulary import client_weight
from .balls import as_float, Enclosure, Jet, LEVELS
from .evaluate import evaluator_of
from .tape import Tape

NARROW = 1e-6
"""The relative width up to which an interval of slopes counts as one number. At a kink the interval is wider."""


def elasticities(bound: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``d log(bound) / d log(q)`` for every quantity ``q``, by forward differentiation.

    For a quantity with one value per client (or class), it is the elasticity for scaling all of them together. Fixed
    quantities are included; ``client_weight`` is not, since weights sum to 1. The result has the shape of the bound's
    value, and is NaN where the theorem does not apply, where the bound is 0, and where there is no derivative: at a
    kink of a maximum, and in quantities inside a rounding to integers.
    """
    inputs = evaluator_of(bound).inputs(values)
    bound, points = inputs.bound, inputs.points()
    outside = ~np.asarray(inputs.holds()).reshape(-1)
    keeps = bool(bound.axis and bound.target.card.axis)
    result = {}
    for q in bound.all_quantities:
        if q == client_weight:
            continue
        rows = [
            [nan] if fails else _elasticity(bound, q, point, inputs.width)
            for point, fails in zip(points, outside, strict=True)
        ]
        out = np.array([row * inputs.width if keeps and len(row) == 1 else row for row in rows])
        out = out.reshape(inputs.shape if keeps else inputs.sweep)
        result[q.name] = out if out.ndim else out.item()
    return result


@lru_cache(maxsize=512)
def _tape(bound: Statement) -> tuple[Tape, frozenset[sp.Basic], frozenset[sp.Basic]]:
    """Return the tape of the bound, the quantities in it, and those inside a rounding to integers."""
    formula = sp.Add(*bound.spelled_terms.values())
    rounded = frozenset().union(*(step.free_symbols for step in formula.atoms(sp.ceiling, sp.floor)))
    tape = Tape((formula,))
    return tape, frozenset(tape.leaves.values()), rounded


def _elasticity(bound: Statement, q: Quantity, given: Mapping[str, list[float]], width: int) -> list[float]:
    """Return the elasticity at one point, or one for each client if the bound has a value for each."""
    tape, used, rounded = _tape(bound)
    if q in rounded or q not in used:
        return [nan if q in rounded else 0.0]
    at = [arb(x) for x in given[q.name]]
    enclosure = Enclosure(tape, {name: numbers for name, numbers in given.items() if name != q.name}, width)
    (values,), jets = enclosure.run({q.name: [Jet((x, x), (x, x)) for x in at]}, LEVELS[1])
    return [nan if jets.empty else _ratio(jet) for jet in values]


def _ratio(jet: Jet) -> float:
    """Return slope over value; NaN if the slope is an interval or the value may be zero."""
    low, high = jet.value
    if jet.slope is None:
        return nan if low.is_zero() else 0.0
    falls, rises = jet.slope
    if not (high - low).upper() <= NARROW * abs(low) or low.is_zero():
        return nan
    width, slope = (rises - falls).upper(), (falls + rises) / 2
    if falls <= 0 <= rises and width <= NARROW**2 * abs(low):  # the slope cancels to zero
        return 0.0
    return as_float((slope / low).mid()) if width <= NARROW * abs(slope) else nan
