"""``fedbounds validate NAME --measured runs.csv``: the user's own log held against a bound.

Columns are words: the target's is a must, further quantities of the bound may vary from row to row, the others come as
``quantity=value`` or ``@file.json``. ``seed`` tells independent runs apart, ``round`` the moments of a run.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.quantities import CLIENTS
from bounds.showing.files import content
from bounds.showing.usage import Parser
from bounds.showing.values import grid, read, Value
from empirics.constants import intervals

from .core import standing
from .judging import Data, Line, lines, settled, trend
from .reading import Array, CHOSEN, MADE_OF
from .showing import Found, show, write

SEED, ROUND = "seed", "round"


@dataclass(frozen=True)
class Log:
    """A user's table: every column of numbers as ``(seeds, rounds)``, and the names of both."""

    columns: Mapping[str, Array]
    seeds: tuple[str, ...]
    rounds: tuple[str, ...]


def main(bound: Bound, arguments: Sequence[str], name: str = "") -> int:
    """Read, compare, print, write; 0 holds or undecided, 1 violated."""
    options = parsed(bound, arguments)
    if options is None:
        return 0
    found = judged(bound, read_log(options.measured, bound), options.words, options.measured)
    show(found)
    command = shlex.join(["fedbounds", "validate", name or bound.name, *arguments])
    print("wrote " + ", ".join(str(path) for path in write(found, options.out, command)))
    return int(found.violated)


def judged(bound: Bound, log: Log, typed: Sequence[str], path: Path) -> Found:
    """The comparison of every round of the log, or of the rounds folded as the statistic says."""
    filled, moving, fixed = _values(bound, log, typed)
    uncertain = _uncertain(typed, fixed)
    fold = _fold(bound)
    if fold != "every":
        _constant(bound, moving)
        moving = {name: x[:, 0] for name, x in moving.items()}
    target = log.columns[bound.target.name]
    target = {"last": target[:, -1:], "mean": target.mean(1, keepdims=True)}.get(fold, target)
    data = Data(filled, target, moving, fixed, uncertain, _chosen(filled, moving, fixed), fold)
    doubts = [f"{word} is uncertain" for word in uncertain]
    doubts += ["the bound hides a constant"] if bound.relation == "<~" else []
    places = list(log.rounds) if fold == "every" else ["all" if fold != "last" else log.rounds[-1]]
    found = lines(data, places, "; ".join(doubts))
    said = settled(data, standing(bound, None, None, None))
    about = [f"{path}: {len(log.seeds)} runs, {len(log.rounds)} rounds"]
    card = {"log": str(path), "values": dict(fixed), "seed_names": list(log.seeds), "rounds": list(log.rounds)}
    return Found(bound, len(log.seeds), found, about, said, _after(found), card)


def _after(found: Sequence[Line]) -> list[str]:
    if not any(line.outside or line.why for line in found):
        return []
    return [trend([line.bound for line in found], [float(line.measured.value) for line in found])]


def _fold(bound: Bound) -> str:
    """How the rounds of the log are folded; a word that is a whole run's already is judged row by row."""
    kind = bound.statistic.kind if bound.statistic else "every"
    return kind if kind in ("min", "mean", "last") and bound.target.name not in MADE_OF else "every"


def _constant(bound: Bound, moving: Mapping[str, Array]) -> None:
    for name, values in moving.items():
        if np.ptp(values, axis=1).any():
            raise BoundsError(f"{bound.name} is on the {bound.statistic}: {name} must be the same in all rows of a run")


# ---- values ----


def _values(bound: Bound, log: Log, typed: Sequence[str]) -> tuple[Bound, dict[str, Array], dict[str, Any]]:
    """The bound (its form for equal clients, if so asked), values by row, and values that hold for all rows."""
    given = read(list(typed))
    rows = {q.name for q in bound.quantities if q.name in log.columns}
    for name in rows & {k for k, v in given.items() if not v.optional}:
        raise BoundsError(f"{name} is given twice: as a column and as {name}=...")
    kept = {k: v for k, v in given.items() if k not in rows}
    for name, value in kept.items():
        if not value.optional and name in {q.name for q in bound.quantities}:
            _single(bound, name, value)
    missing = {q.name for q in bound.quantities} - rows - set(kept) - set(CHOSEN)
    missing -= {"client_weight", "clients"} if bound.axis == CLIENTS else set()
    if missing:
        said = ", ".join(sorted(missing))
        raise BoundsError(f"{bound.name} needs {said}: a column of the log, or quantity=value, or @file.json")
    # One number stands for each column while the form of the bound is decided.
    first = {name: Value("number", np.asarray(log.columns[name].flat[0])) for name in rows}
    free = [name for name in CHOSEN if name in {q.name for q in bound.quantities} and name not in kept]
    span = grid(bound, {**kept, **first}, free=free)
    fixed = {name: array.tolist() for name, array in span.values.items() if name not in rows}
    axes = {q.name for q in span.bound.quantities if q.card.axis}
    moving = {name: log.columns[name][..., None] if name in axes else log.columns[name] for name in rows}
    return span.bound, {k: v for k, v in moving.items() if k in span.values}, fixed


