"""Checkers of equalities and minimisers. Where a statement fails, they give a point in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from bounds.operators import ClassMax, ClientMax
from bounds.quantities import Quantity

from ..claim import Book, ClaimError, Finding, Grade, Status
from .clouds import Cloud, logs
from .formulas import At, Formula, resolve, slope_of, within_premises
from .numbers import excess, Point, shown, side_by_side, true_at, turned, value, words
from .points import points

POINTS = 6
PIECES = (sp.Max, sp.Min, sp.Piecewise, sp.Abs, sp.floor, sp.ceiling, ClientMax, ClassMax)
"""Functions that make a formula piecewise, so that all generic points may lie in one piece."""
STEPS = tuple(
    sp.Rational(n, d) for n, d in ((1, 1000), (1, 7), (1, 2), (8, 9), (99, 100), (999, 1000), (99999, 100000))
)
"""Distances from a minimiser at which the slope's sign is checked, as shares of the minimiser."""
SIMPLIFIED = 300
"""Largest number of operations of a formula that SymPy is asked to simplify: beyond, it would take too long."""
STEPS_OUT = 60
"""Largest number of factors of 4 over which a stationary point is searched."""


@dataclass(frozen=True)
class Same:
    """States that ``left`` equals ``right`` everywhere: symbolically, or else at generic rational points in 80 digits.

    If it is audited as failing, ``ratio`` and ``difference`` say how: left = right * ratio + difference.
    """

    left: Formula
    right: Formula
    ratio: Formula | None = None
    difference: Formula | None = None
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, self.left, self.right)

    def decide(self, book: Book) -> Finding:
        left, right = resolve(self.left, book), resolve(self.right, book)
        witness = _difference(left, right, self.where)
        if witness is None:
            zero = left - right
            proved = sp.expand(zero) == 0 or (zero.count_ops() < SIMPLIFIED and sp.simplify(zero) == 0)
            pieces = ", and a search finds no piece where they differ" if zero.has(*PIECES) else ""
            how = "equal symbolically" if proved else f"equal at {POINTS} generic points to 40 digits{pieces}"
            return Finding(Status.HOLDS, Grade.PROVED if proved else Grade.SEARCHED, how)
        evidence = f"at the witness {side_by_side(value(left, witness), value(right, witness))}"
        if self.ratio is None and self.difference is None:
            return Finding(Status.FAILS, Grade.EXACT, evidence, words(witness))
        ratio = sp.S.One if self.ratio is None else resolve(self.ratio, book)
        difference = sp.S.Zero if self.difference is None else resolve(self.difference, book)
        as_audited = _difference(left, right * ratio + difference, self.where) is None
        if as_audited:
            times = "" if ratio == 1 else f" times {ratio}"
            plus = "" if difference == 0 else f" plus {difference}"
            evidence = f"left = right{times}{plus}; {evidence}"
        else:
            evidence += "; not the audited difference"
        return Finding(Status.FAILS, Grade.EXACT, evidence, words(witness), as_audited)


def _difference(left: sp.Expr, right: sp.Expr, where: tuple[sp.Basic, ...]) -> dict[Quantity, Any] | None:
    """Return a point at which the formulas differ, or None; for piecewise formulas every piece is searched."""
    drawn = []
    for point in points((left, right), POINTS, where):
        if _apart(left, right, point):
            return point
        drawn.append(point)
    if not (left - right).has(*PIECES):
        return None
    near_switches = [p for p in _beside_switches(left - right, drawn[0]) if all(true_at(c, p) for c in where)]
    best = Cloud((left, right), _distance, where).best([*drawn, *near_switches])
    for point in (*near_switches, *best):
        if _apart(left, right, point) and _apart(left, right, _beside(point)):
            return point
    return None


def _beside_switches(formula: sp.Expr, point: Point) -> Iterator[dict[Quantity, Any]]:
    """Yield the point with one quantity moved to either side of a switch, where the formula changes its piece."""
    for switch in _switches(formula):
        quantities = sorted(switch.atoms(Quantity), key=str)
        if any(q.card.axis for q in quantities):
            continue
        for q in quantities:
            along = switch.xreplace({other: point[other] for other in quantities if other != q})
            for root in _roots(along, q):
                steps = (-1, 0, 1) if q.card.domain.whole else (-abs(root) / 1000, abs(root) / 1000)
                for moved in (sp.floor(root) + s if q.card.domain.whole else root + s for s in steps):
                    if q.card.domain.contains(np.array([float(moved)])).all():
                        yield {**point, q: moved}


