"""Formulas as checks take them, a bound's name, an expression or a function of the book, and their premises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from bounds.core import Bound
from bounds.operators import bind, ClientSum
from bounds.quantities import quantities_of, Quantity
from bounds.vocabulary import cohort, current_loss, initial_loss, local_gap, optimal_loss, takes_part

from ..claim import Book, ClaimError, Finding, Status, without_floats

Exact: TypeAlias = int | Fraction
Formula: TypeAlias = str | Bound | sp.Basic | int | Callable[[Book], sp.Basic]
"""A bound or its name stands for its right-hand side with abbreviations written out."""

WRITTEN = 14
"""Largest number of characters of a float that somebody has typed; computed floats have more."""


def resolve(formula: Formula, book: Book) -> sp.Expr:
    """Return the exact expression that a formula stands for.

    Floats in a bound are read as the decimals that were typed. Other floats raise: computed ones in a bound, such as
    Python's 1/3, and all floats in other formulas.
    """
    if isinstance(formula, str | Bound):
        return _written((formula if isinstance(formula, Bound) else book[formula]).expr)
    return without_floats(formula(book) if callable(formula) and not isinstance(formula, sp.Basic) else formula)


def _written(expression: sp.Basic) -> sp.Basic:
    """Replace typed floats by the decimals they stand for; raise for others."""
    typed = {f: sp.Rational(str(f)) for f in expression.atoms(sp.Float) if len(repr(float(f))) <= WRITTEN}
    return without_floats(expression.xreplace(typed))


def slope_of(expression: sp.Expr, by: Quantity, order: int = 1) -> sp.Expr:
    """Return the derivative, all members of an axis moved by the same amount; raise where SymPy has none."""
    if by.card.domain.simplex:
        raise ClaimError(f"no derivative in {by.name}: the weights sum to 1, so that none can move alone")
    slope = expression.diff(by, order)
    if slope.has(sp.Derivative, sp.Subs):
        raise ClaimError(f"SymPy has no derivative in {by.name} of {expression}")
    return slope


def term(bound: str, *names: str) -> Callable[[Book], sp.Expr]:
    """Return the formula of one named term of a bound, or of the sum of several."""
    return lambda book: sp.Add(*(book[bound].spelled_terms[name] for name in names))


@dataclass(frozen=True)
class At:
    """A formula with formulas substituted for quantities, all at once."""

    formula: Formula
    put: Mapping[Any, Any] = field(default_factory=dict)

    def __call__(self, book: Book) -> sp.Expr:
        put = {q: resolve(f, book) for q, f in self.put.items()}
        # Not subs: its placeholders do not vary over clients, so that they would be moved out of means over clients.
        return resolve(self.formula, book).xreplace(put)


def relations(bound: Bound) -> tuple[sp.Basic, ...]:
    """Return the numeric conditions of a bound, with abbreviations written out."""
    return tuple(_written(relation) for relation in bound.relations)


def number(book: Book, name: str, **values: Exact | Sequence[Exact]) -> Fraction:
    """Evaluate a bound's right-hand side at exact numbers by quantity name; its conditions are not checked."""
    expression = book[name].expr
    used = {q: values[q.name] for q in quantities_of([expression])}
    put = {q: tuple(map(sp.Rational, v)) if isinstance(v, Sequence) else sp.Rational(v) for q, v in used.items()}
    return rational(bind(expression, put))


def rational(number_: sp.Expr) -> Fraction:
    """Convert SymPy's rational number to a fraction."""
    return Fraction(int(number_.p), int(number_.q))


# ---- the hypotheses of the statements that formulas come from: a counterexample must meet them to count ----

ALWAYS: tuple[sp.Basic, ...] = (
    sp.Le(optimal_loss, initial_loss),
    sp.Le(optimal_loss, current_loss),
    sp.Ge(local_gap, 0),
    sp.Eq(ClientSum(takes_part), cohort),
)
"""Relations that hold by the meaning of the quantities, in addition to their domains and ``at_most``.

A local gap is the expected gap of a minimiser of the empirical risk, which is never negative.
"""


def within_premises(
    check: Any, book: Book, *formulas: Formula, skip: Callable[[sp.Basic], bool] = lambda relation: False
) -> Finding:
    """Return the finding of ``check``, where only a counterexample that meets the formulas' hypotheses counts.

    If the check fails, it is judged again at points that meet the hypotheses, and the second finding counts. ``skip``
    selects relations that are not hypotheses: what the statement concludes, or what is left in a limit.
    """
    anywhere: Finding = check.decide(book)
    if anywhere.status is not Status.FAILS:
        return anywhere
    hypotheses = tuple(r for r in premises(formulas, book, check.where) if not skip(r))
    if not hypotheses:
        return anywhere
    inside: Finding = replace(check, where=(*check.where, *hypotheses)).decide(book)
    if inside.status is Status.FAILS:
        return inside
    return replace(inside, evidence=f"{inside.evidence}; outside the hypotheses it fails: {anywhere.evidence}")


def premises(formulas: tuple[Formula, ...], book: Book, where: tuple[sp.Basic, ...] = ()) -> tuple[sp.Basic, ...]:
    """Return the numeric conditions of the bounds in ``formulas`` and ``ALWAYS``, if all of their quantities occur."""
    occurring = set(quantities_of((*(resolve(f, book) for f in formulas), *where)))
    relations_ = dict.fromkeys((*(r for f in formulas for r in _conditions(f, book)), *ALWAYS))
    return tuple(r for r in relations_ if r not in (*where, sp.true, sp.false) and set(quantities_of([r])) <= occurring)


def _conditions(formula: Formula, book: Book) -> Iterator[sp.Basic]:
    """Yield the numeric conditions of the bounds that a formula uses, with its substitutions made in them too."""
    match formula:
        case str():
            yield from relations(book[formula])
        case Bound():
            yield from relations(formula)
        case At():
            put = {q: resolve(f, book) for q, f in formula.put.items()}
            yield from (r.xreplace(put) for r in (*_conditions(formula.formula, book), *ALWAYS))
            yield from (r for f in formula.put.values() for r in _conditions(f, book))
        case _ if callable(formula) and not isinstance(formula, sp.Basic):
            before, book.requested = book.requested, set()
            formula(book)
            names, book.requested = sorted(book.requested), before | book.requested
            yield from (r for name in names for r in relations(book[name]))
