"""The contract of a declared bound: consistency checks that every bound must pass, whatever its paper.

The test suite checks every bound of the catalogue; ``fedbounds check FILE.py:bound`` checks one from a user's file.
Both do so at generic points: random points of the domain at which the bound's conditions hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
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
from bounds.showing.loading import run_file
from bounds.units import ONE

from ..claims.checkers.points import points
from ..claims.claim import ClaimError
from ..falsify_options import FAMILIES
from ..runs.obstacles import obstacle
from ..runs.origins import WORST

Point = dict[str, Any]
POINTS, MANY, FEW = 12, 60, 5
"""Numbers of generic points: for most checks, for the signs of terms, and (outside a condition) for idle conditions."""
CLOSE = 1e-6
"""Largest relative difference from a user's reference implementation: plain loops lose digits where terms cancel."""

WAYS = ("rises", "falls")

quiet = partial(warnings.catch_warnings, action="ignore", category=UserWarning)
"""Suppress warnings about single points at which a bound is undefined: the checks visit such points on purpose."""

# ---- checking a bound of a file ----


def contract(bounds: dict[str, Bound]) -> Report:
    """Check the contract of each bound of a user's file; the exit status is 1 if one breaks it."""
    records = []
    for name, bound in bounds.items():
        function = vars(run_file(Path(name.rpartition(":")[0]))).get(bound.name.rpartition(".")[2])
        with quiet():
            records.append(checked(bound, function if isfunction(function) else None))
    return Report([line for each in records for line in _lines(each)], records, int(any(r["broken"] for r in records)))


def _lines(record: dict[str, Any]) -> list[str]:
    lines = [f"{record['bound']}: {record['points']} generic points within its conditions"]
    for name, faults in record["checks"].items():
        state = "not checked" if faults is None else "WRONG" if faults else "fine"
        lines += [f"  {state:<15}{name}", *(f"  {'':15}{fault}" for fault in faults or ())]
    lines += [f"  {way} in {', '.join(record[way])} at every point" for way in WAYS if record[way]]
    able = ", ".join(verb for verb, reason in record["tests"].items() if not reason)
    lines.append(f"  This checks its form. To test whether it is true: fedbounds {able}")
    return [*lines, *(f"  {verb} cannot test it: {reason}" for verb, reason in record["tests"].items() if reason)]


def checked(bound: Bound, reference: Callable[[Any], float] | None = None) -> dict[str, Any]:
    """Return the record of one bound: by check a list of faults, or None if the check could not be made.

    ``reference`` computes the right-hand side in plain Python from a namespace of quantities. ``rises`` and ``falls``
    list the quantities in which the bound does so at every point.
    """
    drawn, missing = [], []
    try:
        drawn = _points(bound, MANY, bound.spelled_terms.values(), bound.relations)
    except ClaimError as error:
        missing = [str(error)]
    at = drawn[:POINTS]
    values = wrong_values(bound, reference, at, CLOSE) if at and reference is not None else None
    checks = {
        "its conditions can be met": missing,
        "it says which number of which algorithm's run it bounds": missing_declarations(bound),
        "no two quantities share a letter": shared_letters(bound),
        "every term carries the unit of the target": wrong_units(bound),
        "terms are nonnegative unless signed": wrong_signs(bound, drawn) if at else None,
        "every numeric condition can fail, and the bound is NaN there": idle_conditions(bound) if at else None,
        "it equals its reference implementation, the function of its name": values,
    }
    moves = tendencies(bound, at)
    by_way = {way: [name for name, move in moves.items() if move == way] for way in WAYS}
    broken = sum(len(faults or ()) for faults in checks.values())
    reasons = [obstacle(bound, family) for family in FAMILIES]
    search = reasons[0] if all(reasons) else ""
    tests = {"falsify": search, "validate": "", "tightness": obstacle(bound, WORST)}  # validate takes logs of any bound
    return {"bound": bound.name, "points": len(at), "checks": checks, **by_way, "broken": broken, "tests": tests}


def _points(
    bound: Bound, count: int, real: Iterable[sp.Expr], conditions: tuple[sp.Basic, ...], edges: float = 0.0
) -> list[Point]:
    """Draw points, as Python numbers by name, that meet the conditions; the formulas ``real`` are real at them."""
    given = bound.fixed_scalars
    names = {q.name for q in bound.quantities}

    def plain(q: Quantity, value: Any) -> Any:
        kind = int if q.card.domain.whole else float
        return [kind(x) for x in value] if isinstance(value, tuple) else kind(value)

    drawn = islice(points((*real, *bound.all_quantities), count, conditions, given=given, edges=edges), count)
    return [{q.name: plain(q, v) for q, v in point.items() if q.name in names} for point in drawn]


# ---- the checks: each returns a list of faults ----


