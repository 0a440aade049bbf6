"""A bound as a function of one quantity with all else given: what it can be on boxes, and what it is at a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil, floor, inf, nan, nextafter, sqrt, ulp
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from flint import arb

from ..errors import BoundsError, NoMinimumError, NoSolutionError
from ..quantities import CLIENTS, Quantity
from ..statement import Statement
from ..vocabulary import clients
from .balls import DOWN, Enclosure, Jet, LEVELS, ONE, UP, ZERO
from .evaluate import evaluator_of
from .tape import Tape

SMALLEST, LARGEST = 1e-30, 1e30
"""How near to an open end at zero, and how far out, a search looks."""
LARGEST_WHOLE = 2.0**53
"""The largest count searched: beyond it not every whole number is a float."""
KNOWN = 2.0**-48
"""Relative width up to which the value at a point counts as known."""


class Box(NamedTuple):
    """What is known of a box: value and slope, whether the bound surely applies all over it, or surely nowhere."""

    low: Any
    high: Any
    least_slope: Any
    largest_slope: Any
    inside: bool
    outside: bool
    bits: int

    @property
    def way(self) -> int:
        """1 where the bound surely applies and rises (or is level) all over the box, -1 where it falls, else 0."""
        if not self.inside:
            return 0
        return 1 if self.least_slope >= 0 else -1 if self.largest_slope <= 0 else 0


class Objective:
    """``bound`` as a function of ``over`` with all else given, from ``low`` to ``high``; which of these ends is open,
    cut short or not in the domain itself."""

    def __init__(self, bound: Statement, over: Quantity, given: Mapping[str, list[float]], width: int) -> None:
        self.bound, self.over, self.whole = bound, over, over.card.domain.whole
        self.enclosure = Enclosure(_tape(bound, over), given, width)
        self._limits(given)

    def _limits(self, given: Mapping[str, list[float]]) -> None:
        """The domain of ``over``, cut by the quantities it must not exceed or stay below, and by the search's reach."""
        domain, limit = self.over.card.domain, self.over.card.at_most
        reach = LARGEST_WHOLE if domain.whole else LARGEST
        low, high = max(domain.low, -reach), min(domain.high, reach)
        open_low, open_high = low > domain.low or domain.open_low, high < domain.high or domain.open_high
        if domain.open_low and low == domain.low:
            low = SMALLEST if low == 0 else nextafter(low, inf)
        if domain.open_high and high == domain.high:
            high = -SMALLEST if high == 0 else nextafter(high, -inf)
        below = [q.name for q in self.bound._all if q.card.at_most is not None and q.card.at_most == self.over]
        self.low = max(low, *(max(given[name]) for name in below if name in given), -inf)
        self.high = min(high, *(min(given[q.name]) for q in (limit,) if q is not None and q.name in given), inf)
        self.open_low, self.open_high = open_low and self.low == low, open_high and self.high == high

    # ---- enclosures ----

    def box(self, low: float, high: float, bits: int = LEVELS[0]) -> Box:
        jets = {self.over.name: [Jet((arb(low), arb(high)), (ONE, ONE))]}
        ((value, slope),), inside, outside = self.enclosure.judged(jets, bits)
        least, most = (end if x.is_nan() else x for x, end in zip(value, (DOWN, UP), strict=True))
        falls, rises = (end if x.is_nan() else x for x, end in zip(slope or (ZERO, ZERO), (DOWN, UP), strict=True))
        return Box(least, most, falls, rises, inside, outside, bits)

    def point(self, x: float, bits: int = LEVELS[0]) -> Box:
        """The same at one point, with as many bits as it takes to know the value there to the digits of a float."""
        for more in LEVELS:
            if more >= bits:
                at = self.box(x, x, more)
                if at.outside or (at.high - at.low).upper() <= KNOWN * abs(at.low).lower():
                    break
        return at

    def called(self, x: float) -> float:
        """The value at a point as a call of the bound gives it, NaN where it does not apply."""
        axis, width = bool(self.bound.axis), self.enclosure.width
        values = {**self.enclosure.given, self.over.name: [x]}
        arrays = {name: np.array(numbers if axis else numbers[0]) for name, numbers in values.items()}
        found: float = evaluator_of(self.bound).whole.checked(arrays, (width,) if axis else ()).values[0].item()
        return found

    def stepped(self, x: float, inward: int, good: Callable[[float], bool]) -> tuple[float, float]:
        """A place and its value by a call, a few floats further in where a call says something else than a search.

        A search decides with exact numbers, a call for all numbers that round to the given ones.
        """
        for tries in range(40):
            if good(value := self.called(x)):
                return x, value
            x += inward * (1.0 if self.whole else ulp(x) * 2**tries)
        return nan, nan

    def fails(self, x: float) -> list[bool]:
        """For each numeric condition whether it surely fails at a point."""
        (_, *truths), _ = self.enclosure.run({self.over.name: [Jet((arb(x), arb(x)))]}, LEVELS[1])
        return [any(never for _, never in members) for members in truths]

    def unmet(self) -> str:
        """The words of the numeric conditions that hold nowhere on a grid; of all, if each does somewhere."""
        tried = [self.fails(x) for x in self.grid()]
        words = [c.words for c in self.bound.numeric_conditions]
        return "; ".join([w for w, *fails in zip(words, *tried, strict=True) if all(fails)] or words)

    def grid(self) -> list[float]:
        """Points all over what is searched, in equal ratios."""
        low, high = self.ends()
        grid = {0.0, low, high, *(sign * 10.0 ** (k / 4) for k in range(-120, 121) for sign in (-1, 1))}
        return sorted({float(floor(x)) if self.whole else x for x in grid if low <= x <= high})

    def ends(self) -> tuple[float, float]:
        """The first and the last point that is searched."""
        return (ceil(self.low), floor(self.high)) if self.whole else (self.low, self.high)


