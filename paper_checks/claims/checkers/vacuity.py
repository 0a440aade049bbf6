"""Checker of vacuity: does a bound say more than what is trivially true, in general and at published settings?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import sympy as sp

from bounds.quantities import Quantity

from ..claim import Book, Finding, Grade, Status
from .clouds import Cloud, logs
from .formulas import Formula, relations, resolve
from .numbers import excess, Point, shown, value, words
from .points import points, SPREAD

SEARCHED = 150


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
            said, values = "the published values break a condition: the bound is silent", words(put)
            return Finding(Status.FAILS, Grade.EXACT, said, values)
        if all(t.is_nonnegative for t in sp.Add.make_args(sp.expand(bound - trivial))):
            return Finding(Status.FAILS, Grade.PROVED, "the bound is never below what is trivially true", words(put))
        drawn = list(points((bound, trivial), SEARCHED, wanted, self.within))
        cloud = Cloud((trivial, bound), lambda both: logs(*both), tuple(wanted), self.within, far=SPREAD)
        for point in chain(drawn, cloud.best(drawn)):
            if excess(bound, trivial, point) < 0:
                said = f"at the witness {_share(bound, trivial, point)} of the trivial value"
                return Finding(Status.HOLDS, Grade.EXACT, said, words({**put, **point}))
        closest = min(drawn, key=lambda p: value(bound, p) - value(trivial, p))
        positive = [p for p in drawn if value(trivial, p) > 0]
        nearest = min(positive, key=lambda p: _ratio(bound, trivial, p), default=closest)
        said = (
            f"at {SEARCHED} generic points and in a search from them never below the trivial value; nearest "
            f"{_share(bound, trivial, nearest)} of it"
        )
        return Finding(Status.FAILS, Grade.EXACT, said, words({**put, **nearest}))


def _ratio(bound: sp.Expr, trivial: sp.Expr, point: Point) -> sp.Expr:
    return value(bound, point) / value(trivial, point)


def _share(bound: sp.Expr, trivial: sp.Expr, point: Point) -> str:
    return shown(_ratio(bound, trivial, point)) if value(trivial, point) > 0 else shown(value(bound, point))
