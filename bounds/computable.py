"""The functions that a formula may contain. Any other SymPy expression is rejected when a bound is declared."""

from __future__ import annotations

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom

from .operators import AxisReduction

COMPUTED = (sp.exp, sp.log, sp.Max, sp.Min, sp.Abs, sp.ceiling, sp.floor, sp.Piecewise, AxisReduction)
"""The functions that can be computed, besides sums, products and powers."""
LOGIC = (sp.And, sp.Or, sp.Not, sp.ITE, Relational, BooleanAtom, sp.Tuple)
ALLOWED = (sp.Symbol, sp.Rational, sp.Float, type(sp.pi), type(sp.E), sp.Add, sp.Mul, sp.Pow, *COMPUTED, *LOGIC)


def not_computable(expression: sp.Basic) -> str:
    """Return what cannot be computed in an expression, and what to use instead; empty if everything can."""
    strange = next((part for part in sp.preorder_traversal(expression) if not isinstance(part, ALLOWED)), None)
    if strange is None:
        return ""
    functions = ", ".join(sorted(kind.__name__ for kind in COMPUTED[:-1]))
    return (
        f"contains {strange}, which cannot be computed: use real numbers, powers, {functions}, and over clients "
        "ClientSum, ClientMean or ClientMax"
    )
