"""A certificate, for all points of a sweep at once, that floating point evaluates a formula well.

Running a formula on the *sizes* of its quantities (smallest and largest magnitude that is not zero, sign, relative
error) tells whether any intermediate result can leave the range of floats or lose its digits in a sum: a few dozen
operations on numbers, however many points there are. Sums of mixed signs that the sizes alone do not clear are named,
to be looked at point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log2

import numpy as np
import sympy as sp

from ..operators import AxisReduction, ClassMax, ClientMax, is_number, write_out_means
from ..quantities import Quantity
from . import sizes
from .landscape import sides_of
from .rounding import RoundUp
from .sizes import Doubt, FACTOR, Size, WHOLE
from .stable import LogRatio, stable

LOSS = 2.0**22
"""The most relative error of a value, in units of rounding (2^-53): 5e-10."""

SIDE_LOSS = 2.0**15
"""The same for a side of a condition: two sides that are nearer than 4e-12 to one another are left to rounding."""

KEPT = 1_000
"""Certificates that are kept, for points that are asked for one by one."""

Step = Callable[..., Size]


class Unknown(Exception):
    """The formula has a function that nothing is known of here."""


class Magnitudes:
    """The certificate of some values and relations; ``guards`` are the sums that may have to be looked at."""

    def __init__(self, values: Sequence[sp.Expr], relations: Sequence[sp.Basic]) -> None:
        self.leaves: dict[str, tuple[int, bool]] = {}
        self.constants: dict[int, Size] = {}
        self.tape: list[tuple[int, Step, tuple[int, ...]]] = []
        self.slots: dict[sp.Basic, int] = {}
        self.guards: list[sp.Basic] = []
        self.needed: set[int] = set()
        self.cleared: set[tuple[int, tuple[Size, ...]]] = set()
        self.width = 1
        self.values = [self._slot(stable(write_out_means(e))) for e in values]
        self.sides = [self._slot(stable(write_out_means(e))) for e in sides_of(tuple(relations))]

    def doubts(self, arrays: Mapping[str, np.ndarray], width: int) -> tuple[int, ...] | None:
        """The numbers of the guards that every point has to pass; None where nothing can be said."""
        self.width = width
        found = [sizes.of(arrays[name], whole) for name, (_, whole) in self.leaves.items()]
        wider = tuple(map(sizes.to_powers_of_two, found))
        if (width, wider) in self.cleared:
            return ()
        doubts = self._run(found)
        if doubts == () == self._run(wider):
            self.cleared = {(width, wider)} if len(self.cleared) >= KEPT else self.cleared | {(width, wider)}
        return doubts

    def _run(self, leaves: Sequence[Size]) -> tuple[int, ...] | None:
        self.needed = set()
        found = dict(self.constants)
        found.update((slot, size) for (slot, _), size in zip(self.leaves.values(), leaves, strict=True))
        try:
            for slot, step, args in self.tape:
                found[slot] = step(*[found[i] for i in args])
        except Doubt:
            return None
        well = all(found[i].error <= LOSS for i in self.values) and all(found[i].error <= SIDE_LOSS for i in self.sides)
        return tuple(sorted(self.needed)) if well else None

    # ---- compiling ----

    def _slot(self, e: sp.Basic) -> int:
        if e not in self.slots:
            slot = self._node(e)
            self.slots[e] = slot
        return self.slots[e]

    def _new(self) -> int:
        return len(self.leaves) + len(self.constants) + len(self.tape)

    def _node(self, e: sp.Basic) -> int:
        if isinstance(e, Quantity):
            slot = self._new()
            self.leaves[e.name] = (slot, e.card.domain.whole)
            return slot
        if is_number(e):
            slot = self._new()
            self.constants[slot] = sizes.constant(e)
            return slot
        args = [self._slot(a) for a in e.args]
        step = self._step(e)
        slot = self._new()
        self.tape.append((slot, step, tuple(args)))
        return slot

    def _step(self, e: sp.Basic) -> Step:
        if isinstance(e, sp.Add):
            return self._guarded(e, e.args)
        if isinstance(e, AxisReduction):
            return self._reduction(e)
        if isinstance(e, sp.Pow):
            if e.exp.is_Rational:
                number = float(e.exp)
                return lambda base, _: sizes.fixed_power(base, number)
            return sizes.power
        for kind, step in STEPS.items():
            if isinstance(e, kind):
                return step
        raise Unknown(e.func.__name__)

    def _guarded(self, e: sp.Basic, args: Sequence[sp.Expr]) -> Step:
        """A sum that may cancel has a guard: at most ``FACTOR`` times smaller than its summands together."""
        if all(a.is_nonnegative for a in args) or all(a.is_nonpositive for a in args):
            return lambda *parts: sizes.add(parts, None)
        guard = self._new_guard(e, sp.Add(*map(sp.Abs, args), evaluate=False))
        return lambda *parts: sizes.add(parts, lambda: self.needed.add(guard))

    def _reduction(self, e: sp.Basic) -> Step:
        if isinstance(e, (ClientMax, ClassMax)):
            return lambda body: body
        guard = -1 if e.args[0].is_nonnegative else self._new_guard(e, e.func(sp.Abs(e.args[0])))
        return lambda body: self._sum(body, guard)

    def _sum(self, body: Size, guard: int) -> Size:
        if body.high == -inf or self.width == 1:
            return body
        more = log2(self.width)
        if body.whole and body.high + more <= WHOLE:
            return body._replace(high=body.high + more, sign=body.sign)
        size = body._replace(high=body.high + more, error=body.error + self.width, whole=False)
        if not body.sign:
            self.needed.add(guard)
            size = size._replace(low=size.low - log2(FACTOR), zero=True, error=FACTOR * size.error)
        return sizes.checked(size)

    def _new_guard(self, total: sp.Basic, summands: sp.Basic) -> int:
        self.guards.append(sp.Ge(FACTOR * sp.Abs(total), summands, evaluate=False))
        return len(self.guards) - 1


STEPS: dict[type[sp.Basic], Step] = {
    sp.Mul: sizes.multiply,
    sp.exp: sizes.exponential,
    sp.log: sizes.logarithm,
    LogRatio: sizes.ratio_of_logarithm,
    sp.Max: sizes.extreme,
    sp.Min: sizes.extreme,
    sp.Abs: sizes.absolute,
    RoundUp: sizes.rounded_up,
    sp.ceiling: sizes.rounded,
    sp.floor: sizes.rounded,
}