@lru_cache(maxsize=512)
def _tape(bound: Statement, over: Quantity) -> Tape:
    """The bound, with denominators factored, which shows poles where they are, and its conditions."""
    total = sp.Add(*bound.spelled_terms.values())
    below = [p for p in total.atoms(sp.Pow) if p.exp.is_negative and p.base.is_Add and p.base.count(over) > 1]
    factored = {p: sp.factor(p.base) ** p.exp for p in below if p.base.is_polynomial(over)}
    return Tape((total.xreplace(factored), *bound.relations))


def centre(low: float, high: float) -> float:
    """A point inside of a box: the geometric mean of ends of one sign, else the arithmetic one; zero between two."""
    if low < 0 < high:
        return 0.0
    small, large = sorted((abs(low), abs(high)))
    if small == 0:  # down to where a search ends
        small = SMALLEST if large > 4 * SMALLEST else SMALLEST**2 / large
    geometric = (1 if high > 0 else -1) * sqrt(small) * sqrt(large)
    return geometric if low < geometric < high else low / 2 + high / 2


def narrow(low: float, high: float, whole: bool) -> bool:
    """Whether nothing lies between two points, or only what is nearer to zero than a search looks."""
    return high - low <= 1 if whole else nextafter(low, inf) >= high or max(-low, high) <= SMALLEST


def swept(
    bound: Statement, over: Quantity, values: Mapping[str, Any], ask: Callable[[Objective], Any], fields: Sequence[str]
) -> Any:
    """What ``ask`` says of the bound as a function of ``over``.

    Over a sweep of the other quantities these ``fields`` of the answer are arrays; where there is no answer they are
    blank (NaN), and ``binding`` says why. Raises what ``ask`` does where there is no answer at all.
    """
    given = evaluator_of(bound).given(values, free=over.name)
    bound = given.bound
    if not given.evaluator.shared_target:
        raise BoundsError(f"{bound.name} bounds one number for each of the {bound.axis}, so it has no single value")
    if bound.axis == CLIENTS and over == clients:
        raise BoundsError(f"{bound.name} sums over clients whose values are given; use its equal_clients() form")
    found: list[Any] = []
    for point in given.points():
        point.pop(over.name, None)
        try:
            found.append(ask(Objective(bound, over, point, given.width)))
        except (NoMinimumError, NoSolutionError) as error:
            found.append(error)
    some = next((one for one in found if not isinstance(one, Exception)), None)
    if some is None:
        raise found[0]
    return replace(some, **{name: _column(name, some, found, given.sweep) for name in fields}) if given.sweep else some


def _column(name: str, some: Any, found: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """One field of all answers in the shape of the sweep, blank for errors; None where it is."""
    kind = type(getattr(some, name))
    if kind is type(None):
        return None
    blank = {str: "", bool: False}.get(kind, nan)
    column = [getattr(one, name, str(one) if name == "binding" else blank) for one in found]
    return np.array(column, dtype=kind if kind in (str, bool) else float).reshape(shape)
