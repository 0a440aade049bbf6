"""Domains of quantities: the values that are allowed, with their SymPy assumptions, checks and messages."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from .errors import DomainError


@dataclass(frozen=True)
class Domain:
    """The values that a quantity can have at all, whatever the theorem.

    ``low`` and ``high`` are the ends of an interval; ``open_low`` and ``open_high`` exclude them. ``whole`` restricts
    it to integers, and ``simplex`` requires that values sum to 1 over the last axis. ``words`` describe the domain in
    messages.
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
        """The assumptions for SymPy. Integers are real numbers there, so that derivatives exist."""
        if self.low > 0 or (self.low == 0 and self.open_low):
            return {"positive": True}
        return {"nonnegative": True} if self.low == 0 else {"real": True}

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Whether each value is inside; NaN and infinities never are. The sum of a simplex is not checked."""
        inside = np.isfinite(values)
        if self.low > -inf:
            inside &= values > self.low if self.open_low else values >= self.low
        if self.high < inf:
            inside &= values < self.high if self.open_high else values <= self.high
        if self.whole:
            inside &= np.equal(values, np.rint(values))
        return inside

    def _surely_inside(self, values: np.ndarray) -> bool:
        """Whether the smallest and largest value already show that all are inside, which is faster."""
        if self.whole or not values.size:
            return False
        least, most = values.min(), values.max()  # if NaN, both comparisons are False
        above = least > self.low if self.open_low or self.low == -np.inf else least >= self.low
        below = most < self.high if self.open_high or self.high == np.inf else most <= self.high
        return bool(above and below)

    def check(self, name: str, values: np.ndarray) -> None:
        """Raise ``DomainError`` with the quantity, the rule, and the first invalid value."""
        if not self._surely_inside(values) and not (inside := self.contains(values)).all():
            first = values[~inside].flat[0]
            raise DomainError(f"{name} must be {self.words if np.isfinite(first) else 'finite'}; got {exactly(first)}")
        if self.simplex:
            totals = values.sum(axis=-1) if values.ndim else values
            wrong = np.abs(totals - 1.0) > 1e-9
            if np.any(wrong):
                first = np.asarray(totals)[wrong].flat[0]
                over = values.shape[-1] if values.ndim else 1
                raise DomainError(
                    f"{name} must sum to 1 over the clients; got a sum of {first:.12g} over {over} clients"
                )


def exactly(value: float) -> str:
    """Format a number with enough digits to distinguish it from its neighbours."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def changed(whole: int) -> str:
    """Return what is wrong with an integer that no float holds exactly, or an empty string."""
    try:
        nearest = int(float(whole))
    except OverflowError:  # reported elsewhere
        return ""
    return "" if nearest == whole else f"an integer that a float holds exactly, such as {nearest}; got {whole}"


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
