"""Domains: one declaration gives SymPy's assumptions, the numeric check and the words of the error."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from .errors import DomainError


@dataclass(frozen=True)
class Domain:
    """The values a quantity can have at all; outside of it a number is nonsense, whatever the theorem.

    ``low``/``high`` limit an interval (``open_low``/``open_high`` exclude the end), ``whole`` asks for whole numbers
    and ``simplex`` for values that sum to 1 over the last axis.
    """

    words: str
    low: float = -inf
    high: float = inf
    open_low: bool = False
    open_high: bool = False
    whole: bool = False
    simplex: bool = False

    @property
    def assumptions(self) -> dict[str, bool]:
        """What SymPy may assume. Whole numbers stay real there: calculus treats counts as continuous."""
        if self.low > 0 or (self.low == 0 and self.open_low):
            return {"positive": True}
        return {"nonnegative": True} if self.low == 0 else {"real": True}

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Elementwise membership (the sum to 1 is checked by ``check``); NaN and infinities are never inside."""
        inside = np.isfinite(values)
        if self.low > -inf:
            inside &= values > self.low if self.open_low else values >= self.low
        if self.high < inf:
            inside &= values < self.high if self.open_high else values <= self.high
        if self.whole:
            inside &= np.equal(values, np.rint(values))
        return inside

    def _surely_inside(self, values: np.ndarray) -> bool:
        """By the ends alone where they decide: two passes over a sweep instead of many."""
        if self.whole or not values.size:
            return False
        least, most = values.min(), values.max()  # NaN where there is one, and then neither comparison holds
        above = least > self.low if self.open_low or self.low == -np.inf else least >= self.low
        below = most < self.high if self.open_high or self.high == np.inf else most <= self.high
        return bool(above and below)

    def check(self, name: str, values: np.ndarray) -> None:
        """Raise ``DomainError`` naming quantity, rule and the first offending value."""
        if not self._surely_inside(values) and not (inside := self.contains(values)).all():
            first = values[~inside].flat[0]
            raise DomainError(f"{name} must be {self.words if np.isfinite(first) else 'finite'}; got {exactly(first)}")
        if self.simplex:
            totals = values.sum(axis=-1) if values.ndim else values
            wrong = np.abs(totals - 1.0) > 1e-9
            if np.any(wrong):
                first = np.asarray(totals)[wrong].flat[0]
                over = values.shape[-1] if values.ndim else 1
                said = f"got a sum of {first:.12g} over {over} clients"
                raise DomainError(f"{name} must sum to 1 over the clients; {said}")


def exactly(value: float) -> str:
    """A number with as many digits as tell it from its neighbours: 2.0000000001 is not 2."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def changed(whole: int) -> str:
    """What is wrong with a whole number that a float does not hold: it would silently become another one."""
    try:
        held = int(float(whole))
    except OverflowError:  # its size is what is wrong
        return ""
    return "" if held == whole else f"a whole number that a float holds, such as {held}; got {whole}"


REAL = Domain("a finite real number")
POSITIVE = Domain("> 0", low=0, open_low=True)
NONNEGATIVE = Domain(">= 0", low=0)
AT_LEAST_ONE = Domain(">= 1", low=1)
COUNT = Domain("a whole number >= 1", low=1, whole=True)
WHOLE = Domain("a whole number >= 0", low=0, whole=True)
FLAG = Domain("0 or 1", low=0, high=1, whole=True)
SHARE = Domain("> 0 and <= 1", low=0, high=1, open_low=True)
FRACTION = Domain("> 0 and < 1", low=0, high=1, open_low=True, open_high=True)
WEIGHTS = Domain(">= 0, summing to 1 over the clients", low=0, high=1, simplex=True)
RELAXATION = Domain("> -1 and < 1", low=-1, high=1, open_low=True, open_high=True)
