"""Work on many items in forked processes, which inherit the formulas that are loaded; only results need to pickle.

Sweeps need new interpreters instead (``empirics.experiments.processes``): PyTorch and GPUs do not survive a fork.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, TypeVar

from bounds.errors import BoundsError

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(BoundsError):
    """A worker process died."""


def forked_map(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[tuple[int, Result]]:
    """Yield (index, result) of every item as it is ready, with one thread per worker.

    A single worker is this process. When the iteration is stopped or this process dies, the workers end too.
    """
    workers = min(workers, len(items))
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from ((i, work(item)) for i, item in enumerate(items))
        return
    context = multiprocessing.get_context("fork")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, context, initializer=_inherit, initargs=(work, items)) as pool:
        try:
            with warnings.catch_warnings():  # the progress bar has a thread, which workers do not use
                warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
                places = {pool.submit(_work_at, i): i for i in range(len(items))}
            for future in as_completed(places):
                yield places[future], future.result()
        except BrokenProcessPool:
            raise WorkerError("a worker died, perhaps for want of memory: try fewer --workers") from None
        except BaseException:  # Ctrl-C too: results under way are not awaited; the broken pool ends its own thread
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise


_INHERITED: dict[str, Any] = {}
"""The work and the items, filled in the workers only."""


def _inherit(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(ModuleNotFoundError):  # installed with the extra "train", which brings libraries with threads
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    _INHERITED.update(work=work, items=items)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work_at(place: int) -> Any:
    return _INHERITED["work"](_INHERITED["items"][place])
