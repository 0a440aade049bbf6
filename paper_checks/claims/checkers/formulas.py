"""Formulas as checks write them: a bound's name, an expression, or a small recipe that makes one from the book."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import sympy as sp

from bounds.core import Bound
from bounds.operators import bind
from bounds.quantities import quantities_of, Quantity

from ..claim import Book, ClaimError, without_floats

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


@dataclass(frozen=True)
class Total:
    """The sum of formulas, each times its factor."""

    parts: tuple[tuple[Any, Formula], ...]

    def __call__(self, book: Book) -> sp.Expr:
        return sp.Add(*(factor * resolve(formula, book) for factor, formula in self.parts))


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
