"""The verb ``sweep``: run a grid into a store."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.tables import to_json
from bounds.showing.terminal import printable
from bounds.showing.usage import bare_parser, refuse_idle

from ..errors import EmpiricsError
from ..progress import Progress, progress
from . import Cell, Kept, Store, StoreError
from .checking import check_words
from .grids import Grid, read_grid
from .running import Done, sweep
from .store import RESULTS
from .sweeps import record

FINE, FINDING = 0, 1
OWN = """files of your own that a grid names (path/file.py:variable) count with the files beside them that they
import: where their text has changed, cells are run anew, and results calls the old ones stale. Data that
such a file opens is not known: where it has changed, use --fresh, or name it in an argument"""
SWEEP_JSON = """\
--json prints one object: sweep (its name), cells (how many), count (of done, diverged, failed, there before, and
what is left to_do) and failed (cell, error); with --status and --verify count is of what lies in
store, beside damaged."""
FOLDER = "folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store)"


def sweep_(arguments: Sequence[str]) -> int:
    """Run what is missing of a grid; 1 when a cell failed."""
    parser, processes = bare_parser("sweep", below=[OWN, SWEEP_JSON]), whole_number(0, MOST_WORKERS)
    add = parser.add_argument
    add("grid", metavar="FILE", help="a TOML file, or path/file.py:variable")
    add("--store", type=path_word, metavar="DIR", help=FOLDER)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="run what is missing (default)")
    group.add_argument("--fresh", action="store_true", help="set aside what is there and run everything")
    group.add_argument("--status", action="store_true", help="say what is there and what is missing; run nothing")
    group.add_argument("--verify", action="store_true", help="read all that is there, say what is damaged; run nothing")
    add("--keep-states", action="store_true", help="keep where training runs end: with more rounds they go on there")
    add("--workers", type=processes, metavar="N", help="processes (one per core, or per GPU); 0: in this process")
    add("--scheduler", type=word, metavar="ADDRESS", help="a running dask cluster instead")
    add("--json", action="store_true", help="print JSON, described below")
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if args.scheduler and (args.workers is not None or args.status or args.verify):
        raise EmpiricsError(
            "--scheduler is a running cluster, whose workers run cells: leave out --workers, --status, --verify"
        )
    if args.status or args.verify:
        refuse_idle(parser, args, ("workers", "keep_states"), "--status and --verify run nothing")
    if args.scheduler:
        refuse_idle(parser, args, ("keep_states",), "a cluster's workers may not see the store's folder")
    grid, store = read_grid(args.grid), Store(folder(args.store))
    with progress() as bar:
        bar.start(grid.size)
        bar.doing("reading the grid")
        cells = grid.cells(bar.step)
        if args.status or args.verify:
            bar.start(len(cells))
            bar.doing("reading the store")
            return _looked(grid, cells, store, bar, args.verify, args.json)
    found: list[Done] = []
    try:
        with progress() as bar:
            bar.start(len(cells))
            bar.doing("looking for mistakes")
            heard = partial(_heard, bar, grid, cells, store, found)
            sweep(cells, store, args.workers, args.scheduler, args.fresh, heard, True, args.keep_states)
    except KeyboardInterrupt:
        _say(grid, cells, found, "interrupted; ", args.json)
        raise
    _say(grid, cells, found, "", args.json)
    return FINDING if any(d.how == "failed" for d in found) else FINE


def _heard(bar: Progress, grid: Grid, cells: Sequence[Cell], store: Store, found: list[Done], done: Done) -> None:
    if not found:  # from now on there is a store
        record(store, grid.name, cells)
    found.append(done)
    if done.how == "failed":
        print(printable(f"failed: {_which(grid, done.cell)}: {done.error}"), file=sys.stderr, flush=True)
    bar.doing(f"{sum(d.how == 'failed' for d in found)} failed")
    bar.step()


def _which(grid: Grid, cell: Cell) -> str:
    """What tells a cell from the others."""
    return ", ".join(f"{name}={cell.arguments.get(name)}" for name in grid.vary) or str(cell)


def _say(grid: Grid, cells: Sequence[Cell], found: Sequence[Done], how: str, as_json: bool) -> None:
    count = Counter(d.how for d in found)
    if as_json:
        failed = [{"cell": _which(grid, d.cell), "error": d.error} for d in found if d.how == "failed"]
        _tell(grid, cells, {**count, "to_do": len(cells) - len(found)}, {"failed": failed})
        return
    words = {"done": "done", "diverged": "diverged", "failed": "failed", "there": "there before"}
    told = ", ".join(f"{count[k]} {w}" for k, w in words.items() if count[k]) or "nothing done"
    left = len(cells) - len(found)
    again = f", {left} to do: run it again to go on" if left else ""
    print(f"{how}{grid.name}: {len(cells)} cells: {told}{again}")


def _tell(grid: Grid, cells: Sequence[Cell], count: Mapping[str, int], more: Mapping[str, Any]) -> None:
    print(to_json({"sweep": grid.name, "cells": len(cells), "count": dict(count), **more}))


def _looked(grid: Grid, cells: Sequence[Cell], store: Store, bar: Progress, closely: bool, as_json: bool) -> int:
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
    if as_json:
        _tell(grid, cells, count, {"store": str(store.folder), "damaged": damages})
        return FINDING if damages else FINE
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
