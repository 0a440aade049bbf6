"""Formulas as checks write them: a bound's name, an expression, or a small recipe that makes one from the book."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import sympy as sp

from bounds.core import Bound, spell
from bounds.quantities import Quantity

from ..claim import Book, ClaimError

Formula: TypeAlias = str | sp.Basic | int | Callable[[Book], sp.Basic]
"""A bound's name stands for its right-hand side with abbreviations written out."""


def resolve(formula: Formula, book: Book) -> sp.Expr:
    """The expression a formula stands for; floats in it are read as the decimals they are written as."""
    if isinstance(formula, str):
        return _decimals(book[formula].expr)
    return _decimals(sp.sympify(formula(book) if callable(formula) and not isinstance(formula, sp.Basic) else formula))


def _decimals(expression: sp.Expr) -> sp.Expr:
    floats = expression.atoms(sp.Float) if isinstance(expression, sp.Basic) else ()
    return expression.xreplace({f: sp.Rational(str(f)) for f in floats}) if floats else expression


def slope_of(expression: sp.Expr, by: Quantity, order: int = 1) -> sp.Expr:
    """The derivative; along an axis, for all members moved alike. Refused where that is not what SymPy would take."""
    if by.card.domain.simplex:
        raise ClaimError(f"no derivative in {by.name}: the weights sum to 1, so that none can move alone")
    slope = expression.diff(by, order)
    if slope.has(sp.Derivative, sp.Subs):
        raise ClaimError(f"SymPy has no derivative in {by.name} of {expression}")
    return slope


@dataclass(frozen=True)
class Term:
    """One named term of a bound, or the sum of several."""

    bound: str
    names: tuple[str, ...]

    def __call__(self, book: Book) -> sp.Expr:
        terms = book[self.bound].spelled_terms
        return sp.Add(*(terms[name] for name in self.names))


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
class Derivative:
    """The derivative of a formula in one quantity."""

    formula: Formula
    by: Quantity
    order: int = 1

    def __call__(self, book: Book) -> sp.Expr:
        return slope_of(resolve(self.formula, book), self.by, self.order)


@dataclass(frozen=True)
class Total:
    """The sum of formulas, each times its factor."""

    parts: tuple[tuple[Any, Formula], ...]

    def __call__(self, book: Book) -> sp.Expr:
        return sp.Add(*(factor * resolve(formula, book) for factor, formula in self.parts))


def term(bound: str, *names: str) -> Term:
    return Term(bound, names)


def relations(bound: Bound) -> tuple[sp.Basic, ...]:
    """The numeric conditions of a bound, abbreviations written out."""
    return tuple(spell(c.relation, bound.where) for c in bound.numeric_conditions)
