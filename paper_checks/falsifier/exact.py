"""Evaluation of a statement in exact arithmetic, which confirms a counterexample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from bounds.core import Bound
from bounds.numerics.balls import Point
from bounds.numerics.tape import Tape
from empirics.exact import FRACTIONS

from .core import scores
from .deciding import compiled, largest_of_unit

DIGITS = 50
RATIONAL = "rational"
LOST = 1e-35
"""Rounding error of 60-digit numbers, relative to the largest quantity of the target's unit."""
TINY = 1e-10
"""Lower limit of that largest quantity, in case all of them are zero."""
WORKING = 60
"""Digits of the computation, for 50 correct digits of the result."""
BITS = 200
"""The same precision in bits."""


@dataclass(frozen=True)
class Exactly:
    """A statement at an instance in exact arithmetic. ``conditions`` are (text, what decides it, met), where met is
    None for undecided conditions. The statement is ``violated`` if every decided condition is met and the difference
    exceeds the rounding error ``grain``."""

    measured: sp.Expr
    bound: sp.Expr
    relation: str
    conditions: tuple[tuple[str, str, bool | None], ...]
    arithmetic: str
    grain: float = 0.0

    @property
    def failed(self) -> tuple[str, ...]:
        return tuple(words for words, _, met in self.conditions if met is False)

    @property
    def margin(self) -> sp.Expr:
        """Measured minus bound, which is positive if a statement ``<=`` is violated."""
        return sp.N(self.measured - self.bound, DIGITS)

    @property
    def violated(self) -> bool:
        if self.failed or not self.margin.is_finite:
            return False
        size = sp.N(abs(self.measured) + abs(self.bound), DIGITS)
        away = {"<=": self.margin, ">=": -self.margin, "=": abs(self.margin)}[self.relation]
        return bool(away > size * sp.Float(10) ** (-30) + self.grain)

    @property
    def ratio(self) -> float:
        return float(self.measured / self.bound) if self.bound != 0 else float("inf")


def number(value: Any) -> sp.Expr:
    """Return a SymPy number of the same value; rationals stay rational."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, mpmath.mpf):
        return sp.Float(mpmath.nstr(value, WORKING), WORKING)
    return sp.sympify(value)


def evaluate_exactly(
    bound: Bound,
    known: Mapping[str, Any],
    measured: Any,
    decided: Sequence[tuple[str, str, bool | None]],
    arithmetic: str,
) -> Exactly:
    """Return the statement in exact numbers at the entry where it is violated most.

    Args:
        bound: The bound, in which sums over clients are sums over groups.
        known: All quantities of the instance, which may vary with the entry; per-client ones are lists.
        measured: An exact number, or an array with one per entry. If the target varies over clients, they are the
            last axis.
        decided: The conditions that are not numeric.
        arithmetic: The name of the number type.
    """
    used, measured = {q: known[q.name] for q in bound.quantities}, np.asarray(measured, dtype=object)
    with np.errstate(all="ignore"):
        rough = compiled(bound)({q.name: np.asarray(value, dtype=float) for q, value in used.items()})
    at = np.broadcast_to(rough, measured.shape)
    violation = np.where(np.isnan(at), -np.inf, scores(measured.astype(float), at, bound.relation))
    index = np.unravel_index(int(np.argmax(violation)), measured.shape)
    client, row = (int(index[-1]), index[:-1]) if bound.target.card.axis else (0, index)
    given = {}
    for q, value in used.items():
        array = np.asarray(value, dtype=object)
        entry = array[row] if array.ndim > bool(q.card.axis) else array
        given[q.name] = [FRACTIONS.make(x) for x in np.atleast_1d(entry)]
    width = max(map(len, given.values()), default=1)
    tapes = [Tape((e,)) for e in (sp.Add(*bound.spelled_terms.values()), *bound.relations)]
    totals, *relations = [Point(tape, given, width, exact=True) for tape in tapes]
    (members,) = totals.balls(BITS)
    total = _decimal(members[client if len(members) > 1 else 0])
    numeric = [
        (condition.words, "numbers", all(relation.holds()))
        for condition, relation in zip(bound.numeric_conditions, relations, strict=True)
    ]
    grain = 0.0 if arithmetic == RATIONAL else LOST * max(largest_of_unit(bound, known), TINY)
    return Exactly(number(measured[index]), total, bound.relation, (*decided, *numeric), arithmetic, grain)


def _decimal(ball: Any) -> sp.Expr:
    """Return the midpoint of a ball with 50 digits."""
    if not ball.is_finite():
        return sp.nan if ball.is_nan() else sp.oo if ball > 0 else -sp.oo
    man, exp = (int(part) for part in ball.mid().man_exp())
    return sp.N(sp.Integer(man) * sp.Integer(2) ** exp, DIGITS)


def decimal(value: Any) -> Any:
    """Return a rational number with the current precision of mpmath."""
    if isinstance(value, mpmath.mpf):
        return value
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator
