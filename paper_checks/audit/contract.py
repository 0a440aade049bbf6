"""The contract of a declared bound: what must hold for every bound, whatever its paper.

The test suite checks every bound of the catalogue; ``fedbounds check FILE.py:bound`` checks one of a user's file, at
generic points.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
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
from bounds.errors import DomainError, message_of
from bounds.quantities import Quantity
from bounds.showing.command_line import Report
from bounds.showing.loading import from_file, run_file
from bounds.units import ONE

from ..claims.checkers.points import points
from ..claims.claim import ClaimError

Point = dict[str, Any]
POINTS, MANY, FEW = 12, 60, 5
"""Generic points that are drawn inside of domain and conditions, those drawn for the signs of terms, and those at which
units are checked, until one shows nothing wrong."""
CLOSE = 1e-6
"""Largest relative difference from a user's reference implementation: plain loops lose digits where terms cancel."""

WAYS = ("rises", "falls")

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
        with quiet():
            found.append(checked(bound, function if isfunction(function) else None))
    return Report([line for each in found for line in _told(each)], found, int(any(each["broken"] for each in found)))


def _told(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['bound']}: {found['points']} generic points within its conditions"]
    for name, faults in found["checks"].items():
        state = "not checked" if faults is None else "WRONG" if faults else "fine"
        lines += [f"  {state:<15}{name}", *(f"  {'':15}{fault}" for fault in faults or ())]
    lines += [f"  {way} in {', '.join(found[way])} at every point" for way in WAYS if found[way]]
    return [*lines, "  This checks its form. To test whether it is true: fedbounds falsify, validate, tightness"]


def checked(bound: Bound, reference: Callable[[Any], float] | None = None) -> dict[str, Any]:
    """The record of one bound at generic points of its domain: the faults by check, None where there was none to make.

    ``rises`` and ``falls`` are the quantities in which it does so at every point.
    """
    drawn, missing = _generic_points(bound)
    at = drawn[:POINTS]
    checks = {
        "its conditions can be met": missing,
        "a theorem says which number of which algorithm's run it bounds": missing_words(bound),
        "no two quantities share a letter": shared_letters(bound),
        "every term carries the unit of the target": wrong_units(bound),
        "terms are nonnegative unless signed": wrong_signs(bound, drawn) if at else None,
        "every numeric condition can fail, and the bound is NaN there": idle_conditions(bound) if at else None,
        "it equals its reference implementation, the function of its name": wrong_values(bound, reference, at, CLOSE)
        if at and reference is not None
        else None,
    }
    moves = tendencies(bound, at)
    moved = {way: [name for name, found in moves.items() if found == way] for way in WAYS}
    broken = sum(len(found or ()) for found in checks.values())
    return {"bound": bound.name, "points": len(at), "checks": checks, **moved, "broken": broken}


def _generic_points(bound: Bound) -> tuple[list[Point], list[str]]:
    """Generic points inside of domain and conditions, and why there is none."""
    try:
        return _drawn(bound, MANY, bound.spelled_terms.values(), bound.relations), []
    except ClaimError as error:
        return [], [str(error)]


def _drawn(
    bound: Bound, count: int, real: Iterable[sp.Expr], conditions: tuple[sp.Basic, ...], edges: float = 0.0
) -> list[Point]:
    """Points of plain numbers at which the conditions hold and formulas are real; ``edges`` lie at ends of domains."""
    given = bound.fixed_scalars
    wanted = {q.name for q in bound.quantities}

    def plain(q: Quantity, value: Any) -> Any:
        kind = int if q.card.domain.whole else float
        return [kind(x) for x in value] if isinstance(value, tuple) else kind(value)

    each = islice(points((*real, *bound.all_quantities), count, conditions, given=given, edges=edges), count)
    return [{q.name: plain(q, v) for q, v in point.items() if q.name in wanted} for point in each]


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


def wrong_signs(bound: Bound, points: Iterable[Point]) -> list[str]:
    """Terms that are negative within the conditions but not ``signed``, or ``signed`` but never negative."""
    lowest = dict.fromkeys(bound.terms, np.inf)
    for point in points:
        with quiet():
            parts = bound.parts(**point)
        for name, part in parts.items():
            spoken = np.asarray(part)[~np.isnan(part)]
            lowest[name] = min(lowest[name], *spoken.ravel()) if spoken.size else lowest[name]
    return [
        f"{name!r} is declared signed but was never negative" if name in bound.signed else f"{name!r} is negative"
        for name, least in lowest.items()
        if (name in bound.signed) == (least >= 0)
    ]


def idle_conditions(bound: Bound) -> list[str]:
    """Numeric conditions that fail nowhere in the domain, and those that fail without making the bound NaN."""
    found = []
    for condition, relation in zip(bound.numeric_conditions, bound.relations, strict=True):
        with quiet(), suppress(ClaimError):  # there is no such point
            outside = _drawn(bound, FEW, (), (sp.Not(relation),), edges=0.7)
            broken = next((point for point in outside if condition in bound.failed(**point)), None)
            if broken is not None:
                if not np.isnan(bound(**broken)).any():
                    found.append(f"{condition.words!r} fails and the bound has a value")
                continue
        found.append(f"{condition.words!r} holds at every point that was tried: is it a condition?")
    return found


def shared_letters(bound: Bound) -> list[str]:
    """Letters that stand for two quantities of the bound."""
    shown = {*bound.all_quantities, *bound.where, bound.target}
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
            return [f"the reference raises {message_of(error)} at {point}"]
        try:
            np.testing.assert_allclose(value, expected, rtol=close, atol=0)
        except AssertionError as error:
            return [f"{' '.join(str(error).split())}: the bound {value}, the reference {expected} at {point}"]
    return []


def tendencies(bound: Bound, points: Iterable[Point], factor: float = 1.3) -> dict[str, str]:
    """In which quantities the bound ``rises`` or ``falls`` at every one of these points; the others do neither."""
    signs: dict[str, set[float]] = {}
    free = [q for q in bound.quantities if not (is_tied(bound, q) or q.card.domain.simplex)]
    for point in points:
        here = bound(**point)
        for q in free:
            moved = np.asarray(point[q.name], dtype=float) * factor
            there = {**point, q.name: (np.ceil(moved) if q.card.domain.whole else moved).tolist()}
            with quiet(), suppress(DomainError):
                slope = np.sign(bound(**there) - here)
                signs.setdefault(q.name, set()).update(np.unique(slope[~np.isnan(slope)]).tolist())
    words = {1.0: "rises", -1.0: "falls"}
    return {
        name: words[found.pop()] for name, found in sorted(signs.items()) if len(found) == 1 and found <= set(words)
    }


def is_tied(bound: Bound, q: Quantity) -> bool:
    """Whether it is the number of clients, which equals the length of the lists and cannot move alone."""
    return q.name == bound.axis and any(other.card.axis for other in bound.quantities)
