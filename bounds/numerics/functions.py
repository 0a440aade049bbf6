"""Functions of formulas that SymPy lacks: a ceiling that tolerates rounding errors, and stable powers ``(1+x)^y``."""

from __future__ import annotations

from typing import Any

import sympy as sp

from ..quantities import quantities_of

SLACK = 2**-48
"""The tolerated relative error of the argument: several times the error of a root, and too small to hide a true excess
over an integer in ``K_0 / cbrt(r)`` for ``K_0`` below forty thousand."""


class RoundUp(sp.ceiling):
    """The ceiling in Table 3 of Decaying-K; an argument that exceeds an integer by rounding only counts as the integer.

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


# ---- powers of 1 + x ----


class LogRatio(sp.Function):
    """``log(1+x)/x``, and 1 at ``x = 0``."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        return sp.S.One if x.is_zero else None

    def _eval_is_positive(self) -> bool | None:
        return True if (1 + self.args[0]).is_positive else None


def stable(expression: sp.Basic, whole: bool = True) -> sp.Basic:
    """Replace every ``(1+x)^y`` that has a quantity in its exponent by ``exp(x y LogRatio(x))``.

    The result is undefined for ``1+x < 0``, like a real power. Integer exponents, which are defined there, are left
    alone unless ``whole``. If ``y`` divides by ``x``, as in ``(1+x)^(1/(x c))``, then ``x`` cancels and no precision is
    lost as ``x`` tends to 0.
    """
    while powers := {e for e in expression.atoms(sp.Pow) if grows(e) and (whole or not _is_whole(e.exp))}:
        expression = expression.xreplace({e: sp.exp((e.base - 1) * e.exp * LogRatio(e.base - 1)) for e in powers})
    return expression


def grows(e: sp.Basic) -> bool:
    """Whether ``e`` is a power ``(1+x)^y`` with a quantity in its exponent."""
    return bool(e.is_Pow and e.base.is_Add and e.base.as_coeff_Add()[0] == 1 and e.exp.free_symbols)


def _is_whole(e: sp.Expr) -> bool:
    counts = {q: sp.Dummy(integer=True) for q in quantities_of([e]) if q.card.domain.whole}
    return bool(e.xreplace(counts).is_integer)


__all__ = ["SLACK", "LogRatio", "RoundUp", "grows", "stable"]
