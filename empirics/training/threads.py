"""Work on several threads, whose results do not depend on the number of threads, as each uses one torch thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import local
from typing import TypeVar

import torch

T = TypeVar("T")

thread_data = local()
"""``stop`` is the event that ends the local steps of this thread."""


def raise_if_stopped() -> None:
    """Raise if another thread of this round has failed, or the round was interrupted."""
    if (stop := getattr(thread_data, "stop", None)) is not None and stop.is_set():
        raise InterruptedError


def over_seeds(
    measure: Callable[[int], T], seeds: Iterable[int], workers: int, done: Callable[[], None] = lambda: None
) -> list[T]:
    """Return ``measure(seed)`` for every seed, in their order; ``done`` is called once per finished seed.

    Threads work in parallel as torch releases the interpreter lock while it computes. Each uses one torch thread: two
    workers with one each were 1.7 times as fast as one worker; one worker with two was not reliably faster. After an
    error (that of the first seed that has one) or Ctrl-C no further seed begins.
    """
    results = []
    with single_thread(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for result in pool.map(measure, seeds):
            results.append(result)
            done()
    return results


@contextmanager
def one_thread(device: torch.device | str = "cpu") -> Iterator[None]:
    """Use a single torch thread in this block if ``device`` is a CPU."""
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
    """Use a single thread of torch, NumPy and SciPy in this block, so that sums have one order and repeat exactly."""
    from threadpoolctl import threadpool_limits

    with one_thread(), threadpool_limits(1, user_api="blas"):
        yield
