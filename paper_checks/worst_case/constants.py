"""The best constants of a theorem at the places of a table: which are proved too small, and which are proved to do.

A factor stands in front of the whole bound, or of one term alone with the others as they are. It is too small where a
federation in fractions attains more than the bound would then say, and it suffices where certificates keep every
federation below. Between the two, and away from the places, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import nan
from typing import Any

import sympy as sp

from bounds.core import Bound

from .grid_point import word_of
from .jobs import TERM
from .program import WorstCaseError
from .proof_archive import rounded
from .tightness_options import NAMES

WHOLE = "whole bound"
SLACK = 2e-9
"""Half a unit in the ninth digit of the bound and its terms, with room: what a table's numbers may be off."""
DIGITS = 6
"""Of a factor; they are rounded to the safe side."""


@dataclass(frozen=True)
class Constant:
    """A factor of the bound or of one of its terms, over the places inside of the conditions.

    ``not_below`` is proved by a federation at ``where``: no smaller factor is true. ``suffices`` is proved by
    certificates at the ``proved`` places. NaN is no proof. ``printed`` is the number in front of the term, if it has
    one: it could be ``printed * suffices`` there.
    """

    term: str
    printed: float
    not_below: float
    suffices: float
    where: Mapping[str, float]
    proved: int
    places: int


def constants(bound: Bound, rows: Sequence[Mapping[str, Any]]) -> list[Constant]:
    """The factors of the whole bound and of every term that is not 0 at all places.

    Rows without the columns of proofs are a ``WorstCaseError``.
    """
    if any("proved" not in row for row in rows):
        raise WorstCaseError("constants are proved: --certify proves the places that are given")
    inside = [row for row in rows if row["inside"] and row["bound"] > 0]
    found = [_constant(bound, name, inside) for name in (WHOLE, *bound.terms)]
    return [one for one in found if one.places]


def _constant(bound: Bound, name: str, inside: Sequence[Mapping[str, Any]]) -> Constant:
    column = "bound" if name == WHOLE else TERM + name
    mine = [row for row in inside if row[column] > 0]
    above = [row for row in mine if row["proved"] == row["proved"]]
    below = [row for row in mine if row["exact"] and row["attained"] == row["attained"]]
    least = max(((_factor(row, column, "attained", -1), row) for row in below), key=_first, default=(nan, {}))
    enough = max(((_factor(row, column, "proved", 1), row) for row in above), key=_first, default=(nan, {}))
    at = least[1] if least[0] > 0 else enough[1]
    varied = [word for word in NAMES if len({word_of(row, word) for row in inside}) > 1]
    where = {word: word_of(at, word) for word in varied} if at else {}
    return Constant(name, _printed(bound, name), least[0], enough[0], where, len(above), len(mine))


def _first(found: tuple[float, Any]) -> float:
    return found[0]


def _factor(row: Mapping[str, Any], column: str, end: str, side: int) -> float:
    """The factor with which the bound equals this end of the worst case, rounded to the safe ``side``; at least 0."""
    term = Fraction(row[column])
    rest = Fraction(row["bound"]) - term if column != "bound" else Fraction(0)
    slack = side * Fraction(SLACK) * (Fraction(row["bound"]) + Fraction(row[end]))
    exact = max((Fraction(row[end]) - rest + slack) / term, Fraction(0))
    return rounded(exact, ROUND_CEILING if side > 0 else ROUND_FLOOR, DIGITS)


def _printed(bound: Bound, name: str) -> float:
    """The number in front of a term; NaN where it has none, or is a sum."""
    if name == WHOLE:
        return nan
    number, rest = sp.sympify(bound.terms[name]).as_coeff_Mul()
    return float(number) if rest != 1 and not isinstance(rest, sp.Add) else nan
