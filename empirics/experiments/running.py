"""Running the cells that are missing: in this process, on this machine's cores, or on a cluster.

The driver alone writes to the store, as each cell comes back, so a killed driver loses only what was under way, and a
killed worker's cell is given to another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from bounds.showing.loading import by_ctrl_c, said_with_place

from ..errors import Diverged, EmpiricsError
from . import Cell, Outcome, Store
from .cells import run
from .checking import check
from .engines import GPU, lacking
from .processes import own_cluster, running_cluster
from .store import OutcomeError, RESULTS


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
    scheduler: str | None = None,
    fresh: bool = False,
    heard: Callable[[Done], object] = lambda done: None,
    tried: bool = False,
    keep_states: bool = False,
) -> list[Done]:
    """Run every cell whose result is not in the store, and keep it as it comes; results do not depend on the workers.

    ``workers`` None means one per core (per GPU where there are), 0 means in this process; ``scheduler`` is the address
    of a running cluster. Cells that failed before are tried again, diverged ones are results. ``fresh`` sets aside what
    is there and computes all of it. ``keep_states``: jobs that can keep where a run ends beside the results, and go on
    there when asked for more rounds; the numbers are the same. ``tried``: where some cannot run, whoever computes says
    so before the first starts.
    """
    store.tidy()
    wanted, found, old = [], [], []
    for cell in cells:
        kept, damage = store.look(cell)
        if kept and kept.status in RESULTS and not fresh:
            found.append(Done(cell, "there"))
            heard(found[-1])
            continue
        if damage or kept:
            old.append(cell)
        wanted.append(cell)
    if not wanted:
        return found
    orders = [Order(cell, str(store.state(cell)) if keep_states and cell.goes_on else None) for cell in wanted]
    gpu = any(cell.arguments.get("engine") == GPU for cell in wanted)
    with _computers(workers, scheduler, gpu) as client:
        _equipped(wanted, client)
        if tried:
            _try(cells, wanted, client)
        for cell in old:
            store.set_aside(cell)
        for cell, told in _here(orders) if client is None else _spread(orders, client):
            found.append(_keep(store, cell, *told))
            heard(found[-1])
    return found


def _computers(workers: int | None, scheduler: str | None, gpu: bool) -> AbstractContextManager[Any]:
    """The client of the processes that compute (on GPUs if ``gpu``); None is this process itself."""
    if scheduler:
        return running_cluster(scheduler)
    return nullcontext() if workers == 0 else own_cluster(workers, gpu)


def _try(cells: Sequence[Cell], wanted: Sequence[Cell], client: Any) -> None:
    """Refuse cells that cannot run, in the process that would run them: it has the data, and torch in memory."""
    if client is None:
        check(cells, wanted)
        return
    _, error = _result(client.submit(check, cells, wanted, pure=False))
    if error:
        raise EmpiricsError(f"no cell was started: {error}")


def _equipped(wanted: Sequence[Cell], client: Any) -> None:
    """Refuse cells whose engine some worker has not: that costs nothing to know, and every such cell would fail."""
    for engine in sorted({cell.arguments.get("engine", "torch") for cell in wanted} - {"torch"}):
        told = {"this machine": lacking(engine)} if client is None else client.run(lacking, engine)
        for worker, reason in told.items():
            if reason:
                raise EmpiricsError(f"no cell was started, for on {worker} {reason}: take engine torch for all cells")


def _keep(store: Store, cell: Cell, outcome: Outcome | None, error: str, minutes: float) -> Done:
    if outcome is None:
        store.fail(cell, error, minutes)
        return Done(cell, "failed", error, minutes)
    try:
        store.keep(cell, outcome, minutes)
    except OutcomeError as refused:
        return _keep(store, cell, None, str(refused), minutes)
    return Done(cell, outcome.status, "", minutes)


class Order(NamedTuple):
    """A cell to run, and the file in which its runs are kept to go on from (None: none)."""

    cell: Cell
    state: str | None


Told = tuple[Outcome | None, str, float]
"""An outcome or else the error, and the minutes it took."""


def attempt(home: str, arguments: Mapping[str, Any], state: str | None = None) -> Told:
    """Run one cell on one thread; what it raises is told, not raised. ``state``: where its run is kept."""
    from ..training.seeds import single_thread

    began = time.perf_counter()
    try:
        with single_thread():
            outcome: Outcome | None = run(home, arguments if state is None else {**arguments, "state": state})
        error = ""
    except Diverged as stop:
        outcome, error = Outcome({}, {"round": stop.round, "largest": stop.largest}, "diverged"), ""
    except BaseException as raised:
        if by_ctrl_c(raised):
            raise
        outcome, error = None, said_with_place(raised)
    return outcome, error, (time.perf_counter() - began) / 60


def _here(orders: Sequence[Order]) -> Iterator[tuple[Cell, Told]]:
    for cell, state in orders:
        yield cell, attempt(cell.home, cell.arguments, state)


def _spread(orders: Sequence[Order], client: Any) -> Iterator[tuple[Cell, Told]]:
    """Through dask: one cell per thread of the workers, for it blames a death on those that wait there, too."""
    from distributed import as_completed

    waiting = iter(orders)
    running: dict[Any, Cell] = {}

    def give() -> Any:
        order = next(waiting, None)
        if order is None:
            return None
        cell, state = order
        future = client.submit(attempt, cell.home, dict(cell.arguments), state, key=f"cell-{cell.key}", pure=False)
        running[future] = cell
        return future

    threads = max(1, sum(client.nthreads().values()))
    pool = as_completed([f for f in (give() for _ in range(threads)) if f is not None])
    for future in pool:
        cell, told = running.pop(future), _told(future)
        following = give()  # before the caller stores this one: the worker need not wait for it
        if following is not None:
            pool.add(following)
        yield cell, told


def _told(future: Any) -> Told:
    """What a worker told; or that workers died under the cell."""
    told, error = _result(future)
    return (None, error, 0.0) if error else told


def _result(future: Any) -> tuple[Any, str]:
    """The result, or else why there is none; asked for once: what is lost with its worker is computed anew."""
    from distributed import CancelledError, KilledWorker
    from distributed.scheduler import NoValidWorkerError, NoWorkerError

    try:
        return future.result(), ""
    except EmpiricsError:
        raise
    except (NoWorkerError, NoValidWorkerError, CancelledError):
        words = "no worker process is left, and none could be started again: run it again to go on"
        raise EmpiricsError(words) from None
    except KilledWorker as error:
        return None, f"worker processes died {error.allowed_failures + 1} times in a row: a crash, or memory ran out"
    except Exception as error:
        return None, said_with_place(error)
