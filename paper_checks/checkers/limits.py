"""Checkers of growth: limits, orders and monotonicity in one quantity, with exact arithmetic for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.quantities import Quantity

from ..claims import Book, Finding, Grade, Status
from .formulas import Formula, resolve
from .points import near, Point, points, shown, value, words

POINTS = 3
SEARCHED = 60


def _limit(expression: sp.Expr, by: Quantity, to: Any, point: Point) -> sp.Expr:
    """The limit in one quantity, rational numbers put in for all others."""
    from bounds.operators import bind

    rest = {q: v for q, v in point.items() if q != by}
    first = {q: v[0] for q, v in rest.items() if isinstance(v, tuple)}
    plain = bind(expression, rest).xreplace(first)
    return sp.limit(plain, by, to, "+" if to == 0 else "-")


@dataclass(frozen=True)
class TendsTo:
    """``of`` tends to ``limit`` as ``by`` tends to ``to`` (0, oo or a number), the other quantities held."""

    of: Formula
    by: Quantity
    to: Any
    limit: Formula
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        of, limit = resolve(self.of, book), resolve(self.limit, book)
        finite = [f for f in (of, limit) if f.is_finite is not False]  # an infinite limit is no formula of a point
        for point in points(finite, POINTS, self.where):
            found = _limit(of, self.by, self.to, point)
            wanted = value(limit, point) if limit.is_finite is not False else limit
            same = found == wanted if sp.oo in (found, wanted) else near(sp.N(found, 80), sp.N(wanted, 80))
            if not same:
                said = f"the limit is {_short(found)}, not {_short(wanted)}, at the witness"
                return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        return Finding(Status.HOLDS, Grade.EXACT, f"exact limits at {POINTS} generic points of the other quantities")


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
        of, order = resolve(self.of, book), resolve(self.order, book)
        for point in points((of, order), POINTS, self.where):
            found = _limit(of / order, self.by, self.to, point)
            if not found.is_finite or (found == 0 and not self.at_most):
                said = f"({self.by.name} -> {self.to}) the ratio to {order} tends to {_short(found)}"
                return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        said = (
            f"the ratio to {order} has a finite{'' if self.at_most else ' positive'} limit at {POINTS} generic points"
        )
        return Finding(Status.HOLDS, Grade.EXACT, said)


@dataclass(frozen=True)
class MonotoneIn:
    """``of`` grows (``up``) or falls as ``by`` grows, wherever the conditions ``where`` hold; ``strict`` by default.

    Proved when every term of the derivative has the sign for all values in the domains; else searched for a
    counterexample at generic points, which are drawn over six orders of magnitude.
    """

    of: Formula
    by: Quantity
    up: bool
    where: tuple[sp.Basic, ...] = ()
    strict: bool = True

    def __call__(self, book: Book) -> Finding:
        slope = resolve(self.of, book).diff(self.by)
        if self._proved(slope):
            return Finding(Status.HOLDS, Grade.PROVED, f"every term of the derivative in {self.by.name} has the sign")
        sign = 1 if self.up else -1
        for point in points((slope, self.by), SEARCHED, self.where):
            found = sign * value(slope, point)
            if found < 0 or (self.strict and found == 0):
                said = f"at the witness the slope in {self.by.name} is {shown(sign * found)}"
                return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        return Finding(Status.HOLDS, Grade.EXACT, f"no counterexample at {SEARCHED} generic points")

    def _proved(self, slope: sp.Expr) -> bool:
        terms = sp.Add.make_args(sp.expand(slope if self.up else -slope))
        weak = all(t.is_nonnegative for t in terms)
        return weak and (not self.strict or any(t.is_positive for t in terms))
