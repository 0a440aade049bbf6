"""Running the cells that are missing: in this process, on this machine's cores, or on a cluster.

The driver alone writes to the store, as each cell comes back, so a killed driver loses only what was under way, and a
killed worker's cell is given to another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import Diverged, EmpiricsError
from ..store import Cell, Outcome, Store
from ..store.keeping import OutcomeError, RESULTS

DEATHS = 8
"""Workers that may die under one cell before it is recorded as failed."""
AHEAD = 3
"""Cells per worker that are handed out ahead."""

ANSWER = "5s"
"""How long a running cluster may take to answer."""
ENVIRONMENT = {"DASK_LOGGING__DISTRIBUTED": "error", **{f"{n}_NUM_THREADS": "1" for n in ("OMP", "MKL", "OPENBLAS")}}
"""Of worker processes, before they import anything."""


@dataclass(frozen=True)
class Done:
    """One cell after its turn: ``result``, ``failed`` with the error, or ``there`` when it was done before."""

    cell: Cell
    how: str
    error: str = ""
    minutes: float = 0.0


def sweep(
    cells: Sequence[Cell],
    store: Store,
    workers: int | None = None,
    scheduler: str = "",
    fresh: bool = False,
    heard: Callable[[Done], object] = lambda done: None,
) -> list[Done]:
    """Run every cell whose result is not in the store, and keep it as it comes; results do not depend on the workers.

    ``workers`` None means one per core (per GPU where there are), 0 means in this process; ``scheduler`` is the address
    of a running cluster. Cells that failed before are tried again, diverged ones are results. ``fresh`` sets aside what
    is there and computes all of it.
    """
    wanted, found = [], []
    for cell in cells:
        kept, damage = store.look(cell)
        if kept and kept.status in RESULTS and not fresh:
            found.append(Done(cell, "there"))
            heard(found[-1])
            continue
        if damage or kept:
            store.set_aside(cell)
        wanted.append(cell)
    if not wanted:
        return found
    run = _here if workers == 0 and not scheduler else _spread
    for cell, told in run(wanted, workers, scheduler):
        found.append(_keep(store, cell, *told))
        heard(found[-1])
    return found


def _keep(store: Store, cell: Cell, outcome: Outcome | None, error: str, minutes: float) -> Done:
    if outcome is None:
        store.fail(cell, error, minutes)
        return Done(cell, "failed", error, minutes)
    try:
        store.keep(cell, outcome, minutes)
    except OutcomeError as refused:
        return _keep(store, cell, None, str(refused), minutes)
    return Done(cell, outcome.status, "", minutes)


Told = tuple[Outcome | None, str, float]
"""An outcome or else the error, and the minutes it took."""


def attempt(function: str, arguments: Mapping[str, Any]) -> Told:
    """Run one cell on one thread; what it raises is told, not raised."""
    from ..sweeps import single_thread

    began = time.perf_counter()
    try:
        with single_thread():
            outcome: Outcome | None = Cell(function, arguments).run()
        error = ""
    except Diverged as stop:
        outcome, error = Outcome({}, {"round": stop.round, "largest": stop.largest}, "diverged"), ""
    except (Exception, SystemExit) as raised:
        outcome, error = None, f"{type(raised).__name__}: {' '.join(str(raised).split())}"
    return outcome, error, (time.perf_counter() - began) / 60


def _here(cells: Sequence[Cell], workers: int | None, scheduler: str) -> Iterator[tuple[Cell, Told]]:
    for cell in cells:
        yield cell, attempt(cell.function, cell.arguments)


def _spread(cells: Sequence[Cell], workers: int | None, scheduler: str) -> Iterator[tuple[Cell, Told]]:
    """Through dask: a few cells per worker ahead, so that stopping loses little and nobody waits."""
    from distributed import as_completed

    with _client(workers, scheduler) as client:
        waiting = iter(cells)
        running: dict[Any, Cell] = {}

        def give() -> Any:
            cell = next(waiting, None)
            if cell is None:
                return None
            future = client.submit(attempt, cell.function, dict(cell.arguments), key=f"cell-{cell.key}", pure=False)
            running[future] = cell
            return future

        ahead = AHEAD * max(1, len(client.scheduler_info()["workers"]))
        pool = as_completed([f for f in (give() for _ in range(min(ahead, len(cells)))) if f is not None])
        for future in pool:
            cell = running.pop(future)
            yield cell, _told(future)
            following = give()
            if following is not None:
                pool.add(following)


def _told(future: Any) -> Told:
    """What a worker told; or that workers died under the cell."""
    error = future.exception()
    if error is not None:
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}", 0.0
    told: Told = future.result()
    return told


@contextmanager
def _client(workers: int | None, scheduler: str) -> Iterator[Any]:
    import dask
    from distributed import Client

    settings = {
        "distributed.scheduler.allowed-failures": DEATHS,
        "distributed.worker.daemon": False,
        "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
        "logging.distributed": "error",
    }
    with dask.config.set(settings):
        if scheduler:
            try:
                client = Client(scheduler, timeout=ANSWER)
            except (OSError, ValueError) as error:
                raise EmpiricsError(f"no cluster answers at {scheduler}: {error}") from None
            with client:
                yield client
        else:
            with _cluster(workers) as cluster, Client(cluster) as client:
                yield client


def _cluster(workers: int | None) -> Any:
    """One process per core with one thread each, or per GPU, which then sees only that one."""
    import os

    from distributed import Nanny, Scheduler, SpecCluster

    gpus = _gpus()
    count = (gpus or os.cpu_count() or 1) if workers is None else workers
    spec = {}
    for i in range(count):
        env = {"CUDA_VISIBLE_DEVICES": str(i % gpus)} if gpus else {}
        spec[i] = {"cls": Nanny, "options": {"nthreads": 1, "env": env, "dashboard": False, "memory_limit": 0}}
    here = {"port": 0, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}  # free ports: sweeps run side by side
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, **here}}
    return SpecCluster(workers=spec, scheduler=scheduler, silence_logs=50)


def _gpus() -> int:
    """GPUs of this machine, without loading torch: that is the workers' business."""
    from pathlib import Path

    folder = Path("/proc/driver/nvidia/gpus")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
