"""Checkers of limits, orders of growth and monotonicity in one quantity, at exact numbers for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from bounds.quantities import quantities_of, Quantity

from ..claim import Book, ClaimError, Finding, Grade, Status
from .clouds import Cloud, logs
from .formulas import Formula, resolve, slope_of, within_premises
from .numbers import DIGITS, excess, near, Point, shown, turned, value, words
from .points import points

POINTS = 3
SEARCHED, AT_EDGES, EDGES = 60, 30, 0.3
"""Numbers of generic points and of points near edges, where this share of quantities is at an end of its domain."""
EXPANDED = 400
"""Number of operations from which a derivative is not expanded for the search."""


def _limits(expression: sp.Expr, by: Quantity, to: Any, point: Point) -> list[sp.Expr]:
    """Return the limits in ``by`` from each side inside its domain, at the point's numbers for all other quantities."""
    from bounds.operators import bind

    others = {q: v for q, v in point.items() if q != by}
    first = {q: v[0] for q, v in others.items() if isinstance(v, tuple)}
    along = bind(expression, others).xreplace(first)
    sides = _sides(by, to)
    limits = [sp.limit(along, by, to, side) for side in sides]
    for side, limit in zip(sides, limits, strict=True):
        if not (limit in (sp.oo, -sp.oo) or (limit.is_number and limit.is_finite and limit.is_real)):
            raise ClaimError(f"there is no limit as {by.name} -> {to}: {limit}")
        _confirm(along, by, to, side, limit)
    return limits


def _confirm(along: sp.Expr, by: Quantity, to: Any, side: str, limit: sp.Expr) -> None:
    """Raise if two values near ``to``, the second much nearer, contradict SymPy's limit (it errs where pieces meet)."""
    steps = [sp.Integer(10) ** e for e in (8, 16)]
    sign = -1 if side == "-" else 1
    nearby = [to + sign / s if sp.sympify(to).is_finite else -sign * s for s in steps]
    first, second = (along.xreplace({by: x}).evalf(DIGITS) for x in nearby)
    if not (first.is_real and second.is_real):
        return
    if limit.is_finite:
        gaps = [abs(v - sp.N(limit, DIGITS)) for v in (first, second)]
        fine = gaps[1] <= gaps[0] * sp.Rational(97, 100) or gaps[1] <= sp.Float(10, DIGITS) ** -30 * (1 + abs(limit))
    else:
        fine = (second > first) == (limit == sp.oo)
    if not fine:
        values = f"{shown(first)} and {shown(second)}"
        raise ClaimError(f"the limit {limit} as {by.name} -> {to} contradicts values nearby: {values}")


def _sides(by: Quantity, to: Any) -> tuple[str, ...]:
    """Return the sides, "-" from below or "+" from above, from which a quantity can approach a number."""
    domain = by.card.domain
    if to == sp.oo or to == domain.high:
        return ("-",)
    if to == -sp.oo or to == domain.low:
        return ("+",)
    return ("+", "-")


def _refuse_own(formula: sp.Expr, by: Quantity) -> None:
    if by in formula.free_symbols:
        raise ClaimError(f"a limit as {by.name} moves cannot be given in terms of {by.name}")


@dataclass(frozen=True)
class TendsTo:
    """States that ``of`` tends to ``limit`` as ``by`` tends to ``to`` (0, oo or a number), the others being fixed."""

    of: Formula
    by: Quantity
    to: Any
    limit: Formula
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of, self.limit, skip=lambda r: self.by in quantities_of([r]))

    def decide(self, book: Book) -> Finding:
        of, limit = resolve(self.of, book), resolve(self.limit, book)
        _refuse_own(limit, self.by)
        finite = [f for f in (of, limit) if f.is_finite is not False]  # an infinite limit has no value at a point
        for point in points(finite, POINTS, self.where):
            expected = value(limit, point) if limit.is_finite is not False else limit
            for actual in _limits(of, self.by, self.to, point):
                if not (actual == expected or near(sp.N(actual, 80), sp.N(expected, 80))):
                    evidence = f"the limit is {_short(actual)}, not {_short(expected)}, at the witness"
                    return Finding(Status.FAILS, Grade.EXACT, evidence, _others(point, self.by))
        return Finding(Status.HOLDS, Grade.SEARCHED, f"exact limits at {POINTS} generic points of the other quantities")


def _short(number: sp.Expr) -> str:
    return shown(number) if number.is_number and number.is_finite else str(number)


def _others(point: Point, by: Quantity) -> dict[str, str]:
    """Return the point as strings, without the quantity that moves."""
    return words({q: v for q, v in point.items() if q != by})


