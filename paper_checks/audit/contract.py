"""The contract of a declared bound: what must hold for every bound, whatever its paper.

The test suite checks every bound of the catalogue; ``fedbounds check FILE.py:bound`` checks one of a user's file, at
generic points and with random neighbours of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isfunction
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from bounds.core import Bound, MIXED
from bounds.dimensions import unit_of
from bounds.domains import NONNEGATIVE
from bounds.errors import said
from bounds.quantities import Quantity
from bounds.showing.command_line import Report
from bounds.showing.loading import from_file, run_file
from bounds.units import ONE

from ..claims.checkers.points import points
from ..claims.claim import ClaimError

Point = dict[str, Any]
POINTS, NEAR = 12, 20
"""Generic points that are drawn inside of domain and conditions, and neighbours of each at three distances."""
FEW = 5
"""Points at which units and conditions are checked, until one shows nothing wrong."""
CLOSE = 1e-6
"""Largest relative difference from a user's reference implementation: plain loops lose digits where terms cancel."""
SCALES = (0.3, 3.0, -0.4, 0.0, *(sign * 10.0**e for e in (1, -1, 2, -2, 4, -4, 7, -7) for sign in (1, -1)))


quiet = partial(warnings.catch_warnings, action="ignore", category=UserWarning)
"""Suppress the warnings about single points, which the checks visit on purpose."""

# ---- checking a bound of a file ----


def bounds_named(names: Sequence[str]) -> dict[str, Bound]:
    """Those of the names that are bounds of files (``file.py:variable``); all of them, or none."""
    found = {}
    for name in (n for n in names if ".py:" in n):
        path, _, variable = name.rpartition(":")
        if isinstance(vars(run_file(Path(path))).get(variable), Bound):
            found[name] = from_file(name, Bound)
    if found and (others := [name for name in names if name not in found]):
        raise ClaimError(f"{next(iter(found))} is a bound and {others[0]} is none: check bounds and claims separately")
    return found


def contract(named: dict[str, Bound]) -> Report:
    """What the contract says of each bound of a user's file; status 1 where something is wrong."""
    found = []
    for name, bound in named.items():
        function = vars(run_file(Path(name.rpartition(":")[0]))).get(bound.name.rpartition(".")[2])
        found.append(checked(bound, function if isfunction(function) else None))
    lines = [line for each in found for line in each.lines()]
    return Report(lines, [each.as_json() for each in found], int(any(each.broken for each in found)))


@dataclass(frozen=True)
class Checked:
    """The result for one bound: the faults by check, None where there was nothing to check."""

    bound: Bound
    points: int
    checks: dict[str, list[str] | None]
    tendencies: dict[str, str]

    @property
    def broken(self) -> int:
        return sum(len(found or ()) for found in self.checks.values())

    @property
    def moves(self) -> dict[str, list[str]]:
        """The quantities in which the bound rises, and those in which it falls, at every point."""
        return {way: [n for n, found in self.tendencies.items() if found == way] for way in ("rises", "falls")}

    def as_json(self) -> dict[str, Any]:
        found = {"bound": self.bound.name, "points": self.points, "checks": self.checks}
        return {**found, **self.moves, "broken": self.broken}

    def lines(self) -> list[str]:
        lines = [f"{self.bound.name}: {self.points} generic points within its conditions"]
        for name, found in self.checks.items():
            state = "not checked" if found is None else "WRONG" if found else "fine"
            lines += [f"  {state:<15}{name}", *(f"  {'':15}{fault}" for fault in found or ())]
        lines += [f"  {way} in {', '.join(names)} at every point" for way, names in self.moves.items() if names]
        return [*lines, "  This checks its form. To test whether it is true: fedbounds falsify, validate, tightness"]


def checked(bound: Bound, reference: Callable[[Any], float] | None = None) -> Checked:
    """Check a bound at generic points of its domain."""
    at, missing = _generic_points(bound)
    rng = np.random.default_rng(20_409)

    def idle(at: list[Point]) -> list[str]:
        """The conditions that cannot fail near each of a few points: near a single one a condition may be far away."""
        found = idle_conditions(bound, at[0])
        for point in at[1:FEW]:
            found = [words for words in found if words in idle_conditions(bound, point)] if found else []
        return found

    def near(point: Point) -> Point:
        """A sweep around a point; the point alone where its neighbours are seldom in the domain."""
        try:
            return neighbours(bound, point, NEAR, rng)
        except ClaimError:
            return stack([point])

    with quiet():
        return Checked(
            bound,
            len(at),
            {
                "its conditions can be met": missing,
                "a theorem says which number of which algorithm's run it bounds": missing_words(bound),
                "no two quantities share a letter": shared_letters(bound),
                "every term carries the unit of the target": wrong_units(bound),
                "terms are nonnegative unless signed": wrong_signs(bound, map(near, at)) if at else None,
                "every numeric condition can fail, and the bound is NaN there": idle(at) if at else None,
                "it equals its reference implementation, the function of its name": wrong_values(
                    bound, reference, at, CLOSE
                )
                if at and reference is not None
                else None,
            },
            tendencies(bound, at),
        )


