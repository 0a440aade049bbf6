"""Rewrite powers ``(1+x)^y`` so that floating point evaluates them accurately for a small ``x``."""

from __future__ import annotations

import sympy as sp

from ..quantities import quantities_of


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


__all__ = ["LogRatio", "grows", "stable"]
