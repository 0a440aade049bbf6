"""What SymPy can hold and no array function computes: sums over indices, integrals, functions without a meaning."""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef

OVER_INDICES = "over clients that is ClientSum(...) or ClientMean(...), over classes ClassSum(...)"
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
}
"""What to write in its place."""


def unfinished(expression: sp.Basic) -> str:
    """What keeps an expression from being computed, and what to write instead; empty where nothing does."""
    if not expression.has(*INSTEAD):
        return ""
    for part in sp.preorder_traversal(expression):
        for kind, remedy in INSTEAD.items():
            if isinstance(part, kind):
                return f"holds {part}, which is not computed: {remedy}"
    return ""
