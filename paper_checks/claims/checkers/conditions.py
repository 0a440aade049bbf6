"""Checkers of inequalities: an inequality follows, a published setting meets conditions, a bound is informative."""

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

SEARCHED, AT_EDGES, EDGES = 100, 50, 0.3
"""Numbers of generic points and of points near edges, where this share of quantities is at an end of its domain."""
DRAWN = 150
"""Number of generic points at which ``Informative`` compares."""
UNPUBLISHED = (1e-6, 1e6)
"""Assumed range of positive quantities that a paper does not publish."""


@dataclass(frozen=True)
class ImpliedBy:
    """States that ``smaller <= larger`` where the relations ``where`` and the numeric conditions of ``under`` hold.

    ``under`` names bounds. With ``squares`` (formulas that are nonnegative under the conditions and sum to larger -
    smaller) it is proved. Otherwise a counterexample is searched: at generic points, at ends of domains, and from there
    over eighteen orders of magnitude (or the intervals of ``within``); exact arithmetic judges what is found.
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

    def decide(self, book: Book) -> Finding:
        small, large = resolve(self.smaller, book), resolve(self.larger, book)
        conditions = (*self.where, *(r for name in self.under for r in relations(book[name])))
        point = self._counterexample(small, large, conditions)
        if point is not None:
            evidence = f"at the witness {side_by_side(value(small, point), value(large, point), '>')}"
            return Finding(Status.FAILS, Grade.EXACT, evidence, words(point))
        if self.squares or self._termwise(large - small):
            return self._proved(book, small, large, conditions)
        return Finding(Status.HOLDS, Grade.SEARCHED, _none_found(conditions))

    def _counterexample(self, small: sp.Expr, large: sp.Expr, conditions: tuple[sp.Basic, ...]) -> Point | None:
        tried: list[Point] = []
        for count, edges in ((SEARCHED, 0.0), (AT_EDGES, EDGES)):
            for drawn in points((small, large), count, conditions, self.within, edges=edges):
                for point in turned(sp.Tuple(small, large), drawn):
                    if excess(small, large, point) > 0:
                        return point
                tried.append(drawn)
        if self._termwise(large - small):
            return None
        cloud = Cloud((small, large), lambda both: logs(*both), conditions, self.within)
        candidates = (p for best in cloud.best(tried) for p in turned(sp.Tuple(small, large), best))
        return next((p for p in candidates if excess(small, large, p) > 0), None)

    def _termwise(self, difference: sp.Expr) -> bool:
        """Whether every term of the difference is nonnegative on the domains."""
        return all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(difference)))

    def _proved(self, book: Book, small: sp.Expr, large: sp.Expr, conditions: tuple[sp.Basic, ...]) -> Finding:
        """Return the finding with grade proved, if the squares prove it; OPEN if they have another sum."""
        parts = [resolve(f, book) for f in self.squares]
        if parts and sp.simplify(large - small - sp.Add(*parts)) != 0:
            for point in points((small, large), 6):
                if excess(large - small, sp.Add(*parts), point) != 0:
                    evidence = f"the parts given do not sum to larger - smaller: {sp.simplify(large - small)}"
                    return Finding(Status.OPEN, Grade.EXACT, evidence, words(point), as_audited=False)
        if any(p.is_nonnegative is not True and not _nonnegative(p, conditions) for p in parts):
            return Finding(Status.HOLDS, Grade.SEARCHED, _none_found(conditions))
        evidence = "the difference is a sum of terms that are nonnegative on the domain and under the conditions"
        return Finding(Status.HOLDS, Grade.PROVED, evidence)


def _none_found(conditions: Sequence[sp.Basic]) -> str:
    """Return the evidence of a search without result; a cloud cannot meet an equation, so that it does not count."""
    searched = "" if any(isinstance(c, sp.Eq) for c in conditions) else ", nor by a search from them"
    return f"no counterexample at {SEARCHED + AT_EDGES} generic points{searched}"


def _nonnegative(part: sp.Expr, conditions: Sequence[sp.Basic]) -> bool:
    """Whether every factor is nonnegative on the domain or by one of the conditions."""
    assumed = [c.gts - c.lts for c in conditions if isinstance(c, (sp.Ge, sp.Gt, sp.Le, sp.Lt))]
    return all(
        f.is_nonnegative or any((f / g).cancel().is_positive for g in assumed if g != 0) for f in sp.Mul.make_args(part)
    )


@dataclass(frozen=True)
class Satisfies:
    """States that published settings meet the numeric conditions of a bound.

    ``settings`` gives for each setting the values that the paper states, by quantity name. A condition is undecided if
    it holds for some values of unpublished quantities and fails for others. A setting that breaks a condition makes
    the claim fail; ``breaks`` are the words of the conditions audited as failing.
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
            published = _published(bound, given)
            for condition, relation in zip(bound.numeric_conditions, relations(bound), strict=True):
                outcomes = _outcomes(relation, published)
                if outcomes == {False}:
                    broken.setdefault(condition.words, []).append(name)
                elif outcomes != {True}:
                    undecided[condition.words] = None
        rest = f"; not decided by what is published: {'; '.join(undecided)}" if undecided else ""
        if not broken:
            status = Status.OPEN if undecided else Status.HOLDS
            return Finding(status, Grade.EXACT, f"no condition fails in {len(self.settings)} settings{rest}")
        witness = {condition: ", ".join(names) for condition, names in broken.items()}
        evidence = "; ".join(f"'{condition}' fails in {names}" for condition, names in witness.items())
        as_audited = not self.breaks or set(broken) == set(self.breaks)
        return Finding(Status.FAILS, Grade.EXACT, evidence + rest, witness, as_audited)


