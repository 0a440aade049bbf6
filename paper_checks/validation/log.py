"""``fedbounds validate NAME --measured runs.csv``: the user's own log held against a bound.

Columns are words: the target's is a must, further quantities of the bound may vary from row to row, the others come as
``quantity=value`` or ``@file.json``. ``seed`` tells independent runs apart, ``round`` the moments of a run.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.quantities import CLIENTS
from bounds.showing.usage import Parser, writable_folder
from bounds.showing.values import grid, read, Value

from ..runs.words import free, WORDS
from .core import standing
from .judging import Data, Line, lines, settled, trend
from .logged import Log, read_log
from .reading import Array
from .showing import Found, show, write


def main(bound: Bound, arguments: Sequence[str], name: str = "") -> int:
    """Read, compare, print, write; 0 holds or undecided, 1 violated."""
    options = parsed(bound, arguments)
    if options is None:
        return 0
    writable_folder("--out", options.out)
    found = judged(bound, read_log(options.measured, bound), options.words, options.measured)
    show(found)
    command = shlex.join(["fedbounds", "validate", name or bound.name, *arguments])
    print("wrote " + ", ".join(str(path) for path in write(found, options.out, command)))
    return int(found.violated)


def judged(bound: Bound, log: Log, typed: Sequence[str], path: Path) -> Found:
    """The comparison of every round of the log, or of the rounds folded as the statistic says."""
    filled, moving, fixed, uncertain = _values(bound, log, typed)
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
    made = bound.target.name in WORDS and WORDS[bound.target.name].of
    return kind if kind in ("min", "mean", "last") and not made else "every"


def _constant(bound: Bound, moving: Mapping[str, Array]) -> None:
    for name, values in moving.items():
        if np.ptp(values, axis=1).any():
            raise BoundsError(f"{bound.name} is on the {bound.statistic}: {name} must be the same in all rows of a run")


# ---- values ----


Ends = Mapping[str, tuple[Any, Any]]


def _values(bound: Bound, log: Log, typed: Sequence[str]) -> tuple[Bound, dict[str, Array], dict[str, Any], Ends]:
    """The bound (its form for equal clients, if so asked), values by row, those of all rows, ends of uncertain ones."""
    given = read(list(typed))
    rows = {q.name for q in bound.quantities if q.name in log.columns}
    for name in rows & {k for k, v in given.items() if not v.optional}:
        raise BoundsError(f"{name} is given twice: as a column and as {name}=...")
    kept = {k: v for k, v in given.items() if k not in rows}
    for name, value in kept.items():
        if name in {q.name for q in bound.quantities}:
            _single(bound, name, value)
    missing = {q.name for q in bound.quantities} - rows - set(kept) - {*free(bound)}
    missing -= {"client_weight", "clients"} if bound.axis == CLIENTS else set()
    if missing:
        said = ", ".join(sorted(missing))
        raise BoundsError(f"{bound.name} needs {said}: a column of the log, or quantity=value, or @file.json")
    # One number stands for each column while the form of the bound is decided.
    first = {name: Value("number", np.asarray(log.columns[name].flat[0])) for name in rows}
    span = grid(bound, {**kept, **first}, free=[name for name in free(bound) if name not in kept])
    fixed = {name: array.tolist() for name, array in span.values.items() if name not in rows}
    axes = {q.name for q in span.bound.quantities if q.card.axis}
    moving = {name: log.columns[name][..., None] if name in axes else log.columns[name] for name in rows}
    uncertain = {name: ends for name, ends in span.uncertain.items() if name in fixed}
    return span.bound, {k: v for k, v in moving.items() if k in span.values}, fixed, uncertain


def _single(bound: Bound, name: str, value: Value) -> None:
    listed = bound.quantity(name).card.axis and value.kind == "list"
    if value.kind not in ("number", "uniform") and not listed:
        raise BoundsError(f"{name} must be one value for all rows of the log; what varies is a column")


def _chosen(bound: Bound, moving: Mapping[str, Any], fixed: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in free(bound) if name not in {**moving, **fixed})


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