def _switches(formula: sp.Expr) -> Iterator[sp.Expr]:
    """Yield expressions that are zero where the formula changes its piece; for floor and ceiling, the first steps."""
    for piece in sorted(formula.atoms(Relational, *PIECES), key=str):
        if isinstance(piece, (Relational, sp.Max, sp.Min)):
            yield from (one - other for one, other in combinations(piece.args, 2))
        elif isinstance(piece, (sp.Abs, sp.floor, sp.ceiling)):
            yield from (piece.args[0] - n for n in ((0,) if isinstance(piece, sp.Abs) else (-1, 0, 1)))


def _roots(along: sp.Expr, q: Quantity) -> list[sp.Rational]:
    """Return the zeros of a rational function of one quantity to thirty digits; no zeros of any other function."""
    numerator = sp.together(along).as_numer_denom()[0]
    if not numerator.is_polynomial(q) or numerator.free_symbols != {q}:
        return []
    return [sp.Rational(str(sp.N(root, 30))) for root in sp.Poly(numerator, q).real_roots()]


def _beside(point: Point) -> dict[Quantity, Any]:
    """Return a point nearby, every real number moved by another share, so that it does not lie where pieces meet."""

    def moved(q: Quantity, number: Any, i: int) -> Any:
        return number if q.card.domain.whole or q.card.domain.simplex else number * (1 - sp.Rational(1, 10**9 + 7 * i))

    return {
        q: tuple(moved(q, m, i + 50 * k) for k, m in enumerate(v)) if isinstance(v, tuple) else moved(q, v, i)
        for i, (q, v) in enumerate(point.items())
    }


def _apart(left: sp.Expr, right: sp.Expr, point: Point) -> bool:
    """Whether the formulas differ at a point, for at least one member if they have values per member of an axis."""
    return any(excess(left, right, p) != 0 for p in turned(sp.Tuple(left, right), point))


def _distance(both: list[Any]) -> Any:
    """Return the relative difference of two numbers, the score of the search."""
    left, right = both
    size = np.abs(left) + np.abs(right)
    return np.abs(left - right) / np.where(size > 0, size, 1)


