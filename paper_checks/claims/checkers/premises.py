"""The hypotheses of the statements that formulas come from: a counterexample must meet them to count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.operators import ClientSum
from bounds.quantities import quantities_of
from bounds.vocabulary import cohort, current_loss, initial_loss, local_gap, optimal_loss, takes_part

from ..claim import Book, Finding, Status
from .formulas import At, Formula, relations, resolve, Total

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
    are no hypotheses of it: what it concludes, or what a limit leaves.
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
        case Total():
            yield from (r for _, part in formula.parts for r in _stated(part, book))
        case At():
            put = {q: resolve(f, book) for q, f in formula.put.items()}
            yield from (r.xreplace(put) for r in (*_stated(formula.formula, book), *ALWAYS))
            yield from (r for f in formula.put.values() for r in _stated(f, book))
        case _ if callable(formula) and not isinstance(formula, sp.Basic):
            before, book.asked = book.asked, set()
            formula(book)
            names, book.asked = sorted(book.asked), before | book.asked
            yield from (r for name in names for r in relations(book[name]))
