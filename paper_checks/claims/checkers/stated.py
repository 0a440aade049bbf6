"""Checkers that compare the conditions of a catalogue bound with those that a text states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from bounds.assumptions import Assumption
from bounds.quantities import Quantity

from ..claim import Book, Check, fails, Finding, Grade, holds, Status
from .formulas import Formula, relations, resolve
from .numbers import near, shown, true_at, value, words
from .points import points

NUDGE = sp.Rational(1, 10**9)
"""Relative distance from an edge at which ``EdgeIs`` evaluates conditions."""
PLACES = 6
"""Number of generic points at which ``EdgeIs`` checks an edge."""


@dataclass(frozen=True)
class States:
    """States that a bound has this relation, these conditions and assumptions, and ``words`` conditions in words.

    Numeric conditions are compared as functions: the same direction, and the same difference of the sides at generic
    points. It is also checked that they can be met together.
    """

    bound: str
    numbers: tuple[sp.Basic | Callable[[Book], sp.Basic], ...] = ()
    assumptions: tuple[str, ...] = ()
    words: int = 0
    relation: str = "<="

    def __call__(self, book: Book) -> Finding:
        bound = book[self.bound]
        listed, stated = relations(bound), [n if isinstance(n, sp.Basic) else n(book) for n in self.numbers]
        differences = _differences(listed, stated)
        assumptions = {c.assumption.name for c in bound.conditions if c.assumption is not None}
        differences += [f"assumption on one side only: {a}" for a in sorted(assumptions ^ set(self.assumptions))]
        in_words = sum(c.kind == "words" for c in bound.conditions)
        if in_words != self.words:
            differences.append(f"{in_words} conditions in words, not {self.words}")
        if bound.relation != self.relation:
            differences.append(f"relation {bound.relation}, not {self.relation}")
        if differences:
            return fails("; ".join(differences), as_audited=False)
        if stated:
            next(points((), 1, stated))
        return holds(f"{len(stated)} numeric conditions, met together at a point; {len(assumptions)} assumptions")


def _differences(listed: Sequence[sp.Basic], stated: Sequence[sp.Basic]) -> list[str]:
    """Describe how the conditions listed in the catalogue differ from those that the text states."""
    rest, missing = list(listed), []
    for relation in stated:
        same = next((other for other in rest if _same_condition(other, relation)), None)
        if same is None:
            missing.append(f"not listed: {relation}")
        else:
            rest.remove(same)
    return missing + [f"listed besides: {r}" for r in rest]


def _same_condition(one: sp.Basic, other: sp.Basic) -> bool:
    """Whether two relations have the same direction and, at generic points, the same difference of their sides."""
    one, other = (r.reversed if isinstance(r, (sp.Ge, sp.Gt)) else r for r in (one, other))
    if type(one) is not type(other):
        return False
    left, right = one.rhs - one.lhs, other.rhs - other.lhs
    return all(near(value(left, p), value(right, p)) for p in points((left, right), 4))


@dataclass(frozen=True)
class EdgeIs:
    """States that the numeric conditions of ``bound`` hold for ``by`` on one side of ``edge`` and on no other.

    ``below``: they hold at smaller values. ``closed``: they hold at the edge itself. Judged at generic points of the
    other quantities, with ``by`` a billionth of the edge to either side.
    """

    bound: str
    by: Quantity
    edge: Formula
    below: bool = True
    closed: bool = True
    where: tuple[sp.Basic, ...] = ()

    def __call__(self, book: Book) -> Finding:
        edge, conditions = resolve(self.edge, book), relations(book[self.bound])
        if not conditions:
            return Finding(Status.FAILS, Grade.PROVED, "there is no numeric condition")
        inward = -NUDGE if self.below else NUDGE
        sides = [("inside", 1 + inward, True), ("outside", 1 - inward, False), ("the edge", sp.S.One, self.closed)]
        for point in points((edge, *conditions), PLACES, self.where):
            number = value(edge, point)
            if number < 0 <= self.by.card.domain.low:
                return fails(f"{shown(number)} is not a value of {self.by.name}", words(point))
            for side, factor, admitted in sides:
                moved = {**point, self.by: number * factor}
                if all(true_at(c, moved) for c in conditions) is not admitted:
                    outcome = "fail" if admitted else "hold"
                    evidence = f"with {self.by.name} {side} at {shown(number)} the conditions {outcome}"
                    return fails(evidence, words(point))
        return holds(f"the conditions end there at {PLACES} generic points", Grade.SEARCHED)


def requires(conditions: Mapping[str, tuple[sp.Basic | Assumption, ...]]) -> Check:
    """Return the check that each bound has exactly these numeric conditions, in any order.

    Assumptions among them must be assumptions of the bound, which may have others.
    """

    def compare(book: Book) -> Finding:
        grade = Grade.PROVED
        for name, stated in conditions.items():
            listed, numbers = relations(book[name]), [each for each in stated if isinstance(each, sp.Basic)]
            assumptions = {c.assumption for c in book[name].conditions}
            missing = [a for a in stated if isinstance(a, Assumption) and a not in assumptions]
            differences = [f"not listed: {a}" for a in missing]
            if set(listed) != set(numbers):  # not the same symbol by symbol, but perhaps as functions
                grade, differences = Grade.EXACT, differences + _differences(listed, numbers)
            if differences:
                return fails(f"{name}: {'; '.join(differences)}", {"bound": name})
        evidence = f"the numeric conditions of {', '.join(conditions)} are those of the text, written out again"
        return holds(evidence, grade)

    return compare