@dataclass(frozen=True)
class ArgminIs:
    """States that ``printed`` minimises ``of`` over the positive values of ``by``, the other quantities being fixed.

    HOLDS if, at generic points, the slope vanishes there, is negative at all smaller and positive at all larger values.
    FAILS with a point and a better value; ``ratio`` is the audited factor between the printed and the true minimiser.
    Points at which the printed formula is not a positive number of the domain count only if there are no others.
    """

    of: Formula
    by: Quantity
    printed: Formula
    ratio: Formula | None = None
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, At(self.of, {self.by: self.printed}), self.printed)

    def decide(self, book: Book) -> Finding:
        of, printed = resolve(self.of, book), resolve(self.printed, book)
        if self.by in printed.free_symbols:
            raise ClaimError(f"the minimiser of {self.by.name} is given in terms of {self.by.name} itself")
        slope = slope_of(of, self.by)
        drawn = points((of, printed), 8 * POINTS, self.where)
        inside = list(islice((p for p in drawn if self._possible(value(printed, p))), POINTS))
        if not inside:
            point = next(points((of, printed), 1, self.where))
            number = shown(value(printed, point))
            return self._fails(f"the printed minimiser is {number}, which is not a value of {self.by.name}", point)
        for point in inside:
            at = {**point, self.by: value(printed, point)}
            if not self._stationary(slope, printed, point):
                return self._not_stationary(book, of, slope, printed, [point, *(p for p in inside if p is not point)])
            wrong = self._wrong_slope(slope, at)
            if wrong is not None:
                return self._compared(of, at, wrong)
        lower = self._lower(of, printed, inside)
        if lower is not None:
            return self._compared(of, {**lower, self.by: value(printed, lower)}, lower)
        evidence = f"slope 0 there, negative before and positive after, along the axis at {POINTS} generic points"
        return Finding(Status.HOLDS, Grade.SEARCHED, evidence)

    def _lower(self, of: sp.Expr, printed: sp.Expr, inside: list[Any]) -> dict[Quantity, Any] | None:
        """Search for a point at which another value of the quantity gives less than the printed one."""
        at_printed = of.xreplace({self.by: printed})
        starts = [{**p, self.by: sp.Rational(str(sp.N(value(printed, p), 12)))} for p in inside]
        cloud = Cloud((at_printed, of), lambda both: logs(*both), (*self.where, sp.Gt(printed, 0, evaluate=False)))
        candidates = (p for p in cloud.best(starts) if self._possible(value(printed, p)))
        return next((p for p in candidates if excess(of, at_printed, p) < 0), None)

    def _words(self, point: Point) -> dict[str, str]:
        """Return the point as strings, without the quantity that is minimised over."""
        return words({q: v for q, v in point.items() if q != self.by})

    def _possible(self, number: sp.Expr) -> bool:
        """Whether a number is a positive value of the quantity; counts are treated as real numbers, even below 1."""
        domain = self.by.card.domain
        return bool(number > 0 and (domain.whole or (number >= domain.low and number <= domain.high)))

    def _fails(self, evidence: str, point: Point) -> Finding:
        """Return the finding FAILS, which is as audited unless a factor was."""
        return Finding(Status.FAILS, Grade.EXACT, evidence, self._words(point), self.ratio is None)

    def _stationary(self, slope: sp.Expr, printed: sp.Expr, point: Point) -> bool:
        """Whether the slope at the printed minimiser is zero up to rounding, relative to the sizes of its terms."""
        at = {**point, self.by: value(printed, point)}
        scale = max(abs(value(t, at)) for t in sp.Add.make_args(sp.expand(slope)))
        if abs(value(slope, at)) <= scale * sp.Float(10, 80) ** -35:
            return True
        return bool(excess(slope.xreplace({self.by: printed}), sp.S.Zero, point) == 0)

    def _wrong_slope(self, slope: sp.Expr, at: Point) -> Point | None:
        """Return the point with another value of the quantity at which the slope has the wrong sign, or None."""
        for share in STEPS:
            for factor, sign in ((1 - share, -1), (1 / (1 - share), 1)):
                there = {**at, self.by: at[self.by] * factor}
                if self._possible(there[self.by]) and not sign * value(slope, there) > 0:
                    return there
        return None

    def _compared(self, of: sp.Expr, at: Point, other: Point) -> Finding:
        """Judge a stationary printed minimiser (in ``at``): it fails if the function is lower at the other point."""
        printed, lower = value(of, at), value(of, other)
        evidence = f"{shown(at[self.by])} gives {shown(printed)}, {shown(other[self.by])} gives {shown(lower)}"
        if lower.is_real and lower < printed:
            return self._fails(f"at the witness {evidence}", at)
        evidence = f"stationary, but not the only such point: {evidence}"
        return Finding(Status.OPEN, Grade.EXACT, evidence, self._words(at))

    def _not_stationary(self, book: Book, of: sp.Expr, slope: sp.Expr, printed: sp.Expr, inside: list[Any]) -> Finding:
        """Return the finding where the slope does not vanish at the printed minimiser, with the true minimiser."""
        point = inside[0]
        minimiser = value(printed, point)
        best = self._root(slope, point, minimiser)
        if best is None:
            evidence = f"the printed minimiser is {shown(minimiser)}, but there is no stationary point along the axis"
            return self._fails(evidence, point)
        low, high = (value(of, {**point, self.by: x}) for x in (best, minimiser))
        evidence = (
            f"at the witness the printed minimiser is {shown(minimiser)} with value {shown(high)}; "
            f"{shown(best)} gives {shown(low)}"
        )
        as_audited = True
        if self.ratio is not None:
            ratio = resolve(self.ratio, book)
            as_audited = all(self._stationary(slope, printed / ratio, p) for p in inside)
            as_audited &= bool(abs(minimiser / best / value(ratio, point) - 1) < sp.Float(10, 80) ** -30)
            evidence += f"; printed / true = {ratio}" if as_audited else "; not the audited factor"
        return Finding(Status.FAILS, Grade.EXACT, evidence, self._words(point), as_audited and bool(low < high))

    def _root(self, slope: sp.Expr, point: Point, start: sp.Expr) -> sp.Expr | None:
        """Return the nearest stationary point below or above, by bisection in logarithms; None if there is none."""
        low, high = start, start
        for _ in range(STEPS_OUT):
            below, above = (value(slope, {**point, self.by: x}) for x in (low, high))
            if below <= 0 <= above:
                break
            low, high = (low / 4 if below > 0 else low), (high * 4 if above < 0 else high)
        else:
            return None
        low, high = sp.N(low, 80), sp.N(high, 80)
        for _ in range(280):
            middle = sp.sqrt(low * high)
            low, high = (middle, high) if value(slope, {**point, self.by: middle}) < 0 else (low, middle)
        return high
