"""Boxes of parameters: ranges, logarithmic or not, whole numbers, and the special values that limits are made of."""

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
"""The share of coordinates which are put at a special value when a place is drawn."""
INNER, ALIKE = 0.1, 0.5
"""At a corner: the share of coordinates that are left inside, and how often members of one kind are the same."""


@dataclass(frozen=True)
class Parameter:
    """A number of an instance between ``low`` and ``high``; ``special`` are values that a search must not miss."""

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    special: tuple[float, ...] = ()
    at_most: str = ""
    """Another parameter that it cannot exceed."""

    def takes(self, value: float) -> bool:
        """Whether an instance may have this value."""
        return value in self.special or (
            self.low <= value <= self.high and (not self.whole or float(value).is_integer())
        )

    def above(self, low: float) -> Parameter:
        """The same from ``low`` on."""
        if low <= self.low:
            return self
        return replace(self, low=low, special=tuple(value for value in self.special if value >= low))

    @property
    def range(self) -> str:
        """The values that an instance may have, in words."""
        beyond = [f"{value:g}" for value in self.special if not self.low <= value <= self.high]
        words = f"{'a whole number' if self.whole else 'a number'} from {self.low:g} to {self.high:g}"
        words = words if self.low < self.high else f"{self.low:g}"
        return f"{words}, or {' or '.join(beyond)}" if beyond else words

    def at(self, share: float) -> float:
        """The value at a share of the range, in logarithms where the parameter is logarithmic."""
        low, high = (log(self.low), log(self.high)) if self.log else (self.low, self.high)
        if self.whole and not self.log:
            return float(min(int(low + share * (high - low + 1)), int(self.high)))
        value = low + share * (high - low)
        value = exp(value) if self.log else value
        return float(round(value)) if self.whole else value


@dataclass(frozen=True)
class Box:
    """Parameters together. A place is a vector of shares; a coordinate beyond 1 stands for a special value.

    ``words`` are further numbers of an instance, which follow from the parameters unless they are ``held``.
    """

    parameters: tuple[Parameter, ...]
    words: tuple[Parameter, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that can be held."""
        return tuple(p.name for p in (*self.words, *self.parameters))

    def pinned(self, pins: Mapping[str, float]) -> Box:
        """The same box with some parameters held at one value; a name or a value it does not have is refused."""
        known = {p.name: p for p in (*self.words, *self.parameters)}
        for name, value in pins.items():
            if name not in known:
                raise unknown("parameter of the instances", name, known)
            if not known[name].takes(value):
                raise DomainError(f"{name} must be {known[name].range}; got {value:.6g}")
        room = {p.at_most: pins[p.name] for p in known.values() if p.at_most and p.name in pins}
        for name, least in room.items():
            if pins.get(name, least) < least:
                other = next(p.name for p in known.values() if p.at_most == name)
                raise DomainError(f"{other} must be at most {name}; got {least:g} > {pins[name]:g}")
        mine = tuple(
            Parameter(p.name, pins[p.name], pins[p.name]) if p.name in pins else p.above(room.get(p.name, p.low))
            for p in self.parameters
        )
        inside = {p.name for p in self.parameters}
        return Box(mine, self.words, {name: value for name, value in pins.items() if name not in inside})

    def point(self, place: Unit) -> Point:
        """The values at a place: shares up to 1, and 2 + i for the i-th special value."""
        found = dict(self.held)
        for parameter, share in zip(self.parameters, place, strict=True):
            found[parameter.name] = parameter.special[int(share) - 2] if share >= 2 else parameter.at(float(share))
        return found

    def draw(self, uniform: Unit, draws: np.random.Generator) -> Unit:
        """A place from uniform numbers, some coordinates moved to special values."""
        place = uniform.copy()
        for i, parameter in enumerate(self.parameters):
            if parameter.special and draws.random() < LIMITS:
                place[i] = 2 + draws.integers(len(parameter.special))
        return place

    def corner(self, draws: np.random.Generator) -> Unit:
        """A place with nearly every coordinate at a special value or an end; half of the time members are equal.

        Members are parameters that differ in a number (``noise_0``, ``noise_1``).
        """
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
        """A neighbour: a few coordinates moved by about ``width``, now and then to or from a special value."""
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
