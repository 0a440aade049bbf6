"""What the claims on FedCOG share: their source, and two checks of conditions that no general checker makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.papers import Source
from bounds.quantities import Quantity

from ..checkers import Formula, resolve
from ..checkers.formulas import relations
from ..checkers.points import points, shown, true_at, value, words
from ..claim import Book, Finding, Grade, Status

NUDGE = sp.Rational(1, 10**9)
PLACES = 6


def at(place: str) -> Source:
    return Source("fedcog", place)


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
                return Finding(Status.FAILS, Grade.EXACT, f"{shown(there)} is no {self.by.name}", words(point))
            for side, admitted in wanted.items():
                moved = {**point, self.by: there * sides.get(side, sp.S.One)}
                if all(true_at(c, moved) for c in conditions) is not admitted:
                    said = (
                        f"with {self.by.name} {side} at {shown(there)} the conditions {'fail' if admitted else 'hold'}"
                    )
                    return Finding(Status.FAILS, Grade.EXACT, said, words(point))
        return Finding(Status.HOLDS, Grade.EXACT, f"the conditions end there at {PLACES} generic points")


@dataclass(frozen=True)
class Agree:
    """Pairs of computed numbers agree to ``digits``: (found, wanted) by what they say."""

    digits: int = 12

    def __call__(self, pairs: dict[str, tuple[Any, Any]]) -> Finding:
        off = {
            name: f"{float(found):.9g} against {float(wanted):.9g}"
            for name, (found, wanted) in pairs.items()
            if not abs(float(found) - float(wanted)) <= 10.0**-self.digits * max(1.0, abs(float(wanted)))
        }
        if off:
            return Finding(Status.FAILS, Grade.EXACT, "; ".join(f"{k}: {v}" for k, v in off.items()), off)
        return Finding(Status.HOLDS, Grade.EXACT, f"{len(pairs)} numbers agree to {self.digits} digits")
