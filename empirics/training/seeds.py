"""The same work over many seeds or clients on several threads; the numbers do not depend on how many."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

import torch

S = TypeVar("S")
T = TypeVar("T")


def on_threads(
    pool: ThreadPoolExecutor,
    threads: int,
    function: Callable[[S], T],
    items: Iterable[S],
    done: Callable[[], None] = lambda: None,
) -> list[T]:
    """``function(item)`` for every item, in their order, on ``threads`` threads; ``done`` is called after each.

    After an exception or Ctrl-C the items under way are finished and no other begins. Items begin in their order, so
    the error that is raised, that of the first item, does not depend on the number of threads.
    """
    waiting, ended = deque(enumerate(items)), SimpleQueue[int]()
    results, errors, tasks = dict[int, T](), dict[int, BaseException](), list[Future[None]]()

    def serve() -> None:
        while waiting:
            try:
                place, item = waiting.popleft()
            except IndexError:  # another thread took the last one just now
                return
            try:
                results[place] = function(item)
            except BaseException as error:
                waiting.clear()
                errors[place] = error
            ended.put(place)

    # One task per thread, not per item: the caller waits in a queue that Ctrl-C leaves whole, where an interrupted
    # submission leaves the pool's own lock taken for ever.
    count = len(waiting)
    try:
        for _ in range(min(threads, count)):
            tasks.append(pool.submit(serve))
        for _ in range(count):
            if ended.get() in errors:
                break
            done()
    finally:
        waiting.clear()
        wait(tasks)
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(count)]


def over_seeds(
    measure: Callable[[int], T], seeds: Iterable[int], workers: int, done: Callable[[], None] = lambda: None
) -> list[T]:
    """``measure(seed)`` for every seed, in the order of the seeds; ``done`` is called once per finished seed.

    Threads serve because torch lets go of the interpreter while it computes. Each computes on one thread: two workers
    with one each measured 1.7 times one worker, one worker with two gained nothing reliably.
    """
    with single_thread(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        return on_threads(pool, workers, measure, seeds, done)


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