@dataclass(frozen=True)
class OrderIs:
    """States that ``of`` is of the order of ``order`` as ``by`` tends to ``to``: the ratio has a positive finite limit.

    With ``at_most`` the limit may be zero: O(.) instead of Theta(.).
    """

    of: Formula
    by: Quantity
    order: Formula
    to: Any = sp.oo
    at_most: bool = False
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of, self.order, skip=lambda r: self.by in quantities_of([r]))

    def decide(self, book: Book) -> Finding:
        of, order = resolve(self.of, book), resolve(self.order, book)
        for point in points((of, order), POINTS, self.where):
            for limit in _limits(of / order, self.by, self.to, point):
                if not limit.is_finite or (limit <= 0 and not self.at_most):
                    evidence = f"({self.by.name} -> {self.to}) the ratio to {order} tends to {_short(limit)}"
                    return Finding(Status.FAILS, Grade.EXACT, evidence, _others(point, self.by))
        kind = "finite" if self.at_most else "finite positive"
        evidence = f"the ratio to {order} has a {kind} limit at {POINTS} generic points"
        return Finding(Status.HOLDS, Grade.SEARCHED, evidence)


@dataclass(frozen=True)
class MonotoneIn:
    """States that ``of`` grows (``up``) or falls as ``by`` grows, wherever the conditions ``where`` hold.

    Proved if every term of the derivative has the stated sign on the domains. Otherwise a counterexample is searched:
    at generic points, at ends of domains (where the formula may be flat), and from there over eighteen orders of
    magnitude. For a count, steps of one decide instead of the derivative.
    """

    of: Formula
    by: Quantity
    up: bool
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of)

    def decide(self, book: Book) -> Finding:
        of = resolve(self.of, book)
        slope = slope_of(of, self.by)
        if self._proved(slope):
            return Finding(Status.HOLDS, Grade.PROVED, f"every term of the derivative in {self.by.name} has the sign")
        point = self._counterexample(of, slope)
        if point is None:
            evidence = f"no counterexample at {SEARCHED + AT_EDGES} generic points, nor by a search from them"
            return Finding(Status.HOLDS, Grade.SEARCHED, evidence)
        change, what = self._change(of, slope, point), "step" if self.by.card.domain.whole else "slope"
        evidence = f"at the witness the {what} in {self.by.name} is {shown(change)}"
        return Finding(Status.FAILS, Grade.EXACT, evidence, words(point))

    def _change(self, of: sp.Expr, slope: sp.Expr, point: Point) -> sp.Expr:
        """Return the slope, or for a count the change to the next integer; 0 if it is a rounding error."""
        if self.by.card.domain.whole:
            return excess(of.xreplace({self.by: self.by + 1}), of, point)
        return excess(slope, sp.S.Zero, point)

    def _counterexample(self, of: sp.Expr, slope: sp.Expr) -> Point | None:
        whole = self.by.card.domain.whole
        after = [c.xreplace({self.by: self.by + 1}) for c in self.where] if whole else []
        conditions = (*self.where, *after)
        tried = []
        for count, edges in ((SEARCHED, 0.0), (AT_EDGES, EDGES)):
            for drawn in points((slope, of, self.by), count, conditions, edges=edges):
                for point in turned(slope, drawn):
                    if self._against(of, slope, point, strict=not edges):
                        return point
                tried.append(drawn)
        terms = tuple(sp.Add.make_args(sp.expand(slope))) if slope.count_ops() < EXPANDED else (slope,)
        cloud = Cloud((*terms, of, self.by), self._score, conditions)
        candidates = (p for best in cloud.best(tried) for p in turned(slope, best))
        return next((p for p in candidates if self._against(of, slope, p, strict=False)), None)

    def _against(self, of: sp.Expr, slope: sp.Expr, point: Point, strict: bool) -> bool:
        """Whether the formula moves the wrong way at a point or, if ``strict``, does not move."""
        change = self._change(of, slope, point)
        if change is sp.nan:
            return False
        return bool(change * (1 if self.up else -1) < 0) or (strict and change == 0)

    def _score(self, terms: list[Any]) -> Any:
        """Return a score that is large where the terms of the derivative with the wrong sign outweigh the others."""
        signed = [t * (1 if self.up else -1) for t in terms[:-2]]  # the last two are the formula and the quantity
        return logs(sum(np.maximum(-t, 0) for t in signed), sum(np.maximum(t, 0) for t in signed))

    def _proved(self, slope: sp.Expr) -> bool:
        terms = sp.Add.make_args(sp.expand(slope if self.up else -slope))
        return all(t.is_nonnegative for t in terms) and any(t.is_positive for t in terms)
