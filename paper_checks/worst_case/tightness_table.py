"""Tables of tightness: the places of a grid, what is read off them, and the committed ones with their cards."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from bounds.showing.files import whole, write_whole
from empirics.experiments import Cell

from .grid_point import LATER, Place, word_of
from .jobs import TERM
from .program import WorstCaseError
from .tightness_options import NAMES

FOLDER = Path(__file__).parent / "tables"
JOB = "tightness"
WHOLE = ("clients", "rounds", "local_steps", "cohort")
WORDS = ("dominating_term", "dominating_assumption", "proof", "step_sizes")
FLAGS = ("inside", "exact")
Row = Mapping[str, Any]


def places(spans: Mapping[str, Sequence[float]]) -> list[Place]:
    """Every combination of the values; what is not given stays at its default."""
    names = list(spans)
    whole: list[list[Any]] = [[int(v) if n in WHOLE and float(v).is_integer() else v for v in spans[n]] for n in names]
    return [Place(**dict(zip(names, chosen, strict=True))) for chosen in product(*whole)]


def cells(bound: str, at: Iterable[Place]) -> list[Cell]:
    """One cell per place."""
    return [Cell(JOB, {"bound": bound, **place.as_row()}) for place in at]


# ---- what a table says ----


@dataclass(frozen=True)
class Best:
    """Local steps at one place: those the bound recommends, those that are really best, and what the first cost."""

    where: Mapping[str, float]
    by_bound: int
    by_worst_case: int
    regret: float
    """Worst case at the recommended number over the smallest worst case, minus 1."""


def best_steps(rows: Sequence[Row]) -> list[Best]:
    """For every place but for the local steps: K* by the bound and by the worst case."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    others = [name for name in NAMES if name != "local_steps"]
    for row in rows:
        if row["inside"] and row["worst_case"] > 0:
            groups.setdefault(tuple(word_of(row, name) for name in others), []).append(row)
    found = []
    for key, mine in groups.items():
        if len(mine) < 2:
            continue
        said = min(mine, key=lambda row: row["bound"])
        best = min(mine, key=lambda row: row["worst_case"])
        regret = said["worst_case"] / best["worst_case"] - 1
        found.append(Best(dict(zip(others, key, strict=True)), said["local_steps"], best["local_steps"], regret))
    return found


def smallest_factors(rows: Sequence[Row]) -> dict[str, float]:
    """By term: the smallest factor in front of it, alone, with which the bound still holds everywhere on the grid.

    0 means that the other terms do; above 1 that the bound fails somewhere. The key ``bound`` is a factor in front of
    all terms together.
    """
    inside = [row for row in rows if row["inside"] and row["bound"] > 0]
    if not inside:
        return {}
    found = {"bound": max(row["worst_case"] / row["bound"] for row in inside)}
    for column in (name for name in inside[0] if name.startswith(TERM)):
        shown = [row for row in inside if row[column] > 0]
        if shown:
            missing = max((row["worst_case"] - (row["bound"] - row[column])) / row[column] for row in shown)
            found[column.removeprefix(TERM)] = max(missing, 0.0)
    return found


# ---- on disk ----


def write(rows: Sequence[Row], card: Mapping[str, Any], name: str, folder: Path) -> list[Path]:
    """``NAME.csv`` and ``NAME.json``, the card."""
    table, about = folder / f"{name}.csv", folder / f"{name}.json"
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with whole(table) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{k: _shown(v) for k, v in row.items()} for row in rows])
    return [table, write_whole(about, json.dumps(dict(card), indent=2) + "\n")]


def _shown(value: Any) -> Any:
    """A number to nine digits; NaN, which is no number, is nothing."""
    if not isinstance(value, float):
        return value
    return f"{value:.9g}" if value == value else ""


def has_table(name: str, folder: Path = FOLDER) -> bool:
    """Whether a table of the bound of this name was committed."""
    return name in {path.stem for path in folder.glob("*.csv")}


def committed(name: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The rows of a committed table."""
    path = folder / f"{name}.csv"
    if not has_table(name, folder):
        known = ", ".join(sorted(p.stem for p in folder.glob("*.csv"))) or "none"
        raise WorstCaseError(f"there is no table of {name}; those there are: {known}")
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {column: _read(column, text) for column, text in row.items() if text or column not in LATER}
            for row in csv.DictReader(file)
        ]


def card(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The card of a committed table: how it was made, and what its worst cases are."""
    held: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return held


def _read(column: str, text: str) -> Any:
    if column in WORDS:
        return text
    if column in FLAGS:
        return text == "True"
    return int(text) if column in WHOLE else float(text or "nan")
