"""What SymPy can hold and no array function computes: sums over indices, integrals, functions without a meaning."""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import BooleanFunction

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

COMPUTED = (sp.exp, sp.log, sp.Max, sp.Min, sp.Abs, sp.ceiling, sp.floor, sp.Piecewise, AxisReduction)
"""The functions of which formulas may be made, besides sums, products and powers."""
JOINING = (sp.And, sp.Or, sp.Not, sp.ITE)


def unfinished(expression: sp.Basic) -> str:
    """What keeps an expression from being computed, and what to write instead; empty where nothing does."""
    if expression.has(*INSTEAD):
        for part in sp.preorder_traversal(expression):
            for kind, remedy in INSTEAD.items():
                if isinstance(part, kind):
                    return f"holds {part}, which is not computed: {remedy}"
    if strange := expression.atoms(sp.NumberSymbol) - {sp.pi, sp.E}:
        return f"holds {strange.pop()}, which is not computed: write it as a decimal number"
    for function in expression.atoms(sp.Function, BooleanFunction):
        if not isinstance(function, (*COMPUTED, *JOINING)):
            known = ", ".join(sorted(kind.__name__ for kind in COMPUTED[:-1]))
            return f"holds {function}, which is not computed: functions are {known}, and sums over clients or classes"
    return ""
