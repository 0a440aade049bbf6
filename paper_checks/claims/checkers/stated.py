"""Checkers of a bound's conditions against those that a text states: which they are, and where they end."""

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
PLACES = 6


@dataclass(frozen=True)
class States:
    """A catalogue bound has this relation, exactly these numeric conditions and assumptions, and this number in words.

    Numeric conditions are compared as functions: same sense, and the same difference of the sides at generic points.
    That they can be met together is checked as well.
    """

    bound: str
    numbers: tuple[sp.Basic | Callable[[Book], sp.Basic], ...] = ()
    assumptions: tuple[str, ...] = ()
    words: int = 0
    relation: str = "<="

    def __call__(self, book: Book) -> Finding:
        bound = book[self.bound]
        found, wanted = relations(bound), [n if isinstance(n, sp.Basic) else n(book) for n in self.numbers]
        off = _off(found, wanted)
        named = {c.assumption.name for c in bound.conditions if c.assumption is not None}
        off += [f"assumption on one side only: {a}" for a in sorted(named ^ set(self.assumptions))]
        in_words = sum(c.kind == "words" for c in bound.conditions)
        if in_words != self.words:
            off.append(f"{in_words} conditions in words, not {self.words}")
        if bound.relation != self.relation:
            off.append(f"relation {bound.relation}, not {self.relation}")
        if off:
            return fails("; ".join(off), as_audited=False)
        if wanted:
            next(points((), 1, wanted))
        return holds(f"{len(wanted)} numeric conditions, met together at a point; {len(named)} assumptions")


def _off(found: Sequence[sp.Basic], wanted: Sequence[sp.Basic]) -> list[str]:
    """How the conditions found differ from those wanted, in words."""
    left = list(found)
    return [f"not listed: {r}" for r in wanted if not _take(left, r)] + [f"listed besides: {r}" for r in left]


def _take(found: list[sp.Basic], wanted: sp.Basic) -> bool:
    """Whether a condition like ``wanted`` is among those found, which is then taken out."""
    for relation in found:
        if type(_turned(relation)) is type(_turned(wanted)) and _alike(_side(relation), _side(wanted)):
            found.remove(relation)
            return True
    return False


def _turned(relation: sp.Basic) -> sp.Basic:
    return relation.reversed if isinstance(relation, (sp.Ge, sp.Gt)) else relation


def _side(relation: sp.Basic) -> sp.Expr:
    turned = _turned(relation)
    return turned.rhs - turned.lhs


def _alike(left: sp.Expr, right: sp.Expr) -> bool:
    return all(near(value(left, p), value(right, p)) for p in points((left, right), 4))


@dataclass(frozen=True)
class EdgeIs:
    """The numeric conditions of ``bound`` hold on one side of ``edge`` in ``by`` and on that side alone.

    ``below``: the admitted side is that of the smaller values. ``closed``: the edge itself is admitted. Judged at
    generic points of the other quantities, by moving ``by`` a billionth of the edge to either side.
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
        sides = (
            {"inside": 1 - NUDGE, "outside": 1 + NUDGE} if self.below else {"inside": 1 + NUDGE, "outside": 1 - NUDGE}
        )
        wanted = {"inside": True, "outside": False, "the edge": self.closed}
        for point in points((edge, *conditions), PLACES, self.where):
            there = value(edge, point)
            if there < 0 <= self.by.card.domain.low:
                return fails(f"{shown(there)} is no {self.by.name}", words(point))
            for side, admitted in wanted.items():
                moved = {**point, self.by: there * sides.get(side, sp.S.One)}
                if all(true_at(c, moved) for c in conditions) is not admitted:
                    said = (
                        f"with {self.by.name} {side} at {shown(there)} the conditions {'fail' if admitted else 'hold'}"
                    )
                    return fails(said, words(point))
        return holds(f"the conditions end there at {PLACES} generic points", Grade.SEARCHED)


def requires(asked: Mapping[str, tuple[sp.Basic | Assumption, ...]]) -> Check:
    """The numeric conditions of each bound are exactly these relations, whatever their order.

    Assumptions named among them are asked for as well, perhaps beside others.
    """

    def compare(book: Book) -> Finding:
        grade = Grade.PROVED
        for name, wanted in asked.items():
            found, numbers = relations(book[name]), [each for each in wanted if isinstance(each, sp.Basic)]
            named = {c.assumption for c in book[name].conditions}
            off = [f"not listed: {each}" for each in wanted if isinstance(each, Assumption) and each not in named]
            if set(found) != set(numbers):  # the same symbol by symbol, or else as functions
                grade, off = Grade.EXACT, off + _off(found, numbers)
            if off:
                return fails(f"{name}: {'; '.join(off)}", {"bound": name})
        return holds(f"the numeric conditions of {', '.join(asked)} are those of the text, written out again", grade)

    return compare
