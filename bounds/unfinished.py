"""What SymPy can hold and no array function computes: sums over indices, integrals, functions without a meaning."""

from __future__ import annotations

from functools import cache

import sympy as sp
from sympy.core.function import AppliedUndef

from .errors import DeclarationError
from .operators import AxisReduction

OVER_INDICES = "over clients that is ClientSum(...) or ClientMean(...), over classes ClassSum(...)"
INFINITE = "write a large number, or leave out what it bounds"
WORK_OUT = "work it out, such as with .doit()"
INSTEAD: dict[type[sp.Basic], str] = {
    sp.Sum: OVER_INDICES,
    sp.Product: f"write exp of a sum of logarithms; {OVER_INDICES}",
    sp.Integral: WORK_OUT,
    sp.Derivative: WORK_OUT,
    sp.Subs: WORK_OUT,
    sp.Limit: WORK_OUT,
    AppliedUndef: "write out what it is",
    sp.CRootOf: "write it with radicals or as a number",
    type(sp.I): "bounds are real",
    type(sp.zoo): "something is divided by zero",
    type(sp.nan): "something is undefined whatever the numbers",
    sp.core.numbers.Infinity: INFINITE,
    sp.core.numbers.NegativeInfinity: INFINITE,
}
"""What to write in its place."""

PLAIN = (sp.exp, sp.log, sp.Max, sp.Min, sp.Abs, sp.ceiling, sp.floor, sp.Piecewise, AxisReduction)
"""Functions that are surely computed, without asking the printer of NumPy's code, which takes time."""


def unfinished(expression: sp.Basic) -> str:
    """What keeps an expression from being computed, and what to write instead; empty where nothing does."""
    if expression.has(*INSTEAD):
        for part in sp.preorder_traversal(expression):
            for kind, remedy in INSTEAD.items():
                if isinstance(part, kind):
                    return f"holds {part}, which is not computed: {remedy}"
    for function in expression.atoms(sp.Function):
        if not isinstance(function, PLAIN) and (said := _without_code(function.func, len(function.args))):
            return f"holds {function}, which is not computed: {said}"
    return ""


@cache
def _without_code(function: type[sp.Function], arguments: int) -> str:
    """What the generator of code says of a function that it has no code for; empty where it has."""
    from .numerics.codegen import generate

    letters = sp.symbols(f"x:{arguments}")
    try:
        generate([letter.name for letter in letters], [function(*letters)])
    except DeclarationError as error:
        return str(error)
    return ""
