"""Checkers of algebra: equality, derivatives, minimisers. Each says with a point in exact arithmetic where it fails."""

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
"""What makes a formula one thing here and another there, so that generic points may see one piece alone."""
STEPS = tuple(
    sp.Rational(n, d) for n, d in ((1, 1000), (1, 7), (1, 2), (8, 9), (99, 100), (999, 1000), (99999, 100000))
)
"""How far from a minimiser the slope's sign is checked, as shares of it."""
SIMPLIFIED = 300
"""Operations above which SymPy's simplification would take longer than the proof is worth."""
STEPS_OUT = 60
"""Factors of 4 by which a stationary point is searched."""


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
        return within_premises(self, book, self.left, self.right)

    def judge(self, book: Book) -> Finding:
        left, right = resolve(self.left, book), resolve(self.right, book)
        witness = _differ(left, right, self.where)
        if witness is None:
            off = left - right
            proved = sp.expand(off) == 0 or (off.count_ops() < SIMPLIFIED and sp.simplify(off) == 0)
            pieces = ", and a search finds no piece where they differ" if (left - right).has(*PIECES) else ""
            how = "equal symbolically" if proved else f"equal at {POINTS} generic points to 40 digits{pieces}"
            return Finding(Status.HOLDS, Grade.PROVED if proved else Grade.SEARCHED, how)
        said = f"at the witness {side_by_side(value(left, witness), value(right, witness))}"
        return Finding(Status.FAILS, Grade.EXACT, *self._way(book, left, right, said, witness))

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
    """A point at which they differ, or None. Formulas in pieces are searched for a piece where they do."""
    seen = []
    for point in points((left, right), POINTS, where):
        if _apart(left, right, point):
            return point
        seen.append(point)
    if not (left - right).has(*PIECES):
        return None
    seen += [p for p in _beside_switches(left - right, seen[0]) if all(true_at(c, p) for c in where)]
    cloud = Cloud((left, right), _distance, where)
    return next(
        (p for p in (*seen[POINTS:], *cloud.best(seen)) if _apart(left, right, p) and _apart(left, right, _beside(p))),
        None,
    )


def _beside_switches(formula: sp.Expr, point: Point) -> Iterator[dict[Quantity, Any]]:
    """The point with one quantity moved to either side of where the formula goes from one piece to another."""
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
    """Expressions that are zero where the formula goes from one piece to another; of stairs, the first steps."""
    for piece in sorted(formula.atoms(Relational, *PIECES), key=str):
        if isinstance(piece, (Relational, sp.Max, sp.Min)):
            yield from (one - other for one, other in combinations(piece.args, 2))
        elif isinstance(piece, (sp.Abs, sp.floor, sp.ceiling)):
            yield from (piece.args[0] - n for n in ((0,) if isinstance(piece, sp.Abs) else (-1, 0, 1)))


def _roots(along: sp.Expr, q: Quantity) -> list[sp.Rational]:
    """Where a rational function of one quantity is zero, to thirty digits; none of any other."""
    above = sp.together(along).as_numer_denom()[0]
    if not above.is_polynomial(q) or above.free_symbols != {q}:
        return []
    return [sp.Rational(str(sp.N(root, 30))) for root in sp.Poly(above, q).real_roots()]


def _beside(point: Point) -> dict[Quantity, Any]:
    """A point nearby, every real number moved by its own share: a tie, where pieces meet, is not a difference."""

    def moved(q: Quantity, number: Any, i: int) -> Any:
        return number if q.card.domain.whole or q.card.domain.simplex else number * (1 - sp.Rational(1, 10**9 + 7 * i))

    return {
        q: tuple(moved(q, m, i + 50 * k) for k, m in enumerate(v)) if isinstance(v, tuple) else moved(q, v, i)
        for i, (q, v) in enumerate(point.items())
    }


def _apart(left: sp.Expr, right: sp.Expr, point: Point) -> bool:
    """Whether they differ, for some member where they have members."""
    return any(excess(left, right, p) != 0 for p in turned(sp.Tuple(left, right), point))


def _distance(both: list[Any]) -> Any:
    """How far apart two numbers are, relative to their size: a score for the search."""
    left, right = both
    size = np.abs(left) + np.abs(right)
    return np.abs(left - right) / np.where(size > 0, size, 1)


