"""Evaluate formulas at rational points in 80 digits, and compare the values so that rounding cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, ROUND_FLOOR
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp
from sympy.logic.boolalg import BooleanAtom

from bounds.numerics.floats import COMPARISONS
from bounds.operators import bind, varies
from bounds.quantities import AXES, quantities_of, Quantity

DIGITS = 80
"""Precision of every evaluation; comparisons use 40 digits, so that cancellation of 40 digits does no harm."""
MORE_DIGITS = 240
"""Precision with which a difference is computed again that may be due to cancellation alone."""

SAME, TINY, NOISE = (mpmath.mpf(10) ** -e for e in (40, 30, 20))
"""Relative difference up to which numbers count as equal; size up to which numbers may be rounding errors; and share up
to which a difference must shrink with more digits to count as one."""

Point = Mapping[Quantity, Any]
"""The value of each quantity; a tuple for a quantity that has a value per client or per class (its members)."""


def at_least(ratio: float) -> str:
    """Format a lower limit for evidence: four digits, rounded down, after adding the rounding of a search (1e-6)."""
    return f"{float(Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(ratio * (1 + 1e-6))):.4g}"


def value(expression: sp.Basic, point: Point, digits: int = DIGITS) -> sp.Expr:
    """Return the value at a point in 80 digits; NaN where it is undefined (0/0, an inequality of complex numbers).

    A quantity with members that stands outside of a sum over them has the value of its first member.
    """
    return _as_sympy(_number(sp.sympify(expression), point, digits), digits)


def _number(expression: sp.Basic, point: Point, digits: int) -> Any:
    """Return the value as a number of mpmath, or None where it is undefined."""
    members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
    function, order = _compiled(expression, members)
    with mpmath.workdps(digits):
        arguments = [[_precise(m) for m in v] if isinstance(v := point[q], tuple) else _precise(v) for q in order]
        try:
            number = mpmath.mp.convert(function(*arguments))
        except (ZeroDivisionError, ValueError):
            return None
        except TypeError as error:
            if "complex" in str(error) or "mpc" in str(error):  # Max and Min of numbers that are not real
                return None
            raise
        return _real(number, digits)


def _real(number: Any, digits: int) -> Any:
    """Drop the imaginary part of a complex number if it is a rounding error."""
    if not isinstance(number, mpmath.mpc):
        return number
    small = abs(number.imag) <= abs(number.real) * mpmath.mpf(10) ** (-digits * 3 // 4)
    return number.real if small else number


@lru_cache(maxsize=1024)
def _compiled(expression: sp.Expr, members: int) -> tuple[Callable[..., Any], tuple[Quantity, ...]]:
    """Return a function of mpmath numbers (lists for quantities with members) and the quantities it takes, in order."""
    order = tuple(quantities_of([expression]))
    letters = {q: tuple(sp.Symbol(f"x{i}_{k}") for k in range(members)) for i, q in enumerate(order) if q.card.axis}
    arguments = [list(letters[q]) if q in letters else q for q in order]
    return sp.lambdify(arguments, opened(expression, letters), modules="mpmath", cse=True), order


def opened(expression: sp.Expr, letters: Mapping[Quantity, tuple[sp.Basic, ...]]) -> sp.Expr:
    """Write out sums, means and maxima over members in ``letters``; elsewhere the first member replaces a quantity."""
    return bind(expression, letters).xreplace({q: v[0] for q, v in letters.items()})


def _precise(number: Any) -> Any:
    """Convert a number to mpmath's current precision."""
    if isinstance(number, sp.Rational):
        return mpmath.mpf(number.p) / number.q
    return sp.sympify(number)._to_mpmath(mpmath.mp.prec, allow_ints=False)


def near(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether two numbers are finite and equal to 40 digits."""
    if not (left.is_finite and right.is_finite):
        return False
    size = max(abs(sp.N(left, DIGITS)), abs(sp.N(right, DIGITS)))
    return bool(abs(left - right) <= size * sp.Float(10, DIGITS) ** -40)


def excess(left: sp.Basic, right: sp.Basic, point: Point) -> sp.Expr:
    """Return ``left - right`` at a point: 0 if they agree up to rounding (40 digits), NaN if one is not real.

    Two tiny numbers may both be rounding errors of cancellations; then 240 digits decide.
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


def _as_sympy(number: Any, digits: int = DIGITS) -> sp.Expr:
    with mpmath.workdps(digits):
        return sp.nan if number is None else sp.sympify(number)


def true_at(relation: sp.Basic, point: Point) -> bool:
    """Whether a relation holds at a point, and for every member if it is about members; False where undefined."""
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
    difference = _excess(relation.lhs, relation.rhs, point)
    if difference is None or mpmath.isnan(difference):
        return False
    return bool(COMPARISONS[relation.rel_op](difference, 0))


def turned(expression: sp.Basic, point: Point) -> list[Point]:
    """Return the point, once with each member in first place if the expression has members outside of sums."""
    if not any(varies(expression, axis) for axis in AXES):
        return [point]
    members = max((len(v) for v in point.values() if isinstance(v, tuple)), default=1)
    return [{q: v[i:] + v[:i] if isinstance(v, tuple) else v for q, v in point.items()} for i in range(members)]


def words(point: Point) -> dict[str, str]:
    """Return a point as strings by quantity name, as witnesses are stored and shown."""
    return {q.name: ", ".join(map(str, v)) if isinstance(v, tuple) else str(v) for q, v in point.items()}


def shown(number: sp.Expr) -> str:
    """Format a number for evidence: exact if it is short, else with six digits."""
    text = str(number)
    if not number.is_extended_real:
        return text
    return text if number.is_Rational and len(text) <= 9 else f"{float(number):.6g}"


def side_by_side(left: sp.Expr, right: sp.Expr, between: str = "against") -> str:
    """Format two numbers for evidence; if their six digits agree, add the relative difference."""
    text = f"{shown(left)} {between} {shown(right)}"
    if left == right or shown(left) != shown(right) or not (left - right).is_extended_real:
        return text
    with mpmath.workdps(DIGITS):
        share = float(sp.N((left - right) / abs(right), DIGITS))
    return f"{text} ({'more' if share > 0 else 'less'} by a share of {abs(share):.2g})"


def short(number_: Fraction | float) -> str:
    """Format a number for evidence: fractions and integers exactly if they are short, others with six digits."""
    return str(number_) if isinstance(number_, (int, Fraction)) and len(str(number_)) < 10 else f"{float(number_):.6g}"
