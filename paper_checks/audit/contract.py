"""The contract of a declared bound: what must be so whatever its paper says. The suite holds the catalogue to it, and
``fedbounds check FILE.py:bound`` a bound of one's own.

Every check returns what is wrong, in sentences; the rest moves about a bound's domain.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from bounds.core import Bound, MIXED
from bounds.dimensions import unit_of
from bounds.domains import NONNEGATIVE
from bounds.errors import (
    OutsideConditionsWarning,
    said,
    SignWarning,
    TermOverflowWarning,
    UndefinedValueWarning,
    UnderflowWarning,
    UnsettledWarning,
)
from bounds.quantities import Quantity
from bounds.units import ONE

from ..claims.claim import ClaimError

Point = dict[str, Any]
SCALES = (0.3, 3.0, -0.4, 0.0, *(sign * 10.0**e for e in (1, -1, 2, -2, 4, -4, 7, -7) for sign in (1, -1)))


OF_POINTS = (
    OutsideConditionsWarning, SignWarning, TermOverflowWarning, UndefinedValueWarning, UnderflowWarning,
    UnsettledWarning,
)  # fmt: skip


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings that tell of single points: the tests look at such points on purpose."""
    with warnings.catch_warnings():
        for category in OF_POINTS:
            warnings.simplefilter("ignore", category)
        yield


# ---- what must be so ----


def wrong_units(bound: Bound, point: Point) -> list[str]:
    """Terms that carry another unit than the target (times what ``off_by`` says)."""
    at = {q: point[q.name] for q in bound.quantities}
    found = []
    for name, term in bound.spelled_terms.items():
        off = bound.off_by.get(name, ONE)
        expected = None if off is MIXED else bound.target.card.unit * off
        if not term.is_zero and (carried := unit_of(term, at)) != expected:
            found.append(f"{name!r} carries {carried}, not {expected}")
    return found


def wrong_signs(bound: Bound, sweeps: Iterable[Point]) -> list[str]:
    """Terms that are negative where the bound speaks without being ``signed``, or ``signed`` and never negative."""
    lowest = dict.fromkeys(bound.terms, np.inf)
    for sweep in sweeps:
        with quiet():
            parts = bound.parts(**sweep)
        for name, part in parts.items():
            spoken = np.asarray(part)[~np.isnan(part)]
            lowest[name] = min(lowest[name], *spoken.ravel()) if spoken.size else lowest[name]
    return [
        f"{name!r} is declared signed but was never negative" if name in bound.signed else f"{name!r} is negative"
        for name, least in lowest.items()
        if (name in bound.signed) == (least >= 0)
    ]


def idle_conditions(bound: Bound, point: Point) -> list[str]:
    """Numeric conditions that no scaling of a quantity breaks, and those after which the bound is not silent."""
    found = []
    for condition, relation in zip(bound.numeric_conditions, bound.relations, strict=True):
        with quiet():
            candidates = scaled(bound, point, {str(q) for q in relation.free_symbols})
            broken = next((p for p in candidates if condition in bound.failed(**p)), None)
            if broken is None:
                found.append(f"{condition.words!r} holds wherever one quantity is scaled: is it a condition?")
            elif not np.isnan(bound(**broken)).any():
                found.append(f"{condition.words!r} fails and the bound speaks")
    return found


def shared_letters(bound: Bound) -> list[str]:
    """Letters that stand for two quantities of the bound."""
    shown = {*bound._all, *bound.where, bound.target}
    named: dict[str, list[str]] = {}
    for q in sorted(shown, key=lambda q: q.name):
        named.setdefault(bound.letters.get(q, q.card.letter), []).append(q.name)
    return [f"{letter} stands for {' and '.join(names)}" for letter, names in named.items() if len(names) > 1]


def missing_words(bound: Bound) -> list[str]:
    """A theorem says which number of which algorithm's run it bounds."""
    found = []
    theorem = bound.relation in ("<=", "<~") and bound.source.place.startswith(("Theorem", "Corollary"))
    if (theorem or bound.statistic is not None) and bound.about is None:
        found.append("it does not say which algorithm it is about: about=About(...)")
    if theorem and bound.statistic is None:
        found.append("it does not say which number of a run it bounds: statistic=Statistic(...)")
    return found


def unlike_twin(bound: Bound, twin: Callable[[Any], float], points: Iterable[Point], close: float = 1e-12) -> list[str]:
    """Where a function that says the same in plain loops gives another number, at the first such point."""
    for point in points:
        try:
            value, expected = bound(**point), twin(SimpleNamespace(**point))
        except OverflowError:  # of plain floats, which the bound's own numbers do not know
            continue
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            return [f"the twin breaks: {said(error)} at {point}"]
        try:
            np.testing.assert_allclose(value, expected, rtol=close, atol=0)
        except AssertionError as error:
            told = " ".join(str(error).split())
            return [f"{told}: the bound {value}, its twin {expected} at {point}"]
    return []


def tendencies(bound: Bound, points: Iterable[Point], factor: float = 1.3) -> dict[str, str]:
    """In which quantities the bound ``rises`` or ``falls`` at every one of these points; the others do neither."""
    signs: dict[str, set[float]] = {}
    for point in points:
        here = bound(**point)
        for q in bound.quantities:
            if is_tied(bound, q) or q.card.domain.simplex:
                continue
            moved = np.asarray(point[q.name], dtype=float) * factor
            there = {**point, q.name: (np.ceil(moved) if q.card.domain.whole else moved).tolist()}
            if inside(bound, there):
                with quiet():
                    slope = np.sign(bound(**there) - here)
                signs.setdefault(q.name, set()).update(np.unique(slope[~np.isnan(slope)]).tolist())
    words = {1.0: "rises", -1.0: "falls"}
    return {
        name: words[found.pop()] for name, found in sorted(signs.items()) if len(found) == 1 and found <= set(words)
    }


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
    raise ClaimError(f"{bound.name}: too few random points are in the domain")


def _moved(bound: Bound, q: Quantity, value: Any, spread: float, rng: np.random.Generator) -> Any:
    values = np.asarray(value, dtype=float)
    domain = q.card.domain
    if is_tied(bound, q) or (domain.simplex and rng.random() < 0.5):  # some statements want equal weights
        return value
    noise: Any = rng.standard_normal(values.shape)
    # Real numbers change sign as they like: nothing else shows a term that can be negative.
    moved = values * (1 + 2 * noise) if domain.low == -np.inf else values * np.exp(spread * noise)
    if domain.whole:
        moved = np.maximum(np.rint(moved), domain.low)
    if domain.simplex:
        moved = moved / moved.sum()
    moved = np.where(domain.contains(moved), moved, values)
    return moved.tolist()


def neighbours(bound: Bound, point: Point, count: int, rng: np.random.Generator) -> Point:
    """A sweep of points near this one, further off, and far off, ``count`` of each."""
    return stack([p for spread in (0.1, 1.0, 3.0) for p in around(bound, point, count, spread, rng)])


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
