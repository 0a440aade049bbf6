"""Values of formulas at rational points in 80 digits, and comparisons that rounding cannot decide."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Context, ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp
from sympy.logic.boolalg import BooleanAtom

from bounds.operators import bind, varies
from bounds.quantities import AXES, quantities_of, Quantity

DIGITS = 80
"""Carried by every evaluation; comparisons ask for 40, so that cancellation of 40 digits does no harm."""
MORE_DIGITS = 240
"""Carried where a difference is so small that cancellation may have made it."""

SAME, TINY, NOISE = (mpmath.mpf(10) ** -e for e in (40, 30, 20))
"""Relative difference of equal numbers; numbers that may be rounding alone; by what share more digits leave those."""
ORDER: dict[Any, Callable[[Any, Any], bool]] = {
    sp.Eq: operator.eq, sp.Ne: operator.ne,
    sp.Lt: operator.lt, sp.Le: operator.le, sp.Gt: operator.gt, sp.Ge: operator.ge,
}  # fmt: skip

Point = Mapping[Quantity, Any]


def at_least(ratio: float) -> str:
    """A lower limit for evidence: four digits, rounded down, but for the rounding of a search (1e-6)."""
    return f"{float(Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(ratio * (1 + 1e-6))):.4g}"


def value(expression: sp.Basic, point: Point, digits: int = DIGITS) -> sp.Expr:
    """The value at a point in 80 digits; NaN where it is undefined (0/0, the order of complex numbers).

    Where a quantity over an axis stands outside of a sum over it, its first member is meant.
    """
    found = _number(sp.sympify(expression), point, digits)
    with mpmath.workdps(digits):
        return sp.nan if found is None else sp.sympify(found)


def _number(expression: sp.Basic, point: Point, digits: int) -> Any:
    """The value as mpmath's number; None where it is undefined."""
    members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
    function, order = _compiled(expression, members)
    with mpmath.workdps(digits):
        arguments = [[_precise(m) for m in v] if isinstance(v := point[q], tuple) else _precise(v) for q in order]
        try:
            found = mpmath.mp.convert(function(*arguments))
        except (ZeroDivisionError, ValueError):
            return None
        except TypeError as error:
            if "complex" in str(error) or "mpc" in str(error):  # Max and Min of numbers that are not real
                return None
            raise
        return _real(found, digits)