def _generic_points(bound: Bound) -> tuple[list[Point], list[str]]:
    """Generic points inside of domain and conditions, and why there is none."""
    given = {q: sp.nsimplify(bound.given[q.name]) for q in bound._all if np.ndim(bound.given.get(q.name, [])) == 0}
    wanted = {q.name for q in bound.quantities}

    def plain(q: Quantity, value: Any) -> Any:
        kind = int if q.card.domain.whole else float
        return [kind(x) for x in value] if isinstance(value, tuple) else kind(value)

    try:
        each = points(bound.spelled_terms.values(), POINTS, bound.relations, given=given)
        found = [{q.name: plain(q, v) for q, v in point.items()} for point in islice(each, POINTS)]
    except ClaimError as error:
        return [], [str(error)]
    return [{name: value for name, value in point.items() if name in wanted} for point in found], []


# ---- what must be so ----


def wrong_units(bound: Bound) -> list[str]:
    """Terms whose unit is not that of the target times ``off_by``."""
    found = []
    for name, term in bound.spelled_terms.items():
        off = bound.off_by.get(name, ONE)
        expected = None if off is MIXED else bound.target.card.unit * off
        if not term.is_zero and (carried := unit_of(term)) != expected:
            found.append(f"{name!r} carries {carried}, not {expected}")
    return found


def wrong_signs(bound: Bound, sweeps: Iterable[Point]) -> list[str]:
    """Terms that are negative within the conditions but not ``signed``, or ``signed`` but never negative."""
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
    """Numeric conditions that no scaling of a quantity breaks, and those that fail without making the bound NaN."""
    found = []
    for condition, relation in zip(bound.numeric_conditions, bound.relations, strict=True):
        with quiet():
            candidates = scaled(bound, point, {str(q) for q in relation.free_symbols})
            broken = next((p for p in candidates if condition in bound.failed(**p)), None)
            if broken is None:
                found.append(f"{condition.words!r} holds wherever one quantity is scaled: is it a condition?")
            elif not np.isnan(bound(**broken)).any():
                found.append(f"{condition.words!r} fails and the bound has a value")
    return found


def shared_letters(bound: Bound) -> list[str]:
    """Letters that stand for two quantities of the bound."""
    shown = {*bound._all, *bound.where, bound.target}
    named: dict[str, list[str]] = {}
    for q in sorted(shown, key=lambda q: q.name):
        named.setdefault(bound.letters.get(q, q.card.letter), []).append(q.name)
    return [f"{letter} stands for {' and '.join(names)}" for letter, names in named.items() if len(names) > 1]


def missing_words(bound: Bound) -> list[str]:
    """What is missing of a theorem: the algorithm that it is about, the number of a run that it bounds."""
    found = []
    theorem = bound.relation in ("<=", "<~") and bound.source.place.startswith(("Theorem", "Corollary"))
    if (theorem or bound.statistic is not None) and bound.about is None:
        found.append("it does not say which algorithm it is about: about=About(...)")
    if theorem and bound.statistic is None:
        found.append("it does not say which number of a run it bounds: statistic=Statistic(...)")
    return found


def wrong_values(
    bound: Bound, reference: Callable[[Any], float], points: Iterable[Point], close: float = 1e-12
) -> list[str]:
    """The first point at which a reference implementation in plain loops gives another number."""
    for point in points:
        try:
            value, expected = bound(**point), reference(SimpleNamespace(**point))
        except OverflowError:  # of plain floats, which the bound's own numbers do not know
            continue
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            return [f"the reference raises {said(error)} at {point}"]
        try:
            np.testing.assert_allclose(value, expected, rtol=close, atol=0)
        except AssertionError as error:
            return [f"{' '.join(str(error).split())}: the bound {value}, the reference {expected} at {point}"]
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
    """Whether it is the number of clients, which equals the length of the lists and cannot move alone."""
    return q.name == bound.axis and any(other.card.axis for other in bound.quantities)


def inside(bound: Bound, point: Point) -> bool:
    """Whether every value is in its domain and no quantity exceeds its upper limit."""
    cards = {q.name: q.card for q in bound.quantities}
    lists = [point[name] for name, card in cards.items() if card.per_client and np.ndim(point[name])]
    limits = {**({"clients": np.shape(lists[0])[-1]} if lists else {}), **point}
    for name, value in point.items():
        card, values = cards[name], np.asarray(value, dtype=float)
        if not card.domain.contains(values).all() or (card.domain.simplex and abs(values.sum(-1) - 1).max() > 1e-12):
            return False
        limit = card.at_most
        if limit is not None and limit.name in limits and np.any(values > np.asarray(limits[limit.name], dtype=float)):
            return False
    return True


def around(bound: Bound, point: Point, count: int, spread: float, rng: np.random.Generator) -> list[Point]:
    """Random points in the domain, every quantity scaled by its own log-normal factor (``spread``)."""
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
    if any(is_tied(bound, q) for q in bound.quantities):  # one client only
        first = {name: value[:1] if isinstance(value, list) else value for name, value in point.items()}
        counts = {q.name: 1 for q in bound.quantities if is_tied(bound, q) or (q.card.at_most or q).name == "clients"}
        found.append({**first, **counts, **{q.name: [1.0] for q in bound.quantities if q.card.domain.simplex}})
    # all that may be zero at once: what only all of them together can break
    may = {q.name for q in bound.quantities if q.name in names and q.card.domain == NONNEGATIVE}
    return [*found, {n: np.zeros_like(v, dtype=float).tolist() if n in may else v for n, v in point.items()}]
