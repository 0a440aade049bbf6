"""Enclosures of expressions and of their derivative in one quantity, over many boxes at once.

An ``Enclosed`` is compiled once for some expressions and numbers (one set of numbers per *owner*: a point of a sweep);
running it on boxes of the free quantity gives, for every expression, an interval that holds all its values there and
one that holds all its slopes (forward differentiation in interval arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..errors import BoundsError
from ..quantities import Quantity
from . import intervals as iv
from .intervals import Array, Interval
from .tape import FUNCTIONS, Tape


class Jet(NamedTuple):
    """Values and slopes over each box; no slope means that the free quantity does not occur."""

    value: Interval
    slope: Interval | None = None


class Domains:
    """Where the expressions are real numbers: ``partial`` marks boxes where one may not be, ``empty`` where none is."""

    def __init__(self, partial: Array, empty: Array) -> None:
        self.partial, self.empty = partial, empty

    def need(self, possible: Array, certain: Array) -> None:
        self.partial = self.partial | ~certain.all(axis=-1)
        self.empty = self.empty | ~possible.all(axis=-1)


class NotNegative(sp.Function):
    """Its argument, of which something else tells that it is not negative."""

    nargs = 1


FUNCTIONS[NotNegative] = "not_negative"


class Moderate(Tape):
    """A tape whose powers are exponentials of sums of logarithms: products that would overflow stay moderate."""

    def _power(self, e: sp.Pow) -> None:
        base, exponent = e.args
        if exponent.is_number or base == sp.E or not base.is_positive or exponent.could_extract_minus_sign():
            super()._power(e)
        else:
            slot = self._emit(("log of power", e), "multiply", (self._slot(exponent), self._logarithm(base)))
            self._emit(e, "exponential", (slot,))

    def _logarithm(self, e: sp.Expr) -> int:
        key = ("log", e)
        if key in self.slots:
            return self.slots[key]
        if e.is_Mul and all(a.is_positive for a in e.args):
            parts = [self._logarithm(a) for a in e.args]
            slot = reduce(lambda a, b: self._emit((key, a, b), "add", (a, b)), parts)
            self.slots[key] = slot
            return slot
        if e.is_Pow and e.base.is_positive and e.base != sp.E:
            return self._emit(key, "multiply", (self._slot(e.exp), self._logarithm(e.base)))
        return self._emit(key, "logarithm", (self._slot(e),))


class Enclosed:
    """``outputs`` with numbers put in for all quantities but ``free`` (None: for all).

    ``numbers`` holds an array (owners, axis) per quantity, with one column where a quantity is shared, or an interval
    of two such arrays.
    """

    def __init__(
        self, outputs: Sequence[sp.Expr], free: Quantity | None, numbers: Mapping[str, Array | Interval]
    ) -> None:
        given = {name: a if isinstance(a, Interval) else iv.point(a) for name, a in numbers.items()}
        self.width = max((a.lo.shape[-1] for a in given.values()), default=1)
        self.owners = max((a.lo.shape[0] for a in given.values()), default=1)
        self.tape = Moderate(outputs)
        self.free = next((slot for slot, quantity in self.tape.leaves.items() if quantity == free), None)
        self.constants: dict[int, Jet] = {
            slot: Jet(given[q.name]) for slot, q in self.tape.leaves.items() if slot != self.free
        }
        self.domains = Domains(*(np.zeros(self.owners, dtype=bool) for _ in range(2)))
        jets = Jets(self.width, self.domains)
        self.steps = []
        with np.errstate(all="ignore"):
            for step in self.tape.steps:  # what is free of the quantity is worked out once
                if all(i in self.constants for i in step.arguments):
                    arguments = [self.constants[i] for i in step.arguments]
                    self.constants[step.slot] = getattr(jets, step.operation)(*arguments, *step.extra)
                else:
                    self.steps.append(step)
        self.live = {i for step in self.steps for i in step.arguments} | set(self.tape.outputs)

    def run(self, box: Interval, seed: Interval | None, owner: Array | None) -> tuple[list[Jet], Domains]:
        """The outputs for boxes (n, 1) of the free quantity whose own slope is ``seed``; box i belongs to owner i."""
        gather = owner if self.owners > 1 else None
        held = {i: _take(jet, gather) for i, jet in self.constants.items() if i in self.live}
        if self.free is not None:
            held[self.free] = Jet(box, seed)
        n = box.lo.shape[0]
        picked = (self.domains.partial, self.domains.empty)
        domains = Domains(*(np.array(np.broadcast_to(p if gather is None else p[gather], (n,))) for p in picked))
        jets = Jets(self.width, domains)
        with np.errstate(all="ignore"):
            for slot, operation, arguments, extra in self.steps:
                held[slot] = getattr(jets, operation)(*[held[i] for i in arguments], *extra)
        return [held[i] for i in self.tape.outputs], domains

    @property
    def anywhere(self) -> Interval:
        """A box per owner for expressions of which no quantity is free."""
        return iv.point(np.zeros((self.owners, 1)))


def _take(jet: Jet, owner: Array | None) -> Jet:
    return jet if owner is None or jet.value.lo.shape[0] == 1 else Jet(jet.value.part(owner))


def _scaled(slope: Interval | None, factor: Interval) -> Interval | None:
    return None if slope is None else iv.multiply(slope, factor)


def _plus(a: Interval | None, b: Interval | None) -> Interval | None:
    return b if a is None else a if b is None else iv.add(a, b)


def _negated(a: Jet) -> Jet:
    return Jet(iv.negate(a.value), None if a.slope is None else iv.negate(a.slope))


def _constant(value: float) -> Interval:
    return iv.point(np.full((1, 1), value))


class Jets:
    """Operations on jets; the last axis is the one reductions run over."""

    def __init__(self, width: int, domains: Domains) -> None:
        self.width, self.domains = width, domains

    def number(self, value: sp.Expr, near: float) -> Jet:
        """Exact where a float can hold it, else the floats around it."""
        exact = value.is_Float or (value.is_Rational and sp.Rational(near) == value)
        array = np.full((1, 1), near)
        return Jet(iv.point(array) if exact else iv.outward(array, array))

    def add(self, a: Jet, b: Jet) -> Jet:
        return Jet(iv.add(a.value, b.value), _plus(a.slope, b.slope))

    def subtract(self, a: Jet, b: Jet) -> Jet:
        return self.add(a, _negated(b))

    def multiply(self, a: Jet, b: Jet) -> Jet:
        slope = _plus(_scaled(a.slope, b.value), _scaled(b.slope, a.value))
        return Jet(iv.multiply(a.value, b.value), slope)

    def divide(self, a: Jet, b: Jet) -> Jet:
        return self.multiply(a, self.whole_power(b, -1))

    def whole_power(self, a: Jet, n: int) -> Jet:
        if n < 0:
            self.domains.need((a.value.lo != 0) | (a.value.hi != 0), (a.value.lo > 0) | (a.value.hi < 0))
        value = iv.whole_power(a.value, n)
        if a.slope is None:
            return Jet(value)
        steep = iv.multiply(_constant(float(n)), iv.whole_power(a.value, n - 1))
        return Jet(value, iv.multiply(a.slope, steep))

    def square_root(self, a: Jet) -> Jet:
        self.domains.need(a.value.hi >= 0, a.value.lo >= 0)
        value = iv.square_root(a.value)
        if a.slope is None:
            return Jet(value)
        return Jet(value, iv.multiply(a.slope, iv.inverse(iv.multiply(_constant(2.0), value))))

    def power(self, a: Jet, exponent: Jet) -> Jet:
        self.domains.need(a.value.hi >= 0, a.value.lo >= 0)
        value = iv.real_power(a.value, exponent.value)
        slope = None
        if a.slope is not None:
            less = iv.add(exponent.value, _constant(-1.0))
            slope = iv.multiply(a.slope, iv.multiply(exponent.value, iv.real_power(a.value, less)))
        if exponent.slope is not None:
            slope = _plus(slope, iv.multiply(exponent.slope, iv.multiply(value, iv.logarithm(a.value))))
        return Jet(value, slope)

    def growth(self, x: Jet, exponent: Jet) -> Jet:
        return self.exponential(self.multiply(self.multiply(exponent, x), self.log_ratio(x)))

    def exponential(self, a: Jet) -> Jet:
        value = iv.exponential(a.value)
        return Jet(value, _scaled(a.slope, value))

    def logarithm(self, a: Jet) -> Jet:
        self.domains.need(a.value.hi >= 0, a.value.lo > 0)
        positive = Interval(np.maximum(a.value.lo, 0.0), np.maximum(a.value.hi, 0.0))
        return Jet(iv.logarithm(a.value), None if a.slope is None else iv.multiply(a.slope, iv.inverse(positive)))

    def log_ratio(self, a: Jet) -> Jet:
        self.domains.need(a.value.hi >= -1, a.value.lo > -1)
        slope = None if a.slope is None else iv.multiply(a.slope, iv.log_ratio_slope(a.value))
        return Jet(iv.log_ratio(a.value), slope)

    def maximum(self, a: Jet, b: Jet) -> Jet:
        value = iv.largest(a.value, b.value)
        if a.slope is None and b.slope is None:
            return Jet(value)
        zero = iv.point(np.zeros_like(value.lo))
        left, right = a.slope or zero, b.slope or zero
        either = iv.choose(b.value.lo > a.value.hi, right, iv.hull(left, right))
        return Jet(value, iv.choose(a.value.lo > b.value.hi, left, either))

    def minimum(self, a: Jet, b: Jet) -> Jet:
        return _negated(self.maximum(_negated(a), _negated(b)))

    def absolute(self, a: Jet) -> Jet:
        return self.maximum(a, _negated(a))

    def ceiling(self, a: Jet) -> Jet:
        return self._step(np.ceil, a)

    def floor(self, a: Jet) -> Jet:
        return self._step(np.floor, a)

    @staticmethod
    def _step(function: Callable[[Array], Array], a: Jet) -> Jet:
        value = iv.monotone_step(function, a.value)
        flat = iv.point(np.zeros_like(value.lo))
        return Jet(value, None if a.slope is None else iv.choose(value.lo == value.hi, flat, iv.everything(value.lo)))

    @staticmethod
    def not_negative(a: Jet) -> Jet:
        return Jet(Interval(np.maximum(a.value.lo, 0.0), np.maximum(a.value.hi, 0.0)), a.slope)

    def total(self, a: Jet) -> Jet:
        slope = None if a.slope is None else iv.axis_sum(self._spread(a.slope))
        return Jet(iv.axis_sum(self._spread(a.value)), slope)

    @staticmethod
    def largest(a: Jet) -> Jet:
        """The largest; its slope is one of those whose value may be the largest."""
        value = iv.axis_max(a.value)
        if a.slope is None:
            return Jet(value)
        able = a.value.hi >= value.lo
        slope = Interval(np.where(able, a.slope.lo, np.inf), np.where(able, a.slope.hi, -np.inf))
        return Jet(value, Interval(slope.lo.min(axis=-1, keepdims=True), slope.hi.max(axis=-1, keepdims=True)))

    def _spread(self, a: Interval) -> Interval:
        if a.lo.shape[-1] == self.width:
            return a
        return Interval(*(np.broadcast_to(end, (*end.shape[:-1], self.width)) for end in a))

    def compare(self, *_: Any) -> Any:
        raise BoundsError("a formula in pieces has no interval form, so nothing about it can be certified")
