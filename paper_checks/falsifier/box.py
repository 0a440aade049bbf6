"""Boxes: the ranges of the parameters of instances, with special values such as limits, and random places in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp, log
from typing import Any

import numpy as np

from bounds.errors import DomainError, unknown

from .core import Point

Unit = np.ndarray[Any, np.dtype[np.float64]]

LIMITS = 0.25
"""Probability that a coordinate of a drawn place takes a special value."""
INNER, ALIKE = 0.1, 0.5
"""At a corner: the probability that a coordinate stays random, and that the parameters of all clients are equal."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an instance from ``low`` to ``high``; ``special`` are values that a search must not miss."""

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    special: tuple[float, ...] = ()
    at_most: str = ""
    """The name of a parameter that it cannot exceed."""

    def takes(self, value: float) -> bool:
        """Return whether an instance may have this value."""
        return value in self.special or (
            self.low <= value <= self.high and (not self.whole or float(value).is_integer())
        )

    def above(self, low: float) -> Parameter:
        """Return the parameter restricted to values >= ``low``."""
        if low <= self.low:
            return self
        return replace(self, low=low, special=tuple(value for value in self.special if value >= low))

    @property
    def range(self) -> str:
        """The values that an instance may have, as text."""
        beyond = [f"{value:g}" for value in self.special if not self.low <= value <= self.high]
        text = f"{'an integer' if self.whole else 'a number'} from {self.low:g} to {self.high:g}"
        text = text if self.low < self.high else f"{self.low:g}"
        return f"{text}, or {' or '.join(beyond)}" if beyond else text

    def at(self, share: float) -> float:
        """Return the value at a share (0 to 1) of the range, on a logarithmic scale if ``log``."""
        low, high = (log(self.low), log(self.high)) if self.log else (self.low, self.high)
        if self.whole and not self.log:
            return float(min(int(low + share * (high - low + 1)), int(self.high)))
        value = low + share * (high - low)
        value = exp(value) if self.log else value
        return float(round(value)) if self.whole else value


@dataclass(frozen=True)
class Box:
    """The parameters of an instance. A place in the box is a vector of shares of their ranges; the coordinate 2 + i is
    the i-th special value. ``derived`` are further numbers of an instance, which follow from the parameters unless they
    are fixed (``held``)."""

    parameters: tuple[Parameter, ...]
    derived: tuple[Parameter, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all numbers that can be fixed."""
        return tuple(p.name for p in (*self.derived, *self.parameters))

    def pinned(self, pins: Mapping[str, float]) -> Box:
        """Return the box with some numbers fixed; raise an error for unknown names and values out of range."""
        by_name = {p.name: p for p in (*self.derived, *self.parameters)}
        for name, value in pins.items():
            if name not in by_name:
                raise unknown("parameter of the instances", name, by_name)
            if not by_name[name].takes(value):
                raise DomainError(f"{name} must be {by_name[name].range}; got {value:.6g}")
        lower = {p.at_most: (p.name, pins[p.name]) for p in by_name.values() if p.at_most and p.name in pins}
        for name, (other, least) in lower.items():
            if pins.get(name, least) < least:
                raise DomainError(f"{other} must be at most {name}; got {least:g} > {pins[name]:g}")
        parameters = []
        for p in self.parameters:
            if p.name in pins:
                parameters.append(Parameter(p.name, pins[p.name], pins[p.name]))
            else:
                parameters.append(p.above(lower[p.name][1]) if p.name in lower else p)
        names = {p.name for p in self.parameters}
        return Box(tuple(parameters), self.derived, {name: x for name, x in pins.items() if name not in names})

    def point(self, place: Unit) -> Point:
        """Return the values at a place."""
        point = dict(self.held)
        for parameter, share in zip(self.parameters, place, strict=True):
            point[parameter.name] = parameter.special[int(share) - 2] if share >= 2 else parameter.at(float(share))
        return point

    def draw(self, uniform: Unit, draws: np.random.Generator) -> Unit:
        """Return a place from uniform numbers, with some coordinates at special values."""
        place = uniform.copy()
        for i, parameter in enumerate(self.parameters):
            if parameter.special and draws.random() < LIMITS:
                place[i] = 2 + draws.integers(len(parameter.special))
        return place

    def corner(self, draws: np.random.Generator) -> Unit:
        """Return a place with nearly every coordinate at a special value or an end of its range. Parameters of
        different clients (such as ``noise_0``, ``noise_1``) are equal half of the time."""
        place = draws.random(len(self))
        shared: dict[str, tuple[int, bool]] = {}
        for i, parameter in enumerate(self.parameters):
            if draws.random() < INNER:
                continue
            levels = [2 + j for j in range(len(parameter.special))] or [0, 1]
            levels += [0, 1] if parameter.log and len(levels) < 3 else []
            place[i] = levels[draws.integers(len(levels))]
        for i, parameter in enumerate(self.parameters):
            family = "_".join("#" if part.isdigit() else part for part in parameter.name.split("_")[:2])
            first, alike = shared.setdefault(family, (i, draws.random() < ALIKE))
            if "#" in family and alike and replace(self.parameters[first], name=parameter.name) == parameter:
                place[i] = place[first]
        return place

    def move(self, place: Unit, width: float, draws: np.random.Generator) -> Unit:
        """Return a neighbour: a few coordinates moved by about ``width``, sometimes to or from a special value."""
        moved = place.copy()
        chosen = draws.random(len(self)) < max(1.5 / len(self), 0.2)
        chosen[draws.integers(len(self))] = True
        for i in np.flatnonzero(chosen):
            special = self.parameters[i].special
            if special and draws.random() < 0.15:
                moved[i] = 2 + draws.integers(len(special))
            elif moved[i] >= 2:
                moved[i] = draws.random() if draws.random() < 0.3 else moved[i]
            else:
                moved[i] = np.clip(moved[i] + width * draws.standard_normal(), 0, 1)
        return moved
