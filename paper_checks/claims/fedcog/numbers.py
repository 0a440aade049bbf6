"""FedCOG's reported numbers as claims use them: by table and a key of row and column, as text in the printed digits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from ...reported import Reported, table
from ..checkers import exact, Ordered
from ..claim import Claim, Kind


def entries(name: str) -> Mapping[tuple[str, str], Reported]:
    return table("fedcog", name)


def values(name: str) -> dict[str, str]:
    """All numbers of a table, by 'row, column'; cells without a number are left out."""
    return {f"{row}, {column}": r.value for (row, column), r in entries(name).items() if r.value}


def rows(name: str) -> list[str]:
    return list(dict.fromkeys(row for row, _ in entries(name)))


def columns(name: str) -> list[str]:
    return list(dict.fromkeys(column for _, column in entries(name)))


def best(name: str, words: str, place: str, row: str = "FedCOG", called: str = "best") -> Claim:
    """In every column of a table ``row`` is above every other row that has a number there."""
    numbers = values(name)
    pairs = tuple(
        (f"{other}, {column}", f"{row}, {column}")
        for column in columns(name)
        for other in rows(name)
        if other != row and f"{other}, {column}" in numbers
    )
    return Claim(f"fedcog.table_{name}.{called}", words, Kind.TABLE.at(place), Ordered(numbers, pairs))


def rising(name: str, steps: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """In every row the number grows from each of these columns to the next."""
    order = list(steps)
    return tuple((f"{row}, {a}", f"{row}, {b}") for row in rows(name) for a, b in pairwise(order))


def gain(before: str, after: str) -> Fraction:
    """The relative gain in percent."""
    return (exact(after) / exact(before) - 1) * 100


def with_deviations(name: str, best: str) -> tuple[dict[str, Decimal], tuple[tuple[str, str], ...]]:
    """Per column the best other number plus its deviation, and ``best`` minus its own; and those pairs.

    Of several that are equally good the one with the largest deviation counts.
    """
    numbers: dict[str, Decimal] = {}
    pairs = []
    for column in columns(name):
        cells = {row: entries(name)[row, column] for row in rows(name)}
        if not all(cell.std for cell in cells.values()):
            continue
        other = max((Decimal(c.value), Decimal(c.std), row) for row, c in cells.items() if row != best)[-1]
        low, high = f"{other} plus, {column}", f"{best} minus, {column}"
        numbers[low] = Decimal(cells[other].value) + Decimal(cells[other].std)
        numbers[high] = Decimal(cells[best].value) - Decimal(cells[best].std)
        pairs.append((low, high))
    return numbers, tuple(pairs)
