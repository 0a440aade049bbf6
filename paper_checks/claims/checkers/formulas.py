"""Formulas as checks write them: a bound's name, an expression, or a small recipe that makes one from the book."""

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
"""A bound, or its name, stands for its right-hand side with abbreviations written out."""

WRITTEN = 14
"""Characters of a float that somebody may have written; what is computed has more."""


def resolve(formula: Formula, book: Book) -> sp.Expr:
    """The exact expression a formula stands for.

    A bound is made for floats, and those in it are the decimals they are written as; in any other formula they are
    refused, as are those of a bound that no one has written, such as what Python makes of 1/3.
    """
    if isinstance(formula, str | Bound):
        return _written((formula if isinstance(formula, Bound) else book[formula]).expr)
    return without_floats(formula(book) if callable(formula) and not isinstance(formula, sp.Basic) else formula)


def _written(of_bound: sp.Basic) -> sp.Basic:
    floats = of_bound.atoms(sp.Float)
    return without_floats(of_bound.xreplace({f: sp.Rational(str(f)) for f in floats if len(repr(float(f))) <= WRITTEN}))


def slope_of(expression: sp.Expr, by: Quantity, order: int = 1) -> sp.Expr:
    """The derivative; along an axis, all members moved by the same amount. Refused where SymPy would take another."""
    if by.card.domain.simplex:
        raise ClaimError(f"no derivative in {by.name}: the weights sum to 1, so that none can move alone")
    slope = expression.diff(by, order)
    if slope.has(sp.Derivative, sp.Subs):
        raise ClaimError(f"SymPy has no derivative in {by.name} of {expression}")
    return slope


def term(bound: str, *names: str) -> Callable[[Book], sp.Expr]:
    """One named term of a bound, or the sum of several."""
    return lambda book: sp.Add(*(book[bound].spelled_terms[name] for name in names))


@dataclass(frozen=True)
class At:
    """A formula with expressions put in for quantities, all at once; the expressions may be formulas too."""

    formula: Formula
    put: Mapping[Any, Any] = field(default_factory=dict)

    def __call__(self, book: Book) -> sp.Expr:
        put = {q: resolve(f, book) for q, f in self.put.items()}
        # Not subs: its place-holders do not vary over clients, so that means over clients would let them out.
        return resolve(self.formula, book).xreplace(put)


def relations(bound: Bound) -> tuple[sp.Basic, ...]:
    """The numeric conditions of a bound, abbreviations written out."""
    return tuple(_written(relation) for relation in bound.relations)


def number(book: Book, name: str, **values: Exact | Sequence[Exact]) -> Fraction:
    """A bound's right-hand side at exact numbers by quantity name; its conditions are not checked."""
    expression = book[name].expr
    used = {q: values[q.name] for q in quantities_of([expression])}
    put = {q: tuple(map(sp.Rational, v)) if isinstance(v, Sequence) else sp.Rational(v) for q, v in used.items()}
    return rational(bind(expression, put))


def rational(number_: sp.Expr) -> Fraction:
    """SymPy's rational number as a fraction."""
    return Fraction(int(number_.p), int(number_.q))


# ---- the hypotheses of the statements that formulas come from: a counterexample must meet them to count ----

ALWAYS: tuple[sp.Basic, ...] = (
    sp.Le(optimal_loss, initial_loss),
    sp.Le(optimal_loss, current_loss),
    sp.Ge(local_gap, 0),
    sp.Eq(ClientSum(takes_part), cohort),
)
"""What the quantities mean, whatever the statement; their domains and ``at_most`` say the rest.

A local gap is an expected gap of a minimiser of the empirical risk, which is never negative.
"""


def within_premises(
    check: Any, book: Book, *formulas: Formula, skip: Callable[[sp.Basic], bool] = lambda relation: False
) -> Finding:
    """What ``check`` finds; a counterexample is searched again among the points that meet the formulas' hypotheses.

    Where none is found there, the statement is not refuted, and the second finding counts. ``skip`` are relations that
    are not hypotheses of it: what it concludes, or what a limit leaves.
    """
    found: Finding = check.judge(book)
    if found.status is not Status.FAILS:
        return found
    known = tuple(r for r in premises(formulas, book, check.where) if not skip(r))
    if not known:
        return found
    inside: Finding = replace(check, where=(*check.where, *known)).judge(book)
    if inside.status is Status.FAILS:
        return inside
    return replace(inside, evidence=f"{inside.evidence}; outside the hypotheses it fails: {found.evidence}")


def premises(formulas: tuple[Formula, ...], book: Book, where: tuple[sp.Basic, ...] = ()) -> tuple[sp.Basic, ...]:
    """The numeric conditions of the bounds in ``formulas`` and what always holds, as far as their quantities occur."""
    shown = set(quantities_of((*(resolve(f, book) for f in formulas), *where)))
    stated = dict.fromkeys((*(r for f in formulas for r in _stated(f, book)), *ALWAYS))
    return tuple(r for r in stated if r not in (*where, sp.true, sp.false) and set(quantities_of([r])) <= shown)


def _stated(formula: Formula, book: Book) -> Iterator[sp.Basic]:
    """The numeric conditions under which a formula is stated; what is put in for a quantity is put in there too."""
    match formula:
        case str():
            yield from relations(book[formula])
        case Bound():
            yield from relations(formula)
        case At():
            put = {q: resolve(f, book) for q, f in formula.put.items()}
            yield from (r.xreplace(put) for r in (*_stated(formula.formula, book), *ALWAYS))
            yield from (r for f in formula.put.values() for r in _stated(f, book))
        case _ if callable(formula) and not isinstance(formula, sp.Basic):
            before, book.asked = book.asked, set()
            formula(book)
            names, book.asked = sorted(book.asked), before | book.asked
            yield from (r for name in names for r in relations(book[name]))
