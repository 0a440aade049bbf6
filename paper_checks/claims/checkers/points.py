"""Draw generic rational points inside the domains of the quantities at which conditions hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import sympy as sp

from bounds.quantities import CLASSES, CLIENTS, quantities_of, Quantity
from bounds.vocabulary import classes, clients

from ..claim import ClaimError
from .numbers import Point, true_at, value

MEMBERS = (2, 3, 4, 5)
"""Numbers of clients (and of classes) at generic points."""
SPREAD = 3.0
"""Positive quantities are drawn log-uniformly between 10^-SPREAD and 10^SPREAD, half of them near 1."""
PLAIN = tuple(sp.Rational(n, d) for n, d in ((2, 1), (3, 1), (1, 2), (5, 1), (1, 5), (1, 4), (10, 1), (1, 10)))
"""The numbers of plain points, which are easier to read in a counterexample."""
PLAIN_SHARE, PLAIN_MOST, PLAIN_TRIED = 6, 6, 4
"""One point in six is plain, but no more than six; each may take four draws. They come first, so that a counterexample
is plain if possible."""
MOVES = 30
"""Number of times that a quantity of a failing condition is drawn again."""
FIRST = 60
"""Number of draws without success after which there is taken to be no point."""

Within = Mapping[Quantity, tuple[float, float]]


def points(
    expressions: Iterable[sp.Basic],
    count: int,
    conditions: Sequence[sp.Basic] = (),
    within: Within | None = None,
    seed: int = 0,
    *,
    edges: float = 0.0,
    given: Point | None = None,
    plain: bool = True,
) -> Iterator[dict[Quantity, Any]]:
    """Yield ``count`` rational points for all quantities in ``expressions`` and ``conditions``.

    The conditions hold at each point, and the ``expressions`` are real. Quantities with members have tuples.

    An equation is met by solving it for one of its quantities. Quantities are drawn from their domains, or from the
    intervals of ``within``; those of ``given`` have these values, and the share ``edges`` of the others lies at an end
    of its domain. If ``plain`` and without ``edges``, the first points consist of small round numbers. Raises
    ``ClaimError`` if no point is found.
    """
    expressions = tuple(expressions)
    formulas = tuple(e for e in expressions if isinstance(e, sp.Expr) and not e.is_real)
    quantities = quantities_of((*expressions, *conditions))
    draw = _Draw(quantities, tuple(conditions), formulas, within or {}, edges, dict(given or {}))
    random = np.random.default_rng([seed, len(quantities)])
    last: dict[Quantity, Any] | None = None
    point: dict[Quantity, Any] | None
    drawn = tries = 0
    if plain and not edges:
        for point in _plain(draw, min(PLAIN_MOST, -(-count // PLAIN_SHARE)), seed):
            drawn, last = drawn + 1, point
            yield dict(point)
    while drawn < count:
        tries += 1
        point = draw.one(random)
        if point is None and last is not None:  # a point of no quantities is {}
            point = draw.one(random, last)
        if point is not None:
            drawn, last = drawn + 1, point
            yield dict(point)
        elif tries >= FIRST and drawn * 50 < tries:
            more, real = " more" if drawn else "", ", or a formula is not real at those that do" if formulas else ""
            raise ClaimError(
                f"no{more} point meets the conditions {list(map(str, conditions))}{real} ({tries} draws of {MOVES} "
                "moves)"
            )


def _plain(draw: _Draw, most: int, seed: int) -> Iterator[dict[Quantity, Any]]:
    """Yield up to ``most`` points of small round numbers, from a random stream apart from that of other points."""
    random = np.random.default_rng([seed, len(draw.quantities), 1])
    drawn = (replace(draw, plain=True).one(random) for _ in range(PLAIN_TRIED * most))
    yield from islice((point for point in drawn if point is not None), most)


@dataclass(frozen=True)
class _Draw:
    """Draws points at which conditions hold and formulas are real; ``plain``: of small round numbers."""

    quantities: tuple[Quantity, ...]
    conditions: tuple[sp.Basic, ...]
    formulas: tuple[sp.Expr, ...]
    within: Within
    edges: float
    given: dict[Quantity, Any]
    plain: bool = False

    def one(self, random: np.random.Generator, start: Point | None = None) -> dict[Quantity, Any] | None:
        """Return a point, or None if redrawing one quantity of a failing condition after another finds none."""
        point = self._draw(random) if start is None else self._moved(start, self.quantities, random)
        for _ in range(MOVES):
            failing = self._failing(point)
            if failing is None:
                return point
            movable = [q for q in quantities_of([failing]) if q not in self.given]
            if not movable:
                return None
            beside = self._to_edge(failing, point, random) if random.random() < 0.5 else None
            point = beside or self._moved(point, movable, random)
        return None

    def _to_edge(self, failing: sp.Basic, point: Point, random: np.random.Generator) -> dict[Quantity, Any] | None:
        """Return the point with one quantity moved close to the edge of a failing inequality, or None if impossible."""
        if not isinstance(failing, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
            return None
        edge = sp.Eq(failing.lhs, failing.rhs, evaluate=False)
        solutions = [(q, e) for q, e in _solutions(edge) if q not in self.given]
        if not solutions:
            return None
        q, expression = solutions[int(random.integers(len(solutions)))]
        away = sp.Rational(int(random.choice((-1, 1))), 2 if self.plain else 10 ** int(random.integers(1, 5)))
        offset = 0 if self.plain else away  # an edge at 0 is left by an offset only
        number = _exactly(q, offset + expression * (1 + away), point)
        if number is None or q in self.within or not number.is_Rational or self._counts(q):
            return None
        rounded = sp.Rational(f"{float(number):.1g}")
        if self.plain and q.card.domain.contains(np.asarray([float(rounded)])).all():
            number = rounded
        moved = self._solved({**point, q: number})
        capped = ((moved[other], self._cap(other, moved)) for other in self.quantities)
        return moved if all(cap is None or number <= cap for number, cap in capped) else None

    def _failing(self, point: Point) -> sp.Basic | None:
        """Return a condition that does not hold or a formula that is not real, or None."""
        for c in self.conditions:
            if not true_at(c, point):
                return c
        return next((e for e in self.formulas if not value(e, point).is_real), None)

    def _moved(self, point: Point, among: Sequence[Quantity], random: np.random.Generator) -> dict[Quantity, Any]:
        """Return the point with one of the quantities drawn again, and with those that it caps."""
        q = among[int(random.integers(len(among)))]
        members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
        moved = {**point, q: self._value(q, members, point, random)} if not self._counts(q) else dict(point)
        for other in self.quantities:
            if other.card.at_most == q:
                moved[other] = self._value(other, members, moved, random)
        return self._solved(moved)

    def _draw(self, random: np.random.Generator) -> dict[Quantity, Any]:
        members = 1 if random.random() < self.edges / 3 else int(random.choice(MEMBERS[:2] if self.plain else MEMBERS))
        point: dict[Quantity, Any] = dict(self.given)
        for q in sorted(self.quantities, key=lambda q: (_depth(q), q.name)):
            if q not in self.given:
                point[q] = sp.Integer(members) if self._counts(q) else self._value(q, members, point, random)
        return self._solved(point)

    def _counts(self, q: Quantity) -> bool:
        return q not in self.given and counts_members(q, self.quantities)

    def _value(self, q: Quantity, members: int, point: Point, random: np.random.Generator) -> Any:
        """Draw the value of a quantity, a tuple if it has members."""
        if q.card.axis and q.card.domain.simplex:
            return _weights(members, random, self.edges, 4 if self.plain else 30)
        if q.card.axis:
            return tuple(self._one(q, random) for _ in range(members))
        parts = 5 if self.plain else 97
        return _capped(q, self._one(q, random), self._cap(q, point), random, self.edges, parts)

    def _cap(self, q: Quantity, point: Point) -> sp.Rational | None:
        """Return the largest value that a quantity may have; the length of a list caps a number of clients."""
        if q.card.at_most == clients:
            for other in self.quantities:
                if other.card.per_client and other in point:
                    return sp.Integer(len(point[other]))
        return point.get(q.card.at_most) if q.card.at_most is not None else None

    def _one(self, q: Quantity, random: np.random.Generator) -> sp.Rational:
        inside = _plain_numbers(q, *self.within.get(q, (-math.inf, math.inf))) if self.plain else ()
        if not inside:
            return _one(q, random, self.within, self.edges)
        number = inside[int(random.integers(len(inside)))]
        return -number if q.card.domain.low == -math.inf and q not in self.within and random.random() < 0.25 else number

    def _solved(self, point: dict[Quantity, Any]) -> dict[Quantity, Any]:
        """Meet each equation among the conditions by changing a quantity that it can be solved for."""
        for c in self.conditions:
            if isinstance(c, sp.Eq) and not true_at(c, point):
                for q, expression in _solutions(c):
                    number = q not in self.given and _exactly(q, expression, point)
                    if number:
                        point[q] = number
                        break
        return point


def counts_members(q: Quantity, wanted: Sequence[Quantity]) -> bool:
    """Whether a quantity is the number of members of an axis that is in use."""
    axis = {clients: CLIENTS, classes: CLASSES}.get(q)
    return axis is not None and any(w.card.axis == axis for w in wanted)


@lru_cache(maxsize=512)
def _plain_numbers(q: Quantity, low: float, high: float) -> tuple[sp.Rational, ...]:
    """Return the small round numbers in the domain of a quantity, between ``low`` and ``high``."""
    return tuple(n for n in PLAIN if low <= float(n) <= high and q.card.domain.contains(np.asarray([float(n)])).all())


@lru_cache(maxsize=512)
def _solutions(equation: sp.Eq) -> list[tuple[Quantity, sp.Expr]]:
    """Return the quantities in which an equation is linear, each with its value in terms of the others."""
    solutions = []
    for q in quantities_of([equation]):
        difference = sp.expand(equation.lhs - equation.rhs)
        slope = difference.diff(q) if not q.card.axis and not difference.has(sp.Max, sp.Min) else None
        if slope and q not in slope.free_symbols:
            solutions.append((q, -difference.xreplace({q: sp.S.Zero}) / slope))
    return solutions


def _exactly(q: Quantity, expression: sp.Expr, point: Point) -> sp.Expr | None:
    """Return the exact value of an expression at a point if it lies in the domain of ``q``, else None."""
    from bounds.operators import bind

    try:
        number = bind(expression, {k: v for k, v in point.items() if k != q})
    except (ZeroDivisionError, ValueError):
        return None
    if not (number.is_number and number.is_real):
        return None
    if q.card.domain.whole:
        number = sp.Integer(round(number)) if number.is_Rational else number
    return number if q.card.domain.contains(np.asarray([float(number)])).all() else None


def _depth(q: Quantity) -> int:
    """Return the number of quantities that cap a quantity, one another; these are drawn first."""
    return 0 if q.card.at_most is None else 1 + _depth(q.card.at_most)


def _weights(members: int, random: np.random.Generator, edges: float, most: int) -> tuple[sp.Rational, ...]:
    """Draw weights that sum to 1; at edges some are 0."""
    shares = [0 if random.random() < edges / 2 else int(random.integers(1, most)) for _ in range(members)]
    shares[0] = shares[0] or int(sum(shares) == 0)
    return tuple(sp.Rational(s, sum(shares)) for s in shares)


def _capped(
    q: Quantity, value: sp.Rational, cap: sp.Rational | None, random: np.random.Generator, edges: float, parts: int
) -> sp.Rational:
    """Return the value if it does not exceed the cap, else a random share of the cap, a multiple of 1/parts."""
    if cap is None:
        return value
    if random.random() < edges / 2:
        return cap
    if value <= cap:
        return value
    if q.card.domain.whole:
        return sp.Integer(int(random.integers(1, int(cap) + 1)))
    return cap * sp.Rational(int(random.integers(1, parts)), parts)


def _one(q: Quantity, random: np.random.Generator, within: Within, edges: float) -> sp.Rational:
    """Draw one number from the domain of a quantity, or from its interval of ``within``."""
    domain = q.card.domain
    low, high = within.get(q, (domain.low, domain.high))
    if edges and random.random() < edges:
        return _edge(q, low, high, q in within, random)
    if domain.whole:
        return _count(math.ceil(low), high, q in within, random)
    if math.isfinite(low) and math.isfinite(high):
        return _between(low, high, random)
    size = 10 ** random.uniform(*((-0.5, 0.5) if random.random() < 0.5 else (-SPREAD, SPREAD)))
    number = sp.Rational(f"{size:.3g}")
    if math.isfinite(low):
        return sp.Rational(str(low)) + number
    return number if random.random() < 0.5 else -number


def _count(low: int, high: float, narrowed: bool, random: np.random.Generator) -> sp.Integer:
    """Draw an integer: mostly small, at times up to 2000 more; log-uniform in a long interval (``narrowed``)."""
    if narrowed and high - low > 2000:
        size = (high - low) ** random.uniform()
        return sp.Integer(low + min(int(size), int(high) - low))
    small = not narrowed and random.random() < 0.8
    return sp.Integer(int(random.integers(low, int(min(high, low + (30 if small else 2000))) + 1)))


def _edge(q: Quantity, low: float, high: float, narrowed: bool, random: np.random.Generator) -> sp.Rational:
    """Return an end of the domain if it is closed there, a number near an open end, or a very large or small one."""
    domain = q.card.domain
    far = sp.Integer(10) ** int(SPREAD)
    upper = random.random() < 0.5
    end = high if upper else low
    if math.isfinite(end):
        exact = sp.Rational(str(end))
        open_ = domain.open_high if upper else domain.open_low
        if narrowed or not open_:
            return exact
        return exact - 1 / far if upper else exact + 1 / far
    if domain.whole:
        return sp.Integer(math.ceil(low)) + 2000
    base = sp.Rational(str(low)) if math.isfinite(low) else sp.S.Zero
    return base + far if upper else (base + 1 / far if math.isfinite(low) else -far)


def _between(low: float, high: float, random: np.random.Generator) -> sp.Rational:
    """Draw a number from an interval: log-uniformly if it spans more than a decade, else uniformly."""
    if low > 0 and high / low > 10:
        return sp.Rational(f"{low * (high / low) ** random.uniform():.4g}")
    share = sp.Rational(int(random.integers(1, 997)), 997)
    return sp.Rational(str(low)) + share * sp.Rational(str(high - low))
