"""Elasticities: by how many percent a bound changes when one quantity grows by one percent."""

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

SHARP = 1e-6
"""Relative width up to which an interval of slopes counts as one number; a kink gives a wide one."""


def elasticities(bound: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    """``d log(bound) / d log(q)`` for every quantity ``q`` with a value, by forward differentiation.

    For a quantity with one value per client (or class) it is the elasticity for scaling all of them together.
    ``client_weight`` is left out: weights sum to 1 and cannot be scaled (with identical ``clients``, theirs
    change with their number). Fixed quantities count as well. NaN where the
    theorem does not apply, where the bound is 0, and where no derivative is defined: at a kink of a maximum, and in
    quantities inside a rounding to whole numbers. Entries have the shape of the bound's value.
    """
    given = evaluator_of(bound).given(values)
    bound, points = given.bound, given.points()
    silent = ~np.asarray(given.holds()).reshape(-1)
    keeps = bool(bound.axis and bound.target.card.axis)
    result = {}
    for q in bound._all:
        if q == client_weight:
            continue
        found = [
            [nan] if quiet else _elasticity(bound, q, at, given.width) for at, quiet in zip(points, silent, strict=True)
        ]
        out = np.array([row * given.width if keeps and len(row) == 1 else row for row in found])
        out = out.reshape(given.shape if keeps else given.sweep)
        result[q.name] = out if out.ndim else out.item()
    return result


@lru_cache(maxsize=512)
def _tape(bound: Statement) -> tuple[Tape, frozenset[sp.Basic], frozenset[sp.Basic]]:
    """The bound, the quantities in it, and those inside of a rounding to whole numbers."""
    formula = sp.Add(*bound.spelled_terms.values())
    rounded = frozenset().union(*(step.free_symbols for step in formula.atoms(sp.ceiling, sp.floor)))
    tape = Tape((formula,))
    return tape, frozenset(tape.leaves.values()), rounded


def _elasticity(bound: Statement, q: Quantity, given: Mapping[str, list[float]], width: int) -> list[float]:
    """One elasticity, or one for each client where the bound has a value for each."""
    tape, used, rounded = _tape(bound)
    if q in rounded or q not in used:
        return [nan if q in rounded else 0.0]
    at = [arb(x) for x in given[q.name]]
    enclosure = Enclosure(tape, {name: numbers for name, numbers in given.items() if name != q.name}, width)
    (found,), jets = enclosure.run({q.name: [Jet((x, x), (x, x)) for x in at]}, LEVELS[1])
    return [nan if jets.empty else _ratio(jet) for jet in found]


def _ratio(jet: Jet) -> float:
    low, high = jet.value
    if jet.slope is None:
        return nan if low.is_zero() else 0.0
    falls, rises = jet.slope
    if not (high - low).upper() <= SHARP * abs(low) or low.is_zero():
        return nan
    room, slope = (rises - falls).upper(), (falls + rises) / 2
    if falls <= 0 <= rises and room <= SHARP**2 * abs(low):  # what cancels leaves nothing
        return 0.0
    return as_float((slope / low).mid()) if room <= SHARP * abs(slope) else nan
