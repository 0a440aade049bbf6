"""The ceiling that Table 3 of Decaying-K means."""

from __future__ import annotations

from typing import Any

import sympy as sp

SLACK = 2**-48
"""Relative rounding error of the argument of a ceiling that is forgiven: several times what a root can lose, and too
small to hide a true excess over a whole number in ``K_0 / cbrt(r)`` as long as ``K_0`` is below forty thousand."""


class RoundUp(sp.ceiling):
    """The ceiling of a nonnegative number, where an argument that misses a whole number by rounding counts as it.

    In floating point ``81 * 27**(-1/3)`` is a little more than 27 and its plain ceiling 28.
    """

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        if not x.is_number:
            return None
        return sp.ceiling(x * (1 - sp.Float(SLACK, 60)) if x.has(sp.Float) else x)

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Zero: between its steps the ceiling is flat."""
        return sp.S.Zero

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive else None

    def _numpycode(self, printer: Any) -> str:
        return f"ceil({1 - SLACK!r}*({printer._print(self.args[0])}))"

    def _mpmathcode(self, printer: Any) -> str:
        ceil, number = (printer._module_format(f"mpmath.{name}") for name in ("ceil", "mpf"))
        return f"{ceil}((1 - {number}({SLACK!r}))*({printer._print(self.args[0])}))"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"\left\lceil {printer._print(self.args[0])} \right\rceil"
        return rf"{text}^{{{exp}}}" if exp is not None else text
