"""Comparisons, floors and ceilings that floating point does not mislead: where rounding alone keeps two numbers apart,
they are equal. ``RoundUp`` is the ceiling that Table 3 of Decaying-K means."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from ..operators import AxisReduction, is_number
from ..quantities import Quantity

SLACK = 2**-48
"""Relative rounding error of the argument of a ceiling that is forgiven: several times what a root can lose, and too
small to hide a true excess over a whole number in ``K_0 / cbrt(r)`` as long as ``K_0`` is below forty thousand."""
ULP = 2**-52
"""Relative rounding error of one operation with floats, twice over."""


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
    """A little more than its first argument, by as much as rounding is forgiven, and by the second argument if there is
    one. A second argument that overflows adds nothing: an infinite allowance would meet any condition."""

    nargs = (1, 2)

    def _numpycode(self, printer: Any) -> str:
        return f"raised({', '.join(map(printer._print, self.args))})"


def raised(x: Any, more: Any = 0.0) -> Any:
    """``Raised`` of an array, or of one number of any kind."""
    return x * (1 + SLACK * np.sign(x)) + np.where(np.isfinite(more), more, 0.0)


@lru_cache(maxsize=1024)
def lenient(expression: sp.Basic) -> sp.Basic:
    """What jumps, for numbers that are rounded: 0.1 times 3 is at most 0.3 and not more than it, and 0.1 times 10 is
    not above 1 for a ceiling.

    Numbers that are given or whole are compared as they are. A divisor that is zero up to rounding makes no number, and
    no comparison with it is met.
    """
    return _lenient(spelled(expression))


def _lenient(expression: sp.Basic) -> sp.Basic:
    if not expression.has(Relational, sp.floor, sp.ceiling):
        return expression
    args = [_lenient(a) for a in expression.args]
    if isinstance(expression, Relational):
        return _loose(type(expression), *args)
    if isinstance(expression, (sp.floor, sp.ceiling)) and not isinstance(expression, RoundUp):
        x = args[0]
        if _is_whole(expression.args[0]):
            return expression
        return sp.floor(_raised(x)) if isinstance(expression, sp.floor) else -sp.floor(_raised(-x))
    return expression.func(*args)


SPELLED: dict[type[sp.Basic], Callable[..., sp.Basic]] = {
    sp.Mod: lambda x, y: x - y * sp.floor(x / y),
    sp.frac: lambda x: x - sp.floor(x),
    sp.sign: lambda x: sp.Piecewise((1, x > 0), (-1, x < 0), (0, True)),
    sp.Heaviside: lambda x, at_zero: sp.Piecewise((1, x > 0), (0, x < 0), (at_zero, True)),
    sp.KroneckerDelta: lambda x, y, *_: sp.Piecewise((1, sp.Eq(x, y)), (0, True)),
    sp.ITE: lambda a, b, c: (a & b) | (~a & c),
    sp.Implies: lambda a, b: ~a | b,
    sp.Equivalent: lambda *all_: sp.And(*all_) | sp.And(*(~a for a in all_)),
    sp.Xor: lambda *all_: reduce(lambda a, b: (a & ~b) | (~a & b), all_),
}
"""What jumps and what joins conditions, in floors, comparisons, "and", "or" and "not"."""


def spelled(expression: sp.Basic) -> sp.Basic:
    """The same, without the functions of ``SPELLED``."""
    if not expression.has(*SPELLED):
        return expression
    args = [spelled(a) for a in expression.args]
    if rule := SPELLED.get(type(expression)):
        return spelled(rule(*args))
    return expression.func(*args)


def cautious(expression: sp.Basic) -> sp.Basic:
    """``lenient`` where it asks for more than the comparison itself: a search for the largest number that meets a cap
    is to end at the cap."""
    expression = spelled(expression)
    strict = {r: _loose(type(r), *r.args) for r in expression.atoms(sp.Lt, sp.Gt, sp.Ne)}
    return expression.xreplace(strict) if strict else expression


def _loose(kind: type[Relational], a: sp.Expr, b: sp.Expr) -> sp.Basic:
    if all(s.is_Rational or isinstance(s, Quantity) or _is_whole(s) for s in (a, b)):
        return kind(a, b, evaluate=False)
    if kind in (sp.Ge, sp.Gt):
        a, b = b, a
    if kind in (sp.Le, sp.Ge):
        loose = sp.Le(a, _raised(b, a), evaluate=False)
    elif kind in (sp.Lt, sp.Gt):
        loose = sp.Lt(_raised(a, b), b, evaluate=False)
    else:
        same = sp.And(sp.Le(a, _raised(b, a), evaluate=False), sp.Le(b, _raised(a, b), evaluate=False), evaluate=False)
        loose = same if kind is sp.Eq else sp.Not(same, evaluate=False)
    powers = a.atoms(sp.Pow) | b.atoms(sp.Pow)
    divisors = sorted({p.base for p in powers if p.exp.could_extract_minus_sign() and not _is_steady(p.base)}, key=str)
    apart = [sp.Gt(sp.Abs(d), _slack(d), evaluate=False) for d in divisors]
    return sp.And(loose, *apart, evaluate=False) if apart else loose


def _is_whole(e: sp.Basic) -> bool:
    if isinstance(e, Quantity):
        return e.card.domain.whole
    return bool(e.is_Integer or ((e.is_Add or e.is_Mul) and all(map(_is_whole, e.args))))


def _is_fraction(e: sp.Basic) -> bool:
    """Whether it is made of whole numbers by the four operations."""
    kept = e.is_Add or e.is_Mul or (e.is_Pow and e.exp.is_Integer)
    return bool(e.is_Rational or _is_whole(e) or (kept and all(map(_is_fraction, e.args))))


def _raised(side: sp.Expr, *others: sp.Expr) -> sp.Expr:
    """A little more, by as much as rounding may have taken from it, or given to what it is compared with."""
    parts = (side, *others)
    if all(map(_is_fraction, parts)):  # such numbers are given exactly, and may be large
        return sp.Add(side, sp.Abs(side) * sp.Rational(ULP), evaluate=False)
    raised = side * (1 + sp.sign(side) * sp.Rational(SLACK)) if is_number(side) else Raised(side)
    if all(map(_is_steady, parts)):
        return raised
    slack = sp.Add(*map(_slack, parts))
    return raised + slack if is_number(slack) else Raised(side, slack)


def _slack(e: sp.Expr) -> sp.Expr:
    return sp.Rational(SLACK) * _moved(e)


def _is_steady(e: sp.Basic) -> bool:
    """Whether it moves, relatively, by no more than a few times what its quantities do: nothing cancels in it."""
    if isinstance(e, Quantity) or is_number(e):
        return True
    if e.is_Add and not (e.is_nonnegative or e.is_nonpositive):
        return False
    if e.is_Pow:
        return bool(e.exp.is_number) and _is_steady(e.base)
    kept = e.is_Add or e.is_Mul or isinstance(e, (AxisReduction, sp.Max, sp.Min, sp.Abs, Raised, sp.ceiling, sp.floor))
    return kept and all(map(_is_steady, e.args))


def _moved(e: sp.Expr) -> sp.Expr:
    """How far it moves, to first order, when each of its quantities and decimals is changed by as much as itself."""
    if isinstance(e, Quantity):
        return sp.S.Zero if e.card.domain.whole else sp.Abs(e)
    if is_number(e):
        return sp.Abs(e) if e.has(sp.Float) else sp.S.Zero
    if isinstance(e, (sp.floor, sp.ceiling)):
        return sp.S.Zero
    if isinstance(e, sp.Piecewise):
        return sp.Piecewise(*((_moved(value), condition) for value, condition in e.args))
    parts = [_moved(x) for x in e.args]
    if e.is_Add:
        return sp.Add(*parts)
    if isinstance(e, (AxisReduction, sp.Abs, Raised)):
        return e.func(*parts)
    if isinstance(e, (sp.Max, sp.Min)):
        return sp.Max(*parts)
    if e.is_Mul:  # what the derivatives below would give, in a tenth of their time
        slopes = [sp.Mul(*(x for j, x in enumerate(e.args) if j != i)) for i in range(len(e.args))]
    else:
        letters = [sp.Dummy(real=True) for _ in e.args]
        at = dict(zip(letters, e.args, strict=True))
        slopes = [e.func(*letters).diff(x).xreplace(at) if part else 0 for x, part in zip(letters, parts, strict=True)]
    return sp.Add(*(sp.Abs(slope) * part for slope, part in zip(slopes, parts, strict=True) if part))


def round_up(x: np.ndarray) -> np.ndarray:
    """``RoundUp`` of an array."""
    return np.ceil((1 - SLACK) * x)


__all__ = ["Raised", "RoundUp", "cautious", "lenient", "raised", "round_up", "spelled"]
