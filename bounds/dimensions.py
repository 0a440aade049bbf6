"""The unit that an expression carries, from the units of its quantities; of a lost 2 it knows nothing."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import sympy as sp

from .operators import AxisReduction
from .quantities import Quantity
from .units import BASES, Unit

Exponents = tuple[sp.Expr, ...]
"""Of the base dimensions; they may hold counts and ratios, which cancel in ``U^x U^(1-x)``."""
NONE: Exponents = (sp.S.Zero,) * len(BASES)


class _MixedUnitsError(Exception):
    """Different units are added, or a function of a number is taken of what has a unit."""


def unit_of(expression: sp.Expr) -> Unit | None:
    """The unit of ``expression``, or None when it carries none: it adds different units or vanishes."""
    try:
        found = [sp.nsimplify(sp.simplify(x), rational=True) for x in _exponents(expression)]
    except _MixedUnitsError:
        return None
    if expression.is_zero or not all(x.is_Rational for x in found):
        return None
    return Unit(tuple(Fraction(int(x.p), int(x.q)) for x in found))


def _exponents(e: sp.Basic) -> Exponents:
    if isinstance(e, Quantity):
        return tuple(map(sp.sympify, e.card.unit.exponents))
    if e.is_Mul:
        return tuple(map(sp.Add, *map(_exponents, e.args)))
    if e.is_Pow:
        _shared([e.exp, sp.S.One])
        return tuple(x * e.exp for x in _exponents(e.base))
    if isinstance(e, (AxisReduction, sp.Abs)):
        return _exponents(e.args[0])
    if isinstance(e, sp.Piecewise):
        return _shared(value for value, _ in e.args)
    if e.is_Add or isinstance(e, (sp.Max, sp.Min)):
        return _shared(e.args)
    return _shared([*e.args, sp.S.One]) if e.args else NONE


def _shared(parts: Iterable[sp.Basic]) -> Exponents:
    """The exponents of all parts, which are the same; zero has every unit."""
    first, *others = [_exponents(part) for part in parts if not part.is_zero] or [NONE]
    for other in others:
        if other != first and any(sp.simplify(a - b) != 0 for a, b in zip(first, other, strict=True)):
            raise _MixedUnitsError
    return first
