"""Work on several threads; the numbers do not depend on how many, for each computes on one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import local
from typing import TypeVar

import torch

T = TypeVar("T")

running = local()
"""Of a thread that trains beside others: ``stop`` is an event, after which its local steps end."""


def refuse_stopped() -> None:
    """Raise where what this thread works on has failed in another, or was interrupted."""
    if (stop := getattr(running, "stop", None)) is not None and stop.is_set():
        raise InterruptedError


def over_seeds(
    measure: Callable[[int], T], seeds: Iterable[int], workers: int, done: Callable[[], None] = lambda: None
) -> list[T]:
    """``measure(seed)`` for every seed, in the order of the seeds; ``done`` is called once per finished seed.

    Threads serve because torch lets go of the interpreter while it computes. Each computes on one thread: two workers
    with one each measured 1.7 times one worker, one worker with two gained nothing reliably. After an error (that of
    the first seed that has one) or Ctrl-C no other seed begins.
    """
    found = []
    with single_thread(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for result in pool.map(measure, seeds):
            found.append(result)
            done()
    return found


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """Work on a CPU with a single torch thread; other devices do not care."""
    before = torch.get_num_threads()
    if torch.device(device).type != "cpu" or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def single_thread() -> Iterator[None]:
    """The same of NumPy and SciPy too: no oversubscription, and sums in one order, so the last bits repeat."""
    from threadpoolctl import threadpool_limits

    with one_thread(), threadpool_limits(1, user_api="blas"):
        yield
