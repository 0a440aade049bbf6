"""Translate SymPy expressions to JavaScript over an object of numbers and lists.

A quantity that varies over clients or classes is a list; outside of sums the code uses its entry ``i``. Expressions
without a translation raise an error when the page is built.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from bounds.errors import DeclarationError
from bounds.numerics.functions import grows, RoundUp, SLACK, stable
from bounds.operators import AxisReduction, ClassMax, ClientMax, varies, write_out_means
from bounds.quantities import Quantity

INDEX = {"clients": "k", "classes": "c"}
FUNCTIONS = {
    "LogRatio": "logRatio",
    "whole": "whole",
    "first": [(lambda *arguments: True, lambda count, of: f"+(i<Math.trunc({count}))")],
}
"""Functions that the page defines; ``whole`` and ``first`` are those of ``bounds.identities``."""


def javascript(expression: sp.Basic) -> str:
    """Return the code of an expression in ``v`` (values by name) and ``i`` (the entry of lists outside of sums)."""
    code: str = _Printer().doprint(stable(write_out_means(expression), whole=False))
    return f"({code.replace('Math.', '').replace(' ', '')})"


def function(*expressions: sp.Basic, of: str = "{}") -> str:
    """Return a function of ``v`` (values), ``n`` (lengths of axes) and ``i`` (an entry), without unused arguments."""
    code = of.format(*map(javascript, expressions))
    used = "v,n,i,s" if of != "{}" else "v,n,i" if re.search(r"\bi\b", code) else "v,n" if "n." in code else "v"
    return f"({used})=>{code}" if "," in used else f"{used}=>{code}"


class _Printer(JavascriptCodePrinter):
    """SymPy's printer; ``inside`` has the index of every axis that a surrounding sum runs over."""

    def __init__(self) -> None:
        super().__init__({"user_functions": FUNCTIONS, "order": "none"})
        self.inside: dict[str, str] = {}

    def _print_Quantity(self, quantity: Quantity) -> str:
        axis = quantity.card.axis
        return f"v.{quantity.name}[{self.inside.get(axis, 'i')}]" if axis else f"v.{quantity.name}"

    def _print_Function(self, e: sp.Basic) -> str:
        """Print sums and maxima over an axis of length ``n.clients`` or ``n.classes`` too."""
        if not isinstance(e, AxisReduction):
            return str(super()._print_Function(e))
        index, around = INDEX[e.axis], self.inside
        self.inside = {**around, e.axis: index} if varies(e.args[0], e.axis) else around
        body = self._print(e.args[0])
        self.inside = around
        return f"{'largest' if isinstance(e, (ClientMax, ClassMax)) else 'sum'}(n.{e.axis},{index}=>{body})"

    def _print_Pow(self, e: sp.Pow) -> str:
        """Print a cube root as a power, since Math.cbrt has a value for negative numbers; growth factors stably."""
        if e.exp == sp.Rational(1, 3):
            return f"Math.pow({self._print(e.base)}, 1/3)"
        if grows(e):
            return f"growth({self._print(e.base - 1)}, {self._print(e.exp)})"
        return str(super()._print_Pow(e))

    def _print_RoundUp(self, e: RoundUp) -> str:
        return f"Math.ceil({1 - SLACK!r}*({self._print(e.args[0])}))"

    def _print_not_supported(self, e: Any) -> str:
        raise DeclarationError(f"there is no JavaScript for {type(e).__name__}, in {e}")

    emptyPrinter = _print_not_supported
