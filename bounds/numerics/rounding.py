"""``RoundUp``: the ceiling in Table 3 of Decaying-K, which tolerates rounding errors."""

from __future__ import annotations

from typing import Any

import sympy as sp

SLACK = 2**-48
"""The tolerated relative error of the argument: several times the error of a root, and too small to hide a true excess
over an integer in ``K_0 / cbrt(r)`` for ``K_0`` below forty thousand."""


class RoundUp(sp.ceiling):
    """The ceiling of a nonnegative number; an argument that exceeds an integer by rounding only counts as the integer.

    In floating point, ``81 * 27**(-1/3)`` is slightly more than 27, and its plain ceiling is 28.
    """

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        if not x.is_number:
            return None
        return sp.ceiling(x * (1 - sp.Float(SLACK, 60)) if x.has(sp.Float) else x)

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return zero, the derivative between jumps."""
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
