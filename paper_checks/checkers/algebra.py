"""Checkers of algebra: equality, derivatives, minimisers. Each says with a point in exact arithmetic where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.quantities import Quantity

from ..claims import Book, Finding, Grade, Status
from .formulas import Derivative, Formula, resolve
from .points import near, Point, points, shown, value, words

POINTS = 6


@dataclass(frozen=True)
class Same:
    """``left`` equals ``right`` everywhere: symbolically, or else at generic rational points in 80 digits.

    Where it is known to fail, ``ratio`` (or ``difference``) is the audited way: left = right * ratio (+ difference).
    """

    left: Formula
    right: Formula
    ratio: Formula | None = None
    difference: Formula | None = None
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        left, right = resolve(self.left, book), resolve(self.right, book)
        witness = _differ(left, right, self.where)
        if witness is None:
            proved = self._symbolic(left - right)
            how = "equal symbolically" if proved else f"equal at {POINTS} generic points to 40 digits"
            return Finding(Status.HOLDS, Grade.PROVED if proved else Grade.EXACT, how)
        said = f"at the witness {shown(value(left, witness))} against {shown(value(right, witness))}"
        return Finding(Status.FAILS, Grade.EXACT, *self._way(book, left, right, said, witness))

    def _symbolic(self, difference: sp.Expr) -> bool:
        return bool(difference == 0 or sp.expand(difference) == 0 or sp.simplify(difference) == 0)

    def _way(self, book: Book, left: sp.Expr, right: sp.Expr, said: str, witness: Point) -> Any:
        """Evidence, witness, and whether the difference is the audited one."""
        if self.ratio is None and self.difference is None:
            return said, words(witness), True
        ratio = sp.S.One if self.ratio is None else resolve(self.ratio, book)
        difference = sp.S.Zero if self.difference is None else resolve(self.difference, book)
        if _differ(left, right * ratio + difference, self.where) is not None:
            return f"{said}; not the audited difference", words(witness), False
        times = "" if ratio == 1 else f" times {ratio}"
        plus = "" if difference == 0 else f" plus {difference}"
        return f"left = right{times}{plus}; {said}", words(witness), True


def _differ(left: sp.Expr, right: sp.Expr, where: tuple[sp.Basic, ...]) -> dict[Quantity, Any] | None:
    """A point at which they differ, or None."""
    for point in points((left, right), POINTS, where):
        if not near(value(left, point), value(right, point)):
            return point
    return None


def derivative_is(of: Formula, by: Quantity, printed: Formula, order: int = 1, **way: Any) -> Same:
    """``printed`` is the derivative of ``of`` in ``by``."""
    return Same(printed, Derivative(of, by, order), **way)


@dataclass(frozen=True)
class ArgminIs:
    """``printed`` minimises ``of`` over ``by`` (all positive values of it), the other quantities held.

    HOLDS when the slope vanishes there and the curvature in ``by`` is positive on generic points all along the axis, so
    that it is the only stationary point there. FAILS with a point and a better value; ``ratio`` is the audited factor
    between the printed and the true minimiser.
    """

    of: Formula
    by: Quantity
    printed: Formula
    ratio: Formula | None = None
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        of, printed = resolve(self.of, book), resolve(self.printed, book)
        slope = of.diff(self.by)
        real = (sp.Gt(printed, 0, evaluate=False), *self.where)  # elsewhere it is no value of the quantity
        for point in points((of, printed), POINTS, real):
            at = {**point, self.by: value(printed, point)}
            scale = max(abs(value(t, at)) for t in sp.Add.make_args(sp.expand(slope)))
            if abs(value(slope, at)) > scale * sp.Float(10, 80) ** -35:
                return self._fails(book, of, slope, printed, point)
            if not self._convex(slope, at):
                return Finding(Status.OPEN, Grade.EXACT, "stationary, but not convex along the axis", words(point))
        return Finding(Status.HOLDS, Grade.EXACT, f"slope 0 and convex along the axis at {POINTS} generic points")

    def _convex(self, slope: sp.Expr, at: Point) -> bool:
        curvature = slope.diff(self.by)
        steps = (sp.Rational(1, 1000), sp.Rational(1, 7), sp.S.One, sp.Integer(9), sp.Integer(1000))
        return all(value(curvature, {**at, self.by: at[self.by] * s}) > 0 for s in steps)

    def _fails(self, book: Book, of: sp.Expr, slope: sp.Expr, printed: sp.Expr, point: Point) -> Finding:
        there = value(printed, point)
        best = self._root(slope, point, there)
        low, high = (value(of, {**point, self.by: x}) for x in (best, there))
        said = (
            f"at the witness the printed minimiser is {shown(there)} with value {shown(high)}; "
            f"{shown(best)} gives {shown(low)}"
        )
        as_audited = True
        if self.ratio is not None:
            audited = value(resolve(self.ratio, book), point)
            as_audited = abs(there / best / audited - 1) < sp.Float(10, 80) ** -30
            said += f"; printed / true = {resolve(self.ratio, book)}" if as_audited else "; not the audited factor"
        return Finding(Status.FAILS, Grade.EXACT, said, words(point), bool(as_audited) and bool(low < high))

    def _root(self, slope: sp.Expr, point: Point, start: sp.Expr) -> sp.Expr:
        """The stationary point of a function that is convex in ``by``, by bisection of the slope's sign in logs."""
        low, high = start, start
        while value(slope, {**point, self.by: low}) > 0:
            low /= 4
        while value(slope, {**point, self.by: high}) < 0:
            high *= 4
        low, high = sp.N(low, 50), sp.N(high, 80)
        for _ in range(280):
            middle = sp.sqrt(low * high)
            low, high = (middle, high) if value(slope, {**point, self.by: middle}) < 0 else (low, middle)
        return high
