"""The verb ``sweep``: run a grid of experiments and store the results."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path

from bounds.showing.command_line import Report
from bounds.showing.numbers import check_workers
from bounds.showing.usage import refuse_unused, UsageError

from ..errors import EmpiricsError
from ..progress import Progress, progress
from . import Cell, Store
from .checking import check_words
from .grids import Grid, read_grid
from .running import run_missing
from .store import RESULTS

OWN = """runs depend on the text of your own files that a grid names (path/file.py:variable) and of the files beside
them that they import: if it has changed, runs are computed again, and results marks the old ones as stale. Data that
such a file opens is not tracked: if it has changed, use --fresh, or name it in an argument"""
SWEEP_JSON = """\
--json prints one object: sweep (its name), cells (the number of runs), count (done, diverged, failed, there: stored
before), diverged (in all) and failed (cell, error); with --status count is of the results in store, and damaged lists
the unreadable ones."""


def sweep(
    grid: str,
    *,
    store: Path | str | None = None,
    fresh: bool = False,
    status: bool = False,
    keep_states: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Report:
    """Run the missing runs of a grid of experiments and store their results; may be stopped and resumed.

    Args:
        grid: A TOML file, or path/file.py:variable.
        store: Folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store).
        fresh: Delete stored results of these runs and run all.
        status: List stored, missing and damaged results; run nothing.
        keep_states: Store the final states of training runs, to continue them with more rounds.
        workers: Processes (one per core, or per GPU); 0: in this process.
        scheduler: Address of a running dask cluster to use instead.
    """
    if fresh and status:
        raise UsageError("give only one of --fresh, --status")
    check_computers(workers, scheduler, status=status, keep_states=keep_states)
    if status:
        refuse_unused("--status runs nothing", workers=workers, keep_states=keep_states)
    plan, results = read_grid(grid), open_store(store)
    with progress() as bar:
        bar.start(plan.size)
        bar.doing("reading the grid")
        cells = plan.cells(bar.step)
        if status:
            bar.start(len(cells))
            bar.doing("reading the store")
            return _status(plan, cells, results, bar)
    named = partial(_which, plan)
    runs = run_missing(cells, results, workers, scheduler, fresh, True, keep_states, name=plan.name, named=named)
    count, diverged = Counter(done.how for done in runs), sum(done.status == "diverged" for done in runs)
    failed = [{"cell": named(done.cell), "error": done.error} for done in runs if done.how == "failed"]
    words = [f"{count[how]} {how}" for how in ("done", "diverged", "failed", "there") if count[how]]
    if count["there"]:
        words[-1] += " before"
    if earlier := diverged - count["diverged"]:
        words.append(f"{earlier} of them diverged")
    data = {"sweep": plan.name, "cells": len(cells), "count": dict(count), "diverged": diverged, "failed": failed}
    return Report([f"{plan.name}: {len(cells)} runs: {', '.join(words)}"], data, int(bool(failed or diverged)))


def _which(grid: Grid, cell: Cell) -> str:
    """The run's values of the arguments that vary."""
    return ", ".join(f"{name}={cell.arguments.get(name)}" for name in grid.vary) or str(cell)


def _status(grid: Grid, cells: list[Cell], store: Store, bar: Progress) -> Report:
    """Report the stored results of these runs, with status 1 if some are damaged."""
    count: Counter[str] = Counter()
    damages, to_run = [], False
    for cell, (kept, damage) in zip(cells, store.look(cells), strict=True):
        to_run |= kept is None or kept.status not in RESULTS
        count["damaged" if damage else "missing" if kept is None else kept.status] += 1
        if damage:
            damages.append(f"damaged: {_which(grid, cell)}: {damage}")
        bar.step()
    if to_run:
        bar.doing("checking the runs")
        check_words(cell for cell in cells if ".py:" not in cell.home)  # --status must not run the user's files
    counts = ", ".join(f"{n} {how}" for how, n in count.items())
    lines = [*damages, f"{grid.name} in {store.folder}: {len(cells)} runs: {counts}"]
    about = {"sweep": grid.name, "cells": len(cells), "count": dict(count)}
    data = {**about, "store": str(store.folder), "damaged": damages}
    return Report(lines, data, int(bool(damages)))


def check_computers(workers: int | None, scheduler: str | None, **others: object) -> None:
    """Raise if the processes or the cluster that should compute are invalid, or a cluster makes options useless."""
    check_workers(workers)
    if scheduler == "":
        raise UsageError("--scheduler needs the address of a running dask cluster")
    if scheduler:
        refuse_unused("--scheduler is a running cluster with workers of its own", workers=workers, **others)


def open_store(given: Path | str | None) -> Store:
    """Return the store in the folder ``given``, or of the environment, or the default; raise if it is not a folder."""
    path = Path(given or os.environ.get("FEDBOUNDS_STORE") or "fedbounds-store")
    existing = next(each for each in (path, *path.parents) if each.exists() or each.is_symlink())
    if not existing.is_dir():
        raise EmpiricsError(f"the store {path} must be a folder; {existing} is not one: give another with --store")
    return Store(path)
