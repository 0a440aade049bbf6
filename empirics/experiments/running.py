"""Computes the missing runs of a sweep in this process, on this machine's cores, or on a cluster.

Only the process that the user started writes to the store, at the end of each run; if it is killed, only unfinished
runs are lost.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from bounds.showing.loading import message_with_place
from bounds.showing.terminal import printable

from ..errors import Diverged, EmpiricsError
from ..progress import progress
from . import Cell, Outcome, Store, StoreError
from .cells import run
from .checking import check
from .machine import GPU, lacking
from .processes import Compute, in_this_process, own_processes, running_cluster
from .store import OutcomeError, RESULTS


@dataclass(frozen=True)
class Done:
    """A finished run: ``done``, ``diverged`` or ``failed`` (with ``error``); ``before``: it was stored before."""

    cell: Cell
    status: str
    error: str = ""
    before: bool = False

    @property
    def how(self) -> str:
        """The status, or ``there`` for a result that was stored before."""
        return "there" if self.before else self.status


def run_missing(
    cells: Sequence[Cell],
    store: Store,
    workers: int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    tried: bool = False,
    keep_states: bool = False,
    what: str = "runs",
    name: str = "",
    named: Callable[[Cell], str] | None = None,
) -> list[Done]:
    """Compute all runs whose result is not in the store, and store each at its end; results do not depend on workers.

    Runs that failed before are tried again; diverged ones are results. Progress is shown.

    Args:
        cells: the runs.
        store: the store for the results.
        workers: processes (None: one per core, or per GPU if runs need one; 0: in this process).
        scheduler: the address of a running dask cluster, in place of workers.
        fresh: delete stored results of these runs, and compute all.
        tried: check all runs before the first one starts, and raise if one cannot work.
        keep_states: jobs that can do so store the end of a run beside the results, and continue it when more rounds are
            requested; the numbers are the same.
        what: what the runs are called.
        name: the name of the sweep, which is recorded in the store with its first result.
        named: the name of a run in the line that is printed if it fails (None: no line).

    Raises:
        KeyboardInterrupt: if it is interrupted, with the number of stored runs and how to continue.
    """
    to_run, finished, failed = [], list[Done](), 0
    with progress(what) as bar:
        bar.start(len(cells))

        def finish(done: Done) -> None:
            nonlocal failed
            if name and not finished:
                with suppress(StoreError):  # a read-only store: its runs can still be named by the plan's file
                    store.record(name, cells)
            finished.append(done)
            failed += done.how == "failed"
            if done.how == "failed" and named is not None:
                print(printable(f"failed: {named(done.cell)}: {done.error}"), file=sys.stderr, flush=True)
            bar.doing(f"{failed} failed" if failed else "")
            bar.step()

        for cell, (kept, _) in zip(cells, store.look(cells), strict=True):
            if kept and kept.status in RESULTS and not fresh:
                finish(Done(cell, kept.status, before=True))
            else:
                to_run.append(cell)
        if not to_run:
            return finished
        calls = [
            (c.home, dict(c.arguments), str(store.state(c)) if keep_states and c.spec.resumable else None)
            for c in to_run
        ]
        engines = {str(cell.arguments.get("engine", "torch")) for cell in to_run}
        if scheduler:
            computers: AbstractContextManager[Compute] = running_cluster(scheduler, engines)
        else:
            computers = nullcontext(in_this_process) if workers == 0 else own_processes(workers, GPU in engines)
        try:
            with computers as compute:
                ((_, (reason, error)),) = compute(lacking, [(engines,)])
                if tried and not (reason or error):
                    bar.doing("checking the runs")
                    ((_, (_, error)),) = compute(check, [(cells, to_run)])
                if reason or error:
                    raise EmpiricsError(reason or error)
                if fresh:
                    store.forget(to_run)
                for index, (result, error) in compute(attempt, calls):
                    finish(_keep(store, to_run[index], *(result or (None, error, 0.0))))
        except KeyboardInterrupt:
            done = len(store.of(cells))
            end = f"are stored in {store.folder}: run the command again to continue" if done else "were done"
            raise KeyboardInterrupt(f"interrupted: {done or 'none'} of {len(cells)} {what} {end}") from None
    return finished


Attempt = tuple[Outcome | None, str, float]
"""An outcome or None, an error message, and the minutes that the run took."""


def attempt(home: str, arguments: Mapping[str, Any], state: str | None = None) -> Attempt:
    """Compute one run on one thread and return its outcome or error; ``state`` is the file of its state, if any."""
    from ..training.threads import single_thread

    began, error = time.perf_counter(), ""
    outcome: Outcome | None = None
    try:
        with single_thread():
            outcome = run(home, arguments if state is None else {**arguments, "state": state})
    except Diverged as divergence:
        outcome = Outcome({}, {"round": divergence.round, "largest": divergence.largest}, "diverged")
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = message_with_place(raised)
    return outcome, error, (time.perf_counter() - began) / 60


def _keep(store: Store, cell: Cell, outcome: Outcome | None, error: str, minutes: float) -> Done:
    """Store the outcome or the error of a run."""
    if outcome is not None:
        try:
            store.keep(cell, outcome, minutes)
            return Done(cell, outcome.status)
        except OutcomeError as refused:
            error = str(refused)
    store.fail(cell, error, minutes)
    return Done(cell, "failed", error)