def _single(bound: Bound, name: str, value: Value) -> None:
    listed = bound.quantity(name).card.axis and value.kind == "list"
    if value.kind not in ("number", "uniform") and not listed:
        raise BoundsError(f"{name} must be one value for all rows of the log; what varies is a column")


def _chosen(bound: Bound, moving: Mapping[str, Any], fixed: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(q.name for q in bound.quantities if q.name in CHOSEN and q.name not in {**moving, **fixed})


def _uncertain(typed: Sequence[str], fixed: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """The constants of the files that are only known within an interval, unless a word gives them."""
    ends: dict[str, tuple[float, float]] = {}
    for word in typed:
        if word.startswith("@"):
            ends |= intervals(json.loads(content(word[1:]).decode("utf-8-sig")))
    said = {word.partition("=")[0] for word in typed}
    return {name: end for name, end in ends.items() if name in fixed and name not in said}


# ---- the file ----


def read_log(path: Path, bound: Bound) -> Log:
    """The table; what is wrong with it is said in one line."""
    data = content(path)
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), skipinitialspace=True)
        names = [name.strip() for name in reader.fieldnames or []]
        reader.fieldnames = names
        cells = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise BoundsError(f"{path} is no CSV: {error}") from None
    if not names:
        raise BoundsError(f"{path} is empty: the first line must name the columns, {bound.target.name} among them")
    if len(set(names)) < len(names):
        raise BoundsError(f"{path}: column {next(n for n in names if names.count(n) > 1)} comes twice")
    if bound.target.name not in names:
        raise BoundsError(f"{path}: no column {bound.target.name}, which the bound is on; {_nearest(bound, names)}")
    if not cells:
        raise BoundsError(f"{path} has column names and no rows")
    return _arranged(path, bound, names, cells)


def _nearest(bound: Bound, names: Sequence[str]) -> str:
    said = str(unknown("column", bound.target.name, names)).partition("; ")[2]
    return said.replace("known: ", "columns: ")


def _arranged(path: Path, bound: Bound, names: Sequence[str], cells: Sequence[Mapping[str, Any]]) -> Log:
    """Rows by seed and round; without a column for them there is one seed, and rounds are counted."""
    wanted = [bound.target.name, *(q.name for q in bound.quantities if q.name in names)]
    numbers = [{name: _number(path, i, name, row.get(name)) for name in wanted} for i, row in enumerate(cells, 1)]
    seeds = [str(row[SEED]).strip() if SEED in names else "0" for row in cells]
    counted = iter(_counted(seeds))
    rounds = [str(row[ROUND]).strip() if ROUND in names else next(counted) for row in cells]
    table: dict[tuple[str, str], Mapping[str, float]] = {}
    for i, (place, found) in enumerate(zip(zip(seeds, rounds, strict=True), numbers, strict=True), 1):
        if place in table:
            raise BoundsError(f"{path}, row {i}: seed {place[0]}, round {place[1]} comes twice")
        table[place] = found
    one, other = tuple(dict.fromkeys(seeds)), tuple(dict.fromkeys(rounds))
    for seed in one:
        for round_ in other:
            if (seed, round_) not in table:
                raise BoundsError(f"{path}: seed {seed} has no round {round_}; every run needs the same rounds")
    columns = {name: np.array([[table[s, r][name] for r in other] for s in one]) for name in wanted}
    return Log(columns, one, other)


def _counted(seeds: Sequence[str]) -> list[str]:
    """Rounds counted from 1 within every seed."""
    return [str(seeds[: i + 1].count(seed)) for i, seed in enumerate(seeds)]


def _number(path: Path, row: int, name: str, text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise BoundsError(f"{path}, row {row}: {name} must be a finite number; got {text!r}")
    return value


# ---- the command line ----


def parsed(bound: Bound, arguments: Sequence[str]) -> argparse.Namespace | None:
    """The options, or None after --help."""
    parser = Parser(
        prog=f"fedbounds validate {bound.name}",
        description=f"{bound.name} against your own log; its columns are words, {bound.target.name} a must",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("words", nargs="*", metavar="quantity=value", help="values that hold for all rows, or @file.json")
    add("--measured", type=Path, required=True, metavar="FILE", help="CSV; seed and round may be columns too")
    add("--out", type=Path, default=Path("out"), metavar="DIR", help="folder of the CSV and the JSON card (./out)")
    try:
        return parser.parse_intermixed_args(list(arguments))
    except SystemExit:
        return None
