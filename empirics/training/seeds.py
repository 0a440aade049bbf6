"""The same measurement over many seeds, on as many threads as asked; the numbers do not depend on how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

T = TypeVar("T")


def over_seeds(
    measure: Callable[[int], T], seeds: Iterable[int], workers: int, done: Callable[[], None] = lambda: None
) -> list[T]:
    """``measure(seed)`` for every seed, in the order of the seeds; ``done`` is called once per finished seed.

    Threads serve because torch lets go of the interpreter while it computes. Each computes on one thread: two workers
    with one each measured 1.7 times one worker, one worker with two gained nothing reliably. An exception or Ctrl-C
    drops the seeds that have not started.
    """
    with single_thread(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        results = []
        try:
            futures = [pool.submit(measure, seed) for seed in seeds]
            for future in futures:
                results.append(future.result())
                done()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return results


@contextmanager
def single_thread() -> Iterator[None]:
    """One computing thread per caller: no oversubscription, and sums in one order, so the last bits repeat."""
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(threads)
