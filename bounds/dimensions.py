"""Derive the unit of an expression from the units of its quantities."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import sympy as sp

from .operators import AxisReduction
from .quantities import Quantity
from .units import BASES, Unit

Exponents = tuple[sp.Expr, ...]
"""Exponents of the base dimensions. They may contain counts and ratios, which cancel in ``U^x U^(1-x)``."""
NONE: Exponents = (sp.S.Zero,) * len(BASES)


class _MixedUnitsError(Exception):
    """Different units are added, or a function such as exp is applied to something with a unit."""


def unit_of(expression: sp.Expr) -> Unit | None:
    """Return the unit of an expression, or None if it is zero or adds different units."""
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
    """Return the exponents that all parts share, ignoring zeros; raise if they differ."""
    first, *others = [_exponents(part) for part in parts if not part.is_zero] or [NONE]
    for other in others:
        if other != first and any(sp.simplify(a - b) != 0 for a, b in zip(first, other, strict=True)):
            raise _MixedUnitsError
    return first