def _real(number: Any, digits: int) -> Any:
    """A complex number whose imaginary part is rounding alone, as the real one that it is."""
    if not isinstance(number, mpmath.mpc):
        return number
    small = abs(number.imag) <= abs(number.real) * mpmath.mpf(10) ** (-digits * 3 // 4)
    return number.real if small else number


@lru_cache(maxsize=1024)
def _compiled(expression: sp.Expr, members: int) -> tuple[Callable[..., Any], tuple[Quantity, ...]]:
    """A function of high-precision numbers (lists over an axis), and the quantities that are its arguments."""
    order = tuple(quantities_of([expression]))
    letters = {q: tuple(sp.Symbol(f"x{i}_{k}") for k in range(members)) for i, q in enumerate(order) if q.card.axis}
    arguments = [list(letters[q]) if q in letters else q for q in order]
    return sp.lambdify(arguments, opened(expression, letters), modules="mpmath", cse=True), order


def opened(expression: sp.Expr, letters: Mapping[Quantity, tuple[sp.Basic, ...]]) -> sp.Expr:
    """The expression with its reductions written out in ``letters``; outside of them the first member is meant."""
    return bind(expression, letters).xreplace({q: v[0] for q, v in letters.items()})


def _precise(number: Any) -> Any:
    """A number in the digits that are carried at present."""
    if isinstance(number, sp.Rational):
        return mpmath.mpf(number.p) / number.q
    return sp.sympify(number)._to_mpmath(mpmath.mp.prec, allow_ints=False)


def near(left: sp.Expr, right: sp.Expr) -> bool:
    """Equality to 40 of the digits carried; what is not finite is near nothing."""
    if not (left.is_finite and right.is_finite):
        return False
    size = max(abs(sp.N(left, DIGITS)), abs(sp.N(right, DIGITS)))
    return bool(abs(left - right) <= size * sp.Float(10, DIGITS) ** -40)


def excess(left: sp.Basic, right: sp.Basic, point: Point) -> sp.Expr:
    """``left - right`` at a point: 0 where they agree to 40 digits or rounding tells them apart; NaN if not real.

    Two numbers that are both tiny may be what is left of cancellation; then many more digits decide.
    """
    return _as_sympy(_excess(sp.sympify(left), sp.sympify(right), point))


def _excess(left: sp.Basic, right: sp.Basic, point: Point) -> Any:
    a, b = _number(left, point, DIGITS), _number(right, point, DIGITS)
    if not (isinstance(a, mpmath.mpf) and isinstance(b, mpmath.mpf)):
        return None
    with mpmath.workdps(DIGITS):
        size = max(abs(a), abs(b))
        if not mpmath.isfinite(size):
            return a - b
        if abs(a - b) <= size * SAME:
            return mpmath.mpf(0)
        if size > TINY:
            return a - b
    with mpmath.workdps(MORE_DIGITS):
        finer = _number(left, point, MORE_DIGITS) - _number(right, point, MORE_DIGITS)
        return finer if abs(finer) > abs(a - b) * NOISE else mpmath.mpf(0)


def _as_sympy(number: Any) -> sp.Expr:
    with mpmath.workdps(DIGITS):
        return sp.nan if number is None else sp.sympify(number)


def true_at(relation: sp.Basic, point: Point) -> bool:
    """Whether a relation holds at a point, for every member where it is about members; False where undefined."""
    if isinstance(relation, (bool, BooleanAtom)):
        return bool(relation)
    if isinstance(relation, sp.And):
        return all(true_at(a, point) for a in relation.args)
    if isinstance(relation, sp.Or):
        return any(true_at(a, point) for a in relation.args)
    if isinstance(relation, sp.Not):
        return not true_at(relation.args[0], point)
    return all(_true_once(relation, p) for p in turned(relation, point))


def _true_once(relation: sp.Basic, point: Point) -> bool:
    above = _excess(relation.lhs, relation.rhs, point)
    if above is None or mpmath.isnan(above):
        return False
    return bool(ORDER[type(relation)](above, 0))


def turned(expression: sp.Basic, point: Point) -> list[Point]:
    """The point once, or with each member first in turn where the expression is about members outside of sums."""
    if not any(varies(expression, axis) for axis in AXES):
        return [point]
    members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
    return [{q: v[i:] + v[:i] if isinstance(v, tuple) else v for q, v in point.items()} for i in range(members)]


def words(point: Point) -> dict[str, str]:
    """A point as strings, to be stored and shown."""
    return {q.name: ", ".join(map(str, v)) if isinstance(v, tuple) else str(v) for q, v in point.items()}


def shown(number: sp.Expr) -> str:
    """A number for evidence: exact if it is short, else six digits."""
    text = str(number)
    if not number.is_extended_real:
        return text
    return text if number.is_Rational and len(text) <= 9 else f"{float(number):.6g}"


def side_by_side(left: sp.Expr, right: sp.Expr, between: str = "against") -> str:
    """Two numbers for evidence; where their six digits are the same, by what share the first is off the second."""
    text = f"{shown(left)} {between} {shown(right)}"
    if left == right or shown(left) != shown(right) or not (left - right).is_extended_real:
        return text
    with mpmath.workdps(DIGITS):
        share = float(sp.N((left - right) / abs(right), DIGITS))
    return f"{text} ({'more' if share > 0 else 'less'} by a share of {abs(share):.2g})"


def short(number_: Fraction | float) -> str:
    """A number for evidence."""
    return str(number_) if isinstance(number_, (int, Fraction)) and len(str(number_)) < 10 else f"{float(number_):.6g}"
