"""Rows that are composed: what a run gives to a bound is itself bounded by another one's row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bounds.classes import ClassOf, Place
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from bounds.stated import FREE, OUTCOME, QUANTITIES, role_of, ROUNDING, Stated, worst
from bounds.substituting import Substituted
from bounds.ties import AT_MOST, TIES

from .compare_rows import Row, VACUOUS

LOOKED_AT = 9
"""Values of a word, from its smallest to its bound, at which a bound must not exceed that at its bound."""
RowsOf = Callable[[str], Sequence[Row]]


def identity(bound: Bound) -> bool:
    """Whether it says how numbers of one run add up, such as a risk: with bounds on its parts it is one."""
    parts = [q.name for q in bound.quantities]
    return bound.relation == "=" and bound.statistic is not None and bool(parts) and all(map(of_a_run, parts))


def of_a_run(word: str) -> bool:
    """Whether it is one number that a run gives."""
    return word in QUANTITIES and role_of(word) == OUTCOME and not QUANTITIES[word].card.axis


def filled(bound: Bound, scenario: Scenario, rows_of: RowsOf) -> tuple[Scenario, dict[str, Row]]:
    """The scenario with every word of a run that the bound lacks put at the least bound on it, and by which row.

    ``rows_of`` gives the rows of a target that have a number. Nothing is put in where a word stays missing, where the
    bound falls in one, or where it restates one (as a conversion does).
    """
    nothing: tuple[Scenario, dict[str, Row]] = scenario, {}
    missing = list(scenario.missing(bound))
    if not missing or bound.expr in bound.quantities or not all(map(of_a_run, missing)):
        return nothing
    parts: dict[str, Row] = {}
    for word in missing:
        part = _least(word, bound, scenario, rows_of)
        if part is None:
            return nothing
        parts |= part
    found = scenario.at(**{word: _as_stated(word, row, row.value) for word, row in parts.items()})
    if found.missing(bound) or not _rises(bound, found, missing):
        return nothing
    return found, parts


def _least(word: str, bound: Bound, scenario: Scenario, rows_of: RowsOf) -> dict[str, Row] | None:
    """The word that stands for a missing one, itself or what a tie derives it from, and the row that bounds it best."""
    for one, place in standing_for(word, bound):
        if fits := [row for row in rows_of(place[0]) if row.kind.place == place]:
            return {one: min(fits, key=lambda row: row.value)}
    return None


def standing_for(word: str, bound: Bound) -> list[tuple[str, Place]]:
    """The word itself and what a tie derives it from, as far as it is said of which number of the run they are."""
    through = [w for t in TIES if t.left.name == word and t.relation == AT_MOST for w in t.needs if of_a_run(w)]
    places = [(one, ClassOf.of(bound).place_of(one)) for one in (word, *through)]
    return [(one, place) for one, place in places if place is not None]


def _as_stated(word: str, row: Row, value: float) -> Stated:
    provenance = worst(*(p for p in row.provenance.values() if p != FREE))
    how = f"at most {value:.6g} by {row.bound}"
    return Stated(value, value, value, provenance, role_of(word), how, frozenset([word]))


def _rises(bound: Bound, scenario: Scenario, words: Sequence[str]) -> bool:
    """Whether the bound is nowhere larger below the values that are put in than there."""
    values = scenario.values(bound)
    top = float(bound.formula(**values))
    for word in words:
        high = float(values[word])
        low = max(float(QUANTITIES[word].card.domain.low), -1e3 * (1 + abs(high)))
        below = np.asarray(bound.formula(**{**values, word: np.linspace(low, high, LOOKED_AT)}))
        if not np.all(below <= top + ROUNDING * abs(top)):
            return False
    return True


def composed(row: Row, bound: Bound, scenario: Scenario, parts: dict[str, Row]) -> Row:
    """The row as made of its parts: their conversions, what they take on trust, and the ends of their intervals."""
    at_low = scenario.at(**{word: _as_stated(word, part, part.low) for word, part in parts.items()})
    try:
        lowest = low_of(at_low.substituted(bound), row)
    except BoundsError:  # the low end of a part may lie outside of what the word can be
        lowest = row.low
    floor = tuple(dict.fromkeys((*row.floor, *(word for part in parts.values() for word in part.floor))))
    trusted = tuple(dict.fromkeys((*row.trusted, *(words for part in parts.values() for words in part.trusted))))
    return replace(
        row,
        low=min(row.low, lowest),
        high=row.high if all(part.conclusive for part in parts.values()) else np.inf,
        conclusive=not floor or row.state == VACUOUS,
        conversions=(*row.conversions, *dict.fromkeys(part.bound for part in parts.values())),
        floor=floor,
        trusted=trusted,
    )


def low_of(put: Substituted, row: Row) -> float:
    return float(np.nan_to_num(put.low * row.factor, nan=row.low))
