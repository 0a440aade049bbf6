"""Formulas as lists of operations that run on any kind of number: floats, floats with error bounds, balls, tensors.

A ``Tape`` is built once from SymPy expressions; common parts are computed once. ``run`` executes it with a *number
system*, an object with one method per operation, such as ``floats.Floats``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import sympy as sp

from ..errors import DeclarationError
from ..operators import AxisReduction, ClassMax, ClientMax, write_out_means
from ..quantities import Quantity
from .functions import grows, LogRatio, RoundUp, stable

FUNCTIONS: dict[Any, str] = {
    sp.exp: "exponential", sp.log: "logarithm", LogRatio: "log_ratio", sp.Abs: "absolute", sp.ceiling: "ceiling",
    RoundUp: "ceiling", sp.floor: "floor",
}  # fmt: skip
"""Functions of one argument, by the operation that computes them."""
JOINED: dict[Any, str] = {sp.Max: "maximum", sp.Min: "minimum", sp.And: "both", sp.Or: "either"}
"""Functions of any number of arguments, and the operation of two arguments that is applied repeatedly."""
COMPARED: dict[Any, str] = {sp.Le: "<=", sp.Lt: "<", sp.Ge: ">=", sp.Gt: ">", sp.Eq: "==", sp.Ne: "!="}
JUMPS = ("compare", "ceiling", "floor")
"""Operations with discontinuous results, which rounding errors must not decide."""


class Step(NamedTuple):
    """One operation: the slot of its result, its name, the slots of its arguments, and extra constants if any."""

    slot: int
    operation: str
    arguments: tuple[int, ...]
    extra: tuple[Any, ...] = ()


class Tape:
    """Expressions and relations as a list of operations; ``outputs`` are the slots of their values."""

    def __init__(self, expressions: Sequence[sp.Basic]) -> None:
        self.leaves: dict[int, Quantity] = {}
        self.steps: list[Step] = []
        self.slots: dict[sp.Basic, int] = {}
        self.outputs = [self._slot(stable(write_out_means(e), whole=False)) for e in expressions]
        self.jumps = [step.slot for step in self.steps if step.operation in JUMPS]
        self.size = 1 + max(self.slots.values(), default=0)
        retained = {*self.outputs, *self.jumps}
        last = {i: k for k, step in enumerate(self.steps) for i in step.arguments if i not in retained}
        self.done: list[list[int]] = [[] for _ in self.steps]
        """For every step, the slots that no later step uses."""
        for i, k in last.items():
            self.done[k].append(i)

    def run(self, system: Any, values: Mapping[str, Any], known: Mapping[int, Any] = MappingProxyType({})) -> list[Any]:
        """Return the contents of all slots at the end; only outputs and jumps are sure to be kept.

        ``known`` has contents of slots, by slot, that are not computed again.
        """
        contents = [known.get(slot) for slot in range(self.size)]
        for slot, quantity in self.leaves.items():
            if slot not in known:
                contents[slot] = values[quantity.name]
        for (slot, operation, arguments, extra), done in zip(self.steps, self.done, strict=True):
            if slot not in known:
                contents[slot] = getattr(system, operation)(*[contents[i] for i in arguments], *extra)
            for i in done:  # so that their memory is reused while it is in the cache
                contents[i] = None
        return contents

    # ---- from expressions to operations ----

    def _slot(self, e: sp.Basic) -> int:
        if e not in self.slots:
            if isinstance(e, Quantity):
                slot = self._new_slot(e)
                self.leaves[slot] = e
            elif isinstance(e, (sp.Number, sp.NumberSymbol)):
                self._emit(e, "number", (), e, float(e))
            else:
                self._node(e)
        return self.slots[e]

    def _new_slot(self, e: sp.Basic) -> int:
        return self.slots.setdefault(e, len(self.slots))

    def _emit(self, e: Any, operation: str, arguments: tuple[int, ...], *extra: Any) -> int:
        slot = self._new_slot(e)
        self.steps.append(Step(slot, operation, arguments, extra))
        return slot

    def _node(self, e: Any) -> None:
        if e.is_Add:
            self._sum(e)
        elif e.is_Mul:
            self._product(e)
        elif e.is_Pow:
            self._power(e)
        elif isinstance(e, AxisReduction):
            self._emit(e, "largest" if isinstance(e, (ClientMax, ClassMax)) else "total", (self._slot(e.args[0]),))
        elif e.is_Relational:
            given = all(isinstance(side, (Quantity, sp.Rational)) for side in e.args)
            self._emit(e, "compare", (self._slot(e.lhs), self._slot(e.rhs)), COMPARED[e.func], given)
        elif isinstance(e, sp.Not):
            self._emit(e, "negated", (self._slot(e.args[0]),))
        elif isinstance(e, sp.ITE):  # SymPy's form of comparisons of piecewise functions
            condition, then, otherwise = e.args
            self.slots[e] = self._slot((condition & then) | (~condition & otherwise))
        elif isinstance(e, sp.Piecewise):
            conditions = tuple(self._slot(condition) for _, condition in e.args)
            self._emit(e, "pieces", (*conditions, *(self._slot(value) for value, _ in e.args)))
        elif e in (sp.true, sp.false):
            self._emit(e, "truth", (), bool(e))
        elif operation := JOINED.get(e.func):
            self._chain(e, operation, list(e.args))
        elif e.func in FUNCTIONS:
            self._emit(e, FUNCTIONS[e.func], (self._slot(e.args[0]),))
        else:
            raise DeclarationError(f"{e} is not computed")

    def _chain(self, e: Any, operation: str, parts: Sequence[sp.Basic]) -> int:
        """Apply an operation of two arguments to all parts, from the left."""
        slot = self._slot(parts[0])
        for count, part in enumerate(parts[1:], 2):
            key = e if count == len(parts) else (operation, *parts[:count])
            slot = self.slots[key] if key in self.slots else self._emit(key, operation, (slot, self._slot(part)))
        return slot

    def _sum(self, e: sp.Add) -> None:
        """Add the terms with a plus, then subtract those with a minus."""
        minus = [part for part in e.args if part.could_extract_minus_sign()]
        plus = [part for part in e.args if part not in minus] or [minus.pop(0)]
        slot = self._slot(plus[0])
        rest = [(part, "add", part) for part in plus[1:]] + [(part, "subtract", -part) for part in minus]
        for count, (part, operation, added) in enumerate(rest, 1):
            key = e if count == len(rest) else ("sum", slot, part)
            slot = self.slots[key] if key in self.slots else self._emit(key, operation, (slot, self._slot(added)))

    def _product(self, e: sp.Mul) -> None:
        """Divide the product of factors by that of divisors, once.

        Quantities come first and the constant last, so that products share as many partial products as possible.
        """
        coefficient, rest = e.as_coeff_Mul(rational=True)
        factors = sorted(sp.Mul.make_args(rest), key=lambda f: not isinstance(f, Quantity))
        below = [f for f in factors if f.is_Pow and f.base != sp.E and f.exp.could_extract_minus_sign()]
        above = [f for f in factors if f not in below]
        divisors = [f.base**-f.exp for f in below]
        if coefficient.p != 1 or not above:
            above.append(sp.Integer(coefficient.p))
        if coefficient.q != 1:
            divisors.append(sp.Integer(coefficient.q))
        if divisors:
            self._emit(e, "divide", (self._factors(above), self._factors(divisors)))
        else:
            self._chain(e, "multiply", above)

    def _factors(self, factors: Sequence[sp.Basic]) -> int:
        return self._slot(factors[0]) if len(factors) == 1 else self._chain(("multiply", *factors), "multiply", factors)

    def _power(self, e: sp.Pow) -> None:
        base, exponent = e.args
        if base == sp.E:
            self._emit(e, "exponential", (self._slot(exponent),))
        elif exponent.could_extract_minus_sign():
            self._emit(e, "divide", (self._slot(sp.S.One), self._slot(base**-exponent)))
        elif exponent.is_Integer:
            self._emit(e, "whole_power", (self._slot(base),), int(exponent))
        elif exponent == sp.Rational(1, 2):
            self._emit(e, "square_root", (self._slot(base),))
        elif grows(e):
            self._emit(e, "growth", (self._slot(base - 1), self._slot(exponent)))
        else:
            self._emit(e, "power", (self._slot(base), self._slot(exponent)))
