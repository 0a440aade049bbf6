"""Tightness tables: the points of a grid, results computed from the rows, tables on disk, and archives of proofs."""

from __future__ import annotations

import csv
import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import product
from math import nan
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import whole, write_whole
from bounds.showing.tables import write_csv
from empirics.experiments import Cell, Store

from . import verify
from .exact import rounded
from .grid_point import GridPoint, INTEGERS, NAMES
from .jobs import TERM
from .program import WorstCaseError

FOLDER = Path(__file__).parent / "tables"
TEXTS = ("dominating_term", "dominating_assumption", "proof", "step_sizes")
FLAGS = ("inside", "exact")
WHOLE = "whole bound"
SLACK = 2e-9
"""Relative rounding error of a table's numbers: half a unit in the ninth digit, with a margin."""
DIGITS = 6
"""Significant digits of a best constant, which is rounded to the safe side."""
Row = Mapping[str, Any]
ARCHIVE, ARCHIVE_BEGINS = ".proofs.xz", b"\xfd7zXZ\x00"
NOT_YET = "not yet"
Content = Mapping[str, Any]
"""The content of a proof file."""


def grid(spans: Mapping[str, Sequence[Any]]) -> list[GridPoint]:
    """Return the grid points of all combinations of the values; other quantities keep their defaults."""

    axes: list[list[Any]] = [
        [int(x) if name in INTEGERS and float(x).is_integer() else x for x in values] for name, values in spans.items()
    ]
    return [GridPoint(**dict(zip(spans, values, strict=True))) for values in product(*axes)]


# ---- results of a table ----


@dataclass(frozen=True)
class Best:
    """The best local steps at one point, by the bound and by the worst case."""

    where: Mapping[str, float]
    by_bound: int
    by_worst_case: int
    regret: float
    """The worst case at the bound's number of local steps over the smallest worst case, minus 1."""


def best_steps(rows: Sequence[Row]) -> list[Best]:
    """Return the best local steps for every combination of the other quantities."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    others = [name for name in NAMES if name != "local_steps"]
    for row in rows:
        if row["inside"] and row["worst_case"] > 0:
            groups.setdefault(tuple(row[name] for name in others), []).append(row)
    results = []
    for key, group in groups.items():
        if len(group) > 1:
            by_bound = min(group, key=lambda row: row["bound"])
            best = min(group, key=lambda row: row["worst_case"])
            regret = by_bound["worst_case"] / best["worst_case"] - 1
            where = dict(zip(others, key, strict=True))
            results.append(Best(where, by_bound["local_steps"], best["local_steps"], regret))
    return results


def smallest_factors(rows: Sequence[Row]) -> dict[str, float]:
    """Return, by term, the smallest factor of this term alone with which the bound still holds on the whole grid.

    A factor of 0 means that the other terms suffice, one above 1 that the bound fails somewhere. The key ``bound`` is
    for a factor of the whole bound.
    """
    inside = [row for row in rows if row["inside"] and row["bound"] > 0]
    columns = ("bound", *(name for name in inside[0] if name.startswith(TERM))) if inside else ()
    factors: dict[str, float] = {}
    for row in inside:
        for column in columns:
            if row[column] > 0:
                required = row["worst_case"] - (row["bound"] - row[column]) * (column != "bound")
                name = column.removeprefix(TERM)
                factors[name] = max(factors.get(name, 0.0), required / row[column])
    return factors


# ---- the best constants, with proofs ----


@dataclass(frozen=True)
class Constant:
    """The best factor of a bound or of one of its terms, over the grid points that meet the conditions.

    No factor below ``not_below`` is valid, as a federation at ``where`` proves; the factor ``suffices`` is valid at the
    ``proved`` points, as certificates prove (NaN: no proof). ``printed`` is the constant in front of the term, which
    could be ``printed * suffices`` at these points. ``places`` is the number of points.
    """

    term: str
    printed: float
    not_below: float
    suffices: float
    where: Mapping[str, float]
    proved: int
    places: int


def constants(bound: Bound, rows: Sequence[Row]) -> list[Constant]:
    """Return the best factors of the whole bound and of every term that is not 0 at all points.

    Raises ``WorstCaseError`` for rows without the columns of proofs.
    """
    if any("proved" not in row for row in rows):
        raise WorstCaseError("constants need proofs: add --certify to prove the given points")
    inside = [row for row in rows if row["inside"] and row["bound"] > 0]
    factors = [_constant(bound, name, inside) for name in (WHOLE, *bound.terms)]
    return [factor for factor in factors if factor.places]


def _constant(bound: Bound, name: str, inside: Sequence[Row]) -> Constant:
    column = "bound" if name == WHOLE else TERM + name
    rows = [row for row in inside if row[column] > 0]
    proved = [row for row in rows if row["proved"] == row["proved"]]
    attained = [row for row in rows if row["exact"] and row["attained"] == row["attained"]]
    not_below, lower_row = _largest_factor(attained, column, "attained", -1)
    suffices, upper_row = _largest_factor(proved, column, "proved", 1)
    at = lower_row if not_below > 0 else upper_row
    where = {word: at[word] for word in NAMES if at and len({row[word] for row in inside}) > 1}
    printed = nan
    if name != WHOLE:
        constant, rest = sp.sympify(bound.terms[name]).as_coeff_Mul()
        if rest != 1 and not isinstance(rest, sp.Add):
            printed = float(constant)
    return Constant(name, printed, not_below, suffices, where, len(proved), len(rows))


def _largest_factor(rows: Sequence[Row], column: str, end: str, side: int) -> tuple[float, Row]:
    """Return the largest factor of the rows and its row; NaN without rows."""
    factors = [(_factor(row, column, end, side), row) for row in rows]
    return max(factors, key=lambda one: one[0], default=(nan, {}))


def _factor(row: Row, column: str, end: str, side: int) -> float:
    """Return the factor >= 0 with which the bound equals an end of the proved interval, rounded down (-1) or up (1)."""
    term = Fraction(row[column])
    rest = Fraction(row["bound"]) - term if column != "bound" else Fraction(0)
    slack = side * Fraction(SLACK) * (Fraction(row["bound"]) + Fraction(row[end]))
    exact = max((Fraction(row[end]) - rest + slack) / term, Fraction(0))
    return rounded(exact, ROUND_CEILING if side > 0 else ROUND_FLOOR, DIGITS)


# ---- on disk ----


def write(rows: Sequence[Row], card: Mapping[str, Any], name: str, folder: Path) -> list[Path]:
    """Write the table to ``NAME.csv`` and its card to ``NAME.json``; return the paths."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = [{column: _cell(row.get(column, "")) for column in columns} for row in rows]
    path = write_csv(table, folder / f"{name}.csv", end="\n")
    return [path, write_whole(folder / f"{name}.json", json.dumps(dict(card), indent=2) + "\n")]


