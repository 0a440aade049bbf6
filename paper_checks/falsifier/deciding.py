"""Putting a bound beside measured numbers: which conditions fail, which are undecided, where the worst entry is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bounds import vocabulary
from bounds.core import Bound
from bounds.quantities import Quantity

from .core import Evaluation, scores

EDGE = 1 - 1e-12
"""Step sizes stay this share below the edge of the conditions, so that rounding does not push them over it."""
ALIKE = 1e-6
"""Numbers that differ by no more than rounding are equal if they are this close to each other, else unknown."""
HALVINGS = 50
PLACES = 120
"""Sizes that are tried where conditions may lie on both sides."""
ROUNDED = 1e-9
"""Less than this share of a bound is not distinguished from rounding when its needed terms are determined."""
VANISHED = 1e-26
"""Below this nothing but rounding is left of numbers that are zero in exact arithmetic."""


@lru_cache(maxsize=256)
def compiled(bound: Bound) -> Callable[..., Any]:
    """The bound as a fast function: NaN where a numeric condition fails."""
    return bound.compile()


def beside(bound: Bound, values: Mapping[str, Any], measured: Any, failed: tuple[str, ...] = ()) -> Evaluation:
    """The worst entry of measured against bound; entries where a numeric condition fails do not count.

    ``failed`` are assumptions that the instance breaks.
    """
    if failed:
        return Evaluation(failed=failed, relation=bound.relation)
    given = {q.name: values[q.name] for q in bound.quantities}
    with np.errstate(all="ignore"):
        at, exact = np.broadcast_arrays(compiled(bound)(**given), measured)
    grain = max(1e-13 * largest_alike(bound, values), VANISHED)  # what rounding can make of the target
    doubt = _doubt(bound, given) if bound.signed else 0.0
    told = ~np.isnan(at) & np.isfinite(exact)
    if not told.any():
        return Evaluation(failed=spoken(bound, given), relation=bound.relation)
    # What rounding could have made says nothing: two numbers that should vanish, terms that cancel.
    doubt, right, left = max(grain, doubt), at[told], exact[told].astype(float)
    with np.errstate(all="ignore"):
        apart, size = np.abs(left - right), np.maximum(np.abs(left), np.abs(right))
        kept = (size > grain) & ((apart > doubt) | (apart < ALIKE * np.abs(right)))
        right = np.where(apart > doubt, right, left)
    if not kept.any():
        return Evaluation(0.0, 0.0, relation=bound.relation)
    worst = int(np.argmax(scores(left[kept], right[kept], bound.relation)))
    shares = _shares(bound, given, exact, at, max(grain, ROUNDED * float(np.max(np.abs(right)))))
    return Evaluation(float(left[kept][worst]), float(right[kept][worst]), (), bound.relation, shares)


def _shares(bound: Bound, given: Mapping[str, Any], exact: Any, at: Any, grain: float) -> dict[str, float]:
    """By term that cannot be negative, the share of it that the entry needs which needs most; 0 below ``grain``."""
    if bound.relation != "<=":
        return {}
    found = {}
    for name, (alone, part) in zip(bound.terms, _parts(bound), strict=True):
        if name in bound.signed:
            continue
        with np.errstate(all="ignore"):
            term = part(**{q.name: given[q.name] for q in alone.quantities})
            lacking = exact - (at - term)
            share = np.where((lacking > grain) & (term > grain), lacking / term, 0.0)
        found[name] = float(np.max(share, where=np.isfinite(share), initial=0.0))
    return found


def largest_alike(bound: Bound, values: Mapping[str, Any]) -> float:
    """The largest size of the quantities that have the target's unit."""
    alike = (values[name] for name in _words_of_unit(bound.target.card.unit) if name in values)
    return max((float(np.max(np.abs(_finite(value)))) for value in alike), default=0.0)


@lru_cache(maxsize=256)
def words(bound: Bound) -> frozenset[str]:
    """The words that ``beside`` and the weights of the bound's statistic may read."""
    at = bound.statistic
    weights = () if at is None or at.weights is None else at.weights.words
    return frozenset({*(q.name for q in bound.quantities), *_words_of_unit(bound.target.card.unit), *weights})


@lru_cache(maxsize=64)
def _words_of_unit(unit: Any) -> tuple[str, ...]:
    return tuple(q.name for q in vars(vocabulary).values() if isinstance(q, Quantity) and q.card.unit == unit)


def _doubt(bound: Bound, given: Mapping[str, Any]) -> float:
    """What rounding can make of a bound whose terms cancel."""
    sizes = [
        np.max(np.abs(_finite(part(**{q.name: given[q.name] for q in alone.quantities}))))
        for alone, part in _parts(bound)
    ]
    return 1e-9 * float(max(sizes))


@lru_cache(maxsize=256)
def _parts(bound: Bound) -> tuple[tuple[Bound, Callable[..., Any]], ...]:
    """Every term as a bound of its own, and as a fast function."""
    alone = [replace(bound, terms={n: t}, conditions=(), signed=(), off_by={}) for n, t in bound.terms.items()]
    return tuple((term, term.compile()) for term in alone)


def _finite(term: Any) -> Any:
    numbers = np.asarray(term, dtype=float)
    return np.where(np.isfinite(numbers), numbers, 0.0)


def spoken(bound: Bound, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The words of the numeric conditions that fail."""
    with np.errstate(all="ignore"):
        found = tuple(words for words, only in _conditions(bound) if np.isnan(only(**given)).any())
    return found or ("the bound has a value there",)


@lru_cache(maxsize=256)
def _conditions(bound: Bound) -> tuple[tuple[str, Callable[..., Any]], ...]:
    """The words of every numeric condition, and the bound under it alone as a fast function."""
    kept = [(c.words, replace(bound, conditions=(c,))) for c in bound.numeric_conditions]
    whole = {q.name for q in bound.quantities}
    return tuple((words, _ignoring(only, whole)) for words, only in kept)


def _ignoring(bound: Bound, known: set[str]) -> Callable[..., Any]:
    function, own = compiled(bound), {q.name for q in bound.quantities}
    return lambda **given: function(**{name: given[name] for name in own & known})


def assumptions(bound: Bound, problem: Any, method: Any, setting: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of the assumptions that are broken, and of the conditions that nothing decides."""
    found = decided(bound, problem, method, setting)
    return tuple(words for words, _, met in found if met is False), tuple(
        words for words, _, met in found if met is None
    )


def decided(bound: Bound, problem: Any, method: Any, setting: Any) -> tuple[tuple[str, str, bool | None], ...]:
    """Every condition that is not numeric: its words, what decides it, and whether it is met (None: undecided)."""
    found: list[tuple[str, str, bool | None]] = []
    for condition in bound.conditions:
        if condition.assumption is not None:
            found.append((condition.words, "predicate", condition.assumption.holds(problem, method, setting)))
        elif condition.kind == "words":
            found.append((condition.words, "words", None))
    return tuple(found)


@lru_cache(maxsize=256)
def _scalar(bound: Bound, name: str) -> Callable[..., Any] | None:
    """The numeric conditions that contain ``name`` as one fast function of plain numbers; None if there are none."""
    spoken_of = [r for r in bound.relations if name in {getattr(s, "name", "") for s in r.free_symbols}]
    if not spoken_of or name not in {q.name for q in bound.quantities}:
        return None
    stand_ins = {q: sp.Symbol(q.name) for q in bound.quantities}
    plain = [relation.subs(stand_ins) for relation in spoken_of]
    code = sp.lambdify(list(stand_ins.values()), plain, modules=["math", "sympy"])
    return lambda **values: all(code(**values))


def largest(bound: Bound, values: Mapping[str, Any], name: str, high: float, low_share: float = 1e-9) -> float:
    """The largest value of ``name`` up to ``high`` that meets the conditions, 0 if even tiny ones fail.

    Takes it that conditions which hold at a value hold below it, as caps do. ``values`` may be stand-ins for what only
    a run could tell; conditions rarely ask for that.
    """
    check = _scalar(bound, name)
    if check is None:
        return high
    fine = _fine(bound, values, name, check)
    if fine(high):
        return high
    low = high * low_share
    if not fine(low):
        return 0.0
    return _edge(fine, low, high)


def inside(bound: Bound, values: Mapping[str, Any], name: str, high: float, low_share: float = 1e-9) -> float:
    """The same where conditions may also ask for a value above something: the largest of those that meet all."""
    check = _scalar(bound, name)
    if check is None:
        return high
    fine = _fine(bound, values, name, check)
    places = [high * low_share ** (i / PLACES) for i in range(PLACES + 1)]
    met = next((i for i, place in enumerate(places) if fine(place)), None)
    if met is None:
        return 0.0
    return _edge(fine, places[met], places[met - 1]) if met else high


def _fine(bound: Bound, values: Mapping[str, Any], name: str, check: Callable[..., Any]) -> Callable[[float], bool]:
    """Whether the conditions are met at a value of ``name``."""
    given = {q.name: values.get(q.name, 1.0) for q in bound.quantities}

    def fine(value: float) -> bool:
        try:
            return bool(check(**{**given, name: value}))
        except (ArithmeticError, ValueError, TypeError):
            return False

    return fine


def _edge(fine: Callable[[float], bool], low: float, high: float) -> float:
    """The end of what is fine between a value that is and one that is not."""
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if fine(middle) else (low, middle)
    return low * EDGE
