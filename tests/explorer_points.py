"""Random points of a bound, once as arrays for Python and once as plain values for the page."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sympy as sp
from precision import MEMBERS, Points, points

from bounds.core import Bound
from bounds.numerics.approximate import Approximate, Approximations, ROUNDING
from bounds.numerics.tape import Tape


def drawn(bound: Bound, count: int) -> tuple[Points, list[Any], int]:
    """Arrays of values between 0.1 and 10 where the domain allows it, and the same point by point."""
    length = MEMBERS if bound.axis else 1
    values = points(bound, count, (-1, 1), np.random.default_rng(1))
    counted, lengths = {bound.axis: length} if bound.axis else {}, {"clients": length, "classes": length}
    return values, [[{n: a[p].tolist() for n, a in values.items()} | counted, lengths] for p in range(count)], length


def python_terms(bound: Bound, values: Points, count: int, length: int) -> tuple[Points, Points, np.ndarray]:
    """Every term, how much roundings may move it, and where conditions hold."""
    keeps = length if bound.target.card.axis else 1
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        terms = {k: np.asarray(v, dtype=float) for k, v in bound.parts(outside=True, **values).items()}
        holds = np.asarray(bound.holds(**values)).ravel()
        slacks = {k: _slack(e, values, length) for k, e in bound.spelled_terms.items()}
    shape = (count, keeps)
    spread = [{k: _wide(v, shape) for k, v in found.items()} for found in (terms, slacks)]
    return spread[0], spread[1], np.broadcast_to(holds, (count,))


def _wide(array: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return np.broadcast_to(array[..., None] if array.ndim == 1 else array, shape)


def _slack(term: sp.Expr, values: Points, length: int) -> np.ndarray:
    """How much roundings may move a term: where summands cancel, its own size says nothing."""
    tape = Tape([term])
    found = tape.run(Approximations(length), {name: Approximate(a.T, ROUNDING) for name, a in values.items()})
    number = found[tape.outputs[0]]
    return np.abs(np.asarray(number.value * number.error, dtype=float)).T
