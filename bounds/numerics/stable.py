"""Powers ``(1+x)^y`` in the form that floating point can evaluate, whose digits otherwise end where those of 1 do."""

from __future__ import annotations

import sympy as sp

from ..quantities import quantities_of


class LogRatio(sp.Function):
    """``log(1+x)/x``, continued by 1 at ``x = 0``."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        return sp.S.One if x.is_zero else None

    def _eval_is_positive(self) -> bool | None:
        return True if (1 + self.args[0]).is_positive else None


def stable(expression: sp.Basic, whole: bool = True) -> sp.Basic:
    """Every ``(1+x)^y`` with a quantity in its exponent as ``exp(x y LogRatio(x))``.

    It has no value where ``1+x < 0``, as real powers have none but those with a whole exponent: these stay as they are
    where ``whole`` is off. Where ``y`` divides by ``x``, as in ``(1+x)^(1/(x c))``, nothing is left that is lost as
    ``x`` falls to 0.
    """
    while powers := {e for e in expression.atoms(sp.Pow) if grows(e) and (whole or not _is_whole(e.exp))}:
        expression = expression.xreplace({e: sp.exp((e.base - 1) * e.exp * LogRatio(e.base - 1)) for e in powers})
    return expression


def grows(e: sp.Basic) -> bool:
    """Whether it is a power of one and something more, with a quantity in its exponent."""
    return bool(e.is_Pow and e.base.is_Add and e.base.as_coeff_Add()[0] == 1 and e.exp.free_symbols)


def _is_whole(e: sp.Expr) -> bool:
    counts = {q: sp.Dummy(integer=True) for q in quantities_of([e]) if q.card.domain.whole}
    return bool(e.xreplace(counts).is_integer)


__all__ = ["LogRatio", "grows", "stable"]
