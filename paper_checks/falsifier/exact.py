"""Both sides of a statement in rational or 50-digit arithmetic: what a witness is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import sympy as sp

from bounds.core import Bound
from bounds.operators import bind

from .deciding import largest_alike
from .entries import Entry

DIGITS = 50
RATIONAL = "rational"
LOST = 1e-35
"""The share of the largest quantity alike that is not taken for real in rounded arithmetic."""
TINY = 1e-10
"""Quantities count as at least this large there: where all of them vanish, what is left is rounding."""
WORKING = 60
"""Digits carried, so that 50 of the result are right."""


@dataclass(frozen=True)
class Exactly:
    """A statement at an instance: both sides as SymPy numbers, and every condition with what decides it.

    ``conditions`` are (words, how it is decided, met): met is None where nothing decides. ``violated`` asks for every
    decided condition to be met, and for a difference beyond ``grain``: what rounding to so many digits could make.
    """

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
        """Measured minus bound, positive where the statement ``<=`` is violated."""
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
    """A SymPy number of the same value: rationals stay rational."""
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(value, mpmath.mpf):
        return sp.Float(mpmath.nstr(value, WORKING), WORKING)
    return sp.sympify(value)


def weigh(
    bound: Bound,
    entry: Entry,
    decided: Sequence[tuple[str, str, bool | None]],
    arithmetic: str,
    known: Mapping[str, Any],
) -> Exactly:
    """The bound at an entry beside the measured number; ``decided`` are the conditions that are not numeric.

    ``known`` are all quantities of the instance: how large those of the target's unit are says what rounding can do.
    """
    values = entry.values
    given = {
        q: [number(v) for v in values[q.name]] if isinstance(values[q.name], list) else number(values[q.name])
        for q in bound.quantities
    }
    total = sum((bind(term, given) for term in bound.spelled_terms.values()), sp.S.Zero)
    if entry.client is not None:  # what is left over is this client's own
        total = total.subs({q: v[entry.client] for q, v in given.items() if isinstance(v, list)})
    numeric = [
        (condition.words, "numbers", _everywhere(bind(relation, given), given))
        for condition, relation in zip(bound.numeric_conditions, bound.relations, strict=True)
    ]
    grain = 0.0 if arithmetic == RATIONAL else LOST * max(largest_alike(bound, known), TINY)
    measured = number(entry.measured)
    return Exactly(measured, sp.N(total, DIGITS), bound.relation, (*decided, *numeric), arithmetic, grain)


def _everywhere(relation: sp.Basic, given: Mapping[Any, Any]) -> bool:
    """Whether a relation is true, for every client where it speaks of each."""
    lists = {q: values for q, values in given.items() if isinstance(values, list) and q in relation.free_symbols}
    if not lists:
        return _met(relation)
    count = min(len(values) for values in lists.values())
    return all(_met(relation.subs({q: values[i] for q, values in lists.items()})) for i in range(count))


def _met(relation: sp.Basic) -> bool:
    """Whether a relation of numbers is true, in 50 digits where SymPy leaves it open."""
    if relation in (sp.true, sp.false):
        return bool(relation)
    if isinstance(relation, (sp.And, sp.Or)):
        return {sp.And: all, sp.Or: any}[relation.func](_met(part) for part in relation.args)
    difference = sp.N(relation.lhs - relation.rhs, DIGITS)
    return bool(relation.func(difference, 0))


def decimal(value: Any) -> Any:
    """A rational number in the digits that mpmath carries at the moment."""
    if isinstance(value, mpmath.mpf):
        return value
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator
