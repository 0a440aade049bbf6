"""Proof that a bound rises or falls throughout in each uncertain constant, so that its corners are its extremes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TYPE_CHECKING

import numpy as np
import sympy as sp

from ..domains import Domain
from ..errors import BoundsError
from . import alike
from .enclosure import Enclosed
from .intervals import Array, Interval
from .landscape import decide, sides_of

if TYPE_CHECKING:
    from ..core import Bound

Ends = Mapping[str, tuple[Any, Any]]


def is_monotone(bound: Bound, uncertain: Ends, outside: bool = False, **values: Any) -> Array:
    """Per point of the sweeps in ``values``: whether the bound is proven to be monotone in each uncertain constant.

    The proof is interval arithmetic on the whole box: every slope has one sign there, the conditions hold all over it
    (``outside``: they do not matter) and no constant comes above the one that limits it. False means that there is no
    proof, not that it fails to be monotone. ``uncertain`` as for ``bound_range``.
    """
    known = {q.name for q in bound.quantities}
    ends = {name: pair for name, pair in uncertain.items() if name in known}
    typical = {name: _within(bound, name, low, high) for name, (low, high) in ends.items()}
    values = {**{n: v for n, v in values.items() if n not in ends}, **typical}
    if alike.applies(bound, values):
        values = bound._evaluator.for_special(values)
        bound = bound._evaluator.special.bound
    arrays, shape = bound._evaluator.prepare(values)
    sweep, width = (shape[:-1], shape[-1]) if bound.axis else (shape, 1)
    proven = np.zeros(sweep, dtype=bool)
    with suppress(BoundsError):  # a function without an interval form
        numbers = _boxes(bound, ends, arrays, sweep, width)
        proven = _certain(bound, ends, numbers, outside).reshape(sweep)
    return proven


def _within(bound: Bound, name: str, low: Any, high: Any) -> Any:
    """Values inside of the interval and the domain, for what is checked of every value."""
    domain = bound.quantity(name).card.domain
    floor, top = (np.clip(np.asarray(end, dtype=float), domain.low, domain.high) for end in (low, high))
    first, last = np.where(np.isfinite(floor), floor, top - 1), np.where(np.isfinite(top), top, floor + 1)
    first, last = (np.where(np.isfinite(end), end, 1.0) for end in (first, last))
    inside: Array = np.rint(last) if domain.whole else first if domain.simplex else (first + last) / 2
    return inside


def _boxes(bound: Bound, ends: Ends, arrays: Mapping[str, Array], sweep: tuple[int, ...], width: int) -> dict[str, Any]:
    """Per quantity a row for every point: its number, or the interval it may be in, cut to the domain."""
    owners = int(np.prod(sweep))
    numbers: dict[str, Any] = {"": np.zeros((owners, width))}
    for name, array in arrays.items():
        full = array if bound.axis else array[..., None]
        shape = (owners, full.shape[-1])
        if name in ends:
            lo, hi = _cut(bound.quantity(name).card.domain, *ends[name])
            numbers[name] = Interval(np.broadcast_to(lo, shape), np.broadcast_to(hi, shape))
        else:
            numbers[name] = np.broadcast_to(full, (*sweep, full.shape[-1])).reshape(shape)
    return numbers


def _cut(domain: Domain, low: Any, high: Any) -> tuple[Array, Array]:
    """The ends within the domain; the first float beside an end that does not belong to it."""
    lo, hi = (np.clip(np.asarray(end, dtype=float), domain.low, domain.high) for end in (low, high))
    if domain.open_low:
        lo = np.where(lo == domain.low, np.nextafter(lo, np.inf), lo)
    if domain.open_high:
        hi = np.where(hi == domain.high, np.nextafter(hi, -np.inf), hi)
    return lo, hi


def _certain(bound: Bound, ends: Ends, numbers: Mapping[str, Any], outside: bool) -> Array:
    owners = len(numbers[""])
    everyone = np.arange(owners)
    sure = _in_order(bound, ends, numbers)
    if not outside and bound.relations:
        enclosed = Enclosed(sides_of(bound.relations), None, numbers)
        jets, domains = enclosed.run(enclosed.anywhere, None, everyone)
        sides = iter([jet.value for jet in jets])
        for relation in bound.relations:
            sure = sure & np.broadcast_to(decide(relation, sides)[0].all(axis=-1), (owners,))
        sure = sure & ~domains.partial
    formula = sp.Add(*bound.spelled_terms.values())
    for name in ends:
        q = bound.quantity(name)
        if q not in formula.free_symbols:
            continue
        box = numbers[name]
        # Every entry of a list by itself: one that is moved as a whole then rises or falls too.
        seed = Interval(np.zeros_like(box.lo), np.ones_like(box.lo)) if np.ndim(ends[name][0]) else _ones(box)
        (jet,), domains = Enclosed([formula], q, numbers).run(box, seed, everyone)
        if jet.slope is not None:
            one_way = (jet.slope.lo >= 0).all(axis=-1) | (jet.slope.hi <= 0).all(axis=-1)
            sure = sure & np.broadcast_to(one_way, (owners,))
        sure = sure & ~domains.partial
    return np.asarray(sure)


def _ones(box: Interval) -> Interval:
    return Interval(np.ones_like(box.lo), np.ones_like(box.lo))


def _in_order(bound: Bound, ends: Ends, numbers: Mapping[str, Any]) -> Array:
    """Where no uncertain constant can come above its limit, and none that is limited by it above it."""
    sure = np.ones(len(numbers[""]), dtype=bool)
    for q in bound.quantities:
        pair = {q.name, q.card.at_most.name} if q.card.at_most is not None else set()
        if pair & set(ends) and q.card.at_most is not None and pair <= numbers.keys():
            small, large = numbers[q.name], numbers[q.card.at_most.name]
            top = small.hi if isinstance(small, Interval) else small
            floor = large.lo if isinstance(large, Interval) else large
            sure = sure & (top.max(axis=-1) <= floor.min(axis=-1))
    return sure


__all__ = ["is_monotone"]
