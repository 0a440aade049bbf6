"""One client after another on one work network whose parameters are views of the client's row."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, Work
from ...federation.federation import Source
from ...models.model import Trainable
from ..setting import Setting
from .stacked import descend
from .threads import one_thread


@dataclass(frozen=True)
class ClientLoop:
    """Trains each row alone: on a CPU stacking convolutions loses, and any module fits.

    A client's numbers depend on nothing but its own work: it takes one thread, and its row lies alone in memory, since
    both the number of threads and the place of a row can change the last bits of a product. ``chunk`` clients have
    their batches drawn at a time.
    """

    chunk: int = 256

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        ends = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device)
        own, firsts = torch.empty_like(ends[:1]), []
        with one_thread(ends.device), getattr(model, "learning", nullcontext)():
            for begin in range(0, len(ends), self.chunk):
                part = work.part(slice(begin, begin + self.chunk))
                batches = federation.draw(part.seed, part.state.round, part.clients, part.steps, setting.batch)
                for row in range(len(part.clients)):
                    alone = slice(row, row + 1)
                    own.copy_(part.starts[alone])
                    firsts.append(descend(model, algorithm, setting, part.part(alone), own, batches.part(alone)))
                    ends[begin + row] = own[0]
        return ends, None if firsts[0] is None else torch.cat([f for f in firsts if f is not None])
