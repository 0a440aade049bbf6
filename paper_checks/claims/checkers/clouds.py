"""Search for counterexamples with an evolving cloud of floating-point points that moves to where a score is largest.

Nothing is decided here. The best points are returned as rational numbers, which exact arithmetic then judges; the
search can miss a counterexample but cannot invent one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from bounds.quantities import quantities_of, Quantity
from bounds.vocabulary import classes, clients

from .numbers import opened, Point, true_at, value
from .points import counts_members, Within

Array = np.ndarray[Any, Any]

FAR = 9.0
"""Positive quantities are searched between 10^-FAR and 10^FAR, counts up to 10^6."""
FIRST, CHILDREN, ELITE, GENERATIONS = 2000, 500, 40, 24
STARTS, TRIED = 24, 20
"""Numbers of given points that the search starts from, and of best points that exact arithmetic judges."""
MEMBERS = 3
"""Number of clients (or classes) in the search."""


@dataclass(frozen=True)
class Cloud:
    """A search that maximises ``score`` of the values of ``terms`` (NaN is ignored) where the ``conditions`` hold.

    Quantities stay in their domains, or in the intervals of ``within``; positive ones between 10^-far and 10^far.
    """

    terms: tuple[sp.Expr, ...]
    score: Callable[[list[Array]], Array]
    conditions: tuple[sp.Basic, ...] = ()
    within: Within | None = None
    far: float = FAR
    seed: int = 0

    def best(self, starts: Sequence[Point] = ()) -> Iterator[dict[Quantity, Any]]:
        """Yield the best points found, as rational numbers, that meet the conditions, as the ``starts`` do."""
        quantities = quantities_of((*self.terms, *self.conditions))
        axes = [_Axis.of(q, self) for q in quantities if not counts_members(q, quantities)]
        evaluate = self._compiled(axes)
        random = np.random.default_rng(self.seed)
        width = sum(a.width for a in axes)
        if not width:
            return
        started = [
            np.concatenate([a.coordinates(p[a.q]) for a in axes])
            for p in starts[-STARTS:]
            if all(len(v) == MEMBERS for v in p.values() if isinstance(v, tuple))
        ]
        cloud = np.vstack([random.random((FIRST, width)), *started])
        scores = evaluate(cloud)
        with np.errstate(all="ignore"):
            for _ in range(GENERATIONS):
                elite = cloud[np.argsort(-scores)[:ELITE]]
                cloud = np.vstack([elite, _children(elite, random)])
                scores = evaluate(cloud)
        order = [i for i in np.argsort(-scores) if np.isfinite(scores[i])][:TRIED]
        for i in order:
            yield from self._exact(axes, cloud[i])

    def _counts_some_clients(self, q: Quantity) -> bool:
        """Whether a quantity counts some of the clients, while lists fix the number of all clients."""
        others = (*self.terms, *self.conditions)
        return q.card.at_most == clients and any(other.card.per_client for other in quantities_of(others))

    def _compiled(self, axes: Sequence[_Axis]) -> Callable[[Array], Array]:
        """Return a function of points (rows of the unit cube) that gives scores, -inf where a condition fails."""
        letters = {a.q: a.letters for a in axes}
        lists = {q: v for q, v in letters.items() if q.card.axis}
        scalars = {q: v[0] for q, v in letters.items() if not q.card.axis}
        counts = {q: sp.Integer(MEMBERS) for q in (clients, classes) if q not in letters}
        caps = [a.q <= a.q.card.at_most for a in axes if a.q.card.at_most in letters]
        caps += [a.q <= MEMBERS for a in axes if self._counts_some_clients(a.q)]
        # Equations cannot be met by chance, and are left to the exact points.
        formulas = [*self.terms, sp.And(*(c for c in self.conditions if not isinstance(c, sp.Eq)), *caps)]
        opened_formulas = [opened(f, lists).xreplace({**scalars, **counts}) for f in formulas]
        names = [name for a in axes for name in a.letters]
        code = sp.lambdify(names, opened_formulas, modules="numpy", cse=True)

        def scores(rows: Array) -> Array:
            numbers = np.concatenate([a.numbers(part) for a, part in _parts(axes, rows)], axis=1)
            with np.errstate(all="ignore"):
                *terms, admitted = (np.broadcast_to(x, len(rows)) for x in code(*numbers.T))
                score = np.asarray(self.score(list(terms)), dtype=float)
            return np.where(np.asarray(admitted, dtype=bool) & np.isfinite(score), score, -np.inf)

        return scores

    def _exact(self, axes: Sequence[_Axis], row: Array) -> Iterator[dict[Quantity, Any]]:
        """Yield the point rounded to few digits, to more, and to all, if it meets the conditions."""
        quantities = quantities_of((*self.terms, *self.conditions))
        for digits in (1, 2, 4, 17):
            point: dict[Quantity, Any] = {a.q: a.rational(part[0], digits) for a, part in _parts(axes, row[None])}
            point |= {q: sp.Integer(MEMBERS) for q in quantities if q not in point}
            conditions = (*self.conditions, *(q <= c for q in point if (c := q.card.at_most) in point))
            conditions += tuple(q <= MEMBERS for q in point if self._counts_some_clients(q))
            numbers = ((q, number) for q, v in point.items() for number in (v if q.card.axis else (v,)))
            if not all(_within(q, number, self.within or {}) for q, number in numbers):
                continue  # rounding has moved a number out of its domain
            if all(true_at(c, point) for c in conditions) and all(value(t, point).is_real for t in self.terms):
                yield point


def _within(q: Quantity, number: sp.Rational, within: Within) -> bool:
    """Whether a number lies in the domain of a quantity, or in its interval of ``within``."""
    domain = q.card.domain
    low, high = within.get(q, (domain.low, domain.high))
    if not (sp.Rational(str(low)) if math.isfinite(low) else -sp.oo) <= number:
        return False
    if not number <= (sp.Rational(str(high)) if math.isfinite(high) else sp.oo):
        return False
    return not ((domain.open_low and number == domain.low) or (domain.open_high and number == domain.high))


def _parts(axes: Sequence[_Axis], rows: Array) -> Iterator[tuple[_Axis, Array]]:
    """Yield each axis with its columns of the points."""
    at = 0
    for a in axes:
        yield a, rows[:, at : at + a.width]
        at += a.width


def _children(elite: Array, random: np.random.Generator) -> Array:
    """Return mutated points: steps of all sizes in some of the coordinates, clipped to the unit cube."""
    parents = elite[random.integers(len(elite), size=CHILDREN)]
    sizes = 10 ** random.uniform(-9, -0.3, size=(CHILDREN, 1))
    some = random.random(parents.shape) < random.uniform(0.1, 1.0, size=(CHILDREN, 1))
    return np.clip(parents + sizes * some * random.standard_normal(parents.shape), 0, 1)


@dataclass(frozen=True)
class _Axis:
    """The map between one quantity (or its members) and coordinates in [0, 1], such as an exponent or a position."""

    q: Quantity
    low: float
    high: float
    far: float

    @classmethod
    def of(cls, q: Quantity, cloud: Cloud) -> _Axis:
        return cls(q, *(cloud.within or {}).get(q, (q.card.domain.low, q.card.domain.high)), cloud.far)

    @property
    def width(self) -> int:
        return MEMBERS if self.q.card.axis else 1

    @property
    def letters(self) -> tuple[sp.Symbol, ...]:
        return tuple(sp.Symbol(f"{self.q.name}_{i}", real=True) for i in range(self.width))

    def numbers(self, u: Array) -> Array:
        """Return the values at coordinates ``u`` of shape (points, width)."""
        domain = self.q.card.domain
        if domain.simplex:
            shares = 10 ** (4 * u)
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        if math.isfinite(self.high):
            return self._between(u)
        if domain.whole:
            return np.floor(self.low + 10 ** (6 * np.minimum(u, self.far / FAR)) - 1)
        size = self._sizes(np.abs(2 * u - 1)) * np.sign(2 * u - 1) if math.isinf(self.low) else self._sizes(u)
        return np.asarray(size if math.isinf(self.low) else self.low + size)

    def _sizes(self, u: Array) -> Array:
        """Map coordinates to 10^-far to 10^far, and to 0 near the face of the cube if the domain is closed there."""
        closed = not self.q.card.domain.open_low
        return np.where((u <= 0.02) & closed, 0.0, 10 ** (self.far * (2 * u - 1)))

    def _between(self, u: Array) -> Array:
        domain = self.q.card.domain
        if domain.whole:
            return np.rint(self.low + (self.high - self.low) * u)
        margin = 1e-9 * (self.high - self.low)
        low = self.low + margin * (domain.open_low and self.low == domain.low)
        high = self.high - margin * (domain.open_high and self.high == domain.high)
        if low > 0 and high / low > 10:
            return np.asarray(np.clip(low * (high / low) ** u, low, high))
        return np.clip(low + (high - low) * u, low, high)

    def coordinates(self, number: Any) -> Array:
        """Return coordinates whose values are near a number (or tuple), by bisection: values grow with coordinates."""
        values = np.array([float(v) for v in (number if isinstance(number, tuple) else (number,))])
        if self.q.card.domain.simplex:
            shares = np.log10(np.maximum(values, 1e-12))
            return np.clip(1 + (shares - shares.max()) / 4, 0, 1)
        low, high = np.zeros_like(values), np.ones_like(values)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.numbers(middle) < values
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    def rational(self, u: Array, digits: int) -> Any:
        """Return the value at one point (a tuple for members) as rational numbers of this many digits."""
        numbers = self.numbers(u[None])[0]
        if self.q.card.domain.simplex:
            parts = [sp.Rational(f"{max(float(x), 0):.{digits}g}") for x in numbers]
            return tuple(p / sum(parts) for p in parts)
        if digits > 16:
            rationals = tuple(sp.Rational(repr(float(x))) for x in numbers)
        elif self.q.card.domain.whole:
            rationals = tuple(sp.Rational(str(int(x))) for x in numbers)
        else:
            rationals = tuple(sp.Rational(f"{float(x):.{digits}g}") for x in numbers)
        return rationals if self.q.card.axis else rationals[0]


def logs(large: Array, small: Array) -> Array:
    """Score how far ``large > small``: the log of their ratio where both are positive, else a scaled difference."""
    both = (large > 0) & (small > 0)
    size = np.abs(large) + np.abs(small)
    return np.where(both, np.log(large) - np.log(small), 100 * (large - small) / np.where(size > 0, size, 1))
