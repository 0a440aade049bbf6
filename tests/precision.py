"""Every bound against numbers of a thousand digits: random points over the whole range of floats, and the reference."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import sympy as sp

from bounds import Bound, Quantity
from bounds.errors import UnderflowWarning, UnsettledWarning
from bounds.operators import bind, varies

mp = mpmath.mp
DIGITS, MEMBERS = 1000, 3
ENOUGH = 1e-9
EQUAL = 2e-11
"""Sides of a condition nearer than this, relatively, are equal up to rounding: floating point decides."""
MOST = mpmath.mpf(float(np.finfo(float).max))
REGIMES = {"tiny": (-150, -50), "huge": (50, 150), "wide": (-150, 150), "mild": (-6, 6)}
Points = dict[str, np.ndarray]


# ---- points ----


def points(bound: Bound, count: int, powers: tuple[float, float], rng: np.random.Generator) -> Points:
    """Points of the domain between these powers of ten, lists over an axis as rows."""
    low, high = powers
    values: Points = {}
    for q in sorted(bound.quantities, key=lambda q: (q.card.at_most is not None, q.name)):
        tied = q.name == bound.axis and any(other.card.axis for other in bound.quantities)
        shape = (count, MEMBERS) if q.card.axis else (count,)
        values[q.name] = np.full(shape, float(MEMBERS)) if tied else _drawn(q, shape, low, high, rng)
        limit = q.card.at_most
        if limit is not None and limit.name in values:
            values[q.name] = np.minimum(values[q.name], values[limit.name])
        elif limit is not None and limit.name == bound.axis:
            values[q.name] = np.minimum(values[q.name], MEMBERS)
    return values


def _drawn(q: Quantity, shape: tuple[int, ...], low: float, high: float, rng: np.random.Generator) -> np.ndarray:
    domain = q.card.domain
    sizes = 10.0 ** rng.uniform(low, high, shape)
    if domain.simplex:
        return np.asarray(sizes / sizes.sum(axis=-1, keepdims=True))
    if np.isfinite(domain.high):
        inside = np.minimum(10.0 ** rng.uniform(min(low, -6), 0, shape), 0.999999)
        inside = np.where(rng.random(shape) < 0.2, 1 - inside, inside)
        drawn = domain.low + (domain.high - domain.low) * inside if domain.low else inside * domain.high
        if domain.low < 0:
            drawn = np.where(rng.random(shape) < 0.5, inside * domain.high, drawn)
        drawn = np.rint(drawn) if domain.whole else drawn
    elif domain.whole:
        drawn = np.rint(np.maximum(10.0 ** rng.uniform(0, max(high, 3), shape), domain.low))
    else:
        drawn = domain.low + sizes if domain.low > 0 else sizes
        if domain.low == -np.inf:
            drawn = np.where(rng.random(shape) < 0.5, -drawn, drawn)
    if domain.contains(np.zeros(1)).all():
        drawn = np.where(rng.random(shape) < 0.05, 0.0, drawn)
    inside_domain = domain.contains(drawn)
    return np.where(inside_domain, drawn, max(domain.low, 0.5) if domain.low > -np.inf else 0.5)


# ---- the reference ----


class Exact(NamedTuple):
    """What is true at a point: the values (None: no real number), whether the conditions hold, and whether one of them
    is met or missed by a rounding only."""

    totals: list[Any]
    terms: list[list[Any]]
    holds: bool
    level: bool


@cache
def _code(bound: Bound) -> tuple[Any, list[int], int]:
    """Terms and sides of conditions, opened into plain sums over three members, as a function of mpmath numbers."""
    names: list[str] = []
    put: dict[Quantity, Any] = {}
    for q in bound.all_quantities:
        own = [f"{q.name}_{i}" for i in range(MEMBERS)] if q.card.axis else [q.name]
        names += own
        put[q] = [sp.Symbol(n) for n in own] if q.card.axis else sp.Symbol(q.name)

    def opened(e: sp.Basic, members: int) -> list[sp.Basic]:
        once = bind(e, put)
        lists = {q: s for q, s in put.items() if isinstance(s, list)}
        return [once.xreplace({q: s[i] for q, s in lists.items()}) for i in range(members)]

    outputs: list[sp.Basic] = []
    counts = []
    members = MEMBERS if bound.axis and bound.target.card.axis else 1
    for term in bound.spelled_terms.values():
        outputs += opened(term, members)
    for relation in bound.relations:
        each = MEMBERS if bound.axis and varies(relation, bound.axis) else 1
        counts.append(each)
        for side in (relation.lhs, relation.rhs):
            outputs += opened(side, each)
    return sp.lambdify([sp.Symbol(n) for n in names], outputs, "mpmath", cse=True), counts, members


COMPARE = {"<=": mp.mpf.__le__, "<": mp.mpf.__lt__, ">=": mp.mpf.__ge__, ">": mp.mpf.__gt__, "==": mp.mpf.__eq__}


def exact(bound: Bound, point: dict[str, Any]) -> Exact | None:
    """The reference at a point; None where the formula divides by zero."""
    code, counts, members = _code(bound)
    numbers = []
    for q in bound.all_quantities:
        value = np.atleast_1d(np.asarray(point[q.name], dtype=float))
        numbers += [mp.mpf(float(x)) for x in value]
    with mp.workdps(DIGITS):
        try:
            outputs = code(*numbers)
        except (ZeroDivisionError, TypeError, ValueError):
            return None
        split = len(bound.terms) * members
        terms = [list(map(_real, outputs[i : i + members])) for i in range(0, split, members)]
        totals = [None if any(t[i] is None for t in terms) else mp.fsum(t[i] for t in terms) for i in range(members)]
        holds, level = True, False
        for relation, count in zip(bound.relations, counts, strict=True):
            left, right = outputs[split : split + count], outputs[split + count : split + 2 * count]
            split += 2 * count
            for a, b in zip(map(_real, left), map(_real, right), strict=True):
                holds &= a is not None and b is not None and COMPARE[relation.rel_op](a, b)
                if a is not None and b is not None:
                    level |= abs(a - b) <= EQUAL * max(abs(a), abs(b))
    return Exact(totals, terms, bool(holds), bool(level))


def _real(x: Any) -> Any:
    x = mp.mpmathify(x)
    return None if isinstance(x, mpmath.mpc) or not mp.isfinite(x) else x


def wrong(shown: float, true: Any) -> str:
    """What is wrong with a number that is shown for a true one; empty if nothing is."""
    if true is None:
        return "" if not np.isfinite(shown) else f"{shown!r} for what is no real number"
    if np.isinf(shown):
        return "" if abs(true) > MOST and (shown > 0) == (true > 0) else f"{shown!r} for {mp.nstr(true, 12)}"
    if np.isnan(shown):
        return f"nan for {mp.nstr(true, 12)}"
    with mp.workdps(DIGITS):
        off = abs(mp.mpf(shown) - true) > ENOUGH * abs(true)
    return f"{shown!r} for {mp.nstr(true, 17)}" if off else ""


def flaws(bound: Bound, there: Points, which: range) -> list[str]:
    """Where call, formula, terms or conditions are wrong at some of the points, and no warning says so."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, formula, holds = bound(**there), bound.formula(**there), bound.holds(**there)
        parts = bound.parts(outside=True, **there)
    found = []
    for i in which:
        point = {n: a[i].tolist() for n, a in there.items()}
        true = exact(bound, point)
        if true is None:
            continue
        shown = {n: _at(a, i) for n, a in parts.items()}
        said = _said(bound, true, *(_at(a, i) for a in (value, formula, holds)), shown)
        if said and not _warned(bound, point):
            found += [f"{bound.name}: {s} at {point}" for s in said]
    return found


def _at(array: Any, i: int) -> np.ndarray:
    array = np.asarray(array)
    return np.atleast_1d(array[i] if array.ndim else array)


def _said(bound: Bound, true: Exact, value: Any, formula: Any, holds: Any, parts: dict[str, Any]) -> list[str]:
    said = [f"formula {w}" for f, t in zip(formula, true.totals, strict=True) if (w := wrong(float(f), t))]
    for (name, shown), exact_terms in zip(parts.items(), true.terms, strict=True):
        said += [f"{name} {w}" for f, t in zip(shown, exact_terms, strict=True) if (w := wrong(float(f), t))]
    if bool(holds[0]) != true.holds and not true.level:
        said.append(f"conditions said to be {bool(holds[0])} are {true.holds}")
    speaks = formula if holds[0] else np.full_like(formula, np.nan)
    if not np.array_equal(value, speaks, equal_nan=True):
        said.append(f"call {value} but formula {formula}, conditions {holds}")
    return said


def _warned(bound: Bound, point: dict[str, Any]) -> bool:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        bound.formula(**point)
        bound.parts(outside=True, **point)
    return any(issubclass(w.category, (UnderflowWarning, UnsettledWarning)) for w in heard)