def _published(bound: Bound, given: Mapping[str, Any]) -> dict[Quantity, Any]:
    """Return the published values by quantity, as exact numbers; raise for unknown names and impossible values."""
    own = {q.name: q for q in quantities_of((*bound.spelled_terms.values(), *relations(bound)))}
    caps = {q.card.at_most.name: q.card.at_most for q in own.values() if q.card.at_most is not None}
    by_name = {q.name: q for q in vars(vocabulary).values() if isinstance(q, Quantity)} | caps | own
    published: dict[Quantity, Any] = {}
    for name, stated in given.items():
        if name not in by_name:
            raise unknown("quantity", name, list(by_name))
        q, many = by_name[name], isinstance(stated, (list, tuple))
        numbers = tuple(sp.Rational(str(v)) for v in (stated if many else (stated,)))
        if not q.card.domain.contains(np.array([float(n) for n in numbers])).all():
            raise ClaimError(f"the setting's {name} must be {q.card.domain.words}; got {stated}")
        published[q] = numbers if many else numbers[0]
    return published


def _outcomes(relation: sp.Basic, published: Point) -> set[bool]:
    """Return {True}, {False} or both: whether the relation holds for some values of the unpublished quantities."""
    needed = quantities_of([relation])
    caps = [cap for q in needed if (cap := q.card.at_most) is not None]
    given = {q: published[q] for q in (*needed, *caps) if q in published}
    if set(needed) <= set(given):
        return {true_at(relation, given)}
    outcomes = set()
    sizes = [q for q in needed if q.card.domain in (POSITIVE, NONNEGATIVE)]
    for outcome, condition in ((True, relation), (False, sp.Not(relation))):
        with suppress(ClaimError):  # raised if there is no such point
            next(points(needed, 1, (condition,), {q: UNPUBLISHED for q in sizes}, given=given))
            outcomes.add(outcome)
    return outcomes


@dataclass(frozen=True)
class Informative:
    """States that ``bound`` can be smaller than ``trivial`` at the published ``given`` values, the others being free.

    HOLDS with a point at which the bound is informative. FAILS if ``trivial`` is never above the bound: proved if every
    term of the difference is nonnegative, else at all generic points and in a search from them. Free quantities range
    over their domains (over six orders of magnitude); ``within`` narrows them to ranges generous for the setting.
    """

    bound: Formula
    trivial: Formula
    given: Mapping[Quantity, Any] = field(default_factory=dict)
    where: tuple[sp.Basic, ...] = ()
    under: tuple[str, ...] = ()
    within: Mapping[Quantity, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, book: Book) -> Finding:
        given = {q: sp.Rational(str(v)) for q, v in self.given.items()}
        bound, trivial = (resolve(f, book).xreplace(given) for f in (self.bound, self.trivial))
        all_conditions = [*self.where, *(r for name in self.under for r in relations(book[name]))]
        conditions = [c for c in (c.xreplace(given) for c in all_conditions) if c != sp.true]
        if sp.false in conditions:
            evidence = "the published values break a condition: the bound does not apply"
            return Finding(Status.FAILS, Grade.EXACT, evidence, words(given))
        if all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(bound - trivial))):
            return Finding(Status.FAILS, Grade.PROVED, "the bound is never below what is trivially true", words(given))
        drawn = list(points((bound, trivial), DRAWN, conditions, self.within))
        cloud = Cloud((trivial, bound), lambda both: logs(*both), tuple(conditions), self.within, far=SPREAD)
        for point in chain(drawn, cloud.best(drawn)):
            if excess(bound, trivial, point) < 0:
                evidence = f"at the witness {_share(bound, trivial, point)} of the trivial value"
                return Finding(Status.HOLDS, Grade.EXACT, evidence, words({**given, **point}))
        closest = min(drawn, key=lambda p: value(bound, p) - value(trivial, p))
        positive = [p for p in drawn if value(trivial, p) > 0]
        nearest = min(positive, key=lambda p: _ratio(bound, trivial, p), default=closest)
        evidence = (
            f"at {DRAWN} generic points and in a search from them never below the trivial value; nearest "
            f"{_share(bound, trivial, nearest)} of it"
        )
        return Finding(Status.FAILS, Grade.EXACT, evidence, words({**given, **nearest}))


def _ratio(bound: sp.Expr, trivial: sp.Expr, point: Point) -> sp.Expr:
    return value(bound, point) / value(trivial, point)


def _share(bound: sp.Expr, trivial: sp.Expr, point: Point) -> str:
    """Return the bound as a share of the trivial value, or the bound itself if that value is not positive."""
    return shown(_ratio(bound, trivial, point)) if value(trivial, point) > 0 else shown(value(bound, point))
