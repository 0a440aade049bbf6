"""The same measurement over many seeds, on as many threads as asked; the numbers do not depend on how many."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
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
    waiting, ended = deque(enumerate(seeds)), SimpleQueue[int]()
    results = dict[int, T]()
    errors = dict[int, BaseException]()

    def serve() -> None:
        while waiting:
            try:
                place, seed = waiting.popleft()
            except IndexError:  # another thread took the last one just now
                return
            try:
                results[place] = measure(seed)
            except BaseException as error:
                waiting.clear()
                errors[place] = error
            ended.put(place)

    # One task per thread, not per seed: the caller waits in a queue that Ctrl-C leaves whole, where an interrupted
    # submission leaves the pool's own lock taken for ever.
    count = len(waiting)
    with single_thread(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            for _ in range(min(workers, count)):
                pool.submit(serve)
            for _ in range(count):
                if ended.get() in errors:
                    break
                done()
        finally:  # those under way end, no other begins
            waiting.clear()
    if errors:  # seeds begin in their order, so the first that fails is the same whatever the number of threads
        raise errors[min(errors)]
    return [results[place] for place in range(count)]


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
