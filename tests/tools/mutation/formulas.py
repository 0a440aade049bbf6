"""Bounds with one planted error each: in a term, in an abbreviation, in a numeric condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bounds.core import Bound, Condition
from bounds.errors import DeclarationError
from paper_checks.claims.checkers.numbers import near, value
from paper_checks.claims.checkers.points import points
from paper_checks.claims.claim import ClaimError

from .expressions import errors

FLIPPED = {sp.Le: sp.Ge, sp.Lt: sp.Gt, sp.Ge: sp.Le, sp.Gt: sp.Lt}


@dataclass(frozen=True)
class Mutant:
    """A bound with one planted error, which ``place`` and ``error`` describe."""

    bound: Bound
    place: str
    error: str

    @property
    def name(self) -> str:
        return f"{self.bound.name} | {self.place} | {self.error}"


def mutants(bound: Bound) -> Iterator[Mutant]:
    """Every mutant of a bound that is a bound and says something else than it."""
    for mutant in (*_terms(bound), *_conditions(bound)):
        if mutant is not None:
            yield mutant


def _terms(bound: Bound) -> Iterator[Mutant | None]:
    for name, term in bound.terms.items():
        if len(bound.terms) > 1:
            left = {n: t for n, t in bound.terms.items() if n != name}
            yield _built(bound, f"term '{name}'", "dropped", terms=left, signed=_kept(bound.signed, left), off_by={})
        for error, wrong in errors(term):
            if not _same(term, wrong):
                yield _built(bound, f"term '{name}'", error, terms={**bound.terms, name: wrong})


def _kept(names: tuple[str, ...], left: dict[str, sp.Expr]) -> tuple[str, ...]:
    return tuple(n for n in names if n in left)


def _conditions(bound: Bound) -> Iterator[Mutant | None]:
    """A numeric condition dropped, weakened by a factor 2, turned around."""
    for i, condition in enumerate(bound.conditions):
        if condition.relation is None:
            continue
        for error, others in _worse(condition):
            conditions = (*bound.conditions[:i], *others, *bound.conditions[i + 1 :])
            yield _built(bound, f"condition '{condition.words}'", error, conditions=conditions)


def _worse(condition: Condition) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    relation: Any = condition.relation
    yield "dropped", ()
    if type(relation) in FLIPPED:
        flipped = FLIPPED[type(relation)](relation.lhs, relation.rhs, evaluate=False)
        yield "turned around", (replace(condition, relation=flipped),)
        weak = relation.func(relation.lhs, 2 * relation.rhs, evaluate=False)
        if relation.rhs != 0 and weak != relation:
            yield "right side doubled", (replace(condition, relation=weak),)


def _built(bound: Bound, place: str, error: str, **changed: object) -> Mutant | None:
    """The mutant, or None where the error leaves something that is no bound."""
    try:
        return Mutant(replace(bound, **changed), place, error)  # type: ignore[arg-type]
    except DeclarationError:
        return None


def _same(term: sp.Expr, wrong: sp.Expr) -> bool:
    """Whether the planted error changes nothing: at every generic point the same value."""
    if not wrong.is_finite and wrong.has(sp.zoo, sp.nan, sp.oo):
        return True
    try:
        return all(near(value(term, p), value(wrong, p)) for p in points((term, wrong), 3))
    except ClaimError:  # nowhere real: different enough
        return False
