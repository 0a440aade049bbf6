"""Enclosures of expressions and of their derivative in one quantity, over many boxes at once.

An ``Enclosed`` is compiled once for some expressions and numbers (one set of numbers per *owner*: a point of a sweep);
running it on boxes of the free quantity gives, for every expression, an interval that holds all its values there and
one that holds all its slopes (forward differentiation in interval arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..errors import BoundsError
from ..operators import AxisReduction, ClassMax, ClientMax, write_out_means
from ..quantities import Quantity
from . import intervals as iv
from .intervals import Array, Interval
from .rounding import round_up, RoundUp
from .stable import LogRatio, stable


class Jet(NamedTuple):
    """Values and slopes over each box; no slope means that the free quantity does not occur."""

    value: Interval
    slope: Interval | None = None


@dataclass
class Domains:
    """Where the expressions are real numbers: ``partial`` marks boxes where one may not be, ``empty`` where none is."""

    partial: Array = field(default_factory=lambda: np.zeros(1, dtype=bool))
    empty: Array = field(default_factory=lambda: np.zeros(1, dtype=bool))

    def need(self, possible: Array, certain: Array) -> None:
        self.partial = self.partial | ~certain.all(axis=-1)
        self.empty = self.empty | ~possible.all(axis=-1)


Step = Callable[..., Jet]


class Enclosed:
    """``outputs`` with numbers put in for all quantities but ``free`` (None: for all).

    ``numbers`` holds an array (owners, axis) per quantity, with one column where a quantity is shared, or an interval
    of two such arrays.
    """

    def __init__(
        self, outputs: Sequence[sp.Expr], free: Quantity | None, numbers: Mapping[str, Array | Interval]
    ) -> None:
        self.free = free
        self.numbers = {name: a if isinstance(a, Interval) else iv.point(a) for name, a in numbers.items()}
        self.width = max((a.lo.shape[-1] for a in self.numbers.values()), default=1)
        self.owners = max((a.lo.shape[0] for a in self.numbers.values()), default=1)
        self.constants: dict[int, Jet] = {}
        self.tape: list[tuple[int, Step, tuple[int, ...]]] = []
        self.slots: dict[sp.Basic, int] = {}
        self.domains = Domains(np.zeros(self.owners, dtype=bool), np.zeros(self.owners, dtype=bool))
        with np.errstate(all="ignore"):
            self.outputs = [self._slot(stable(write_out_means(o))) for o in outputs]
        self.live = {i for _, _, args in self.tape for i in args} | set(self.outputs)

    def run(self, box: Interval, seed: Interval | None, owner: Array | None) -> tuple[list[Jet], Domains]:
        """The outputs for boxes (n, 1) of the free quantity whose own slope is ``seed``; box i belongs to owner i."""
        gather = owner if self.owners > 1 else None
        jets = {i: _take(jet, gather) for i, jet in self.constants.items() if i in self.live}
        if self.free in self.slots:
            jets[self.slots[self.free]] = Jet(box, seed)
        n = box.lo.shape[0]
        picked = (self.domains.partial, self.domains.empty)
        domains = Domains(*(np.array(np.broadcast_to(p if gather is None else p[gather], (n,))) for p in picked))
        with np.errstate(all="ignore"):
            for slot, step, args in self.tape:
                jets[slot] = step(domains, *(jets[i] for i in args))
        return [jets[i] for i in self.outputs], domains

    @property
    def anywhere(self) -> Interval:
        """A box per owner for expressions of which no quantity is free."""
        return iv.point(np.zeros((self.owners, 1)))

    # ---- compiling ----

    def _slot(self, e: sp.Basic) -> int:
        if e not in self.slots:
            made = self._free_slot(e) if e == self.free else self._leaf(e) if not e.args else self._node(e)
            self.slots[e] = made
        return self.slots[e]

    def _new(self) -> int:
        return len(self.constants) + len(self.tape) + 1

    def _free_slot(self, e: sp.Basic) -> int:
        return 0

    def _leaf(self, e: sp.Basic) -> int:
        slot = self._new()
        self.constants[slot] = Jet(self.numbers[e.name] if isinstance(e, Quantity) else number(e))
        return slot

    def _emit(self, step: Step, *args: int) -> int:
        slot = self._new()
        if all(i in self.constants for i in args):
            self.constants[slot] = step(self.domains, *(self.constants[i] for i in args))
        else:
            self.tape.append((slot, step, args))
        return slot

    def _node(self, e: sp.Basic) -> int:
        if isinstance(e, (sp.Add, sp.Mul, sp.Max, sp.Min)):
            step = {sp.Add: add, sp.Mul: multiply, sp.Max: maximum, sp.Min: minimum}[e.func]
            # What is free of the quantity comes first, so that it is worked out only once.
            parts = sorted((self._slot(a) for a in e.args), key=lambda i: i not in self.constants)
            return reduce(lambda a, b: self._emit(step, a, b), parts)
        if isinstance(e, sp.Pow):
            return self._power(*e.args)
        if isinstance(e, AxisReduction):
            reduction = axis_max if isinstance(e, (ClientMax, ClassMax)) else axis_sum
            return self._emit(lambda d, a: reduction(a, self.width), self._slot(e.args[0]))
        if e.func not in FUNCTIONS:
            raise BoundsError(f"{e.func.__name__} has no interval form, so nothing about it can be certified")
        return self._emit(FUNCTIONS[e.func], self._slot(e.args[0]))

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> int:
        if base == sp.E:
            return self._emit(exponential, self._slot(exponent))
        if exponent.is_Integer:
            n = int(exponent)
            return self._emit(lambda d, a: whole_power(d, a, n), self._slot(base))
        if exponent == sp.Rational(1, 2):
            return self._emit(square_root, self._slot(base))
        if not exponent.is_number and base.is_positive:
            return self._emit(exponential, self._emit(multiply, self._slot(exponent), self._log(base)))
        return self._emit(real_power, self._slot(base), self._slot(exponent))

    def _log(self, e: sp.Expr) -> int:
        """The logarithm, taken apart: products and powers that would overflow stay moderate."""
        if e.is_Mul and all(a.is_positive for a in e.args):
            return reduce(lambda a, b: self._emit(add, a, b), [self._log(a) for a in e.args])
        if e.is_Pow and e.base.is_positive and e.base != sp.E:
            return self._emit(multiply, self._slot(e.exp), self._log(e.base))
        return self._emit(logarithm, self._slot(e))


def _take(jet: Jet, owner: Array | None) -> Jet:
    return jet if owner is None or jet.value.lo.shape[0] == 1 else Jet(jet.value.part(owner))


def number(value: sp.Expr) -> Interval:
    """A number of a formula: exact where a float can hold it, else the floats around it."""
    near = float(value)
    exact = value.is_Float or (value.is_Rational and sp.Rational(near) == value)
    array = np.full((1, 1), near)
    return iv.point(array) if exact else iv.outward(array, array)


# ---- the rules: value and slope of each operation ----


def _scaled(slope: Interval | None, factor: Interval) -> Interval | None:
    return None if slope is None else iv.multiply(slope, factor)


def _plus(a: Interval | None, b: Interval | None) -> Interval | None:
    return b if a is None else a if b is None else iv.add(a, b)


def add(d: Domains, a: Jet, b: Jet) -> Jet:
    return Jet(iv.add(a.value, b.value), _plus(a.slope, b.slope))


def multiply(d: Domains, a: Jet, b: Jet) -> Jet:
    return Jet(iv.multiply(a.value, b.value), _plus(_scaled(a.slope, b.value), _scaled(b.slope, a.value)))


def maximum(d: Domains, a: Jet, b: Jet) -> Jet:
    value = iv.largest(a.value, b.value)
    if a.slope is None and b.slope is None:
        return Jet(value)
    zero = iv.point(np.zeros_like(value.lo))
    left, right = a.slope or zero, b.slope or zero
    either = iv.choose(b.value.lo > a.value.hi, right, iv.hull(left, right))
    return Jet(value, iv.choose(a.value.lo > b.value.hi, left, either))


def minimum(d: Domains, a: Jet, b: Jet) -> Jet:
    return _negated(maximum(d, _negated(a), _negated(b)))


def _negated(a: Jet) -> Jet:
    return Jet(iv.negate(a.value), None if a.slope is None else iv.negate(a.slope))


def whole_power(d: Domains, a: Jet, n: int) -> Jet:
    if n < 0:
        d.need((a.value.lo != 0) | (a.value.hi != 0), (a.value.lo > 0) | (a.value.hi < 0))
    value = iv.whole_power(a.value, n)
    if a.slope is None:
        return Jet(value)
    times = iv.point(np.full((1, 1), float(n)))
    return Jet(value, iv.multiply(a.slope, iv.multiply(times, iv.whole_power(a.value, n - 1))))


def square_root(d: Domains, a: Jet) -> Jet:
    d.need(a.value.hi >= 0, a.value.lo >= 0)
    value = iv.square_root(a.value)
    if a.slope is None:
        return Jet(value)
    twice = iv.multiply(iv.point(np.full((1, 1), 2.0)), value)
    return Jet(value, iv.multiply(a.slope, iv.inverse(twice)))


def real_power(d: Domains, a: Jet, exponent: Jet) -> Jet:
    d.need(a.value.hi >= 0, a.value.lo >= 0)
    value = iv.real_power(a.value, exponent.value)
    slope = None
    if a.slope is not None:
        less = iv.add(exponent.value, iv.point(np.full((1, 1), -1.0)))
        slope = iv.multiply(a.slope, iv.multiply(exponent.value, iv.real_power(a.value, less)))
    if exponent.slope is not None:
        slope = _plus(slope, iv.multiply(exponent.slope, iv.multiply(value, iv.logarithm(a.value))))
    return Jet(value, slope)


def exponential(d: Domains, a: Jet) -> Jet:
    value = iv.exponential(a.value)
    return Jet(value, _scaled(a.slope, value))


def logarithm(d: Domains, a: Jet) -> Jet:
    d.need(a.value.hi >= 0, a.value.lo > 0)
    positive = Interval(np.maximum(a.value.lo, 0.0), np.maximum(a.value.hi, 0.0))
    return Jet(iv.logarithm(a.value), None if a.slope is None else iv.multiply(a.slope, iv.inverse(positive)))


def log_ratio(d: Domains, a: Jet) -> Jet:
    d.need(a.value.hi >= -1, a.value.lo > -1)
    value = iv.log_ratio(a.value)
    return Jet(value, None if a.slope is None else iv.multiply(a.slope, iv.log_ratio_slope(a.value)))


def absolute(d: Domains, a: Jet) -> Jet:
    return maximum(d, a, _negated(a))


def _steps(function: Callable[[Array], Array]) -> Step:
    def step(d: Domains, a: Jet) -> Jet:
        value = iv.monotone_step(function, a.value)
        flat = iv.point(np.zeros_like(value.lo))
        slope = None if a.slope is None else iv.choose(value.lo == value.hi, flat, iv.everything(value.lo))
        return Jet(value, slope)

    return step


class NotNegative(sp.Function):
    """Its argument, of which something else tells that it is not negative."""

    nargs = 1


def not_negative(d: Domains, a: Jet) -> Jet:
    return Jet(Interval(np.maximum(a.value.lo, 0.0), np.maximum(a.value.hi, 0.0)), a.slope)


FUNCTIONS: dict[Any, Step] = {
    NotNegative: not_negative,
    sp.exp: exponential,
    sp.log: logarithm,
    sp.Abs: absolute,
    sp.ceiling: _steps(np.ceil),
    RoundUp: _steps(round_up),
    LogRatio: log_ratio,
    sp.floor: _steps(np.floor),
}


def axis_sum(a: Jet, width: int) -> Jet:
    return Jet(iv.axis_sum(_spread(a.value, width)), None if a.slope is None else iv.axis_sum(_spread(a.slope, width)))


def axis_max(a: Jet, width: int) -> Jet:
    """The largest; its slope is one of those whose value may be the largest."""
    value = iv.axis_max(a.value)
    if a.slope is None:
        return Jet(value)
    able = a.value.hi >= value.lo
    slope = Interval(np.where(able, a.slope.lo, np.inf), np.where(able, a.slope.hi, -np.inf))
    return Jet(value, Interval(slope.lo.min(axis=-1, keepdims=True), slope.hi.max(axis=-1, keepdims=True)))


def _spread(a: Interval, width: int) -> Interval:
    if a.lo.shape[-1] == width:
        return a
    return Interval(*(np.broadcast_to(end, (*end.shape[:-1], width)) for end in a))
