"""Comparison of a bound with measured numbers, and the decision of its conditions at an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bounds import vocabulary
from bounds.core import Bound, Condition
from bounds.quantities import Quantity

from ..runs.schedules import FIRST, SCALE
from .core import Evaluation, scores

EDGE = 1 - 1e-12
"""Factor by which values stay below the limit of a condition, so that rounding does not exceed it."""
ALIKE = 1e-6
"""Relative difference up to which numbers that differ by rounding errors count as equal; others are not compared."""
LOWEST = 1e-9
"""Share of the largest value to which smaller ones are tried."""
HALVINGS = 50
PLACES = 120
"""Number of values that are tried if conditions may also be lower limits."""
ROUNDED = 1e-9
"""Share of a bound that counts as rounding error when the needed shares of its terms are determined."""
VANISHED = 1e-26
"""Size up to which numbers count as zero with rounding errors."""


@lru_cache(maxsize=256)
def compiled(bound: Bound) -> Callable[[Mapping[str, Any]], Any]:
    """Return the bound as a fast function of a table of quantities, which may contain others too. Its value is NaN
    where a numeric condition fails."""
    function, names = bound.compile(), [q.name for q in bound.quantities]
    return lambda values: function(**{name: values[name] for name in names})


def compare(bound: Bound, values: Mapping[str, Any], measured: Any) -> Evaluation:
    """Return the evaluation of the entry where measured numbers violate the bound most. Entries where a numeric
    condition fails are left out."""
    with np.errstate(all="ignore"):
        at, exact = np.broadcast_arrays(compiled(bound)(values), measured)
    valid = ~np.isnan(at) & np.isfinite(exact)
    if not valid.any():
        return Evaluation(failed=failed_conditions(bound, values), relation=bound.relation)
    # leave out differences that rounding can make: two numbers that should be zero, terms that cancel
    target_error = max(1e-13 * largest_of_unit(bound, values), VANISHED)
    error = max(target_error, _cancellation_error(bound, values) if bound.signed else 0.0)
    right, left = at[valid], exact[valid].astype(float)
    with np.errstate(all="ignore"):
        difference, size = np.abs(left - right), np.maximum(np.abs(left), np.abs(right))
        kept = (size > target_error) & ((difference > error) | (difference < ALIKE * np.abs(right)))
        right = np.where(difference > error, right, left)
    if not kept.any():
        return Evaluation(0.0, 0.0, relation=bound.relation)
    worst = int(np.argmax(scores(left[kept], right[kept], bound.relation)))
    shares = _shares(bound, values, exact, at, max(target_error, ROUNDED * float(np.max(np.abs(right)))))
    return Evaluation(float(left[kept][worst]), float(right[kept][worst]), (), bound.relation, shares)


def _shares(bound: Bound, values: Mapping[str, Any], exact: Any, at: Any, error: float) -> dict[str, float]:
    """Return, for every term that cannot be negative, the largest share of it that an entry needs."""
    if bound.relation != "<=":
        return {}
    shares = {}
    for name, part in zip(bound.terms, _parts(bound), strict=True):
        if name in bound.signed:
            continue
        with np.errstate(all="ignore"):
            term = compiled(part)(values)
            lacking = exact - (at - term)
            share = np.where((lacking > error) & (term > error), lacking / term, 0.0)
        shares[name] = float(np.max(share, where=np.isfinite(share), initial=0.0))
    return shares


def largest_of_unit(bound: Bound, values: Mapping[str, Any]) -> float:
    """Return the largest absolute value of the quantities that have the target's unit."""
    same_unit = (values[name] for name in _names_of_unit(bound.target.card.unit) if name in values)
    return max((float(np.max(np.abs(_finite(value)))) for value in same_unit), default=0.0)


@lru_cache(maxsize=256)
def used_quantities(bound: Bound) -> frozenset[str]:
    """Return the names of quantities that ``compare`` and the weights of the bound's statistic may use."""
    at = bound.statistic
    weights = () if at is None or at.weights is None else at.weights.words
    return frozenset({*(q.name for q in bound.quantities), *_names_of_unit(bound.target.card.unit), *weights})


@lru_cache(maxsize=64)
def _names_of_unit(unit: Any) -> tuple[str, ...]:
    return tuple(q.name for q in vars(vocabulary).values() if isinstance(q, Quantity) and q.card.unit == unit)


