"""Boxes of parameters: ranges, logarithmic or not, whole numbers, and the special values that limits are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np

from bounds.errors import DomainError, unknown

from .core import Point

Unit = np.ndarray[Any, np.dtype[np.float64]]

LIMITS = 0.25
"""The share of coordinates which are put at a special value when a place is drawn."""


@dataclass(frozen=True)
class Parameter:
    """A number of an instance between ``low`` and ``high``; ``special`` are values that a search must not miss."""

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    special: tuple[float, ...] = ()

    def takes(self, value: float) -> bool:
        """Whether an instance may have this value."""
        return value in self.special or (
            self.low <= value <= self.high and (not self.whole or float(value).is_integer())
        )

    @property
    def range(self) -> str:
        """The values that an instance may have, in words."""
        beyond = [f"{value:g}" for value in self.special if not self.low <= value <= self.high]
        words = f"{'a whole number' if self.whole else 'a number'} from {self.low:g} to {self.high:g}"
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
    """Parameters together. A place is a vector of shares; a coordinate beyond 1 stands for a special value."""

    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.parameters)

    def pinned(self, pins: Mapping[str, float]) -> Box:
        """The same box with some parameters held at one value; a name or a value it does not have is refused."""
        for name, value in pins.items():
            mine = {p.name: p for p in self.parameters}
            if name not in mine:
                raise unknown("parameter of the instances", name, mine)
            if not mine[name].takes(value):
                raise DomainError(f"{name} must be {mine[name].range}; got {value:.6g}")
        return Box(
            tuple(Parameter(p.name, v, v) if (v := pins.get(p.name)) is not None else p for p in self.parameters)
        )

    def point(self, place: Unit) -> Point:
        """The values at a place: shares up to 1, and 2 + i for the i-th special value."""
        found = {}
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
