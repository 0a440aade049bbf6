"""Checkers of implications: a step follows from conditions, a published setting meets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bounds.quantities import quantities_of, Quantity

from ..claims import Book, ClaimError, Finding, Grade, Status
from .formulas import Formula, relations, resolve
from .points import points, shown, true_at, value, words

SEARCHED = 150


@dataclass(frozen=True)
class ImpliedBy:
    """``smaller <= larger`` wherever the relations ``where`` and the numeric conditions of the bounds ``under`` hold.

    With ``squares`` (formulas that are nonnegative under the conditions and sum to larger - smaller) it is proved;
    without, a counterexample is searched at generic points over six orders of magnitude, and in ``within``.
    """

    smaller: Formula
    larger: Formula
    where: tuple[sp.Basic, ...] = ()
    under: tuple[str, ...] = ()
    squares: tuple[Formula, ...] = ()
    within: Mapping[Quantity, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, book: Book) -> Finding:
        small, large = resolve(self.smaller, book), resolve(self.larger, book)
        conditions = (*self.where, *(r for name in self.under for r in relations(book[name])))
        for point in points((small, large), SEARCHED, conditions, self.within):
            left, right = value(small, point), value(large, point)
            if left > right + abs(right) * sp.Float(10, 80) ** -40:
                said = f"at the witness {shown(left)} > {shown(right)}"
                return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        if self.squares or self._termwise(large - small):
            return self._proved(book, small, large)
        return Finding(Status.HOLDS, Grade.EXACT, f"no counterexample at {SEARCHED} generic points")

    def _termwise(self, difference: sp.Expr) -> bool:
        return all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(difference)))

    def _proved(self, book: Book, small: sp.Expr, large: sp.Expr) -> Finding:
        parts = [resolve(f, book) for f in self.squares]
        if self.squares and sp.simplify(large - small - sp.Add(*parts)) != 0:
            raise ClaimError(f"the parts given do not sum to larger - smaller: {sp.simplify(large - small)}")
        if any(p.is_nonnegative is not True for p in parts):
            return Finding(Status.HOLDS, Grade.EXACT, f"no counterexample at {SEARCHED} generic points")
        return Finding(
            Status.HOLDS, Grade.PROVED, "the difference is a sum of terms that are nonnegative on the domain"
        )


@dataclass(frozen=True)
class Satisfies:
    """Published settings lie inside the numeric conditions of a bound; ``breaks`` are the words of those that fail.

    ``settings`` gives for each setting the values that the paper states, by quantity name; quantities it does not state
    are left open, and a condition that needs them is not decided (and said to be so) unless it fails or holds for
    ``any`` generic value of them. A setting that breaks a condition makes the claim fail, with the condition's words.
    """

    bound: str
    settings: Mapping[str, Mapping[str, Any]]
    breaks: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        bound = book[self.bound]
        broken: dict[str, list[str]] = {}
        undecided: dict[str, None] = {}
        for name, given in self.settings.items():
            for condition, relation in zip(bound.numeric_conditions, relations(bound), strict=True):
                verdict = self._decide(relation, {k: sp.Rational(str(v)) for k, v in given.items()})
                if verdict is False:
                    broken.setdefault(condition.words, []).append(name)
                elif verdict is None:
                    undecided[condition.words] = None
        left = f"; not decided by what is published: {'; '.join(undecided)}" if undecided else ""
        if not broken:
            status = Status.OPEN if undecided else Status.HOLDS
            return Finding(status, Grade.EXACT, f"no condition fails in {len(self.settings)} settings{left}")
        said = "; ".join(f"'{words_}' fails in {', '.join(names)}" for words_, names in broken.items())
        as_audited = not self.breaks or set(broken) == set(self.breaks)
        return Finding(Status.FAILS, Grade.EXACT, said + left, as_audited=as_audited)

    def _decide(self, relation: sp.Basic, given: Mapping[str, Any]) -> bool | None:
        """Whether it holds for all (True), no (False) or some generic values of what is not given."""
        needed = quantities_of([relation])
        known = {q: given[q.name] for q in needed if q.name in given}
        if len(known) == len(needed):
            return true_at(relation, known)
        seen = {true_at(relation, {**p, **known}) for p in points([relation], 40, within={})}
        return seen.pop() if len(seen) == 1 else None