def _cancellation_error(bound: Bound, values: Mapping[str, Any]) -> float:
    """Return a limit on the rounding error of a bound whose terms cancel."""
    return 1e-9 * max(float(np.max(np.abs(_finite(compiled(part)(values))))) for part in _parts(bound))


@lru_cache(maxsize=256)
def _parts(bound: Bound) -> tuple[Bound, ...]:
    """Return every term as a bound without conditions."""
    return tuple(replace(bound, terms={n: t}, conditions=(), signed=(), off_by={}) for n, t in bound.terms.items())


def _finite(term: Any) -> Any:
    numbers = np.asarray(term, dtype=float)
    return np.where(np.isfinite(numbers), numbers, 0.0)


def failed_conditions(bound: Bound, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of the numeric conditions that fail."""
    with np.errstate(all="ignore"):
        failed = tuple(c.words for c, alone in _alone(bound) if np.isnan(compiled(alone)(values)).any())
    return failed or ("the bound has a value there",)


@lru_cache(maxsize=256)
def _alone(bound: Bound) -> tuple[tuple[Condition, Bound], ...]:
    """Return every numeric condition, and the bound under this condition alone."""
    return tuple((c, replace(bound, conditions=(c,))) for c in bound.numeric_conditions)


def broken_assumptions(bound: Bound, problem: Any, method: Any, setting: Any) -> tuple[str, ...]:
    """Return the texts of the assumptions that an instance breaks."""
    return tuple(words for words, _, met in decided(bound, problem, method, setting) if met is False)


def decided(bound: Bound, problem: Any, method: Any, setting: Any) -> tuple[tuple[str, str, bool | None], ...]:
    """Return all conditions that are not numeric: text, what decides it, and whether it is met (None: undecided)."""
    conditions: list[tuple[str, str, bool | None]] = []
    for condition in bound.conditions:
        if condition.assumption is not None:
            conditions.append((condition.words, "predicate", condition.assumption.holds(problem, method, setting)))
        elif condition.kind == "words":
            conditions.append((condition.words, "words", None))
    return tuple(conditions)


def largest(bound: Bound, values: Mapping[str, Any], name: str, high: float) -> float:
    """Return the largest value of ``name`` up to ``high`` that meets the conditions; 0 if even tiny ones fail. Assumes
    that conditions are upper limits on it. Quantities that are missing in ``values`` count as 1."""
    allowed = _allowed(bound, values, name)
    if allowed is None or allowed(high):
        return high
    low = high * LOWEST
    return _limit(allowed, low, high) if allowed(low) else 0.0


def largest_step_size(bound: Bound, values: Mapping[str, Any], high: float, offset: float | None) -> float:
    """Return the largest step size up to ``high`` that meets the conditions, 0 if none does. With an ``offset``, step
    sizes decrease from it, and the conditions may limit their scale from below too."""
    if offset is None or SCALE not in {q.name for q in bound.quantities}:
        return largest(bound, values, FIRST, high)
    allowed = _allowed(bound, values, SCALE)
    if allowed is None:
        return high
    scales = [high * offset * LOWEST ** (i / PLACES) for i in range(PLACES + 1)]
    first = next((i for i, scale in enumerate(scales) if allowed(scale)), None)
    if first is None:
        return 0.0
    return (_limit(allowed, scales[first], scales[first - 1]) if first else scales[0]) / offset


def _allowed(bound: Bound, values: Mapping[str, Any], name: str) -> Callable[[float], bool] | None:
    """Return a function that decides whether the conditions are met at a value of ``name``; None if none has it."""
    conditions = _conditions_with(bound, name)
    if conditions is None:
        return None
    given = {q.name: values.get(q.name, 1.0) for q in bound.quantities}

    def allowed(value: float) -> bool:
        try:
            return all(conditions(**{**given, name: value}))
        except (ArithmeticError, ValueError, TypeError):
            return False

    return allowed


@lru_cache(maxsize=256)
def _conditions_with(bound: Bound, name: str) -> Callable[..., Any] | None:
    """Return the numeric conditions that contain ``name`` as one function of scalars; None if there are none."""
    symbols = {q: sp.Symbol(q.name) for q in bound.quantities}
    relations = [r.subs(symbols) for r in bound.relations if name in {s.name for s in r.free_symbols if s in symbols}]
    return sp.lambdify(list(symbols.values()), relations, modules=["math", "sympy"]) if relations else None


def _limit(allowed: Callable[[float], bool], low: float, high: float) -> float:
    """Return, by bisection, the largest allowed value between an allowed and a forbidden one."""
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low * EDGE
