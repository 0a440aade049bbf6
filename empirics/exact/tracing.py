"""A training engine that keeps the local models of a round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from ..algorithms.algorithm import Algorithm, Work
from ..federation.federation import Minibatches, Source
from ..models.model import Batch, Trainable
from ..training.engines.stacked import descend
from ..training.setting import Setting

Array = np.ndarray[Any, Any]


class _Watched:
    """Batches that copy the local models whenever a step begins."""

    def __init__(self, batches: Minibatches, models: Tensor, path: list[Array]) -> None:
        self.batches, self.models, self.path = batches, models, path

    def at(self, active: int, step: int) -> Batch:
        self.path.append(self.models.numpy().copy())
        return self.batches.at(active, step)

    def part(self, chosen: slice) -> _Watched:
        return _Watched(self.batches.part(chosen), self.models[chosen], self.path)


@dataclass(eq=False)
class Tracing:
    """An engine that runs the stacked local loop and keeps the local models before, between and after the steps.

    Of a method with two pieces of local work a round it keeps the first. ``forget`` it between rounds.
    """

    path: list[Array] = field(default_factory=list)

    def forget(self) -> None:
        self.path = []

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        batches = federation.draw(work.seed, work.state.round, work.clients, work.steps, setting.batch)
        ends, path = work.starts.clone(), list[Array]()
        first = descend(model, algorithm, setting, work, ends, _Watched(batches, ends, path))
        self.path = self.path or [*path, ends.numpy().copy()]
        return ends, first

    @property
    def models(self) -> Array:
        """The local models ``(rows, steps + 1, dim)`` of the last round."""
        return np.stack(self.path, axis=1)
