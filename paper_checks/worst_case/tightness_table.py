"""Tables of tightness: the points of a grid, what is read off them, and the committed ones with their cards."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import product
from math import nan
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.showing.files import whole, write_whole

from .grid_point import GridPoint, NAMES
from .jobs import TERM
from .program import WorstCaseError

FOLDER = Path(__file__).parent / "tables"
INTEGERS = ("clients", "rounds", "local_steps", "cohort")
TEXTS = ("dominating_term", "dominating_assumption", "proof", "step_sizes")
FLAGS = ("inside", "exact")
WHOLE = "whole bound"
SLACK = 2e-9
"""Half a unit in the ninth digit of the bound and its terms, with a margin: what a table's numbers may be off."""
DIGITS = 6
"""Of a best constant; it is rounded to the safe side."""
Row = Mapping[str, Any]


def grid(spans: Mapping[str, Sequence[Any]]) -> list[GridPoint]:
    """Every combination of the values; what is not given stays at its default."""

    def value(name: str, given: Any) -> Any:
        return int(given) if name in INTEGERS and float(given).is_integer() else given

    each = [[value(name, given) for given in values] for name, values in spans.items()]
    return [GridPoint(**dict(zip(spans, chosen, strict=True))) for chosen in product(*each)]


# ---- what a table says ----


@dataclass(frozen=True)
class Best:
    """Local steps at one point: those the bound recommends, those that are really best, and what the first cost."""

    where: Mapping[str, float]
    by_bound: int
    by_worst_case: int
    regret: float
    """Worst case at the recommended number over the smallest worst case, minus 1."""


def best_steps(rows: Sequence[Row]) -> list[Best]:
    """For every point but for the local steps: K* by the bound and by the worst case."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    others = [name for name in NAMES if name != "local_steps"]
    for row in rows:
        if row["inside"] and row["worst_case"] > 0:
            groups.setdefault(tuple(row[name] for name in others), []).append(row)
    found = []
    for key, mine in groups.items():
        if len(mine) > 1:
            by_bound = min(mine, key=lambda row: row["bound"])
            best = min(mine, key=lambda row: row["worst_case"])
            regret = by_bound["worst_case"] / best["worst_case"] - 1
            where = dict(zip(others, key, strict=True))
            found.append(Best(where, by_bound["local_steps"], best["local_steps"], regret))
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


# ---- the best constants, with proofs ----


@dataclass(frozen=True)
class Constant:
    """A factor of the bound or of one of its terms, over the points inside of the conditions.

    ``not_below`` is proved by a federation at ``where``: no smaller factor is true. ``suffices`` is proved by
    certificates at the ``proved`` points. NaN is not a proof. ``printed`` is the number in front of the term, if it has
    one: it could be ``printed * suffices`` there. Away from the points nothing is said.
    """

    term: str
    printed: float
    not_below: float
    suffices: float
    where: Mapping[str, float]
    proved: int
    places: int


def constants(bound: Bound, rows: Sequence[Row]) -> list[Constant]:
    """The factors of the whole bound and of every term that is not 0 at all points.

    Rows without the columns of proofs are a ``WorstCaseError``.
    """
    if any("proved" not in row for row in rows):
        raise WorstCaseError("constants are proved: --certify proves the places that are given")
    inside = [row for row in rows if row["inside"] and row["bound"] > 0]
    found = [_constant(bound, name, inside) for name in (WHOLE, *bound.terms)]
    return [one for one in found if one.places]


def _constant(bound: Bound, name: str, inside: Sequence[Row]) -> Constant:
    column = "bound" if name == WHOLE else TERM + name
    mine = [row for row in inside if row[column] > 0]
    above = [row for row in mine if row["proved"] == row["proved"]]
    below = [row for row in mine if row["exact"] and row["attained"] == row["attained"]]
    nothing: tuple[float, Row] = nan, {}
    least = max(((_factor(r, column, "attained", -1), r) for r in below), key=lambda found: found[0], default=nothing)
    enough = max(((_factor(r, column, "proved", 1), r) for r in above), key=lambda found: found[0], default=nothing)
    at = least[1] if least[0] > 0 else enough[1]
    where = {word: at[word] for word in NAMES if at and len({row[word] for row in inside}) > 1}
    printed, rest = (sp.Integer(0), sp.Integer(1)) if name == WHOLE else sp.sympify(bound.terms[name]).as_coeff_Mul()
    alone = rest == 1 or isinstance(rest, sp.Add)  # no number stands in front of the term
    return Constant(name, nan if alone else float(printed), least[0], enough[0], where, len(above), len(mine))


def _factor(row: Row, column: str, end: str, side: int) -> float:
    """The factor with which the bound equals this end of the worst case, rounded to the safe ``side``; at least 0."""
    term = Fraction(row[column])
    rest = Fraction(row["bound"]) - term if column != "bound" else Fraction(0)
    slack = side * Fraction(SLACK) * (Fraction(row["bound"]) + Fraction(row[end]))
    exact = max((Fraction(row[end]) - rest + slack) / term, Fraction(0))
    return rounded(exact, ROUND_CEILING if side > 0 else ROUND_FLOOR, DIGITS)


def rounded(x: Fraction, way: str, digits: int = 9) -> float:
    """A fraction as a number of the digits that tables show, rounded up or down for good."""
    context = Context(prec=digits, rounding=way)
    return float(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


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
    """A number to nine digits; NaN is empty."""
    if not isinstance(value, float):
        return value
    return f"{value:.9g}" if value == value else ""


def has_table(name: str, folder: Path = FOLDER) -> bool:
    """Whether a table of the bound of this name was committed."""
    return name in {path.stem for path in folder.glob("*.csv")}


def committed(name: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The rows of a committed table."""
    if not has_table(name, folder):
        known = ", ".join(sorted(p.stem for p in folder.glob("*.csv"))) or "none"
        raise WorstCaseError(f"there is no table of {name}; those there are: {known}")
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [{column: _read(column, text) for column, text in row.items()} for row in csv.DictReader(file)]


def card(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The card of a committed table: how it was made, and what its worst cases are."""
    held: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return held


def _read(column: str, text: str) -> Any:
    if column in TEXTS:
        return text
    if column in FLAGS:
        return text == "True"
    return int(text) if column in INTEGERS else float(text or "nan")
