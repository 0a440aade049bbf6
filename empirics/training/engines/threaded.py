"""The clients of a cohort on all cores by threads of this process: for networks whose passes are compiled.

Compiled passes let other threads run meanwhile. A client is one piece of work, and a network has a module and memory
for every thread, so the numbers are those of ``ClientLoop`` to the last bit, whatever the number of threads.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np
import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, Work
from ...errors import EmpiricsError
from ...federation.federation import Source
from ...models.model import Trainable
from ..setting import Setting
from .loop import ClientLoop
from .threads import one_thread


class Threads:
    """``ClientLoop`` on ``count`` threads, all taking from one queue, the longest work first."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise EmpiricsError(f"threads must be >= 1; got {count}")
        self.count, self._pool = count, ThreadPoolExecutor(count, "fedbounds")

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        rows = len(work.clients)
        if min(self.count, rows) == 1:
            return ClientLoop().local(model, federation, algorithm, setting, work)
        ends, firsts = torch.empty(work.starts.shape, dtype=work.starts.dtype), dict[int, Tensor]()
        queue = deque(np.argsort(-work.steps, kind="stable").tolist())

        def serve() -> None:
            while queue:
                try:
                    row = queue.popleft()
                except IndexError:  # another thread took the last one just now
                    return
                try:
                    alone = work.part(slice(row, row + 1))
                    end, first = ClientLoop().local(model, federation, algorithm, setting, alone)
                except BaseException:
                    queue.clear()
                    raise
                ends[row] = end[0]
                if first is not None:
                    firsts[row] = first

        with one_thread(ends.device):
            served = [self._pool.submit(serve) for _ in range(min(self.count, rows))]
            try:
                for one in served:
                    one.result()
            finally:  # interrupted: clients under way end, no other begins
                queue.clear()
                wait(served)
        return ends, torch.cat([firsts[row] for row in range(rows)]) if firsts else None


@cache
def shared_threads(count: int) -> Threads:
    """The one set of ``count`` threads that runs share."""
    return Threads(count)
