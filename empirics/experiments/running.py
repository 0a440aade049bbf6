"""Running what is missing of a sweep: in this process, on this machine's cores, or on a cluster.

The process that the user started alone writes to the store, as each run ends: killed, it loses only what was under way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from bounds.showing.loading import message_with_place

from ..errors import Diverged, EmpiricsError
from . import Cell, Outcome, Store
from .cells import run
from .checking import check
from .engines import GPU, lacking
from .processes import in_this_process, own_processes, running_cluster, Spread
from .store import OutcomeError, RESULTS


@dataclass(frozen=True)
class Done:
    """One run after its turn: ``done``, ``diverged``, ``failed`` with the error, or ``there`` if it was done before."""

    cell: Cell
    how: str
    error: str = ""
    minutes: float = 0.0


def sweep(
    cells: Sequence[Cell],
    store: Store,
    workers: int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    heard: Callable[[Done], object] = lambda done: None,
    tried: bool = False,
    keep_states: bool = False,
) -> list[Done]:
    """Do every run whose result is not in the store, and store it as it ends; results do not depend on the workers.

    Runs that failed before are tried again, diverged ones are results.

    Args:
        cells: the runs.
        store: where the results go.
        workers: processes (None: one per core, or per GPU where runs need one; 0: in this process).
        scheduler: the address of a running dask cluster, in place of workers.
        fresh: forget the results that are there, and do all runs.
        heard: is called with each run.
        tried: refuse runs that cannot work before the first one starts.
        keep_states: jobs that can do so keep the end of a run beside the results, and go on there when more rounds are
            requested; the numbers are the same.
    """
    wanted, found = [], []
    for cell, (kept, _) in zip(cells, store.look(cells), strict=True):
        if kept and kept.status in RESULTS and not fresh:
            found.append(Done(cell, "there"))
            heard(found[-1])
        else:
            wanted.append(cell)
    if not wanted:
        return found
    calls = [
        (c.home, dict(c.arguments), str(store.state(c)) if keep_states and c.known.goes_on else None) for c in wanted
    ]
    engines = {str(cell.arguments.get("engine", "torch")) for cell in wanted}
    if scheduler:
        computers: AbstractContextManager[Spread] = running_cluster(scheduler, engines)
    else:
        computers = nullcontext(in_this_process) if workers == 0 else own_processes(workers, GPU in engines)
    with computers as spread:
        ((_, (lacks, error)),) = spread(lacking, [(engines,)])
        if tried and not (lacks or error):
            ((_, (_, error)),) = spread(check, [(cells, wanted)])
        if lacks or error:
            raise EmpiricsError(lacks or error)
        if fresh:
            store.forget(wanted)
        for place, (done, error) in spread(attempt, calls):
            found.append(_keep(store, wanted[place], *(done or (None, error, 0.0))))
            heard(found[-1])
    return found


def interrupted(store: Store, cells: Sequence[Cell], what: str) -> KeyboardInterrupt:
    """The interrupt to raise, whose message says how many of these runs (``what`` in words) are stored."""
    done = len(store.of(cells))
    kept = f"are kept in {store.folder}: the same command goes on from there" if done else "were done"
    return KeyboardInterrupt(f"interrupted: {done or 'none'} of {len(cells)} {what} {kept}")


Attempt = tuple[Outcome | None, str, float]
"""An outcome or else the error, and the minutes it took."""


def attempt(home: str, arguments: Mapping[str, Any], state: str | None = None) -> Attempt:
    """Do one run on one thread; what it raises is returned. ``state``: the file in which the run is kept."""
    from ..training.threads import single_thread

    began, error = time.perf_counter(), ""
    outcome: Outcome | None = None
    try:
        with single_thread():
            outcome = run(home, arguments if state is None else {**arguments, "state": state})
    except Diverged as stop:
        outcome = Outcome({}, {"round": stop.round, "largest": stop.largest}, "diverged")
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = message_with_place(raised)
    return outcome, error, (time.perf_counter() - began) / 60


def _keep(store: Store, cell: Cell, outcome: Outcome | None, error: str, minutes: float) -> Done:
    """Store what came of a run."""
    if outcome is not None:
        try:
            store.keep(cell, outcome, minutes)
            return Done(cell, outcome.status, "", minutes)
        except OutcomeError as refused:
            error = str(refused)
    store.fail(cell, error, minutes)
    return Done(cell, "failed", error, minutes)
