"""Checkers of growth: limits, orders and monotonicity in one quantity, with exact arithmetic for the others."""

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
EXPANDED = 400
"""Operations above which a derivative is not expanded for the search."""


def _limits(expression: sp.Expr, by: Quantity, to: Any, point: Point) -> list[sp.Expr]:
    """The limits in one quantity, from inside its domain, rational numbers put in for all others."""
    from bounds.operators import bind

    rest = {q: v for q, v in point.items() if q != by}
    first = {q: v[0] for q, v in rest.items() if isinstance(v, tuple)}
    plain = bind(expression, rest).xreplace(first)
    sides = _sides(by, to)
    found = [sp.limit(plain, by, to, side) for side in sides]
    for side, limit in zip(sides, found, strict=True):
        if not (limit in (sp.oo, -sp.oo) or (limit.is_number and limit.is_finite and limit.is_real)):
            raise ClaimError(f"there is no limit as {by.name} -> {to}: {limit}")
        _confirmed(plain, by, to, side, limit)
    return found


def _confirmed(plain: sp.Expr, by: Quantity, to: Any, side: str, limit: sp.Expr) -> None:
    """SymPy's limit against two values on the way, the second much nearer (SymPy errs where pieces meet)."""
    steps = [sp.Integer(10) ** e for e in (8, 16)]
    sign = -1 if side == "-" else 1
    way = [to + sign / s if sp.sympify(to).is_finite else -sign * s for s in steps]
    first, second = (plain.xreplace({by: x}).evalf(DIGITS) for x in way)
    if not (first.is_real and second.is_real):
        return
    if limit.is_finite:
        gaps = [abs(v - sp.N(limit, DIGITS)) for v in (first, second)]
        fine = gaps[1] <= gaps[0] * sp.Rational(97, 100) or gaps[1] <= sp.Float(10, DIGITS) ** -30 * (1 + abs(limit))
    else:
        fine = (second > first) == (limit == sp.oo)
    if not fine:
        seen = f"{shown(first)} and {shown(second)}"
        raise ClaimError(f"the limit {limit} as {by.name} -> {to} is not what values on the way show: {seen}")


def _sides(by: Quantity, to: Any) -> tuple[str, ...]:
    """The sides from which a quantity can come to a number."""
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
    """``of`` tends to ``limit`` as ``by`` tends to ``to`` (0, oo or a number), the other quantities held."""

    of: Formula
    by: Quantity
    to: Any
    limit: Formula
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of, self.limit, skip=lambda r: self.by in quantities_of([r]))

    def judge(self, book: Book) -> Finding:
        of, limit = resolve(self.of, book), resolve(self.limit, book)
        _refuse_own(limit, self.by)
        finite = [f for f in (of, limit) if f.is_finite is not False]  # an infinite limit is no formula of a point
        for point in points(finite, POINTS, self.where):
            wanted = value(limit, point) if limit.is_finite is not False else limit
            for found in _limits(of, self.by, self.to, point):
                if not (found == wanted or near(sp.N(found, 80), sp.N(wanted, 80))):
                    said = f"the limit is {_short(found)}, not {_short(wanted)}, at the witness"
                    return Finding(
                        Status.FAILS, Grade.EXACT, said, words({q: v for q, v in point.items() if q != self.by})
                    )
        return Finding(Status.HOLDS, Grade.SEARCHED, f"exact limits at {POINTS} generic points of the other quantities")


def _short(number: sp.Expr) -> str:
    return shown(number) if number.is_number and number.is_finite else str(number)