@dataclass(frozen=True)
class ArgminIs:
    """``printed`` minimises ``of`` over ``by`` (all positive values of its domain), the other quantities held.

    HOLDS when, at generic points, the slope vanishes there, is negative at smaller and positive at larger values, all
    along the axis. FAILS with a point and a better value; ``ratio`` is the audited factor between the printed and the
    true minimiser. Points where the printed formula is not a positive number of
    the domain count only if there are no others.
    """

    of: Formula
    by: Quantity
    printed: Formula
    ratio: Formula | None = None
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        return within_premises(self, book, At(self.of, {self.by: self.printed}), self.printed)

    def judge(self, book: Book) -> Finding:
        of, printed = resolve(self.of, book), resolve(self.printed, book)
        if self.by in printed.free_symbols:
            raise ClaimError(f"the minimiser of {self.by.name} is given in terms of {self.by.name} itself")
        slope = slope_of(of, self.by)
        drawn = points((of, printed), 8 * POINTS, self.where)
        inside = list(islice((p for p in drawn if self._possible(value(printed, p))), POINTS))
        if not inside:
            point = next(points((of, printed), 1, self.where))
            said = f"the printed minimiser is {shown(value(printed, point))}, which is not a value of {self.by.name}"
            return Finding(Status.FAILS, Grade.EXACT, said, self._words(point), self.ratio is None)
        for point in inside:
            at = {**point, self.by: value(printed, point)}
            if not self._stationary(slope, printed, point):
                return self._fails(book, of, slope, printed, [point, *(p for p in inside if p is not point)])
            wrong = self._wrong(slope, at)
            if wrong is not None:
                return self._judged(of, at, wrong)
        lower = self._lower(of, printed, inside)
        if lower is not None:
            at = {**lower, self.by: value(printed, lower)}
            return self._judged(of, at, lower)
        said = f"slope 0 there, negative before and positive after, along the axis at {POINTS} generic points"
        return Finding(Status.HOLDS, Grade.SEARCHED, said)

    def _lower(self, of: sp.Expr, printed: sp.Expr, inside: list[Any]) -> dict[Quantity, Any] | None:
        """A point found by a search at which another value of the quantity gives less than the printed one."""
        lowest = of.xreplace({self.by: printed})
        starts = [{**p, self.by: sp.Rational(str(sp.N(value(printed, p), 12)))} for p in inside]
        cloud = Cloud((lowest, of), lambda both: logs(*both), (*self.where, sp.Gt(printed, 0, evaluate=False)))
        found = (p for p in cloud.best(starts) if self._possible(value(printed, p)))
        return next((p for p in found if excess(of, lowest, p) < 0), None)

    def _words(self, point: Point) -> dict[str, str]:
        """The point without the quantity that is minimised over."""
        return words({q: v for q, v in point.items() if q != self.by})

    def _possible(self, number: sp.Expr) -> bool:
        domain = self.by.card.domain
        # Counts are treated as real numbers here, those below 1 too.
        return bool(number > 0 and (domain.whole or (number >= domain.low and number <= domain.high)))

    def _stationary(self, slope: sp.Expr, printed: sp.Expr, point: Point) -> bool:
        """Whether the slope vanishes but for rounding, against the sizes of its terms."""
        at = {**point, self.by: value(printed, point)}
        scale = max(abs(value(t, at)) for t in sp.Add.make_args(sp.expand(slope)))
        if abs(value(slope, at)) <= scale * sp.Float(10, 80) ** -35:
            return True
        return bool(excess(slope.xreplace({self.by: printed}), sp.S.Zero, point) == 0)

    def _wrong(self, slope: sp.Expr, at: Point) -> Point | None:
        """A place on the axis where the slope has the wrong sign, or None."""
        for share in STEPS:
            for factor, sign in ((1 - share, -1), (1 / (1 - share), 1)):
                there = {**at, self.by: at[self.by] * factor}
                if self._possible(there[self.by]) and not sign * value(slope, there) > 0:
                    return there
        return None

    def _judged(self, of: sp.Expr, at: Point, wrong: Point) -> Finding:
        """Stationary, but the slope has the wrong sign somewhere: it fails if the function is lower there."""
        printed, other = value(of, at), value(of, wrong)
        said = f"{shown(at[self.by])} gives {shown(printed)}, {shown(wrong[self.by])} gives {shown(other)}"
        point = {q: v for q, v in at.items() if q != self.by}
        if other.is_real and other < printed:
            return Finding(Status.FAILS, Grade.EXACT, f"at the witness {said}", self._words(point), self.ratio is None)
        return Finding(Status.OPEN, Grade.EXACT, f"stationary, but not the only such point: {said}", self._words(point))

    def _fails(self, book: Book, of: sp.Expr, slope: sp.Expr, printed: sp.Expr, inside: list[Any]) -> Finding:
        point = inside[0]
        there = value(printed, point)
        best = self._root(slope, point, there)
        if best is None:
            said = f"the printed minimiser is {shown(there)}, but there is no stationary point along the axis"
            return Finding(Status.FAILS, Grade.EXACT, said, self._words(point), self.ratio is None)
        low, high = (value(of, {**point, self.by: x}) for x in (best, there))
        said = (
            f"at the witness the printed minimiser is {shown(there)} with value {shown(high)}; "
            f"{shown(best)} gives {shown(low)}"
        )
        as_audited = True
        if self.ratio is not None:
            ratio = resolve(self.ratio, book)
            as_audited = all(self._stationary(slope, printed / ratio, p) for p in inside)
            as_audited &= bool(abs(there / best / value(ratio, point) - 1) < sp.Float(10, 80) ** -30)
            said += f"; printed / true = {ratio}" if as_audited else "; not the audited factor"
        return Finding(Status.FAILS, Grade.EXACT, said, self._words(point), as_audited and bool(low < high))

    def _root(self, slope: sp.Expr, point: Point, start: sp.Expr) -> sp.Expr | None:
        """The stationary point nearest below or above, by bisection of the slope's sign in logs; None if none is."""
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
