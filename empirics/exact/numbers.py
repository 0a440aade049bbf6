"""The number types of the exact engine, and arrays of them that a method's hooks can use in place of tensors.

``FLOATS`` are NumPy's; ``FRACTIONS`` are computed as FLINT's rationals and ``DIGITS`` as FLINT's balls, both in arrays
of objects. Only + - * / and integer powers are used, so the same code serves all of them; adding a float to an exact
number fails instead of rounding.
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
"""Precision of a ball in bits: after a run of 2^40 rounds more than 60 digits are correct."""


@dataclass(frozen=True)
class Kind:
    """A number type: ``make`` converts any number to it, ``result`` converts back to what callers compute with."""

    name: str
    make: Callable[[Any], Any]
    result: Callable[[Any], Any]

    @property
    def exact(self) -> bool:
        """Whether numbers are exact objects instead of floats."""
        return self is not FLOATS

    def zeros(self, *shape: int) -> Array:
        return np.full(shape, self.make(0), dtype=object) if self.exact else np.zeros(shape)

    def eye(self, rows: int, columns: int | None = None, k: int = 0) -> Array:
        """As ``np.eye``; the array is shared and must not be changed."""
        unit = _unit(rows, columns, k)
        if not self.exact:
            return unit
        return np.where(unit == 1, self.make(1), self.make(0))

    def array(self, values: Any) -> Array:
        """Convert numbers with ``make``."""
        if not self.exact:
            return np.asarray(values, dtype=float)
        return _mapped(self.make, np.asarray(values, dtype=object))

    def results(self, values: Array) -> Array:
        """Convert an array of this kind with ``result``."""
        return _mapped(self.result, values) if self.exact and values.dtype == object else values

    @contextmanager
    def precision(self) -> Iterator[None]:
        """Compute balls with ``BITS`` bits in this block; lazily computed results must be read inside it."""
        if self is not DIGITS:
            yield
            return
        from flint import ctx

        with ctx.workprec(BITS):
            yield


def _mapped(convert: Callable[[Any], Any], values: Array) -> Array:
    """The array of objects ``convert(value)``."""
    converted = np.empty(values.shape, dtype=object)
    converted.ravel()[:] = [convert(value) for value in values.ravel()]
    return converted


@lru_cache(maxsize=256)
def _unit(rows: int, columns: int | None, k: int) -> Array:
    unit = np.eye(rows, columns, k)
    unit.setflags(write=False)
    return unit


def _rational(value: Any) -> Any:
    from flint import fmpq

    if isinstance(value, fmpq):
        return value
    if hasattr(value, "_mpf_"):  # an mpmath number, an integer times a power of 2
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
    """The midpoint of a ball as an mpmath number of mpmath's current precision."""
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
"""Limits for the denominator of a short fraction, tried in this order."""
CLOSE = 1e-15
"""Relative distance up to which a float is taken for a short fraction."""


def fraction(x: float) -> Fraction:
    """Return the short fraction close to a float, such as 1/10 for 0.1; the float's exact value if there is none."""
    for most in DENOMINATORS:
        near = Fraction(x).limit_denominator(most)
        if abs(near - Fraction(x)) <= CLOSE * abs(x):
            return near
    return Fraction(x)


def exactly(method: Any, kind: Kind) -> Any:
    """Convert the floats in a frozen dataclass and its parts to numbers of an exact kind; 0.1 becomes 1/10."""
    if not kind.exact:
        return method
    if isinstance(method, (float, Fraction)) or hasattr(method, "_mpf_"):
        return kind.make(fraction(method) if isinstance(method, float) else method)
    if isinstance(method, tuple):
        return tuple(exactly(part, kind) for part in method)
    if not is_dataclass(method) or isinstance(method, type):
        return method
    parts = {field.name: exactly(getattr(method, field.name), kind) for field in fields(method)}
    changed = {name: part for name, part in parts.items() if part is not getattr(method, name)}
    return replace(method, **changed) if changed else method


class Vectors(Array):
    """An array with the tensor methods that linear hooks use; other tensor methods raise ``AttributeError``."""

    device: Any = None

    def expand(self, *shape: int) -> Any:
        sides = [old if new == -1 else new for new, old in zip(shape[::-1], (*self.shape[::-1], 1), strict=False)]
        return np.broadcast_to(self, sides[::-1]).view(Vectors)

    def clone(self) -> Any:
        return self.copy()

    def unsqueeze(self, axis: int) -> Any:
        return np.expand_dims(self, axis)

    def sum(self, *args: Any, **options: Any) -> Any:
        total = super().sum(*args, **options)
        if self.size or self.dtype != object:
            return total
        # NumPy's sum of no objects is the int 0, whose quotients would be floats.
        return vectors(np.full(np.shape(total), FRACTIONS.make(0), dtype=object))

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
    """View values as an array that a method's hooks can use in place of a tensor."""
    return np.asarray(values).view(Vectors)


def solve(matrix: Array, right: Array) -> Array:
    """Solve a linear system with a positive definite matrix."""
    if matrix.dtype != object:
        return np.asarray(np.linalg.solve(matrix, right))
    m = np.concatenate([matrix, right[:, None]], axis=1)
    for i in range(len(m)):
        m[i] = m[i] / m[i, i]
        for j in range(len(m)):
            if j != i:
                m[j] = m[j] - m[j, i] * m[i]
    return m[:, -1]
