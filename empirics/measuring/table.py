"""The tidy table of measurements, with one row per number, and its CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bounds.showing.files import whole

DIVERGING = 10.0
"""A run counts as diverged if its last training loss is more than this factor times the first."""


class Row(NamedTuple):
    """One number; client, layer and step are empty if the quantity does not vary over them.

    ``quantity`` is the quantity's name, or a measurement's call if several have the same quantity; ``step`` is a local
    step of the round, ``round`` the number of finished rounds. A run with infinite or undefined values ends with a row
    ``diverged`` whose value is the largest finite model norm.
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


def losses(rows: Iterable[Row]) -> list[float]:
    """The training losses of the federation in one run, in the order of its rounds."""
    return [row.value for row in rows if row.quantity == "train_loss" and row.client is None]


def run_status(rows: Sequence[Row]) -> str:
    """The status of a run with these rows: ``diverged`` (infinite or undefined values, or a loss far above the first)
    or ``done``."""
    values = losses(rows)
    grown = len(values) > 1 and values[-1] > DIVERGING * values[0] > 0
    return "diverged" if grown or any(row.quantity == "diverged" for row in rows) else "done"


def write(rows: Iterable[Row], path: Path) -> Path:
    """Write the rows as a CSV file with full precision; return its path."""
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(Row._fields)
        for row in rows:
            out.writerow("" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in row)
    return path
