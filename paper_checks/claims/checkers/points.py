"""Generic rational points, drawn inside the domains of the quantities and the conditions."""

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
from .numbers import DIGITS, excess, near, Point, shown, true_at, value, words

MEMBERS = (2, 3, 4, 5)
"""How many members the client axis (and the class axis) may have at a generic point."""
SPREAD = 3.0
"""Positive quantities are drawn log-uniformly between 10^-SPREAD and 10^SPREAD, half of them near 1."""
PLAIN = tuple(sp.Rational(n, d) for n, d in ((2, 1), (3, 1), (1, 2), (5, 1), (1, 5), (1, 4), (10, 1), (1, 10)))
"""The numbers of plain points, which read more easily as a counterexample."""
PLAIN_SHARE, PLAIN_MOST, PLAIN_TRIED = 6, 6, 4
"""The first points are plain, so that a counterexample is one of them if it can be: one in six, at most six, and how
many draws each may take."""
MOVES = 30
"""Quantities of conditions that fail are drawn again, one at a time, this often."""
FIRST = 60
"""Draws without any success before it is said that there is no point."""

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
    """``count`` rational points for all quantities of ``expressions`` and ``conditions`` at which the conditions hold.

    Points where one of the ``expressions`` is not real are passed over. Drawn from the domains or from the interval
    that ``within`` gives; an equation is met by solving it for one of its quantities. With ``edges``, that share of
    the quantities lies at an end of its domain (1 for a count, 0 for what can be 0); without, the first points are
    small round numbers, if ``plain``. ``given`` quantities have the values they are given. Quantities over an axis get
    a tuple. An error where no point is found.
    """
    expressions = tuple(expressions)
    formulas = tuple(e for e in expressions if isinstance(e, sp.Expr) and not e.is_real)
    wanted = quantities_of((*expressions, *conditions))
    draw = _Draw(wanted, tuple(conditions), formulas, within or {}, edges, dict(given or {}))
    random = np.random.default_rng([seed, len(wanted)])
    last: dict[Quantity, Any] | None = None
    point: dict[Quantity, Any] | None
    found = tries = 0
    if plain and not edges:
        for point in _plain(draw, min(PLAIN_MOST, -(-count // PLAIN_SHARE)), seed):
            found, last = found + 1, point
            yield dict(point)
    while found < count:
        tries += 1
        point = draw.one(random)
        if point is None and last is not None:  # a point of no quantities is {}
            point = draw.one(random, last)
        if point is not None:
            found, last = found + 1, point
            yield dict(point)
        elif tries >= FIRST and found * 50 < tries:
            met = "; a formula is not real there, or" if formulas else ""
            raise ClaimError(
                f"no point{' more' if found else ''}{met} meets the conditions {list(map(str, conditions))} "
                f"in {tries} draws of {MOVES} moves"
            )


def _plain(draw: _Draw, most: int, seed: int) -> Iterator[dict[Quantity, Any]]:
    """Up to ``most`` points of small round numbers; a stream of its own leaves the other points what they are."""
    random = np.random.default_rng([seed, len(draw.wanted), 1])
    drawn = (replace(draw, plain=True).one(random) for _ in range(PLAIN_TRIED * most))
    yield from islice((point for point in drawn if point is not None), most)


@dataclass(frozen=True)
class _Draw:
    """What a point must meet, and where its quantities are drawn from; ``plain``: small round numbers."""

    wanted: tuple[Quantity, ...]
    conditions: tuple[sp.Basic, ...]
    formulas: tuple[sp.Expr, ...]
    within: Within
    edges: float
    given: dict[Quantity, Any]
    plain: bool = False

    def one(self, random: np.random.Generator, start: Point | None = None) -> dict[Quantity, Any] | None:
        """A point that meets everything, or None: where it fails, one quantity after another is drawn again."""
        point = self._draw(random) if start is None else self._moved(start, self.wanted, random)
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
        """One quantity moved to just beside the value at which an inequality turns true; None if it has none."""
        if not isinstance(failing, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
            return None
        edge = sp.Eq(failing.lhs, failing.rhs, evaluate=False)
        solutions = [(q, e) for q, e in _solutions(edge) if q not in self.given]
        if not solutions:
            return None
        q, expression = solutions[int(random.integers(len(solutions)))]
        away = sp.Rational(int(random.choice((-1, 1))), 2 if self.plain else 10 ** int(random.integers(1, 5)))
        aside = 0 if self.plain else away  # not on the edge: it may lie at 0
        number = _exactly(q, aside + expression * (1 + away), point)
        if number is None or q in self.within or not number.is_Rational or self._counted(q):
            return None
        rounded = sp.Rational(f"{float(number):.1g}")
        if self.plain and q.card.domain.contains(np.asarray([float(rounded)])).all():
            number = rounded
        moved = self._solved({**point, q: number})
        capped = ((moved[w], self._cap(w, moved)) for w in self.wanted)
        return moved if all(cap is None or number <= cap for number, cap in capped) else None

    def _failing(self, point: Point) -> sp.Basic | None:
        """A condition that does not hold, or a formula that is not real; None if all is well."""
        for c in self.conditions:
            if not true_at(c, point):
                return c
        return next((e for e in self.formulas if not value(e, point).is_real), None)

    def _moved(self, point: Point, among: Sequence[Quantity], random: np.random.Generator) -> dict[Quantity, Any]:
        q = among[int(random.integers(len(among)))]
        members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
        moved = {**point, q: self._value(q, members, point, random)} if not self._counted(q) else dict(point)
        for other in self.wanted:  # what cannot exceed it follows
            if other.card.at_most == q:
                moved[other] = self._value(other, members, moved, random)
        return self._solved(moved)

    def _draw(self, random: np.random.Generator) -> dict[Quantity, Any]:
        members = 1 if random.random() < self.edges / 3 else int(random.choice(MEMBERS[:2] if self.plain else MEMBERS))
        point: dict[Quantity, Any] = dict(self.given)
        for q in sorted(self.wanted, key=lambda q: (_depth(q), q.name)):
            if q not in self.given:
                point[q] = sp.Integer(members) if self._counted(q) else self._value(q, members, point, random)
        return self._solved(point)

    def _counted(self, q: Quantity) -> bool:
        return q not in self.given and counts_members(q, self.wanted)

    def _value(self, q: Quantity, members: int, point: Point, random: np.random.Generator) -> Any:
        if q.card.axis and q.card.domain.simplex:
            return _weights(members, random, self.edges, 4 if self.plain else 30)
        if q.card.axis:
            return tuple(self._one(q, random) for _ in range(members))
        parts = 5 if self.plain else 97
        return _capped(q, self._one(q, random), self._cap(q, point), random, self.edges, parts)

    def _cap(self, q: Quantity, point: Point) -> sp.Rational | None:
        """What a quantity cannot exceed; a part of the clients not the number of clients that a list has."""
        if q.card.at_most == clients and (lists := [point[w] for w in self.wanted if w.card.per_client and w in point]):
            return sp.Integer(len(lists[0]))
        return point.get(q.card.at_most) if q.card.at_most is not None else None

    def _one(self, q: Quantity, random: np.random.Generator) -> sp.Rational:
        inside = _plain_numbers(q, *self.within.get(q, (-math.inf, math.inf))) if self.plain else ()
        if not inside:
            return _one(q, random, self.within, self.edges)
        number = inside[int(random.integers(len(inside)))]
        return -number if q.card.domain.low == -math.inf and q not in self.within and random.random() < 0.25 else number

    def _solved(self, point: dict[Quantity, Any]) -> dict[Quantity, Any]:
        """Equations among the conditions, each met by the quantity it can be solved for."""
        for c in self.conditions:
            if isinstance(c, sp.Eq) and not true_at(c, point):
                for q, expression in _solutions(c):
                    inside = q not in self.given and _exactly(q, expression, point)
                    if inside:
                        point[q] = inside
                        break
        return point


def counts_members(q: Quantity, wanted: Sequence[Quantity]) -> bool:
    """Whether a quantity is the number of members of an axis that is in use."""
    axis = {clients: CLIENTS, classes: CLASSES}.get(q)
    return axis is not None and any(w.card.axis == axis for w in wanted)


@lru_cache(maxsize=512)
def _plain_numbers(q: Quantity, low: float, high: float) -> tuple[sp.Rational, ...]:
    """The small round numbers that a quantity can be."""
    return tuple(n for n in PLAIN if low <= float(n) <= high and q.card.domain.contains(np.asarray([float(n)])).all())


@lru_cache(maxsize=512)
def _solutions(equation: sp.Eq) -> list[tuple[Quantity, sp.Expr]]:
    """The quantities an equation determines, each with its value in terms of the others."""
    found = []
    for q in quantities_of([equation]):
        difference = sp.expand(equation.lhs - equation.rhs)
        slope = difference.diff(q) if not q.card.axis and not difference.has(sp.Max, sp.Min) else None
        if slope and q not in slope.free_symbols:
            found.append((q, -difference.xreplace({q: sp.S.Zero}) / slope))
    return found


def _exactly(q: Quantity, expression: sp.Expr, point: Point) -> sp.Expr | None:
    """The value of an expression that is rational in its quantities, if it lies in the domain of ``q``."""
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
    """How many caps lie above a quantity: they are drawn first."""
    return 0 if q.card.at_most is None else 1 + _depth(q.card.at_most)


def _weights(members: int, random: np.random.Generator, edges: float, most: int) -> tuple[sp.Rational, ...]:
    shares = [0 if random.random() < edges / 2 else int(random.integers(1, most)) for _ in range(members)]
    shares[0] = shares[0] or int(sum(shares) == 0)
    return tuple(sp.Rational(s, sum(shares)) for s in shares)


def _capped(
    q: Quantity, value: sp.Rational, cap: sp.Rational | None, random: np.random.Generator, edges: float, parts: int
) -> sp.Rational:
    """What cannot exceed another quantity is drawn as a share of it, in ``parts`` parts."""
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
    """An integer: mostly small, at times up to 2000 more; by size over the whole of an interval that is given."""
    if narrowed and high - low > 2000:
        size = (high - low) ** random.uniform()
        return sp.Integer(low + min(int(size), int(high) - low))
    near_ = not narrowed and random.random() < 0.8
    return sp.Integer(int(random.integers(low, int(min(high, low + (30 if near_ else 2000))) + 1)))


def _edge(q: Quantity, low: float, high: float, narrowed: bool, random: np.random.Generator) -> sp.Rational:
    """An end of the domain where it is closed, or a number near it; very small and very large ones elsewhere."""
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
    """Log-uniform where the interval spans more than a decade, else uniform."""
    if low > 0 and high / low > 10:
        return sp.Rational(f"{low * (high / low) ** random.uniform():.4g}")
    share = sp.Rational(int(random.integers(1, 997)), 997)
    return sp.Rational(str(low)) + share * sp.Rational(str(high - low))


__all__ = [
    "DIGITS", "MEMBERS", "SPREAD", "Point", "Within", "excess", "near", "points", "shown", "true_at", "value", "words",
]  # fmt: skip
