"""Trains one client after another on a network whose parameters are views of the client's row."""

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
from ..threads import one_thread, thread_data
from .stacked import descend, joined


@dataclass(frozen=True)
class ClientLoop:
    """Trains each client alone: on a CPU stacked convolutions are slower, and any module can be used.

    A client's results depend on its own work only: it is trained on one thread, with its row at its own place in
    memory, as the number of threads and the place of a row can change the last bits of a product. Batches are drawn
    for ``chunk`` clients at a time, and ``threads`` clients are trained in parallel: torch releases the interpreter
    lock, and a network has a module for every thread.
    """

    chunk: int = 256
    threads: int = 1

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        with one_thread(work.starts.device):
            if min(self.threads, len(work.clients)) > 1:
                return self._threaded(model, federation, algorithm, setting, work)
            ends = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device)
            w, losses = torch.empty_like(ends[:1]), []
            with getattr(model, "learning", nullcontext)():
                for begin in range(0, len(ends), self.chunk):
                    part = work.part(slice(begin, begin + self.chunk))
                    batches = federation.draw(part.seed, part.state.round, part.clients, part.steps, setting.batch)
                    for row in range(len(part.clients)):
                        client = slice(row, row + 1)
                        w.copy_(part.starts[client])
                        losses.append(descend(model, algorithm, setting, part.part(client), w, batches.part(client)))
                        ends[begin + row] = w[0]
        return ends, joined(losses)

    def _threaded(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """``local`` with every client as one task of a thread pool, the longest work first."""
        loop, stop = ClientLoop(self.chunk), Event()

        def train(row: int) -> tuple[Tensor, Tensor | None]:
            thread_data.stop = stop
            return loop.local(model, federation, algorithm, setting, work.part(slice(row, row + 1)))

        futures = dict[int, Future[tuple[Tensor, Tensor | None]]]()
        try:
            for row in np.argsort(-work.steps, kind="stable").tolist():
                futures[row] = _pool(self.threads).submit(train, row)
            for future in wait(futures.values(), return_when=FIRST_EXCEPTION).done:
                future.result()
        except BaseException:  # a client's error, or Ctrl-C: no client begins, and running ones end at their next step
            stop.set()
            for future in futures.values():
                future.cancel()
            raise
        ends, losses = zip(*(futures[row].result() for row in range(len(futures))), strict=True)
        return torch.cat(ends), joined(losses)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool with this number of threads; it is shared, as a network builds a module for every new thread."""
    return ThreadPoolExecutor(threads, "fedbounds")
