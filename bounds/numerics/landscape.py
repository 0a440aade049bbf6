"""A bound as a function of one quantity, at every point of a sweep: values, enclosures and the limits of the search.

The points of a sweep are called owners and are numbered in one flat row, so that boxes of all of them are worked on in
the same array operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
import sympy as sp

from ..errors import BoundsError
from ..quantities import CLIENTS, Quantity
from ..vocabulary import clients
from . import alike, intervals as iv
from .declared import Declared
from .enclosure import Enclosed
from .intervals import Array, Interval
from .powers import sharpened

if TYPE_CHECKING:
    from ..core import Bound

SMALLEST, LARGEST = 1e-30, 1e30
"""How near to an open end at zero, and how far out, a search looks."""

LARGEST_WHOLE = 2.0**53
"""The largest count searched: beyond it not every whole number is a float."""

BOXES_PER_DECADE = 4


class Box(NamedTuple):
    """What is known about boxes: value and slope, and where the bound surely (not) speaks."""

    value: Interval
    slope: Interval
    inside: Array
    outside: Array


class Limits(NamedTuple):
    """The ends of the search, per owner, and whether each is open: cut short, or not in the domain itself."""

    low: Array
    high: Array
    open_low: Array
    open_high: Array


class Landscape:
    """``bound`` as a function of ``over`` with all else given by ``values``."""

    def __init__(self, bound: Bound, over: Quantity, values: Mapping[str, Any]) -> None:
        if alike.applies(bound, values):
            values = bound._evaluator.for_special(values, over.name)
            bound = bound._evaluator.special.bound
        self.bound, self.over = bound, over
        self.evaluator = bound._evaluator
        if not self.evaluator.shared_target:
            raise BoundsError(f"{bound.name} bounds one number for each of the {bound.axis}, so it has no single value")
        if bound.axis == CLIENTS and over == clients:
            raise BoundsError(f"{bound.name} sums over clients whose values are given; use its equal_clients() form")
        arrays, shape = self.evaluator.prepare(values, free=over.name)
        self.arrays, self.full_shape = arrays, shape
        self.shape = shape[:-1] if bound.axis else shape
        self.width = shape[-1] if bound.axis else 1
        self.owners = int(np.prod(self.shape))
        self.numbers = {n: self._row(a) for n, a in arrays.items() if n != over.name}

    def _row(self, array: Array) -> Array:
        """An array over owners and the axis, (owners, axis); one row where all owners share it."""
        full = array if self.bound.axis else array[..., None]
        if full.size == full.shape[-1]:
            return full.reshape(1, full.shape[-1])
        return np.broadcast_to(full, (*self.shape, full.shape[-1])).reshape(self.owners, full.shape[-1])

    def shaped(self, row: Array) -> Any:
        """One entry per owner in the shape of the sweep; a plain number or word where there is none."""
        return row.reshape(self.shape) if self.shape else row[0].item()

    # ---- the ends ----

    @cached_property
    def limits(self) -> Limits:
        """The domain of ``over``, cut by the quantities it must not exceed or stay below, and by the search's reach."""
        domain = self.over.card.domain
        reach = LARGEST_WHOLE if domain.whole else LARGEST
        low, high = max(domain.low, -reach), min(domain.high, reach)
        open_low, open_high = low > domain.low or domain.open_low, high < domain.high or domain.open_high
        if domain.open_low and low == domain.low:
            low = SMALLEST if low == 0 else float(np.nextafter(low, np.inf))
        if domain.open_high and high == domain.high:
            high = -SMALLEST if high == 0 else float(np.nextafter(high, -np.inf))
        lows, highs = np.full(self.owners, float(low)), np.full(self.owners, float(high))
        for q in self.bound._all:
            if q.card.at_most is not None and q.card.at_most.name == self.over.name and q.name in self.numbers:
                lows = np.maximum(lows, self.numbers[q.name].max(axis=-1))
        limit = self.over.card.at_most
        if limit is not None and limit.name in self.numbers:
            highs = np.minimum(highs, self.numbers[limit.name].min(axis=-1))
        return Limits(lows, highs, open_low & (lows == low), open_high & (highs == high))

    def boxes(self, whole: bool) -> tuple[Array, Array, Array]:
        """Owner, low and high end of the boxes a search starts from: each sign on a logarithmic grid."""
        owners, lows, highs = [], [], []
        for i in range(self.owners):
            edges = _grid(float(self.limits.low[i]), float(self.limits.high[i]))
            low, high = whole_boxes(edges[:-1], edges[1:]) if whole else (edges[:-1], edges[1:])
            owners.append(np.full(len(low), i))
            lows.append(low)
            highs.append(high)
        return np.concatenate(owners), np.concatenate(lows), np.concatenate(highs)

    # ---- points ----

    def value(self, owner: Array, x: Array) -> Array:
        """The bound as its own code evaluates it; NaN where a condition fails."""
        arrays, shape = self._arrays(owner, x)
        return np.asarray(self.evaluator._whole.plain(arrays, shape, cautious=True)[0]).reshape(len(x))

    def settled(self, owner: Array, x: Array) -> Array:
        """``value`` with as many digits as it takes."""
        arrays, shape = self._arrays(owner, x)
        return np.asarray(self.evaluator._whole.values(arrays, shape).arrays[0]).reshape(len(x))

    def exact(self, x: Array) -> Array:
        """The bound at one point per owner, to the last bit what a call with these values gives; NaN stays NaN."""
        there = np.where(np.isfinite(x), x, self.limits.low).reshape(self.shape)
        arrays = {**self.arrays, self.over.name: there[..., None] if self.bound.axis else there}
        value = np.asarray(self.evaluator._whole.values(arrays, self.full_shape).arrays[0]).reshape(self.owners)
        return np.where(np.isfinite(x), value, np.nan)

    def met(self, owner: Array, x: Array) -> list[Array]:
        """For each numeric condition, whether it holds."""
        arrays, shape = self._arrays(owner, x)
        return [np.asarray(m).reshape(len(x)) for m in self.evaluator._whole.plainly_met(arrays, shape)]

    def _arrays(self, owner: Array, x: Array) -> tuple[dict[str, Array], tuple[int, ...]]:
        arrays = {n: a if a.shape[0] == 1 else a[owner] for n, a in self.numbers.items()}
        arrays[self.over.name] = x[:, None]
        if self.bound.axis:
            return arrays, (len(x), self.width)
        return {n: a[..., 0] for n, a in arrays.items()}, (len(x),)

    def unmet(self) -> list[str]:
        """The words of the numeric conditions that hold nowhere on the grid a search starts from; of all, if each does
        somewhere."""
        owner, lo, _ = self.boxes(whole=False)
        words = [c.words for c in self.bound.numeric_conditions]
        nowhere = [w for w, met in zip(words, self.met(owner, lo), strict=True) if not met.any()]
        return nowhere or words

    def speaks(self) -> Array:
        """Per owner, whether the bound has a value, perhaps an infinite one, on the grid a search starts from."""
        owner, lo, _ = self.boxes(whole=False)
        spoken = np.zeros(self.owners, dtype=bool)
        np.logical_or.at(spoken, owner, ~np.isnan(self.value(owner, lo)))
        return spoken

    # ---- enclosures ----

    @cached_property
    def _formula(self) -> Enclosed:
        terms = tuple(self.bound.spelled_terms.values())
        sharper = sharpened(terms, self.over)
        forms = [sp.Add(*terms), *([] if sharper is None else [sharper])]
        return Enclosed(forms, self.over, self.spread)

    @cached_property
    def _sides(self) -> Enclosed:
        return Enclosed(sides_of(self.bound.relations), self.over, self.spread)

    @cached_property
    def _declared(self) -> Declared:
        return Declared(self.bound, self.over, self.spread)

    def endless_terms(self) -> list[str]:
        """The terms for which intervals know no lower end somewhere."""
        return self._declared.endless(*self.boxes(whole=False))

    @property
    def spread(self) -> dict[str, Array]:
        """The numbers, at least one of them over the whole axis, so that sums know its length."""
        return {**self.numbers, "": np.zeros((self.owners, self.width))}

    def enclose(self, owner: Array, lo: Array, hi: Array) -> Box:
        """Values and slopes on boxes, sharpened by the slope from each box's middle; whether the conditions hold."""
        n = len(lo)
        middle = centre(lo, hi)
        both = Interval(np.concatenate((lo, middle))[:, None], np.concatenate((hi, middle))[:, None])
        seed = iv.point(np.ones((2 * n, 1)))
        jets, domains = self._formula.run(both, seed, np.concatenate((owner, owner)))
        level = iv.point(np.zeros((1, 1)))
        value = reduce(iv.intersect, [_column(jet.value, 2 * n) for jet in jets])
        slope = reduce(iv.intersect, [_column(jet.slope or level, 2 * n) for jet in jets])
        reach = iv.add(Interval(lo, hi), iv.point(-middle))
        with np.errstate(all="ignore"):
            sharper = iv.add(value.part(slice(n, None)), iv.multiply(slope.part(slice(n)), reach))
            usable = ~domains.partial[:n] & np.isfinite(slope.lo[:n]) & np.isfinite(slope.hi[:n])
            box = iv.choose(usable, iv.intersect(value.part(slice(n)), sharper), value.part(slice(n)))
        true, false, unknown = self._truth(owner, lo, hi)
        if (endless := np.isneginf(box.lo) & ~false & ~domains.empty[:n]).any():
            box.lo[endless] = self._declared.floor(owner[endless], lo[endless], hi[endless])
        return Box(box, slope.part(slice(n)), true & ~domains.partial[:n] & ~unknown, false | domains.empty[:n])

    def _truth(self, owner: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        n = len(lo)
        true, false = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        if not self.bound.relations:
            return true, false, false
        jets, domains = self._sides.run(Interval(lo[:, None], hi[:, None]), None, owner)
        sides = iter([jet.value for jet in jets])
        for relation in self.bound.relations:
            yes, no = decide(relation, sides)
            true &= np.broadcast_to(yes.all(axis=-1), (n,))
            false |= np.broadcast_to(no.any(axis=-1), (n,))
        return true, false | domains.empty, domains.partial


def centre(lo: Array, hi: Array) -> Array:
    """A point of each box: the geometric mean of ends of one sign, else the arithmetic one."""
    with np.errstate(all="ignore"):
        geometric = np.sign(hi) * np.sqrt(np.abs(lo)) * np.sqrt(np.abs(hi))
    return np.clip(np.where(lo * hi > 0, geometric, lo / 2 + hi / 2), lo, hi)


def whole_boxes(lo: Array, hi: Array) -> tuple[Array, Array]:
    """Neighbouring boxes shrunk to whole numbers so that each number is in one box; empty ones dropped."""
    first = np.where(np.arange(len(lo)) == 0, np.ceil(lo), np.floor(lo) + 1)
    last = np.floor(hi)
    return first[first <= last], last[first <= last]


def _grid(low: float, high: float) -> Array:
    """Edges from ``low`` to ``high``: a logarithmic grid on each side of zero, down to ``SMALLEST``."""
    if low >= high:
        return np.array([low, high]) if low == high else np.array([])
    negative = -_logarithmic(max(-high, SMALLEST), -low)[::-1] if low < -SMALLEST else np.array([])
    positive = _logarithmic(max(low, SMALLEST), high) if high > SMALLEST else np.array([])
    return np.unique(np.concatenate(([low], negative, positive, [high])))


def _logarithmic(low: float, high: float) -> Array:
    count = max(2, int(np.ceil(BOXES_PER_DECADE * np.log10(high / low))) + 1)
    edges = np.geomspace(low, high, count)
    edges[0], edges[-1] = low, high
    return edges


def _column(a: Interval, n: int) -> Interval:
    return Interval(*(np.broadcast_to(end[:, 0], (n,)) for end in a))


def sides_of(relations: tuple[sp.Basic, ...]) -> list[sp.Expr]:
    """Both sides of every comparison, in the order ``decide`` reads them."""
    sides: list[sp.Expr] = []
    for relation in relations:
        sides += [relation.lhs, relation.rhs] if relation.is_Relational else sides_of(relation.args)
    return sides


def decide(relation: sp.Basic, sides: Any) -> tuple[Array, Array]:
    """Where a relation surely holds and where it surely fails, on boxes."""
    if not relation.is_Relational:
        parts = [decide(r, sides) for r in relation.args]
        if isinstance(relation, sp.Not):
            return parts[0][1], parts[0][0]
        if isinstance(relation, sp.And):
            return np.logical_and.reduce([p[0] for p in parts]), np.logical_or.reduce([p[1] for p in parts])
        return np.logical_or.reduce([p[0] for p in parts]), np.logical_and.reduce([p[1] for p in parts])
    a, b = next(sides), next(sides)
    if isinstance(relation, (sp.Ge, sp.Gt)):
        a, b = b, a
    if isinstance(relation, (sp.Le, sp.Ge)):
        return a.hi <= b.lo, a.lo > b.hi
    if isinstance(relation, (sp.Lt, sp.Gt)):
        return a.hi < b.lo, a.lo >= b.hi
    same, apart = (a.lo == a.hi) & (b.lo == b.hi) & (a.lo == b.lo), (a.hi < b.lo) | (a.lo > b.hi)
    return (apart, same) if isinstance(relation, sp.Ne) else (same, apart)
