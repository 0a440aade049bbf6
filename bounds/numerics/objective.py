"""A bound as a function of one quantity: enclosures of its values over boxes, and its value at a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import ceil, floor, inf, nan, nextafter, sqrt, ulp
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from flint import arb

from ..errors import BoundsError
from ..quantities import CLIENTS, Quantity
from ..statement import Statement
from ..vocabulary import clients
from .balls import DOWN, Enclosure, Jet, LEVELS, ONE, UP, ZERO
from .evaluate import evaluator_of
from .tape import Tape

SMALLEST, LARGEST = 1e-30, 1e30
"""The limits of a search: how close to an open end at zero it goes, and how far out."""
LARGEST_WHOLE = 2.0**53
"""The largest count in a search. Beyond it, not every integer is a float."""
ACCURATE = 2.0**-48
"""The relative width of an enclosure up to which the value at a point counts as known."""


class Box(NamedTuple):
    """Enclosures over a box: the ranges of value and slope, and whether the bound applies.

    ``inside``: it certainly applies in the whole box. ``outside``: it certainly applies nowhere in it.
    """

    low: Any
    high: Any
    least_slope: Any
    largest_slope: Any
    inside: bool
    outside: bool
    bits: int

    @property
    def direction(self) -> int:
        """1 if the bound certainly applies and increases (weakly) in the whole box, -1 if it decreases, else 0."""
        if not self.inside:
            return 0
        return 1 if self.least_slope >= 0 else -1 if self.largest_slope <= 0 else 0


class Objective:
    """``bound`` as a function of ``over``, with numbers for all other quantities.

    The search runs from ``low`` to ``high``. ``open_low`` and ``open_high`` say whether the end is merely where the
    search stops: the domain goes on, or does not include its own end.
    """

    def __init__(self, bound: Statement, over: Quantity, given: Mapping[str, list[float]], width: int) -> None:
        self.bound, self.over, self.whole = bound, over, over.card.domain.whole
        self.enclosure = Enclosure(_tape(bound, over), given, width)
        self._limits(given)

    def _limits(self, given: Mapping[str, list[float]]) -> None:
        """Set the ends: those of the domain, cut by quantities that limit ``over`` and by the limits of a search."""
        domain, limit = self.over.card.domain, self.over.card.at_most
        reach = LARGEST_WHOLE if domain.whole else LARGEST
        low, high = max(domain.low, -reach), min(domain.high, reach)
        open_low, open_high = low > domain.low or domain.open_low, high < domain.high or domain.open_high
        if domain.open_low and low == domain.low:
            low = SMALLEST if low == 0 else nextafter(low, inf)
        if domain.open_high and high == domain.high:
            high = -SMALLEST if high == 0 else nextafter(high, -inf)
        self.below = [q.name for q in self.bound.all_quantities if q.card.at_most == self.over]
        """The quantities that must not exceed ``over``."""
        self.low = max(low, *(max(given[name]) for name in self.below if name in given), -inf)
        self.high = min(high, *(min(given[q.name]) for q in (limit,) if q is not None and q.name in given), inf)
        self.open_low, self.open_high = open_low and self.low == low, open_high and self.high == high

    # ---- enclosures ----

    def box(self, low: float, high: float, bits: int = LEVELS[0]) -> Box:
        """Return enclosures over an interval of ``over``."""
        jets = {self.over.name: [Jet((arb(low), arb(high)), (ONE, ONE))]}
        ((value, slope),), inside, outside = self.enclosure.enclose(jets, bits)
        least, most = (end if x.is_nan() else x for x, end in zip(value, (DOWN, UP), strict=True))
        falls, rises = (end if x.is_nan() else x for x, end in zip(slope or (ZERO, ZERO), (DOWN, UP), strict=True))
        return Box(least, most, falls, rises, inside, outside, bits)

    def point(self, x: float, bits: int = LEVELS[0]) -> Box:
        """Return the enclosure at one point, with enough bits to know the value to the digits of a float."""
        for more in LEVELS:
            if more >= bits:
                at = self.box(x, x, more)
                if at.outside or (at.high - at.low).upper() <= ACCURATE * abs(at.low).lower():
                    break
        return at

    def value(self, x: float) -> float:
        """Return the value of a call of the bound at a point, NaN if it does not apply."""
        axis, width = bool(self.bound.axis), self.enclosure.width
        values = {**self.enclosure.given, self.over.name: [x]}
        arrays = {name: np.array(numbers if axis else numbers[0]) for name, numbers in values.items()}
        result = evaluator_of(self.bound).value_and_conditions.checked(arrays, (width,) if axis else ())
        return float(result.values[0].item())

    def step_inward(self, x: float, inward: int, good: Callable[[float], bool]) -> tuple[float, float]:
        """Return the first point from ``x`` inward at which a call's value is ``good``, and that value; else NaN.

        It is a few floats away if a call and a search disagree: a search treats numbers as exact, a call considers all
        numbers that round to the given ones.
        """
        for tries in range(40):
            if good(value := self.value(x)):
                return x, value
            x += inward * (1.0 if self.whole else ulp(x) * 2**tries)
        return nan, nan

    def fails(self, x: float) -> list[bool]:
        """Whether each numeric condition certainly fails at a point."""
        (_, *truths), _ = self.enclosure.run({self.over.name: [Jet((arb(x), arb(x)))]}, LEVELS[1])
        return [any(never for _, never in members) for members in truths]

    def unmet(self) -> str:
        """Return the conditions that fail on a whole grid, as text; all conditions if each holds somewhere."""
        failing = [self.fails(x) for x in self.grid()]
        words = [c.words for c in self.bound.numeric_conditions]
        return "; ".join([w for w, *fails in zip(words, *failing, strict=True) if all(fails)] or words)

    def grid(self) -> list[float]:
        """Return a logarithmic grid over the interval of the search."""
        low, high = self.ends()
        grid = {0.0, low, high, *(sign * 10.0 ** (k / 4) for k in range(-120, 121) for sign in (-1, 1))}
        return sorted({float(floor(x)) if self.whole else x for x in grid if low <= x <= high})

    def ends(self) -> tuple[float, float]:
        """Return the first and the last point of the search."""
        return (ceil(self.low), floor(self.high)) if self.whole else (self.low, self.high)


@lru_cache(maxsize=512)
def _tape(bound: Statement, over: Quantity) -> Tape:
    """Return the tape of the bound and its conditions; factored denominators give tighter enclosures near poles."""
    total = sp.Add(*bound.spelled_terms.values())
    below = [p for p in total.atoms(sp.Pow) if p.exp.is_negative and p.base.is_Add and p.base.count(over) > 1]
    factored = {p: sp.factor(p.base) ** p.exp for p in below if p.base.is_polynomial(over)}
    return Tape((total.xreplace(factored), *bound.relations))


def centre(low: float, high: float) -> float:
    """Return a point inside an interval: zero if it is inside, else the geometric mean, or the arithmetic one."""
    if low < 0 < high:
        return 0.0
    small, large = sorted((abs(low), abs(high)))
    if small == 0:  # replaced by the smallest number of a search
        small = SMALLEST if large > 4 * SMALLEST else SMALLEST**2 / large
    geometric = (1 if high > 0 else -1) * sqrt(small) * sqrt(large)
    return geometric if low < geometric < high else low / 2 + high / 2


def narrow(low: float, high: float, whole: bool) -> bool:
    """Whether a search has no point between two points."""
    return high - low <= 1 if whole else nextafter(low, inf) >= high or max(-low, high) <= SMALLEST


def objective_of(bound: Statement, over: Quantity, values: Mapping[str, Any]) -> Objective:
    """Return a bound as a function of ``over``, with one number for every other quantity, or one for each client."""
    inputs = evaluator_of(bound).inputs(values, free=over.name)
    bound = inputs.bound
    if not inputs.evaluator.shared_target:
        raise BoundsError(f"{bound.name} bounds one number for each of the {bound.axis}, so it has no single value")
    if bound.axis == CLIENTS and over == clients:
        raise BoundsError(f"{bound.name} sums over clients whose values are given; use its equal_clients() form")
    if inputs.sweep:
        raise BoundsError(f"{bound.name} is optimised at one point; fedbounds.minimize and fedbounds.solve take sweeps")
    (point,) = inputs.points()
    return Objective(bound, over, {name: numbers for name, numbers in point.items() if name != over.name}, inputs.width)
