"""Both sides of a statement in exact arithmetic: what a witness is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np
import sympy as sp
from flint import fmpq

from bounds.core import Bound
from bounds.numerics.balls import Point
from bounds.numerics.tape import Tape

from .core import scores
from .deciding import compiled, largest_alike

DIGITS = 50
RATIONAL = "rational"
LOST = 1e-35
"""The share of the largest such quantity that counts as rounding."""
TINY = 1e-10
"""Quantities count as at least this large there: where all of them vanish, what is left is rounding."""
WORKING = 60
"""Digits carried, so that 50 of the result are right."""
BITS = 200
"""The same in bits."""


class Entry(NamedTuple):
    """The quantities at one entry (one value per client where they vary), the measured number, and whose it is."""

    values: dict[str, Any]
    measured: Any
    client: int | None


def worst_entry(bound: Bound, used: Mapping[str, Any], measured: Any) -> Entry:
    """The entry where the statement does worst.

    ``measured`` is an array of exact numbers, one per entry; a quantity that changes along has as many. Where the
    target varies over clients they are its last axis.
    """
    rough = {name: np.asarray(value, dtype=float) for name, value in used.items()}
    with np.errstate(all="ignore"):
        at = np.broadcast_to(compiled(bound)(**rough), measured.shape)
    found = np.where(np.isnan(at), -np.inf, scores(measured.astype(float), at, bound.relation))
    index = np.unravel_index(int(np.argmax(found)), measured.shape)
    own = int(index[-1]) if bound.target.card.axis else None
    over = {q.name for q in bound.quantities if q.card.axis}
    row = index[:-1] if own is not None else index
    return Entry({n: _at(v, row, n in over) for n, v in used.items()}, measured[index], own)


def _at(value: Any, row: tuple[Any, ...], varies: bool) -> Any:
    array = np.asarray(value, dtype=object)
    here = array[row] if array.ndim > int(varies) else array
    if not varies:
        return here.item() if isinstance(here, np.ndarray) else here
    return list(here)


@dataclass(frozen=True)
class Exactly:
    """A statement at an instance: both sides as SymPy numbers, and every condition with what decides it.

    ``conditions`` are (words, how it is decided, met): met is None where nothing decides. ``violated`` asks for every
    decided condition to be met, and for a difference beyond ``grain``: what rounding to that many digits could make.
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
    values = {q.name: entry.values[q.name] for q in bound.quantities}
    given = {n: [_rational(x) for x in (value if isinstance(value, list) else [value])] for n, value in values.items()}
    width = max(map(len, given.values()), default=1)
    tapes = [Tape((e,)) for e in (sp.Add(*bound.spelled_terms.values()), *bound.relations)]
    totals, *relations = [Point(tape, given, width, exact=True) for tape in tapes]
    (members,) = totals.balls(BITS)
    total = members[entry.client or 0 if len(members) > 1 else 0]
    numeric = [
        (condition.words, "numbers", all(relation.holds()))
        for condition, relation in zip(bound.numeric_conditions, relations, strict=True)
    ]
    grain = 0.0 if arithmetic == RATIONAL else LOST * max(largest_alike(bound, known), TINY)
    return Exactly(number(entry.measured), _decimal(total), bound.relation, (*decided, *numeric), arithmetic, grain)


def _rational(value: Any) -> fmpq:
    """The fraction that a number is."""
    if isinstance(value, mpmath.mpf):
        return fmpq(*map(int, mpmath.libmp.to_rational(value._mpf_)))
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def _decimal(ball: Any) -> sp.Expr:
    """The middle of a ball in 50 digits."""
    if not ball.is_finite():
        return sp.nan if ball.is_nan() else sp.oo if ball > 0 else -sp.oo
    man, exp = (int(part) for part in ball.mid().man_exp())
    return sp.N(sp.Integer(man) * sp.Integer(2) ** exp, DIGITS)


def decimal(value: Any) -> Any:
    """A rational number in the digits that mpmath carries at the moment."""
    if isinstance(value, mpmath.mpf):
        return value
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator
