"""The verb ``sweep``: run a grid into a store."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.tables import to_json
from bounds.showing.terminal import printable
from bounds.showing.usage import bare_parser, refuse_idle

from ..errors import EmpiricsError
from ..progress import Progress, progress
from . import Cell, Store, StoreError
from .checking import check_words
from .grids import Grid, read_grid
from .running import Done, sweep
from .store import RESULTS

FINE, FINDING = 0, 1
OWN = """files of your own that a grid names (path/file.py:variable) count with the files beside them that they
import: where their text has changed, runs are done anew, and results calls the old ones stale. Data that
such a file opens is not known: where it has changed, use --fresh, or name it in an argument"""
SWEEP_JSON = """\
--json prints one object: sweep (its name), cells (the number of runs), count (of done, diverged, failed, there before,
and what is left to_do) and failed (cell, error); with --status and --verify count is of what is in store, beside
damaged."""
FOLDER = "folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store)"


def sweep_(arguments: Sequence[str]) -> int:
    """Run what is missing of a grid; 1 when a run failed."""
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
            "--scheduler is a running cluster with workers of its own: leave out --workers, --status, --verify"
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
            return _inspect(grid, cells, store, bar, args.verify, args.json)
    count: Counter[str] = Counter()
    failed: list[dict[str, str]] = []

    def heard(done: Done) -> None:
        if not count:  # from now on there is a store
            with suppress(StoreError):  # one that can only be read: the plan's file names its runs as well
                store.record(grid.name, cells)
        count[done.how] += 1
        if done.how == "failed":
            failed.append({"cell": _which(grid, done.cell), "error": done.error})
            print(printable(f"failed: {_which(grid, done.cell)}: {done.error}"), file=sys.stderr, flush=True)
        bar.doing(f"{len(failed)} failed")
        bar.step()

    def report(how: str) -> None:
        left = len(cells) - count.total()
        if args.json:
            print(to_json(_summary(grid, cells, {**count, "to_do": left}) | {"failed": failed}))
            return
        words = {"done": "done", "diverged": "diverged", "failed": "failed", "there": "there before"}
        told = ", ".join(f"{count[k]} {w}" for k, w in words.items() if count[k]) or "nothing done"
        again = f", {left} to do: run it again to go on" if left else ""
        print(f"{how}{grid.name}: {len(cells)} runs: {told}{again}")

    try:
        with progress() as bar:
            bar.start(len(cells))
            bar.doing("looking for mistakes")
            sweep(cells, store, args.workers, args.scheduler, args.fresh, heard, True, args.keep_states)
    except KeyboardInterrupt:
        report("interrupted; ")
        raise
    report("")
    return FINDING if failed else FINE


def _which(grid: Grid, cell: Cell) -> str:
    """What tells a run from the others."""
    return ", ".join(f"{name}={cell.arguments.get(name)}" for name in grid.vary) or str(cell)


def _summary(grid: Grid, cells: Sequence[Cell], count: Mapping[str, int]) -> dict[str, Any]:
    return {"sweep": grid.name, "cells": len(cells), "count": dict(count)}


def _inspect(grid: Grid, cells: Sequence[Cell], store: Store, bar: Progress, closely: bool, as_json: bool) -> int:
    """Print what is in the store; 1 where ``--verify`` (``closely``) finds damage."""
    count: Counter[str] = Counter()
    damages, to_run = [], False
    for cell, (kept, damage) in zip(cells, store.look(cells), strict=True):
        to_run |= kept is None or kept.status not in RESULTS
        count["damaged" if damage else "missing" if kept is None else "whole" if closely else kept.status] += 1
        if damage and closely:
            damages.append(f"damaged: {_which(grid, cell)}: {damage}")
        bar.step()
    if to_run:
        bar.doing("looking for mistakes")
        check_words(cell for cell in cells if ".py:" not in cell.home)  # to look is not to run a file
    if as_json:
        print(to_json(_summary(grid, cells, count) | {"store": str(store.folder), "damaged": damages}))
    else:
        told = ", ".join(f"{n} {how}" for how, n in count.items())
        print("\n".join([*damages, f"{grid.name} in {store.folder}: {len(cells)} runs: {told}"]))
    return FINDING if damages else FINE


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