def _cell(value: Any) -> Any:
    """Return a value as written to a table: floats with nine digits, NaN as an empty text."""
    if not isinstance(value, float):
        return value
    return f"{value:.9g}" if value == value else ""


def has_table(name: str, folder: Path = FOLDER) -> bool:
    """Return whether there is a committed table of a bound."""
    return name in {path.stem for path in folder.glob("*.csv")}


def committed(name: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return the rows of a committed table."""
    if not has_table(name, folder):
        names = ", ".join(sorted(p.stem for p in folder.glob("*.csv"))) or "none"
        raise WorstCaseError(f"there is no table of {name}; available tables: {names}")
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [{column: _read(column, text) for column, text in row.items()} for row in csv.DictReader(file)]


def card(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the card of a committed table: its command, versions, units and relaxations."""
    content: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _read(column: str, text: str) -> Any:
    if column in TEXTS:
        return text
    if column in FLAGS:
        return text == "True"
    return int(text) if column in INTEGERS else float(text or "nan")


# ---- proofs ----


def proof_columns(row: Row, cell: Cell | None, store: Store) -> tuple[dict[str, Any], Content | None]:
    """Return the columns of a row that summarise its proof, rounded to the safe side, and the proof (or None)."""
    result = None if cell is None else store.get(cell)
    facts = result.card["facts"] if result is not None and result.status == "done" else {}
    if "certificate" not in facts:
        why = f"refused: {facts['refused']}" if facts else NOT_YET
        return {"proved": nan, "excess": nan, "attained": nan, "width": nan, "proof": why}, None
    content, worst = facts["certificate"], row["worst_case"]
    proved = rounded(Fraction(content["bound"]), ROUND_CEILING)
    attained = rounded(Fraction(content["attained"]["value"]), ROUND_FLOOR) if "attained" in content else nan
    summary = {
        "proved": proved,
        "excess": proved / worst - 1 if worst else proved,
        "attained": attained,
        "width": 1 - attained / proved if proved else 0.0,
        "proof": digest(content),
    }
    return summary, content


def as_line(content: Content) -> str:
    """Return a proof as a line of a file."""
    return json.dumps(content, separators=(",", ":")) + "\n"


def digest(content: Content) -> str:
    """Return the name of a proof, a digest of its whole content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def archive(name: str, folder: Path) -> Path:
    return folder / f"{name}{ARCHIVE}"


def check_readable(folder: Path) -> None:
    """Raise ``BoundsError`` if the folder contains an archive that cannot be read."""
    for path in folder.glob(f"*{ARCHIVE}"):
        try:
            verify.read(str(path))
        except verify.INVALID_FILE as error:
            raise BoundsError(f"{path} is not an archive of proofs ({error}): move it, or write elsewhere") from None


def add_proofs(contents: Iterable[Content], name: str, folder: Path) -> Path | None:
    """Add proofs to the archive of a table, except those that another archive of the folder contains; return its path.

    Returns None, and writes nothing, if other archives contain all of them.
    """
    others, own = set[str](), dict[str, Content]()
    for path in folder.glob(f"*{ARCHIVE}"):
        proofs = {digest(content): content for content in verify.read(str(path))}
        if path == archive(name, folder):
            own = proofs
        else:
            others |= proofs.keys()
    own |= {digest(content): content for content in contents}
    lines = [as_line(own[key]) for key in own if key not in others]
    if not lines:
        return None
    with whole(archive(name, folder)) as temporary:
        temporary.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    return archive(name, folder)
