"""What a formula may be made of; anything else that SymPy can hold is refused where it is declared."""

from __future__ import annotations

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom

from .operators import AxisReduction

COMPUTED = (sp.exp, sp.log, sp.Max, sp.Min, sp.Abs, sp.ceiling, sp.floor, sp.Piecewise, AxisReduction)
"""The functions, besides sums, products and powers."""
JOINING = (sp.And, sp.Or, sp.Not, sp.ITE, Relational, BooleanAtom, sp.Tuple)
KNOWN = (sp.Symbol, sp.Rational, sp.Float, type(sp.pi), type(sp.E), sp.Add, sp.Mul, sp.Pow, *COMPUTED, *JOINING)


def unfinished(expression: sp.Basic) -> str:
    """What keeps an expression from being computed, and what is computed; empty where nothing does."""
    strange = next((part for part in sp.preorder_traversal(expression) if not isinstance(part, KNOWN)), None)
    if strange is None:
        return ""
    functions = ", ".join(sorted(kind.__name__ for kind in COMPUTED[:-1]))
    return (
        f"holds {strange}, which is not computed: write real numbers, powers, {functions}, and over clients "
        "ClientSum, ClientMean or ClientMax"
    )
