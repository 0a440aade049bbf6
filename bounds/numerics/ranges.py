"""A bound at uncertain constants: the interval of its values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from ..errors import BoundsError, OutsideConditionsWarning, TermOverflowWarning, UndefinedValueWarning
from ..quantities import Quantity

if TYPE_CHECKING:
    from ..core import Bound

MOST = 10
"""Uncertain constants whose corners are all visited."""
INSIDE = 256
"""Points inside of the box that are looked at too."""
FAR = tuple(10.0**e for e in (3, 6, 12, 25, 50, 100))
"""How many times the known end a constant without an end is followed, until what the bound does there is plain."""
NEAR = tuple(10.0**-e for e in (3, 6, 9, 12, 14, 15))
"""How near to an end that is not allowed itself, over the length of the interval; to an end at 0, 1/FAR."""
WIDE = 10.0
"""Ratio of the ends of an interval from which points inside are spread in equal ratios."""
STEADY = 1e-6
"""Relative change between the last two such places below which a bound has arrived at its limit."""

Ends = Mapping[str, tuple[Any, Any]]
"""The interval of every uncertain constant; two lists for one that varies over clients."""


class SilentError(BoundsError):
    """The conditions of a bound fail wherever its constants may lie."""


class Range(NamedTuple):
    """From the least to the largest value; ``at_corners``: no point inside went beyond the corners."""

    low: float
    high: float
    at_corners: bool


class Side(NamedTuple):
    """One end of an interval: the end itself, or places on the way to one that does not belong to it."""

    places: tuple[float, ...]

    @property
    def at(self) -> float:
        """The end, or the first place on the way to it."""
        return self.places[0]


def bound_range(bound: Bound, uncertain: Ends, outside: bool = False, **values: Any) -> Range:
    """The interval of ``bound`` while every uncertain constant runs over its own; ``values`` are the others.

    Corners are exact where the bound is monotone in each constant (``is_monotone`` proves it where it can), which
    points inside are looked at to check; what they find widens the interval. An end that is infinite, or that the
    domain leaves out, counts with the limit of the bound there: infinite if it goes on growing, 0 if it goes on
    shrinking. Nonsense (mu > L) and points where the bound's conditions fail do not count (``outside``: the formula
    there does). A list goes from its low ends to its high ends as a whole.
    """
    how = bound.formula if outside else bound
    (found,) = ranges_of(lambda **numbers: [how(**numbers)], bound, uncertain, **values)
    if found is None:
        raise SilentError(f"{bound.name} is silent on the whole interval: its conditions fail everywhere")
    return found


def ranges_of(
    ask: Callable[..., Sequence[Any]], bound: Bound, uncertain: Ends, inside: int = INSIDE, **values: Any
) -> list[Range | None]:
    """The same of every number that ``ask`` answers with, given arrays of what the constants may be; None: silent.

    ``inside`` points are looked at besides the corners.
    """
    used = _checked(bound, uncertain)
    lists = {name: _Together.of(*ends) for name, ends in used.items() if np.ndim(ends[0])}
    sides = {n: lists[n].sides if n in lists else _sides(bound.quantity(n), *ends) for n, ends in used.items()}
    corners = [_towards(corner) for corner in product(*sides.values())]
    spread = _spread([(low.at, high.at) for low, high in sides.values()], inside)
    found = _Box(bound, tuple(sides), lists, values)(ask, np.concatenate([*corners, spread]))
    cuts = np.cumsum([len(rows) for rows in corners])
    return [_range([_limit(rows) for rows in np.split(row, cuts)[:-1]], row[cuts[-1] :]) for row in found]


def _range(corners: list[float], inside: np.ndarray) -> Range | None:
    at = np.array(corners)
    spoken = np.concatenate([at, inside])
    spoken = spoken[~np.isnan(spoken)]
    if not len(spoken):
        return None
    least, most = float(spoken.min()), float(spoken.max())
    return Range(least, most, bool(np.nanmin(at, initial=np.inf) <= least and np.nanmax(at, initial=-np.inf) >= most))


def _towards(corner: tuple[Side, ...]) -> np.ndarray:
    """Points that run towards a corner; one where all its ends belong to their intervals."""
    steps = max((len(side.places) for side in corner), default=1)
    rows = [[side.places[min(i, len(side.places) - 1)] for side in corner] for i in range(steps)]
    return np.array(rows, dtype=float).reshape(steps, len(corner))


def _limit(found: np.ndarray) -> float:
    """Where the values on the way to a corner lead; NaN where there are none."""
    spoken = found[~np.isnan(found)]
    if len(spoken) < 2 or len(found) == 1:
        return float(spoken[-1]) if len(spoken) else math.nan
    before, last = float(spoken[-2]), float(spoken[-1])
    if before == last or abs(last - before) <= STEADY * abs(last):
        return last
    return math.copysign(math.inf, last) if abs(last) > abs(before) else 0.0


def _checked(bound: Bound, uncertain: Ends) -> dict[str, tuple[Any, Any]]:
    """The uncertain constants that the bound uses."""
    known = {q.name for q in bound.quantities}
    used = {name: ends for name, ends in uncertain.items() if name in known}
    if len(used) > MOST:
        raise BoundsError(f"at most {MOST} uncertain constants at once; got {len(used)}")
    for name, (low, high) in used.items():
        if not np.all(np.asarray(low) <= np.asarray(high)):
            raise BoundsError(f"{name}: the ends of an interval must be in order; got {low} > {high}")
    return used


class _Together(NamedTuple):
    """A list between two ends: ``low + t (high - low)``, or ``t low`` (at least t - 1) where it has no upper end."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, low: Any, high: Any) -> _Together:
        return cls(*(np.asarray(end, dtype=float) for end in (low, high)))

    @property
    def bounded(self) -> bool:
        return bool(np.isfinite(self.high).all())

    @property
    def sides(self) -> tuple[Side, Side]:
        return (Side((0.0,)), Side((1.0,))) if self.bounded else (Side((1.0,)), Side(FAR))

    def at(self, t: np.ndarray) -> np.ndarray:
        """The lists ``(n, clients)`` at the places t ``(n,)``."""
        t = t[:, None]
        if self.bounded:
            return np.asarray(self.low + t * (self.high - self.low))
        open_ = np.maximum(self.low * t, np.where(t > 1, t - 1, self.low))
        return np.asarray(np.where(np.isfinite(self.high), np.clip(open_, self.low, self.high), open_))


