"""FedCOG's reported numbers as claims use them: by table and a key of row and column, as text in the printed digits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from ...reported import Reported, table
from ..checkers import each, exact, Ordered
from ..claim import Claim, Kind


def entries(name: str) -> Mapping[tuple[str, str], Reported]:
    return table("fedcog", name)


def values(name: str) -> dict[str, str]:
    """All numbers of a table, by 'row, column'; cells without a number are left out."""
    return {f"{row}, {column}": r.value for (row, column), r in entries(name).items() if r.value}


def measured(name: str) -> dict[str, Reported]:
    """The same with their deviations. The paper does not say of how many runs; only Tables 1 and 4 print any."""
    return {f"{row}, {column}": cell for (row, column), cell in entries(name).items() if cell.value}


def rows(name: str) -> list[str]:
    return list(dict.fromkeys(row for row, _ in entries(name)))


def columns(name: str) -> list[str]:
    return list(dict.fromkeys(column for _, column in entries(name)))


def best(name: str, words: str, place: str, row: str = "FedCOG", called: str = "best", note: str = "") -> Claim:
    """In every column of a table ``row`` is above every other row that has a number there."""
    numbers = measured(name)
    pairs = tuple(
        f"{other}, {column} < {row}, {column}"
        for column in columns(name)
        for other in rows(name)
        if other != row and f"{other}, {column}" in numbers
    )
    return Claim(f"fedcog.table_{name}.{called}", words, Kind.TABLE.at(place), Ordered(numbers, pairs), note=note)


def rising(name: str, steps: Iterable[str]) -> tuple[str, ...]:
    """In every row the number grows from each of these columns to the next."""
    return each(" < ".join(f"{{row}}, {step}" for step in steps), row=rows(name))


def gain(before: str, after: str) -> Fraction:
    """The relative gain in percent."""
    return (exact(after) / exact(before) - 1) * 100
