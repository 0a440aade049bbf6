"""The kinds of numbers that the exact engine computes with, and arrays of them that a method's hooks take for tensors.

Floats are NumPy's. Fractions are computed as FLINT's rationals, digits as FLINT's balls; both are held in arrays of
objects. Only + - * / and whole powers occur, so one piece of code serves all of them, and an addition of a float to
an exact number fails instead of rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]

BITS = 640
"""Bits of a ball: a run of 2^40 rounds leaves more than 60 right digits of it."""


@dataclass(frozen=True)
class Kind:
    """``make`` turns a given number into one of this kind, ``give`` turns a result into what callers compute with."""

    name: str
    make: Callable[[Any], Any]
    give: Callable[[Any], Any]

    @property
    def exact(self) -> bool:
        """Whether numbers are objects that keep all their digits."""
        return self is not FLOATS

    def zeros(self, *shape: int) -> Array:
        """An array of zeros."""
        return np.full(shape, self.make(0), dtype=object) if self.exact else np.zeros(shape)

    def eye(self, rows: int, columns: int | None = None, k: int = 0) -> Array:
        """As ``np.eye``; not to be written to."""
        unit = _unit(rows, columns, k)
        if not self.exact:
            return unit
        return np.where(unit == 1, self.make(1), self.make(0))

    def array(self, values: Any) -> Array:
        """An array of given numbers."""
        if not self.exact:
            return np.asarray(values, dtype=float)
        given = np.asarray(values, dtype=object)
        found = np.empty(given.shape, dtype=object)
        found.ravel()[:] = [self.make(value) for value in given.ravel()]
        return found

    def given(self, values: Array) -> Array:
        """An array of results."""
        if not self.exact or values.dtype != object:
            return values
        found = np.empty(values.shape, dtype=object)
        found.ravel()[:] = [self.give(value) for value in values.ravel()]
        return found

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within it balls have ``BITS``; what is computed lazily must be read inside."""
        if self is not DIGITS:
            yield
            return
        from flint import ctx

        with ctx.workprec(BITS):
            yield


@lru_cache(maxsize=256)
def _unit(rows: int, columns: int | None, k: int) -> Array:
    found = np.eye(rows, columns, k)
    found.setflags(write=False)
    return found


def _rational(value: Any) -> Any:
    from flint import fmpq

    if isinstance(value, fmpq):
        return value
    if hasattr(value, "_mpf_"):  # mpmath's, a whole number times a power of 2
        sign, digits, power, _ = value._mpf_
        return fmpq((-1) ** sign * int(digits)) * fmpq(2) ** int(power)
    return fmpq(*Fraction(value).as_integer_ratio())


def _ball(value: Any) -> Any:
    from flint import arb

    return value if isinstance(value, arb) else arb(_rational(value))


def _fraction(value: Any) -> Any:
    from flint import fmpq

    return Fraction(int(value.p), int(value.q)) if isinstance(value, fmpq) else value


def _decimal(value: Any) -> Any:
    """The middle of a ball, in the digits that mpmath carries at the moment."""
    import mpmath
    from flint import arb

    if not isinstance(value, arb):
        return value
    if not value.is_finite():
        return mpmath.nan
    digits, power = value.mid().man_exp()
    return mpmath.mpf((int(digits), int(power)))


FLOATS = Kind("float", float, float)
FRACTIONS = Kind("fractions", _rational, _fraction)
DIGITS = Kind("digits", _ball, _decimal)


DENOMINATORS = (10**3, 10**6, 10**9)
"""Tried for a number typed as a decimal."""
CLOSE = 1e-15


def fraction(x: float) -> Fraction:
    """The short fraction that a float was typed as, such as 1/10 for 0.1; else the float itself."""
    for most in DENOMINATORS:
        near = Fraction(x).limit_denominator(most)
        if abs(near - Fraction(x)) <= CLOSE * abs(x):
            return near
    return Fraction(x)


def exactly(method: Any, kind: Kind) -> Any:
    """The same frozen dataclass with its floats, and those of its parts, as numbers of a kind: 0.1 is 1/10."""
    if not kind.exact:
        return method
    if isinstance(method, (float, Fraction)) or hasattr(method, "_mpf_"):
        return kind.make(fraction(method) if isinstance(method, float) else method)
    if isinstance(method, tuple):
        return tuple(exactly(part, kind) for part in method)
    if not is_dataclass(method) or isinstance(method, type):
        return method
    made = {field.name: exactly(getattr(method, field.name), kind) for field in fields(method)}
    changed = {name: part for name, part in made.items() if part is not getattr(method, name)}
    return replace(method, **changed) if changed else method


class Vectors(Array):
    """An array with the few methods of a tensor that linear hooks use; others raise ``AttributeError``."""

    device: Any = None

    def expand(self, *shape: int) -> Any:
        whole = [old if new == -1 else new for new, old in zip(shape[::-1], (*self.shape[::-1], 1), strict=False)]
        return np.broadcast_to(self, whole[::-1]).view(Vectors)

    def clone(self) -> Any:
        return self.copy()

    def unsqueeze(self, axis: int) -> Any:
        return np.expand_dims(self, axis)

    def sum(self, *args: Any, **options: Any) -> Any:
        found = super().sum(*args, **options)
        if self.size or self.dtype != object:
            return found
        return vectors(np.full(np.shape(found), FRACTIONS.make(0), dtype=object))  # not 0, whose quotients are floats

    def new_tensor(self, values: Any) -> Any:
        return np.array(values, dtype=self.dtype).view(Vectors)

    def new_zeros(self, *shape: int) -> Any:
        return vectors(np.zeros(shape, dtype=int))

    def masked_fill_(self, mask: Any, value: Any) -> Vectors:
        self[np.asarray(mask)] = value
        return self

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.zeros_like:
            return (0 * args[0]).view(Vectors)
        if func is torch.full_like:
            return vectors(np.full(args[0].shape, int(args[1])))
        if func is torch.where:
            return np.where(np.asarray(args[0]), args[1], args[2]).view(Vectors)
        raise AttributeError(f"{func} is not a function of exact numbers")


def vectors(values: Any) -> Any:
    """The array as a method's hooks see it."""
    return np.asarray(values).view(Vectors)


def solve(matrix: Array, right: Array) -> Array:
    """The solution for a positive definite matrix."""
    if matrix.dtype != object:
        return np.asarray(np.linalg.solve(matrix, right))
    m = np.concatenate([matrix, right[:, None]], axis=1)
    for i in range(len(m)):
        m[i] = m[i] / m[i, i]
        for j in range(len(m)):
            if j != i:
                m[j] = m[j] - m[j, i] * m[i]
    return m[:, -1]