def _sides(quantity: Quantity, low: float, high: float) -> tuple[Side, Side]:
    """Where an interval is looked at: its ends within the domain, points near or far for ends that are not in it."""
    domain = quantity.card.domain
    low, high = max(low, domain.low), min(high, domain.high)
    unit = (abs(low) if math.isfinite(low) else abs(high) if math.isfinite(high) else 0.0) or 1.0
    anchor = min(high, 0.0) if math.isfinite(high) else 0.0
    floor = Side((low,)) if math.isfinite(low) else Side(tuple(anchor - unit * far for far in FAR))
    top = Side((high,)) if math.isfinite(high) else Side(tuple(unit * far for far in FAR))
    length = top.at - floor.at
    if domain.open_low and low == domain.low:
        floor = Side(tuple(low + length * near for near in _nearness(low)))
    if domain.open_high and high == domain.high:
        top = Side(tuple(high - length * near for near in _nearness(high)))
    return floor, top


def _nearness(end: float) -> tuple[float, ...]:
    """How near to this end floats can come."""
    return NEAR if end else tuple(1 / far for far in FAR)


class _Box(NamedTuple):
    """What points ``(n, uncertain constants)`` stand for: the numbers of a bound's quantities."""

    bound: Bound
    names: tuple[str, ...]
    lists: Mapping[str, _Together]
    values: Mapping[str, Any]

    def __call__(self, ask: Callable[..., Sequence[Any]], points: np.ndarray) -> np.ndarray:
        """A row for each number that ``ask`` answers with at every point, NaN where there is none."""
        sensible = self._sensible(points)
        if not sensible.any():
            return np.full((1, len(points)), np.nan)
        with warnings.catch_warnings():
            for said in (OutsideConditionsWarning, TermOverflowWarning, UndefinedValueWarning):
                warnings.simplefilter("ignore", said)
            answers = ask(**{**self.values, **self._columns(points[sensible])})
        found = np.full((len(answers), len(points)), np.nan)
        for row, answer in zip(found, answers, strict=True):
            row[sensible] = answer
        return found

    def _columns(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """The constants at every point ``(n,)``, ``(n, clients)`` or ``(n, 1)`` where they may vary over clients."""
        columns = dict(zip(self.names, points.T, strict=True))
        over = {name for name in columns if self.bound.quantity(name).card.axis}
        single = {name: c[:, None] if name in over else c for name, c in columns.items()}
        return {**single, **{name: together.at(columns[name]) for name, together in self.lists.items()}}

    def _sensible(self, points: np.ndarray) -> np.ndarray:
        """Where every constant is in its domain and none is above the one that limits it."""
        columns = {**self.values, **self._columns(points)}
        able = np.ones(len(points), dtype=bool)
        for q in self.bound.quantities:
            if q.name in self.names:
                able &= q.card.domain.contains(columns[q.name]).reshape(len(points), -1).all(-1)
            limit = q.card.at_most.name if q.card.at_most is not None else ""
            if {q.name, limit} <= columns.keys() and {q.name, limit} & set(self.names):
                small, large = (self._rows(columns[name], name, len(points)) for name in (q.name, limit))
                able &= small.max(-1) <= large.min(-1)
        return able

    def _rows(self, numbers: Any, name: str, count: int) -> np.ndarray:
        """A constant's numbers with a row for every point, or one row for all of them."""
        return np.asarray(numbers, dtype=float).reshape(count if name in self.names else 1, -1)


def _spread(ends: list[tuple[float, float]], count: int) -> np.ndarray:
    """Points spread evenly over the box."""
    from scipy.stats.qmc import Halton

    if not ends:
        return np.zeros((0, 0))
    low, high = np.array(ends).T
    share = Halton(len(ends), scramble=False).random(count)
    wide = (low > 0) & (high > WIDE * low)
    safe = np.where(wide, low, 1.0), np.where(wide, high, 1.0)
    return np.asarray(np.where(wide, safe[0] * (safe[1] / safe[0]) ** share, low + share * (high - low)))
