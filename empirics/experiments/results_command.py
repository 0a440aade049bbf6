"""The verb ``results``: the results in a store, as a tidy table or a picture."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import unknown, UnknownNameError
from bounds.showing.tables import aligned, to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, refuse_idle

from ..errors import EmpiricsError
from ..spec_strings import refuse_twice
from . import Store
from .command import FINDING, FINE, FOLDER, folder, path_word, word
from .grids import read_grid
from .results import is_number, Row, select, shown, STALE, values

AXES = """--plot draws means over the seeds with a band of one standard error; their numbers go beside them as CSV:
  x=round (rounds is the same) for a curve over the measured rounds, or x=ARGUMENT whose values are numbers;
  y=QUANTITY; hue=ARGUMENT,ARGUMENT (none: one curve). Runs that differ in more than that are not averaged:
  filter them, or name what tells them apart in hue"""
PLACES = ("x", "y", "hue")
"""The axes of a picture and what tells its curves apart."""

Draw = Callable[[Sequence[Row], Mapping[str, str], Path | None], list[Path]]
"""Draws rows along the axes of these names, and returns the files."""


def results(arguments: Sequence[str], draw: Draw) -> int:
    """Print the results in a store, one line per run and quantity at its last round, or draw them."""
    parser = _parser()
    try:
        args = parser.parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if args.output and not args.plot:
        raise EmpiricsError("-o is the file of a picture: give --plot, or send the table to a file with >")
    store = Store(folder(args.store))
    if not store.folder.is_dir():
        raise EmpiricsError(f"there is no store at {store.folder}; fedbounds sweep FILE makes one")
    if not store.file.exists() and not any(store) and any(store.folder.iterdir()):
        raise EmpiricsError(
            f"{store.folder} is not a store: it has other files and no results; give another with --store"
        )
    wanted = _wanted(args.words)
    axes = {name: wanted.pop(name) for name in PLACES if name in wanted} if args.plot else {}
    if args.plot:
        refuse_idle(parser, args, ("columns",), "--plot draws no columns")
        _refuse_missing(axes)
    among = None if args.sweep is None else _keys(store, args.sweep)
    damages: list[str] = []
    table = list(values(store, damages, among, rounds=args.plot and axes["x"] in ("round", "rounds")))
    if among is not None and not table and not damages:
        told = f"none of the {len(among)} runs of {args.sweep} has a result in {store.folder}"
        raise EmpiricsError(f"{told}: fedbounds sweep FILE runs them")
    table = select(table, wanted)
    if args.plot:
        for path in draw(table, axes, args.output):
            print(f"wrote {path}")
    elif args.latex and not table:
        raise EmpiricsError(f"no result has {' and '.join(args.words)}: there is no table to write")
    else:
        _print(table, _columns(table, args.columns), next((how for how in FORMATS if getattr(args, how)), ""))
    return _remarks(table, damages)


def _keys(store: Store, sweep: str) -> Collection[str]:
    """The keys of the runs of a sweep: by its name, or by the file of its plan (``g.toml``, ``g.py:variable``)."""
    if sweep.endswith((".toml", ".py")) or ".py:" in sweep or Path(sweep).is_file():
        return {cell.key for cell in read_grid(sweep).cells()}
    known = store.sweeps()
    if sweep not in known:
        raise UnknownNameError(f"{unknown('sweep', sweep, known)}; or give the file of its plan")
    return set(known[sweep])


def _parser() -> Parser:
    parser = bare_parser("results", below=[AXES])
    add = parser.add_argument
    add("words", nargs="*", metavar="quantity=value", help="only runs with this argument or column")
    add("--sweep", type=word, metavar="NAME", help="only the runs of a sweep: its name, or the file of its plan")
    add("--columns", nargs="+", metavar="COLUMN", help="columns to print (all that vary)")
    add("--store", type=path_word, metavar="DIR", help=FOLDER)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", action="store_true", help="a list of objects: the columns by name")
    group.add_argument("--csv", action="store_true", help="comma-separated values")
    group.add_argument("--latex", action="store_true", help="a tabular for LaTeX, ruled by booktabs")
    group.add_argument("--plot", action="store_true", help="a picture, by x=..., y=..., hue=..., described below")
    add("-o", dest="output", type=path_word, metavar="FILE", help="the picture (Y-over-X.svg)")
    return parser


def _refuse_missing(axes: Mapping[str, str]) -> None:
    for name, example in (("x", "round"), ("y", "test_accuracy")):
        if not axes.get(name):
            raise EmpiricsError(f"--plot needs {name}=..., such as {name}={example}")


def _remarks(table: Sequence[Row], damages: Sequence[str]) -> int:
    """Report what is stale and what is left out; 1 where something is."""
    if stale := len({row["key"] for row in table if row[STALE] == "yes"}):
        print(
            f"fedbounds: {stale} of these results are stale: the job or a file that they name has changed since "
            f"(column {STALE}; {STALE}=no leaves them out)",
            file=sys.stderr,
        )
    if damages:
        told = (
            "1 damaged result is left out: "
            if len(damages) == 1
            else (f"{len(damages)} damaged results are left out, the first: ")
        )
        print(f"fedbounds: {told}{damages[0]}", file=sys.stderr)
    return FINDING if damages else FINE


def _wanted(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise EmpiricsError(f"a filter is written quantity=value; got {name!r}")
    refuse_twice(name for name, _, _ in pairs)
    return {name: value for name, _, value in pairs}


def _columns(table: Sequence[Row], wanted: Sequence[str] | None) -> list[str]:
    """The columns asked for, or those that differ between rows, with what is always of interest."""
    known = list(dict.fromkeys(name for row in table for name in row))
    refuse_twice(wanted or ())
    for name in wanted or ():
        if known and name not in known:
            raise unknown("column", name, known)
    if wanted:
        return list(wanted)
    always = {"algorithm", "seed", "round", "quantity", "value", "status"}
    always |= {STALE} if any(row[STALE] == "yes" for row in table) else set()
    return [n for n in known if n in always or (n != "key" and len({str(row.get(n, "")) for row in table}) > 1)]


FORMATS = ("json", "csv", "latex")


def _print(table: Sequence[Row], columns: Sequence[str], how: str) -> None:
    cut = [{name: row.get(name, "") for name in columns} for row in table]
    if how == "json":
        print(to_json(cut))
        return
    if how == "csv":  # for other programs: every digit
        out = io.StringIO()
        csv.writer(out).writerows([columns, *(row.values() for row in cut)])
        print(out.getvalue(), end="")
        return
    rows = [[shown(item) for item in row.values()] for row in cut]
    if how == "latex":
        from bounds.showing.latex_tables import booktabs  # brings sympy

        letters = "".join("r" if all(map(is_number, column)) else "l" for column in _by_column(cut, columns))
        print("\n".join(booktabs(columns, rows, letters)))
        return
    print_lines(aligned(rows, columns) if rows else ["no results"])


def _by_column(cut: Sequence[Row], columns: Sequence[str]) -> list[list[Any]]:
    """The values of every column that are there."""
    return [[row[name] for row in cut if row[name] != ""] for name in columns]
