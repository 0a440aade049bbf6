"""A bound at uncertain constants: the interval of its values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
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
FAR = (1e3, 1e6)
"""How many times the known end an unbounded constant is followed."""
NEAR = 1e-9
"""How near to an end that is not allowed itself, over the length of the interval."""

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
    """One end of an interval: where it is looked at, and where further (None: the end itself belongs to it)."""

    at: float
    beyond: float | None = None


def bound_range(bound: Bound, uncertain: Ends, outside: bool = False, **values: Any) -> Range:
    """The interval of ``bound`` while every uncertain constant runs over its own; ``values`` are the others.

    Corners are exact where the bound is monotone in each constant, which points inside are looked at to check; what
    they find widens the interval. An end that is infinite, or that the constant's domain leaves out, is approached: if
    the bound goes on growing, there is no upper end. Nonsense (mu > L) and points where the bound's conditions fail do
    not count (``outside``: the formula there does). A list goes from its low ends to its high ends as a whole.
    """
    used = _checked(bound, uncertain)
    lists = {name: _Together.of(*ends) for name, ends in used.items() if np.ndim(ends[0])}
    sides = {n: lists[n].sides if n in lists else _sides(bound.quantity(n), *ends) for n, ends in used.items()}
    corners = np.array(list(product(*([s.at for s in pair] for pair in sides.values()))), dtype=float)
    box = _Box(bound, tuple(sides), lists, values, outside)
    at = box(corners.reshape(2 ** len(used), len(used)))
    least, most = _extremes(np.concatenate([at, box(_spread([(a.at, b.at) for a, b in sides.values()]))]), bound)
    at_corners = bool(np.nanmin(at, initial=math.inf) <= least and np.nanmax(at, initial=-math.inf) >= most)
    beyond = box(_beyond(sides))
    if (beyond > most).any():
        most = math.inf
    return Range(min(least, float(np.nanmin(beyond, initial=math.inf))), most, at_corners)


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
        return (Side(0.0), Side(1.0)) if self.bounded else (Side(1.0), Side(*FAR))

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
    floor = Side(low) if math.isfinite(low) else Side(_least(high, unit, FAR[0]), _least(high, unit, FAR[1]))
    top = Side(high) if math.isfinite(high) else Side(unit * FAR[0], unit * FAR[1])
    length = top.at - floor.at
    if domain.open_low and low == domain.low:
        floor = Side(floor.at + length / FAR[0], floor.at + length * NEAR)
    if domain.open_high and high == domain.high:
        top = Side(top.at - length / FAR[0], top.at - length * NEAR)
    return floor, top


def _least(high: float, unit: float, far: float) -> float:
    return (min(high, 0.0) if math.isfinite(high) else 0.0) - unit * far


def _beyond(sides: Mapping[str, tuple[Side, Side]]) -> np.ndarray:
    """One point per end that does not belong to its interval, farther out, for each way the others may lie."""
    pairs = list(sides.values())
    points = []
    for i, pair in enumerate(pairs):
        for side in pair:
            if side.beyond is not None:
                others = [[s.at for s in p] if j != i else [side.beyond] for j, p in enumerate(pairs)]
                points += list(product(*others))
    return np.array(points, dtype=float).reshape(len(points), len(pairs))


class _Box(NamedTuple):
    """The bound as a function of points ``(n, uncertain constants)``."""

    bound: Bound
    names: tuple[str, ...]
    lists: Mapping[str, _Together]
    values: Mapping[str, Any]
    outside: bool

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The bound at every point, NaN where it is silent or the point is nonsense."""
        found = np.full(len(points), np.nan)
        sensible = self._sensible(points) if len(points) else found > 0
        if sensible.any():
            shaped = self._columns(points[sensible])
            with warnings.catch_warnings():
                for said in (OutsideConditionsWarning, TermOverflowWarning, UndefinedValueWarning):
                    warnings.simplefilter("ignore", said)
                how = self.bound.formula if self.outside else self.bound
                found[sensible] = np.broadcast_to(how(**{**self.values, **shaped}), int(sensible.sum()))
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


def _extremes(found: np.ndarray, bound: Bound) -> tuple[float, float]:
    spoken = found[~np.isnan(found)]
    if not len(spoken):
        raise SilentError(f"{bound.name} is silent on the whole interval: its conditions fail everywhere")
    return float(spoken.min()), float(spoken.max())


def _spread(ends: list[tuple[float, float]]) -> np.ndarray:
    """Points spread evenly over the box."""
    from scipy.stats.qmc import Halton

    if not ends:
        return np.zeros((0, 0))
    low, high = np.array(ends).T
    return np.asarray(low + Halton(len(ends), scramble=False).random(INSIDE) * (high - low))
