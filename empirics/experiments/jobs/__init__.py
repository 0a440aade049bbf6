"""Jobs: training runs and related computations, each declared by ``@job`` with a name and a version."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

BLOCKS = 3
"""The number of blocks of rounds that are timed for every method, after a first round to warm up."""


def in_turns(
    works: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[tuple[str, int, float]]:
    """Return (name, turn, seconds) of works that take turns, so that other load on the machine slows all equally.

    A first turn, number 0, is not returned.
    """
    rows = []
    for turn in range(repeats + 1):
        for name, work in works.items():
            began = clock()
            work()
            rows.append((name, turn, clock() - began))
    return [row for row in rows if row[1]]
