"""Generic rational points: drawn inside the domains of the quantities and the conditions, evaluated in 80 digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from sympy.logic.boolalg import BooleanAtom

from bounds.operators import bind
from bounds.quantities import quantities_of, Quantity
from bounds.vocabulary import clients

from ..claims import ClaimError

DIGITS = 80
"""Carried by every evaluation; comparisons ask for 40, so that cancellation of 40 digits does no harm."""
MEMBERS = 3
"""Members of the client axis (and of the class axis) at a generic point."""
SPREAD = 3.0
"""Positive quantities are drawn log-uniformly between 10^-SPREAD and 10^SPREAD, half of them near 1."""

Point = Mapping[Quantity, Any]
Within = Mapping[Quantity, tuple[float, float]]


def points(
    expressions: Iterable[sp.Basic],
    count: int,
    conditions: Sequence[sp.Basic] = (),
    within: Within | None = None,
    seed: int = 0,
) -> Iterator[dict[Quantity, Any]]:
    """``count`` rational points for all quantities of ``expressions`` and ``conditions`` at which the conditions hold.

    Points where one of the ``expressions`` is not real are passed over. Drawn by rejection, from the domains or from
    the interval that ``within`` gives; an error where no point is found in thousands of draws. Quantities over an axis
    get a tuple.
    """
    expressions = tuple(expressions)
    formulas = [e for e in expressions if isinstance(e, sp.Expr) and not e.is_real]
    wanted = quantities_of((*expressions, *conditions))
    found, tries = 0, 0
    random = np.random.default_rng([seed, len(wanted)])
    while found < count:
        tries += 1
        if tries > 4000 + 400 * count:
            raise ClaimError(f"no point meets the conditions {list(map(str, conditions))} in {tries - 1} draws")
        point = _draw(wanted, random, within or {})
        if all(true_at(c, point) for c in conditions) and all(value(e, point).is_real for e in formulas):
            found += 1
            yield point


def _draw(wanted: Sequence[Quantity], random: np.random.Generator, within: Within) -> dict[Quantity, Any]:
    point: dict[Quantity, Any] = {}
    grouped = any(w.card.per_client for w in wanted)
    for q in sorted(wanted, key=lambda q: (q.card.at_most is not None, q.name)):
        if q.card.axis and q.card.domain.simplex:
            point[q] = _weights(random)
        elif q.card.axis:
            point[q] = tuple(_one(q, random, within) for _ in range(MEMBERS))
        elif q == clients and grouped:
            point[q] = sp.Integer(MEMBERS)
        else:
            point[q] = _capped(q, _one(q, random, within), point, random)
    return point


def _weights(random: np.random.Generator) -> tuple[sp.Rational, ...]:
    shares = [int(random.integers(1, 30)) for _ in range(MEMBERS)]
    return tuple(sp.Rational(s, sum(shares)) for s in shares)


def _capped(q: Quantity, value: sp.Rational, point: Point, random: np.random.Generator) -> sp.Rational:
    """What cannot exceed another quantity is drawn as a share of it."""
    cap = point.get(q.card.at_most) if q.card.at_most is not None else None
    if cap is None or value <= cap:
        return value
    if q.card.domain.whole:
        return sp.Integer(int(random.integers(1, int(cap) + 1)))
    return cap * sp.Rational(int(random.integers(1, 97)), 97)


def _one(q: Quantity, random: np.random.Generator, within: Within) -> sp.Rational:
    domain = q.card.domain
    low, high = within.get(q, (domain.low, domain.high))
    if domain.whole:
        near = q not in within and random.random() < 0.8
        top = min(high, low + 30 if near else low + 2000)
        return sp.Integer(int(random.integers(math.ceil(low), int(top) + 1)))
    if math.isfinite(low) and math.isfinite(high):
        return _between(low, high, random)
    size = 10 ** random.uniform(*((-0.5, 0.5) if random.random() < 0.5 else (-SPREAD, SPREAD)))
    number = sp.Rational(f"{size:.3g}")
    if math.isfinite(low):
        return sp.Rational(str(low)) + number
    return number if random.random() < 0.5 else -number


def _between(low: float, high: float, random: np.random.Generator) -> sp.Rational:
    """Log-uniform where the interval spans more than a decade, else uniform."""
    if low > 0 and high / low > 10:
        return sp.Rational(f"{low * (high / low) ** random.uniform():.4g}")
    share = sp.Rational(int(random.integers(1, 997)), 997)
    return sp.Rational(str(low)) + share * sp.Rational(str(high - low))


def value(expression: sp.Basic, point: Point) -> sp.Expr:
    """The value at a point in 80 digits; NaN where it divides by zero.

    Where a quantity over an axis stands outside of a sum over it, its first member is meant.
    """
    function, order = _compiled(sp.sympify(expression))
    arguments = [[_precise(m) for m in v] if isinstance(v := point[q], tuple) else _precise(v) for q in order]
    with mpmath.workdps(DIGITS):
        try:
            return sp.sympify(function(*arguments))
        except ZeroDivisionError:
            return sp.nan


@lru_cache(maxsize=1024)
def _compiled(expression: sp.Expr) -> tuple[Callable[..., Any], tuple[Quantity, ...]]:
    """A function of 80-digit numbers (lists over an axis), and the quantities that are its arguments."""
    order = tuple(quantities_of([expression]))
    letters = {q: tuple(sp.Symbol(f"x{i}_{k}") for k in range(MEMBERS)) for i, q in enumerate(order) if q.card.axis}
    plain = bind(expression, letters).xreplace({q: v[0] for q, v in letters.items()})
    arguments = [list(letters[q]) if q in letters else q for q in order]
    return sp.lambdify(arguments, plain, modules="mpmath", cse=True), order


def _precise(number: Any) -> Any:
    with mpmath.workdps(DIGITS):
        return sp.sympify(number)._to_mpmath(mpmath.mp.prec, allow_ints=False)


def true_at(relation: sp.Basic, point: Point) -> bool:
    """Whether a relation holds at a point: exactly for rationals, in 80 digits otherwise."""
    if isinstance(relation, (bool, BooleanAtom)):
        return bool(relation)
    if isinstance(relation, (sp.And, sp.Or)):
        return (all if isinstance(relation, sp.And) else any)(true_at(a, point) for a in relation.args)
    if isinstance(relation, sp.Not):
        return not true_at(relation.args[0], point)
    left, right = value(relation.lhs, point), value(relation.rhs, point)
    if isinstance(relation, (sp.Eq, sp.Ne)):
        return near(left, right) == isinstance(relation, sp.Eq)
    if not (left.is_extended_real and right.is_extended_real):
        return False
    if near(left, right):
        return not isinstance(relation, (sp.Gt, sp.Lt))
    return bool(relation.func(left, right))


def near(left: sp.Expr, right: sp.Expr) -> bool:
    """Equality to 40 of the digits carried."""
    size = max(abs(sp.N(left, DIGITS)), abs(sp.N(right, DIGITS)))
    return bool(abs(left - right) <= size * sp.Float(10, DIGITS) ** -40)


def words(point: Point) -> dict[str, str]:
    """A point as strings, to be stored and shown."""
    return {q.name: ", ".join(map(str, v)) if isinstance(v, tuple) else str(v) for q, v in point.items()}


def shown(number: sp.Expr) -> str:
    """A number for evidence: exact if it is short, else six digits."""
    text = str(number)
    return text if number.is_Rational and len(text) <= 9 else f"{float(number):.6g}"
