"""Domains of quantities: the values that are allowed, with their SymPy assumptions, checks and messages."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import inf
from numbers import Rational
from typing import Any

import numpy as np

from .errors import DomainError, shortened


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

    def check(self, name: str, values: np.ndarray) -> None:
        """Raise ``DomainError`` with the quantity, the rule, and the first invalid value."""
        if not (inside := self.contains(values)).all():
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


def array_of(name: str, value: Any) -> np.ndarray:
    """Return a value as an array of floats; raise ``DomainError`` for text, dates, complex and missing numbers."""
    try:
        given = np.asarray(value)
        strange = given.dtype.kind == "O" and not all(map(_is_exact, given.flat))
        if strange or given.dtype.kind in "USbcmM" or np.ma.is_masked(value):
            raise TypeError
        array = np.asarray(given, dtype=float)
        fits = given.dtype.kind != "O" or not ((array == 0) & (given != 0)).any()
    except OverflowError:
        fits = False
    except RuntimeError as error:  # a tensor that requires gradients: torch's message says what to do
        raise DomainError(f"{name} must be a number: {str(error).splitlines()[0]}") from None
    except (TypeError, ValueError):
        got = shortened(repr(value))
        raise DomainError(f"{name} must be a number or a rectangular list of numbers; got {got}") from None
    if not fits:
        raise DomainError(f"{name} must be of a size that a floating-point number can have")
    if array.size == 0:
        raise DomainError(f"{name} must hold at least one number; got an empty list")
    if np.isnan(array).any():
        raise DomainError(f"{name} must be a number; got NaN")
    if given.dtype.kind in "iuO" and (fault := next(filter(None, map(_inexact, given.flat)), "")):
        raise DomainError(f"{name} must be {fault}")
    return array


def _is_exact(item: Any) -> bool:
    """Whether an item of an object array is a number: a large integer, a fraction, a decimal."""
    return isinstance(item, (Rational, Decimal, float)) and not isinstance(item, bool)


def _inexact(item: Any) -> str:
    """Return what is wrong with an integer that no float holds; empty for all other numbers."""
    exact = isinstance(item, Rational) or (isinstance(item, Decimal) and item.is_finite())
    integer = isinstance(item, np.integer) or (exact and item == item // 1)
    return changed(int(item)) if integer else ""


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
