"""Moving about a bound's domain: for the contract suite."""

import warnings
from contextlib import contextmanager
from typing import Any

import numpy as np

from bounds import Bound, Quantity
from bounds.domains import NONNEGATIVE
from bounds.errors import (
    OutsideConditionsWarning,
    SignWarning,
    TermOverflowWarning,
    UndefinedValueWarning,
    UnderflowWarning,
    UnsettledWarning,
)

Point = dict[str, Any]
SCALES = (0.3, 3.0, -0.4, 0.0, *(sign * 10.0**e for e in (1, -1, 2, -2, 4, -4, 7, -7) for sign in (1, -1)))


OF_POINTS = (
    OutsideConditionsWarning, SignWarning, TermOverflowWarning, UndefinedValueWarning, UnderflowWarning,
    UnsettledWarning,
)  # fmt: skip


@contextmanager
def quiet():
    """Without the warnings that tell of single points: the tests look at such points on purpose."""
    with warnings.catch_warnings():
        for category in OF_POINTS:
            warnings.simplefilter("ignore", category)
        yield


# ---- points in the domain ----


def is_tied(bound: Bound, q: Quantity) -> bool:
    """The number of clients is tied to the length of the lists: it cannot move alone."""
    return q.name == bound.axis and any(other.card.axis for other in bound.quantities)


def inside(bound: Bound, point: Point) -> bool:
    """True when every value is in its domain and no quantity exceeds the one it is at most."""
    cards = {q.name: q.card for q in bound.quantities}
    limits = {**_count(bound, point), **point}
    for name, value in point.items():
        card, values = cards[name], np.asarray(value, dtype=float)
        if not card.domain.contains(values).all() or (card.domain.simplex and abs(values.sum(-1) - 1).max() > 1e-12):
            return False
        limit = card.at_most
        if limit is not None and limit.name in limits and np.any(values > np.asarray(limits[limit.name], dtype=float)):
            return False
    return True


def _count(bound: Bound, point: Point) -> Point:
    """How many clients the lists over them tell of."""
    lengths = [np.shape(point[q.name])[-1] for q in bound.quantities if q.card.per_client and np.ndim(point[q.name])]
    return {"clients": lengths[0]} if lengths else {}


def around(bound: Bound, point: Point, count: int, spread: float, rng: np.random.Generator) -> list[Point]:
    """Random points: every quantity scaled by its own log-normal factor (``spread``), those in the domain kept."""
    found = []
    for _ in range(20 * count):
        moved = {q.name: _moved(bound, q, point[q.name], spread, rng) for q in bound.quantities}
        if inside(bound, moved):
            found.append(moved)
        if len(found) == count:
            return found
    raise AssertionError(f"{bound.name}: too few random points are in the domain")


def _moved(bound: Bound, q: Quantity, value: Any, spread: float, rng: np.random.Generator) -> Any:
    values = np.asarray(value, dtype=float)
    domain = q.card.domain
    if is_tied(bound, q) or (domain.simplex and rng.random() < 0.5):  # some statements want equal weights
        return value
    noise = rng.standard_normal(values.shape)
    # Real numbers change sign as they like: nothing else shows a term that can be negative.
    moved = values * (1 + 2 * noise) if domain.low == -np.inf else values * np.exp(spread * noise)
    if domain.whole:
        moved = np.maximum(np.rint(moved), domain.low)
    if domain.simplex:
        moved = moved / moved.sum()
    moved = np.where(domain.contains(moved), moved, values)
    return moved.tolist()


def stack(points: list[Point]) -> Point:
    """Many points as one sweep: scalars become arrays, lists over an axis become rows."""
    return {name: np.array([p[name] for p in points], dtype=float) for name in points[0]}


def scaled(bound: Bound, point: Point, names: set[str]) -> list[Point]:
    """Points in the domain where one of ``names`` is scaled, up, down, to zero or through it (all members or one)."""
    found = []
    for q in bound.quantities:
        if q.name not in names or is_tied(bound, q):
            continue
        values, lowest = np.asarray(point[q.name], dtype=float), q.card.domain.low
        moves = [values * factor for factor in SCALES]
        moves += [np.full_like(values, lowest + step) for step in (0, 1) if q.card.domain.whole]
        if values.ndim:
            moves += [np.array([move[0], *values[1:]]) for move in moves]
        for moved in moves:
            if q.card.domain.simplex:
                moved = moved / (moved.sum() or 1)
            there = {**point, q.name: (np.rint(moved) if q.card.domain.whole else moved).tolist()}
            if inside(bound, there):
                found.append(there)
    return [*found, *_alone(bound, point), _vanishing(bound, point, names)]


def _vanishing(bound: Bound, point: Point, names: set[str]) -> Point:
    """The point where every one of ``names`` that may be zero is: what only all of them together can break."""
    may = {q.name for q in bound.quantities if q.name in names and q.card.domain == NONNEGATIVE}
    return {
        name: (np.zeros_like(value, dtype=float).tolist() if name in may else value) for name, value in point.items()
    }


def _alone(bound: Bound, point: Point) -> list[Point]:
    """The point with one client only, where the number of clients is tied to the lists."""
    if not any(is_tied(bound, q) for q in bound.quantities):
        return []
    first = {name: value[:1] if isinstance(value, list) else value for name, value in point.items()}
    counts = {q.name: 1 for q in bound.quantities if is_tied(bound, q) or (q.card.at_most or q).name == "clients"}
    return [{**first, **counts, **{q.name: [1.0] for q in bound.quantities if q.card.domain.simplex}}]