def wrong_units(bound: Bound) -> list[str]:
    """Terms whose unit is not that of the target times ``off_by``."""
    faults = []
    for name, term in bound.spelled_terms.items():
        off = bound.off_by.get(name, ONE)
        expected = None if off is MIXED else bound.target.card.unit * off
        if not term.is_zero and (carried := unit_of(term)) != expected:
            faults.append(f"{name!r} carries {carried}, not {expected}")
    return faults


def wrong_signs(bound: Bound, points: Iterable[Point]) -> list[str]:
    """Terms that are negative within the conditions but not ``signed``, or ``signed`` but never negative."""
    lowest = dict.fromkeys(bound.terms, np.inf)
    for point in points:
        with quiet():
            parts = bound.parts(**point)
        for name, part in parts.items():
            numbers = np.asarray(part)[~np.isnan(part)]
            lowest[name] = min(lowest[name], *numbers.ravel()) if numbers.size else lowest[name]
    return [
        f"{name!r} is declared signed but was never negative" if name in bound.signed else f"{name!r} is negative"
        for name, least in lowest.items()
        if (name in bound.signed) == (least >= 0)
    ]


def idle_conditions(bound: Bound) -> list[str]:
    """Numeric conditions that fail nowhere in the domain, and those that fail without making the bound NaN."""
    faults = []
    for condition, relation in zip(bound.numeric_conditions, bound.relations, strict=True):
        with quiet(), suppress(ClaimError):  # raised where no point breaks the condition
            outside = _points(bound, FEW, (), (sp.Not(relation),), edges=0.7)
            failing = next((point for point in outside if condition in bound.failed(**point)), None)
            if failing is not None:
                if not np.isnan(bound(**failing)).any():
                    faults.append(f"{condition.words!r} fails and the bound has a value")
                continue
        faults.append(f"{condition.words!r} holds at every point that was tried: is it a condition?")
    return faults


def shared_letters(bound: Bound) -> list[str]:
    """Letters that stand for two quantities of the bound."""
    by_letter: dict[str, list[str]] = {}
    for q in sorted({*bound.all_quantities, *bound.where, bound.target}, key=lambda q: q.name):
        by_letter.setdefault(bound.letters.get(q, q.card.letter), []).append(q.name)
    return [f"{letter} stands for {' and '.join(names)}" for letter, names in by_letter.items() if len(names) > 1]


def missing_declarations(bound: Bound) -> list[str] | None:
    """What a theorem does not declare: the algorithm that it covers, or the number of a run that it bounds.

    None if the bound does not declare it and need not, as it is no theorem on a run.
    """
    faults = []
    theorem = bound.relation in ("<=", "<~") and bound.source.place.startswith(("Theorem", "Corollary"))
    if (theorem or bound.statistic is not None) and bound.about is None:
        faults.append("it does not say which algorithm it is about: about=About(...)")
    if theorem and bound.statistic is None:
        faults.append("it does not say which number of a run it bounds: statistic=Statistic(...)")
    return faults if faults or (bound.about is not None and bound.statistic is not None) else None


def wrong_values(
    bound: Bound, reference: Callable[[Any], float], points: Iterable[Point], close: float = 1e-12
) -> list[str]:
    """The first point at which the reference implementation gives another number (relative difference ``close``)."""
    for point in points:
        try:
            value, expected = bound(**point), reference(SimpleNamespace(**point))
        except OverflowError:  # Python's floats raise it where NumPy's give inf
            continue
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            return [f"the reference raises {message_of(error)} at {point}"]
        try:
            np.testing.assert_allclose(value, expected, rtol=close, atol=0)
        except AssertionError as error:
            return [f"{' '.join(str(error).split())}: the bound {value}, the reference {expected} at {point}"]
    return []


def tendencies(bound: Bound, points: Iterable[Point], factor: float = 1.3) -> dict[str, str]:
    """Return "rises" or "falls" for each quantity in which the bound does so at all points, moved by ``factor``."""
    signs: dict[str, set[float]] = {}
    free = [q for q in bound.quantities if not (counts_lists(bound, q) or q.card.domain.simplex)]
    for point in points:
        here = bound(**point)
        for q in free:
            moved = np.asarray(point[q.name], dtype=float) * factor
            there = {**point, q.name: (np.ceil(moved) if q.card.domain.whole else moved).tolist()}
            with quiet(), suppress(DomainError):
                slope = np.sign(bound(**there) - here)
                signs.setdefault(q.name, set()).update(np.unique(slope[~np.isnan(slope)]).tolist())
    ways = [({1.0}, "rises"), ({-1.0}, "falls")]
    return {name: way for name, slopes in sorted(signs.items()) for sign, way in ways if slopes == sign}


def counts_lists(bound: Bound, q: Quantity) -> bool:
    """Whether a quantity is the number of clients, which equals the length of the lists and cannot move alone."""
    return q.name == bound.axis and any(other.card.axis for other in bound.quantities)
