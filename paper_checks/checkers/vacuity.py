"""Checker of vacuity: does a bound say more than what is trivially true, in general and at published settings?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bounds.quantities import Quantity

from ..claims import Book, Finding, Grade, Status
from .formulas import Formula, relations, resolve
from .points import points, shown, value, words

SEARCHED = 150


@dataclass(frozen=True)
class Informative:
    """``bound`` is smaller than ``trivial`` somewhere: at the published ``given`` values, the others free.

    HOLDS with a point where the bound says something. FAILS when ``trivial`` is never above the bound: proved when
    every term of the difference has the sign, else at all generic points. ``free`` quantities keep their domain,
    ``within`` narrows it to ranges that are generous for the setting at hand.
    """

    bound: Formula
    trivial: Formula
    given: Mapping[Quantity, Any] = field(default_factory=dict)
    where: tuple[sp.Basic, ...] = ()
    under: tuple[str, ...] = ()
    within: Mapping[Quantity, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, book: Book) -> Finding:
        bound, trivial = (resolve(f, book).subs(self.given) for f in (self.bound, self.trivial))
        conditions = [*self.where, *(r for name in self.under for r in relations(book[name]))]
        wanted = [c for c in (c.subs(self.given) for c in conditions) if c != sp.true]
        if sp.false in wanted:
            return Finding(Status.FAILS, Grade.EXACT, "the published values break a condition: the bound is silent")
        excess = sp.Add.make_args(sp.expand(bound - trivial))
        if all(t.is_nonnegative for t in excess):
            return Finding(Status.FAILS, Grade.PROVED, "the bound is never below what is trivially true")
        least: tuple[Any, Any] | None = None
        for point in points((bound, trivial), SEARCHED, wanted, self.within):
            ratio = value(bound, point) / value(trivial, point)
            if ratio < 1:
                return Finding(
                    Status.HOLDS, Grade.EXACT, f"at the witness {shown(ratio)} of the trivial value", words(point)
                )
            least = min(least or (ratio, point), (ratio, point), key=lambda pair: pair[0])
        assert least is not None
        said = f"at {SEARCHED} generic points never below the trivial value; nearest {shown(least[0])} of it"
        return Finding(Status.FAILS, Grade.EXACT, said, words(least[1]))
