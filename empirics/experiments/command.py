"""The verbs ``sweep`` and ``results``: run a grid into a store, read tidy tables out of it."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bounds.errors import unknown
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.tables import aligned, plain
from bounds.showing.usage import bare_parser

from ..calls import refuse_twice
from ..errors import EmpiricsError
from ..progress import Progress, progress
from . import Cell, Kept, Store, StoreError
from .checking import check_words
from .grids import Grid, read_grid
from .rekeying import rekeyed
from .results import last_values, select, shown, STALE
from .running import Done, sweep
from .store import RESULTS

FINE, FINDING = 0, 1
OWN = """files of your own that a grid names (path/file.py:variable) count with the files beside them that they
import: where their text has changed, cells are run anew, and results calls the old ones stale. Data that
such a file opens is not known: where it has changed, use --fresh, or name it in an argument"""
FOLDER = "folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store)"


def sweep_(arguments: Sequence[str]) -> int:
    """Run what is missing of a grid; 1 when a cell failed."""
    parser, processes = bare_parser("sweep", below=[OWN]), whole_number(0, MOST_WORKERS)
    add = parser.add_argument
    add("grid", metavar="FILE", help="a TOML file, or path/file.py:variable")
    add("--store", type=path_word, metavar="DIR", help=FOLDER)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="run what is missing (default)")
    group.add_argument("--fresh", action="store_true", help="set aside what is there and run everything")
    group.add_argument("--status", action="store_true", help="say what is there and what is missing; run nothing")
    group.add_argument("--verify", action="store_true", help="read all that is there, say what is damaged; run nothing")
    add("--workers", type=processes, metavar="N", help="processes (one per core, or per GPU); 0: in this process")
    add("--scheduler", type=word, metavar="ADDRESS", help="a running dask cluster instead")
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if args.scheduler and (args.workers is not None or args.status or args.verify):
        raise EmpiricsError(
            "--scheduler is a running cluster, whose workers run cells: leave out --workers, --status, --verify"
        )
    if args.workers is not None and (args.status or args.verify):
        raise EmpiricsError("--status and --verify run nothing: leave out --workers")
    grid, store = read_grid(args.grid), Store(folder(args.store))
    with progress() as bar:
        bar.start(grid.size)
        bar.doing("reading the grid")
        cells = grid.cells(bar.step)
        if args.status or args.verify:
            bar.start(len(cells))
            bar.doing("reading the store")
            return _looked(grid, cells, store, bar, args.verify)
    found: list[Done] = []
    try:
        with progress() as bar:
            bar.start(len(cells))
            bar.doing("looking for mistakes")
            heard = partial(_heard, bar, grid, found)
            sweep(cells, store, args.workers, args.scheduler, args.fresh, heard, tried=True)
    except KeyboardInterrupt:
        _say(grid, cells, found, "interrupted; ")
        raise
    _say(grid, cells, found, "")
    return FINDING if any(d.how == "failed" for d in found) else FINE


def _heard(bar: Progress, grid: Grid, found: list[Done], done: Done) -> None:
    found.append(done)
    if done.how == "failed":
        print(f"failed: {_which(grid, done.cell)}: {done.error}", file=sys.stderr, flush=True)
    bar.doing(f"{sum(d.how == 'failed' for d in found)} failed")
    bar.step()


def _which(grid: Grid, cell: Cell) -> str:
    """What tells a cell from the others."""
    return ", ".join(f"{name}={cell.arguments.get(name)}" for name in grid.vary) or str(cell)


def _say(grid: Grid, cells: Sequence[Cell], found: Sequence[Done], how: str) -> None:
    count = Counter(d.how for d in found)
    words = {"done": "done", "diverged": "diverged", "failed": "failed", "there": "there before"}
    told = ", ".join(f"{count[k]} {w}" for k, w in words.items() if count[k]) or "nothing done"
    left = len(cells) - len(found)
    again = f", {left} to do: run it again to go on" if left else ""
    print(f"{how}{grid.name}: {len(cells)} cells: {told}{again}")


def _looked(grid: Grid, cells: Sequence[Cell], store: Store, bar: Progress, closely: bool) -> int:
    """Say what is there; 1 when a look at every table (``closely``) finds damage."""
    count: Counter[str] = Counter()
    damages, to_run = [], False
    for cell in cells:
        kept, damage = store.look(cell)
        damage = damage or ("" if kept else store.lonely(cell))
        to_run |= kept is None or kept.status not in RESULTS
        how = "missing" if kept is None else kept.status
        if kept and closely and not (damage := _unreadable(kept)):
            how = "whole"
        if damage and closely:
            damages.append(f"damaged: {_which(grid, cell)}: {damage}")
        count["damaged" if damage else how] += 1
        bar.step()
    if to_run:
        bar.doing("looking for mistakes")
        check_words(cell for cell in cells if ".py:" not in cell.home)  # to look is not to run a file
    told = ", ".join(f"{n} {how}" for how, n in count.items())
    print("\n".join([*damages, f"{grid.name} in {store.folder}: {len(cells)} cells: {told}"]))
    return FINDING if damages else FINE


def _unreadable(kept: Kept) -> str:
    """Why the table of a result cannot be read; a failure has none."""
    try:
        if kept.status in RESULTS:
            kept.columns()
    except StoreError as error:
        return str(error)
    return ""


def results(arguments: Sequence[str]) -> int:
    """A tidy table of what the store holds: one line per run and quantity, at its last round."""
    parser = bare_parser("results")
    add = parser.add_argument
    add("words", nargs="*", metavar="quantity=value", help="only runs with this argument or column")
    add("--columns", nargs="+", metavar="COLUMN", help="columns to print (all that vary)")
    add("--store", type=path_word, metavar="DIR", help=FOLDER)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", action="store_true", help="a list of objects")
    group.add_argument("--csv", action="store_true", help="comma-separated values")
    group.add_argument("--rekey", action="store_true", help="take over the results that an earlier version stored")
    try:
        args = parser.parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    store = Store(folder(args.store))
    if not store.folder.is_dir():
        raise EmpiricsError(f"there is no store at {store.folder}; fedbounds sweep FILE makes one")
    if store.foreign():
        raise EmpiricsError(f"{store.folder} is no store: it holds files, and no result: give another with --store")
    if args.rekey:
        if args.words or args.columns:
            raise EmpiricsError(f"--rekey takes over all of a store: leave out {(*args.words, '--columns')[0]}")
        return _rekey(store)
    damages: list[str] = []
    table = select(last_values(store, damages), _wanted(args.words))
    columns = _columns(table, args.columns)
    _print(table, columns, "json" if args.json else "csv" if args.csv else "")
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


def _rekey(store: Store) -> int:
    """Results of the first format under their new keys; 1 when some could not be taken over."""
    with progress() as bar:
        bar.doing("taking results over")
        pairs = list(rekeyed(store))
    left = [old for old, new in pairs if not new]
    rest = f", left: {', '.join(left)}" if left else ""
    print(f"{store.folder}: {len(pairs) - len(left)} results taken over{rest}")
    return FINDING if left else FINE


def _wanted(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise EmpiricsError(f"a filter is written quantity=value; got {name!r}")
    refuse_twice(name for name, _, _ in pairs)
    return {name: value for name, _, value in pairs}


def _columns(table: Sequence[dict[str, Any]], wanted: Sequence[str] | None) -> list[str]:
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


def _print(table: Sequence[dict[str, Any]], columns: Sequence[str], how: str) -> None:
    cut = [{name: row.get(name, "") for name in columns} for row in table]
    if how == "json":
        print(json.dumps(plain(cut), indent=1, ensure_ascii=False, allow_nan=False))
        return
    if how == "csv":  # for other programs: every digit
        out = io.StringIO()
        csv.writer(out).writerows([columns, *(row.values() for row in cut)])
        print(out.getvalue(), end="")
        return
    rows = [[shown(item) for item in row.values()] for row in cut]
    print("\n".join(aligned(rows, columns)) if rows else "no results")


def folder(given: Path | None) -> Path:
    """The store's folder: as given, or from the environment, or the usual one here."""
    path = given or Path(os.environ.get("FEDBOUNDS_STORE") or "fedbounds-store")
    try:
        found = path.stat()
    except FileNotFoundError:  # it is made when it is first written to
        return path
    except (OSError, ValueError) as error:  # a loop of links, a path below a file, a NUL
        words = getattr(error, "strerror", None) or error
        raise EmpiricsError(f"the store {path} cannot be read: {words}: give another with --store") from None
    if not stat.S_ISDIR(found.st_mode):
        raise EmpiricsError(f"the store must be a folder; {path} is a file: give another with --store")
    return path


def word(text: str) -> str:
    """Text as an option's value; an empty one would silently be no option at all."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def path_word(text: str) -> Path:
    """A path as an option's value; an empty one would silently be the folder one is in."""
    return Path(word(text))
