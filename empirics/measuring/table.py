"""The tidy table: one row per number, whatever was measured."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bounds.showing.files import whole


class Row(NamedTuple):
    """One number: empty client, layer or step where the quantity does not vary over them.

    ``quantity`` is a word of the vocabulary, or a measurement's call where several read one quantity; ``step`` is a
    local step of the round, ``round`` counts finished rounds. A run that left the finite numbers ends with a row
    ``diverged`` whose value is the largest finite model norm; one that ``train`` calls diverging while they are finite
    ends with ``diverges``, whose value is the loss at the start.
    """

    experiment: str
    algorithm: str
    seed: int
    round: int
    step: int | None
    client: int | None
    layer: str
    quantity: str
    value: float
    exactness: str


def write(rows: Iterable[Row], path: Path) -> Path:
    """The rows as a CSV file with full precision."""
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(Row._fields)
        for row in rows:
            out.writerow("" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in row)
    return path


def read(path: Path) -> list[Row]:
    """The rows of a file that ``write`` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: dict[str, str]) -> Row:
    whole = {name: int(line[name]) if line[name] else None for name in ("seed", "round", "step", "client")}
    return Row(**{**line, **whole, "value": float(line["value"])})  # type: ignore[arg-type]
