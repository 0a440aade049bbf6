"""The numbers that papers report, as printed, one CSV file per paper: all of them, by table, or by place."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bounds.errors import unknown

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Reported:
    """One printed number; ``value`` and ``std`` are text with the digits of the paper, empty if it prints none."""

    table: str
    row: str
    column: str
    value: str
    std: str
    unit: str
    version: str
    note: str


@cache
def reported(paper: str) -> tuple[Reported, ...]:
    """All reported numbers of a paper in the order of its tables."""
    path = FOLDER / f"{paper}.csv"
    if not path.exists():
        raise unknown("paper", paper, sorted(p.stem for p in FOLDER.glob("*.csv")))
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(Reported(**{"version": "", **row}) for row in csv.DictReader(file))


@cache
def by_place(paper: str) -> Mapping[str, Reported]:
    """All numbers of a paper by ``TABLE: ROW, COLUMN``; of several versions the first."""
    return {f"{r.table}: {r.row}, {r.column}": r for r in reversed(reported(paper))}


def table(paper: str, name: str, version: str = "") -> Mapping[tuple[str, str], Reported]:
    """The numbers of one table by (row, column); ``version`` selects one if the paper has several."""
    numbers = {(r.row, r.column): r for r in reported(paper) if r.table == name and version in ("", r.version)}
    if not numbers:
        raise unknown(f"table of {paper}", name, sorted({r.table for r in reported(paper)}))
    return numbers
