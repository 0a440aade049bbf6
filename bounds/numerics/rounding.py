"""Ceilings and comparisons that floating point does not mislead: where rounding alone keeps two numbers apart, they
are equal. The ceiling is the one that Table 3 of Decaying-K means."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from ..operators import is_number
from ..quantities import Quantity

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


class Raised(sp.Function):
    """A little more than its argument, by as much as rounding is forgiven."""

    nargs = 1

    def _numpycode(self, printer: Any) -> str:
        return f"raised({printer._print(self.args[0])})"


def raised(x: Any) -> Any:
    """``Raised`` of an array, or of one number of any kind."""
    return x * (1 + SLACK * np.sign(x))


def lenient(expression: sp.Basic) -> sp.Basic:
    """Every comparison in it for sides that are rounded: 0.1 times 3 is at most 0.3, and is not more than it.

    Numbers that are given or whole are compared as they are. What is
    subtracted on one side is added on the other, where its size counts.
    """
    loose = {r: _loose(r) for r in expression.atoms(Relational)}
    return expression.xreplace(loose) if loose else expression


def cautious(expression: sp.Basic) -> sp.Basic:
    """``lenient`` where it asks for more than the comparison itself: a search for the largest number that meets a cap
    is to end at the cap."""
    strict = {r: _loose(r) for r in expression.atoms(sp.Lt, sp.Gt, sp.Ne)}
    return expression.xreplace(strict) if strict else expression


def _loose(relation: Relational) -> sp.Basic:
    if all(s.is_Rational or isinstance(s, Quantity) or _is_whole(s) for s in relation.args):
        return relation
    a, b = _without_minus(relation.lhs, relation.rhs), _without_minus(relation.rhs, relation.lhs)
    if isinstance(relation, (sp.Ge, sp.Gt)):
        a, b = b, a
    if isinstance(relation, (sp.Le, sp.Ge)):
        return sp.Le(a, _more(b), evaluate=False)
    if isinstance(relation, (sp.Lt, sp.Gt)):
        return sp.Lt(_more(a), b, evaluate=False)
    same = sp.And(sp.Le(a, _more(b), evaluate=False), sp.Le(b, _more(a), evaluate=False), evaluate=False)
    return same if isinstance(relation, sp.Eq) else sp.Not(same, evaluate=False)


def _is_whole(e: sp.Basic) -> bool:
    if isinstance(e, Quantity):
        return e.card.domain.whole
    return bool(e.is_Integer or ((e.is_Add or e.is_Mul) and all(map(_is_whole, e.args))))


def _without_minus(side: sp.Expr, other: sp.Expr) -> sp.Expr:
    """One side of a comparison, without its own summands that are negative and with those of the other turned."""
    if not (side.is_Add or other.is_Add):
        return side
    own = [t for t in sp.Add.make_args(side) if not t.is_nonpositive]
    return sp.Add(*own, *(-t for t in sp.Add.make_args(other) if t.is_nonpositive))


def _more(side: sp.Expr) -> sp.Expr:
    return side * (1 + sp.sign(side) * sp.Rational(SLACK)) if is_number(side) else Raised(side)


def round_up(x: np.ndarray) -> np.ndarray:
    """``RoundUp`` of an array."""
    return np.ceil((1 - SLACK) * x)


__all__ = ["Raised", "RoundUp", "cautious", "lenient", "raised", "round_up"]
