"""Checkers of inequalities: a step follows, a published setting meets conditions, a bound says something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import sympy as sp

from bounds import vocabulary
from bounds.core import Bound
from bounds.domains import NONNEGATIVE, POSITIVE
from bounds.errors import unknown
from bounds.quantities import quantities_of, Quantity

from ..claim import Book, ClaimError, Finding, Grade, Status
from .clouds import Cloud, logs
from .formulas import Formula, relations, resolve, within_premises
from .numbers import excess, Point, shown, side_by_side, true_at, turned, value, words
from .points import points, SPREAD

SEARCHED, AT_EDGES = 100, 50
"""Generic points, and points with quantities at the ends of their domains; points for what is informative."""
EDGES, DRAWN = 0.3, 150
UNPUBLISHED = (1e-6, 1e6)
"""Where a size that is not published is taken to lie."""


@dataclass(frozen=True)
class ImpliedBy:
    """``smaller <= larger`` wherever the relations ``where`` and the numeric conditions of the bounds ``under`` hold.

    With ``squares`` (formulas that are nonnegative under the conditions and sum to larger - smaller) it is proved;
    without, a counterexample is searched: at generic points, at ends of domains, and from there by moves over eighteen
    orders of magnitude (in ``within`` for the quantities it names) that exact arithmetic then judges.
    """

    smaller: Formula
    larger: Formula
    where: tuple[sp.Basic, ...] = ()
    under: tuple[str, ...] = ()
    squares: tuple[Formula, ...] = ()
    within: Mapping[Quantity, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, book: Book) -> Finding:
        concluded = sp.Le(resolve(self.smaller, book), resolve(self.larger, book))
        return within_premises(self, book, self.smaller, self.larger, skip=lambda r: r == concluded)

    def judge(self, book: Book) -> Finding:
        small, large = resolve(self.smaller, book), resolve(self.larger, book)
        conditions = (*self.where, *(r for name in self.under for r in relations(book[name])))
        point = self._counterexample(small, large, conditions)
        if point is not None:
            said = f"at the witness {side_by_side(value(small, point), value(large, point), '>')}"
            return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        if self.squares or self._termwise(large - small):
            return self._proved(book, small, large, conditions)
        return Finding(Status.HOLDS, Grade.SEARCHED, _none_found(conditions))

    def _counterexample(self, small: sp.Expr, large: sp.Expr, conditions: tuple[sp.Basic, ...]) -> Point | None:
        seen: list[Point] = []
        for count, edges in ((SEARCHED, 0.0), (AT_EDGES, EDGES)):
            for drawn in points((small, large), count, conditions, self.within, edges=edges):
                for point in turned(sp.Tuple(small, large), drawn):
                    if excess(small, large, point) > 0:
                        return point
                seen.append(drawn)
        if self._termwise(large - small):
            return None
        cloud = Cloud((small, large), lambda both: logs(*both), conditions, self.within)
        found = (p for best in cloud.best(seen) for p in turned(sp.Tuple(small, large), best))
        return next((p for p in found if excess(small, large, p) > 0), None)

    def _termwise(self, difference: sp.Expr) -> bool:
        return all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(difference)))

    def _proved(self, book: Book, small: sp.Expr, large: sp.Expr, conditions: tuple[sp.Basic, ...]) -> Finding:
        parts = [resolve(f, book) for f in self.squares]
        if parts and sp.simplify(large - small - sp.Add(*parts)) != 0:
            for point in points((small, large), 6):
                if excess(large - small, sp.Add(*parts), point) != 0:
                    said = f"the parts given do not sum to larger - smaller: {sp.simplify(large - small)}"
                    return Finding(Status.OPEN, Grade.EXACT, said, words(point), as_audited=False)
        if any(p.is_nonnegative is not True and not _granted(p, conditions) for p in parts):
            return Finding(Status.HOLDS, Grade.SEARCHED, _none_found(conditions))
        said = "the difference is a sum of terms that are nonnegative on the domain and under the conditions"
        return Finding(Status.HOLDS, Grade.PROVED, said)


def _none_found(conditions: Sequence[sp.Basic]) -> str:
    """What was done in vain. The search moves freely, so it cannot keep to an equation."""
    searched = "" if any(isinstance(c, sp.Eq) for c in conditions) else ", nor by a search from them"
    return f"no counterexample at {SEARCHED + AT_EDGES} generic points{searched}"


def _granted(part: sp.Expr, conditions: Sequence[sp.Basic]) -> bool:
    """Whether every factor is nonnegative on the domain, or is what a condition says is nonnegative."""
    given = [c.gts - c.lts for c in conditions if isinstance(c, (sp.Ge, sp.Gt, sp.Le, sp.Lt))]
    return all(
        f.is_nonnegative or any((f / g).cancel().is_positive for g in given if g != 0) for f in sp.Mul.make_args(part)
    )


@dataclass(frozen=True)
class Satisfies:
    """Published settings lie inside the numeric conditions of a bound; ``breaks`` are the words of those that fail.

    ``settings`` gives for each setting the values that the paper states, by quantity name. A condition that holds for
    some values of what it does not state and fails for others is not decided, and said to be so. A setting that breaks
    a condition makes the claim fail, with the condition's words.
    """

    bound: str
    settings: Mapping[str, Mapping[str, Any]]
    breaks: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        bound = book[self.bound]
        if not bound.numeric_conditions or not self.settings:
            raise ClaimError(f"{self.bound} has no numeric conditions, or no settings are given: nothing is compared")
        broken: dict[str, list[str]] = {}
        undecided: dict[str, None] = {}
        for name, given in self.settings.items():
            known = _known(bound, given)
            for condition, relation in zip(bound.numeric_conditions, relations(bound), strict=True):
                verdicts = _possible(relation, known)
                if verdicts == {False}:
                    broken.setdefault(condition.words, []).append(name)
                elif verdicts != {True}:
                    undecided[condition.words] = None
        left = f"; not decided by what is published: {'; '.join(undecided)}" if undecided else ""
        if not broken:
            status = Status.OPEN if undecided else Status.HOLDS
            return Finding(status, Grade.EXACT, f"no condition fails in {len(self.settings)} settings{left}")
        said = "; ".join(f"'{words_}' fails in {', '.join(names)}" for words_, names in broken.items())
        witness = {words_: ", ".join(names) for words_, names in broken.items()}
        as_audited = not self.breaks or set(broken) == set(self.breaks)
        return Finding(Status.FAILS, Grade.EXACT, said + left, witness, as_audited)


def _known(bound: Bound, given: Mapping[str, Any]) -> dict[Quantity, Any]:
    """The published values by quantity, as exact numbers; unknown names and nonsense values are refused."""
    own = {q.name: q for q in quantities_of((*bound.spelled_terms.values(), *relations(bound)))}
    caps = {q.card.at_most.name: q.card.at_most for q in own.values() if q.card.at_most is not None}
    words_ = {q.name: q for q in vars(vocabulary).values() if isinstance(q, Quantity)} | caps | own
    found: dict[Quantity, Any] = {}
    for name, stated in given.items():
        if name not in words_:
            raise unknown("quantity", name, list(words_))
        q, many = words_[name], isinstance(stated, (list, tuple))
        numbers = tuple(sp.Rational(str(v)) for v in (stated if many else (stated,)))
        if not q.card.domain.contains(np.array([float(n) for n in numbers])).all():
            raise ClaimError(f"the setting's {name} must be {q.card.domain.words}; got {stated}")
        found[q] = numbers if many else numbers[0]
    return found


def _possible(relation: sp.Basic, known: Point) -> set[bool]:
    """Whether the relation holds, and whether it fails, for some values of what is not given."""
    needed = quantities_of([relation])
    caps = [cap for q in needed if (cap := q.card.at_most) is not None]
    given = {q: known[q] for q in (*needed, *caps) if q in known}
    if set(needed) <= set(given):
        return {true_at(relation, given)}
    found = set()
    sizes = [q for q in needed if q.card.domain in (POSITIVE, NONNEGATIVE)]
    for verdict, wanted in ((True, relation), (False, sp.Not(relation))):
        with suppress(ClaimError):  # there is no such point
            next(points(needed, 1, (wanted,), {q: UNPUBLISHED for q in sizes}, given=given))
            found.add(verdict)
    return found


@dataclass(frozen=True)
class Informative:
    """``bound`` is smaller than ``trivial`` somewhere: at the published ``given`` values, the others free.

    HOLDS with a point where the bound says something. FAILS when ``trivial`` is never above the bound: proved when
    every term of the difference has the sign, else at all generic points and in a search from them. ``free`` quantities
    keep their domain (over six orders of magnitude), ``within`` narrows it to ranges that are generous for the setting.
    """

    bound: Formula
    trivial: Formula
    given: Mapping[Quantity, Any] = field(default_factory=dict)
    where: tuple[sp.Basic, ...] = ()
    under: tuple[str, ...] = ()
    within: Mapping[Quantity, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, book: Book) -> Finding:
        put = {q: sp.Rational(str(v)) for q, v in self.given.items()}
        bound, trivial = (resolve(f, book).xreplace(put) for f in (self.bound, self.trivial))
        conditions = [*self.where, *(r for name in self.under for r in relations(book[name]))]
        wanted = [c for c in (c.xreplace(put) for c in conditions) if c != sp.true]
        if sp.false in wanted:
            said, values = "the published values break a condition: the bound does not apply", words(put)
            return Finding(Status.FAILS, Grade.EXACT, said, values)
        if all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(bound - trivial))):
            return Finding(Status.FAILS, Grade.PROVED, "the bound is never below what is trivially true", words(put))
        drawn = list(points((bound, trivial), DRAWN, wanted, self.within))
        cloud = Cloud((trivial, bound), lambda both: logs(*both), tuple(wanted), self.within, far=SPREAD)
        for point in chain(drawn, cloud.best(drawn)):
            if excess(bound, trivial, point) < 0:
                said = f"at the witness {_share(bound, trivial, point)} of the trivial value"
                return Finding(Status.HOLDS, Grade.EXACT, said, words({**put, **point}))
        closest = min(drawn, key=lambda p: value(bound, p) - value(trivial, p))
        positive = [p for p in drawn if value(trivial, p) > 0]
        nearest = min(positive, key=lambda p: _ratio(bound, trivial, p), default=closest)
        said = (
            f"at {DRAWN} generic points and in a search from them never below the trivial value; nearest "
            f"{_share(bound, trivial, nearest)} of it"
        )
        return Finding(Status.FAILS, Grade.EXACT, said, words({**put, **nearest}))


def _ratio(bound: sp.Expr, trivial: sp.Expr, point: Point) -> sp.Expr:
    return value(bound, point) / value(trivial, point)


def _share(bound: sp.Expr, trivial: sp.Expr, point: Point) -> str:
    return shown(_ratio(bound, trivial, point)) if value(trivial, point) > 0 else shown(value(bound, point))
