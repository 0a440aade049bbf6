"""Work on many items in forked processes: what is worked on need not pickle, only what comes out of it."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def spread(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[tuple[int, Result]]:
    """(place, result) of every item as it is ready; one thread per worker, in this process if there is one worker."""
    if workers <= 1 or len(items) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from ((i, work(item)) for i, item in enumerate(items))
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, initializer=_inherit, initargs=(work, items)) as pool:
        with warnings.catch_warnings():  # the thread of a progress bar, of which the workers have nothing
            warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
            places = {pool.submit(_work_at, i): i for i in range(len(items))}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        except BaseException:  # Ctrl-C too: nothing is begun any more, and nobody waits for what was under way
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


_INHERITED: dict[str, Any] = {}
"""Filled in the workers alone, by the fork."""


def _inherit(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal: the first one decides
    threadpool_limits(1)
    _INHERITED.update(work=work, items=items)


def _work_at(place: int) -> Any:
    return _INHERITED["work"](_INHERITED["items"][place])