@dataclass(frozen=True)
class OrderIs:
    """``of`` is of the order of ``order`` in ``by`` as ``by`` tends to ``to``: their ratio has a positive finite limit.

    With ``at_most`` a limit of zero will do: O(.) instead of Theta(.).
    """

    of: Formula
    by: Quantity
    order: Formula
    to: Any = sp.oo
    at_most: bool = False
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of, self.order, skip=lambda r: self.by in quantities_of([r]))

    def judge(self, book: Book) -> Finding:
        of, order = resolve(self.of, book), resolve(self.order, book)
        for point in points((of, order), POINTS, self.where):
            for found in _limits(of / order, self.by, self.to, point):
                if not found.is_finite or (found <= 0 and not self.at_most):
                    said = f"({self.by.name} -> {self.to}) the ratio to {order} tends to {_short(found)}"
                    return Finding(
                        Status.FAILS, Grade.EXACT, said, words({q: v for q, v in point.items() if q != self.by})
                    )
        said = (
            f"the ratio to {order} has a finite{'' if self.at_most else ' positive'} limit at {POINTS} generic points"
        )
        return Finding(Status.HOLDS, Grade.SEARCHED, said)


@dataclass(frozen=True)
class MonotoneIn:
    """``of`` grows (``up``) or falls as ``by`` grows, wherever the conditions ``where`` hold.

    Proved when every term of the derivative has the sign for all values in the domains; else a counterexample is
    searched: at generic points, at ends of domains (where it may be flat), and by moves from there over eighteen orders
    of magnitude. For a count, steps of one decide and not the derivative.
    """

    of: Formula
    by: Quantity
    up: bool
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.of)

    def judge(self, book: Book) -> Finding:
        of = resolve(self.of, book)
        slope = slope_of(of, self.by)
        if self._proved(slope):
            return Finding(Status.HOLDS, Grade.PROVED, f"every term of the derivative in {self.by.name} has the sign")
        point = self._counterexample(of, slope)
        if point is None:
            said = f"no counterexample at {SEARCHED + AT_EDGES} generic points, nor by a search from them"
            return Finding(Status.HOLDS, Grade.SEARCHED, said)
        change, what = self._change(of, slope, point), "step" if self.by.card.domain.whole else "slope"
        said = f"at the witness the {what} in {self.by.name} is {shown(change)}"
        return Finding(Status.FAILS, Grade.EXACT, said, words(point))

    def _change(self, of: sp.Expr, slope: sp.Expr, point: Point) -> sp.Expr:
        """The slope, or for a count the change at the next one; 0 where rounding alone makes it."""
        if self.by.card.domain.whole:
            return excess(of.xreplace({self.by: self.by + 1}), of, point)
        return excess(slope, sp.S.Zero, point)

    def _counterexample(self, of: sp.Expr, slope: sp.Expr) -> Point | None:
        whole = self.by.card.domain.whole
        after = [c.xreplace({self.by: self.by + 1}) for c in self.where] if whole else []
        conditions = (*self.where, *after)
        seen = []
        for count, edges in ((SEARCHED, 0.0), (AT_EDGES, EDGES)):
            for drawn in points((slope, of, self.by), count, conditions, edges=edges):
                for point in turned(slope, drawn):
                    if self._against(of, slope, point, strict=not edges):
                        return point
                seen.append(drawn)
        terms = tuple(sp.Add.make_args(sp.expand(slope))) if slope.count_ops() < EXPANDED else (slope,)
        cloud = Cloud((*terms, of, self.by), self._score, conditions)
        found = (p for best in cloud.best(seen) for p in turned(slope, best))
        return next((p for p in found if self._against(of, slope, p, strict=False)), None)

    def _against(self, of: sp.Expr, slope: sp.Expr, point: Point, strict: bool) -> bool:
        change = self._change(of, slope, point)
        if change is sp.nan:
            return False
        return bool(change * (1 if self.up else -1) < 0) or (strict and change == 0)

    def _score(self, terms: list[Any]) -> Any:
        """Large where the terms of the wrong sign outweigh the others."""
        signed = [t * (1 if self.up else -1) for t in terms[:-2]]  # the last are the function and the quantity itself
        return logs(sum(np.maximum(-t, 0) for t in signed), sum(np.maximum(t, 0) for t in signed))

    def _proved(self, slope: sp.Expr) -> bool:
        terms = sp.Add.make_args(sp.expand(slope if self.up else -slope))
        return all(t.is_nonnegative for t in terms) and any(t.is_positive for t in terms)
