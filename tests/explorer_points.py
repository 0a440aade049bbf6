"""Random points of a bound, once as arrays for Python and once as plain values for the page."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sympy as sp

from bounds.core import Bound
from bounds.numerics.approximate import Approximate, Approximations, ROUNDING
from bounds.numerics.tape import Tape
from bounds.points import POINTS
from bounds.quantities import Quantity

MEMBERS = 4
Arrays = dict[str, np.ndarray]


def drawn(bound: Bound, count: int, seed: int = 1) -> tuple[Arrays, list[Any], int]:
    """Values around the bound's example and far from it: arrays with the axis last, the same point by point."""
    random, length = np.random.default_rng(seed), MEMBERS if bound.axis else 1
    values: Arrays = {}
    for q in sorted(bound.quantities, key=lambda q: q.card.at_most is not None):
        wide = length if q.card.axis else 1
        values[q.name] = _values(q, random, count, wide, np.mean(POINTS[bound.name][q.name]))  # type: ignore[arg-type]
        limit = q.card.at_most.name if q.card.at_most is not None else ""
        if limit in values:
            values[q.name] = np.minimum(values[q.name], values[limit])
    if bound.axis == "clients":
        values |= {n: np.full((count, 1), float(length)) for n in ("clients",) if n in values}
        values |= {n: np.minimum(values[n], length) for n in ("cohort",) if n in values}
    counted = {bound.axis: length} if bound.axis else {}
    lists = {q.name for q in bound.quantities if q.card.axis}
    lengths = {"clients": length, "classes": length}
    points = [
        [{n: a[p].tolist() if n in lists else a[p].item() for n, a in values.items()} | counted, lengths]
        for p in range(count)
    ]
    return values, points, length


def _values(quantity: Quantity, random: np.random.Generator, count: int, wide: int, near: float) -> np.ndarray:
    domain, shape = quantity.card.domain, (count, wide)
    if domain.simplex:
        return random.dirichlet(np.ones(wide), count)
    if np.isfinite(domain.high):
        inside = random.uniform(domain.low, domain.high, shape)
        return np.rint(inside) if domain.whole else inside
    if domain.low == -np.inf:
        return near + (1 + abs(near)) * random.normal(size=shape)
    found = (abs(near) or 1.0) * np.exp(random.normal(size=shape))
    return np.maximum(np.rint(found) if domain.whole else found, domain.low)


def python_terms(bound: Bound, values: Arrays, count: int, length: int) -> tuple[Arrays, Arrays, np.ndarray]:
    """Every term, how much roundings may move it, and where conditions hold."""
    keeps = length if bound.target.card.axis else 1
    lists = {q.name for q in bound.quantities if q.card.axis}
    given = {n: a if n in lists else a[:, 0] for n, a in values.items()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        terms = {k: np.asarray(v, dtype=float) for k, v in bound.parts(outside=True, **given).items()}
        holds = np.asarray(bound.holds(**given)).ravel()
        slacks = {k: _slack(e, values) for k, e in bound.spelled_terms.items()}
    shape = (count, keeps)
    spread = [{k: _wide(v, shape) for k, v in found.items()} for found in (terms, slacks)]
    return spread[0], spread[1], np.broadcast_to(holds, (count,))


def _wide(array: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return np.broadcast_to(array[..., None] if array.ndim == 1 else array, shape)


def _slack(term: sp.Expr, values: Arrays) -> np.ndarray:
    """How much roundings may move a term: where summands cancel, its own size says nothing."""
    tape, width = Tape([term]), max((a.shape[1] for a in values.values()), default=1)
    found = tape.run(Approximations(width), {name: Approximate(a.T, ROUNDING) for name, a in values.items()})
    number = found[tape.outputs[0]]
    return np.abs(np.asarray(number.value * number.error, dtype=float)).T
