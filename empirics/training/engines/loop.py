"""One client after another on one work network whose parameters are views of the client's row."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from threading import Event

import numpy as np
import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, Work
from ...federation.federation import Source
from ...models.model import Trainable
from ..setting import Setting
from ..threads import one_thread, running
from .stacked import descend


@dataclass(frozen=True)
class ClientLoop:
    """Trains each row alone: on a CPU stacking convolutions loses, and any module fits.

    A client's numbers depend on nothing but its own work: it takes one thread, and its row lies alone in memory, since
    both the number of threads and the place of a row can change the last bits of a product. ``chunk`` clients have
    their batches drawn at a time. With several ``threads``, as many clients are trained at once: passes release the
    interpreter, and a network has a module and memory for every thread.
    """

    chunk: int = 256
    threads: int = 1

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        with one_thread(work.starts.device):
            if min(self.threads, len(work.clients)) > 1:
                return self._threaded(model, federation, algorithm, setting, work)
            ends = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device)
            own, firsts = torch.empty_like(ends[:1]), []
            with getattr(model, "learning", nullcontext)():
                for begin in range(0, len(ends), self.chunk):
                    part = work.part(slice(begin, begin + self.chunk))
                    batches = federation.draw(part.seed, part.state.round, part.clients, part.steps, setting.batch)
                    for row in range(len(part.clients)):
                        alone = slice(row, row + 1)
                        own.copy_(part.starts[alone])
                        firsts.append(descend(model, algorithm, setting, part.part(alone), own, batches.part(alone)))
                        ends[begin + row] = own[0]
        return ends, None if firsts[0] is None else torch.cat([f for f in firsts if f is not None])

    def _threaded(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The same with every client as one task of a thread pool, the longest work first."""
        alone, stop = ClientLoop(self.chunk), Event()

        def train(row: int) -> tuple[Tensor, Tensor | None]:
            running.stop = stop
            return alone.local(model, federation, algorithm, setting, work.part(slice(row, row + 1)))

        futures = dict[int, Future[tuple[Tensor, Tensor | None]]]()
        try:
            for row in np.argsort(-work.steps, kind="stable").tolist():
                futures[row] = _pool(self.threads).submit(train, row)
            for future in wait(futures.values(), return_when=FIRST_EXCEPTION).done:
                future.result()
        except BaseException:  # of a client, or Ctrl-C: no other begins, those under way end at their next step
            stop.set()
            for future in futures.values():
                future.cancel()
            raise
        ends, firsts = zip(*(futures[row].result() for row in range(len(futures))), strict=True)
        return torch.cat(ends), None if firsts[0] is None else torch.cat(firsts)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The one pool with this number of threads: a network builds a module for every thread that it meets."""
    return ThreadPoolExecutor(threads, "fedbounds")
