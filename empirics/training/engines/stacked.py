"""All clients of a chunk at once: closed-form gradients by batched matrix products over stacked models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, Gradient, TaskLoss, Work
from ...algorithms.hooks import checked_columns, checked_losses, checked_tensor
from ...errors import EmpiricsError
from ...federation.federation import Batches, Minibatches, Source
from ...models.model import Batch, Trainable
from .. import statistics
from ..setting import Setting
from ..threads import one_thread, refuse_stopped
from .steppers import stepper

FEWEST = 2  # rows: a product with a single row takes another path, whose last bits differ


@dataclass(frozen=True)
class Stacked:
    """Steps ``chunk`` clients together; a client's numbers do not depend on the chunk or on who shares it.

    That holds because no step is ever computed on a single row (``FEWEST``), and with one thread: several would cut
    the rows of a softmax at places that depend on their number.
    """

    chunk: int = 256

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        with one_thread(work.starts.device):
            if len(work.clients) <= self.chunk:
                return self._chunk(model, federation, algorithm, setting, work._replace(net=None))
            ends, firsts = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device), []
            for begin in range(0, len(ends), self.chunk):
                chosen = slice(begin, begin + self.chunk)
                ends[chosen], first = self._chunk(model, federation, algorithm, setting, work.part(chosen))
                firsts.append(first)
        return ends, None if firsts[0] is None else torch.cat([f for f in firsts if f is not None])

    def _chunk(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        rows, order = len(work.clients), None
        if rows < FEWEST:
            order = np.zeros(FEWEST, dtype=int)
        elif (work.steps != work.steps[0]).any():
            order = np.argsort(-work.steps, kind="stable")
        work = work if order is None else work.pick(order)
        batches = federation.draw(work.seed, work.state.round, work.clients, work.steps, setting.batch)
        ends = work.starts.clone(memory_format=torch.contiguous_format)
        first = descend(model, algorithm, setting, work, ends, batches)
        if order is None:
            return ends, first
        back = torch.from_numpy(np.argsort(order[:rows], kind="stable"))
        return ends[back], None if first is None else first[back]


def descend(
    model: Trainable, algorithm: Algorithm, setting: Setting, work: Work, w: Tensor, batches: Minibatches
) -> Tensor | None:
    """Local steps in place on ``w (rows, dim)``; returns the losses at the start where the algorithm asks for them.

    Rows are sorted by falling number of steps: every step moves the prefix that still has steps to take.
    """
    take, rows, first = stepper(setting), w.shape[0], None
    trained = statistics.border(model)
    moving = Moving(algorithm, take)
    if type(batches) is Batches and _plain(algorithm, setting) and (walk := getattr(model, "walk_in", None)):
        if algorithm.steps.needs_loss:
            first = model.task_loss(w, batches.at(rows, 0)).detach()
        if walk(w, batches, work.steps, work.sizes):
            return first
    still_active = (work.steps[:, None] > np.arange(len(work.sizes))).sum(0)
    sizes = list(work.sizes) if isinstance(work.sizes, Tensor) else work.sizes.tolist()  # tensors while recorded
    for step, (active, size) in enumerate(zip(still_active.tolist(), sizes, strict=True)):
        if not active:
            break
        refuse_stopped()
        shown = max(active, min(FEWEST, rows))
        now = (work if shown == rows else work.part(slice(0, shown)))._replace(step=step)
        here = w if shown == rows else w[:shown]

        gradient_at = LocalGradient(model, algorithm.objective, now, batches, shown, step)
        if algorithm.steps.needs_loss and step == 0:
            first = model.task_loss(here, gradient_at.batch).detach()
        version = w._version
        found = algorithm.direction(now, here, gradient_at(here), gradient_at)
        if w._version != version:
            raise EmpiricsError(f"{algorithm.name}: direction must not change the models that it is given")
        direction = checked_tensor(f"{algorithm.name}: the direction of a step", found, here)
        columns = moving(now, step, here)
        if active < shown:
            here, direction = here[:active], direction[:active]
        if trained is not None:
            here, direction = here[:, :trained], direction[:, :trained]
            columns = None if columns is None else columns[:trained]
        take(here, direction, size, columns)
    return first


def _plain(algorithm: Algorithm, setting: Setting) -> bool:
    """Whether local steps are those of SGD along the gradient of the task loss, and nothing else."""
    kinds = type(algorithm.objective), type(algorithm.direction)
    bare = setting.optimizer == "sgd" and not setting.momentum and not setting.weight_decay and setting.clip is None
    return kinds == (TaskLoss, Gradient) and algorithm.moves is None and bare


@dataclass(frozen=True, eq=False)
class LocalGradient:
    """Gradients on the batch of one step: in closed form for the task loss, by autograd for any other objective."""

    model: Trainable
    objective: Callable[..., Tensor]
    work: Work
    batches: Minibatches
    rows: int
    step: int

    @cached_property
    def batch(self) -> Batch:
        """The samples of the step, gathered when somebody asks for them."""
        batch = self.batches.at(self.rows, self.step)
        return batch if statistics.border(self.model) is None else statistics.unpadded(batch)

    def __call__(self, point: Tensor, objective: Callable[..., Tensor] | None = None) -> Tensor:
        """Gradient at ``point (rows, dim)`` of the local objective, or of the one that is given."""
        objective = objective or self.objective
        if isinstance(objective, TaskLoss):
            found: Tensor | None = None
            if type(self.batches) is Batches and (in_place := getattr(self.model, "gradient_in", None)):
                found = in_place(point, self.batches, self.step)
            return self.model.gradient(point, self.batch) if found is None else found
        with torch.enable_grad():
            point = point.detach().requires_grad_()
            losses = checked_losses(objective, objective(self.model, point, self.batch, self.work))
            (gradient,) = torch.autograd.grad(losses.sum(), point)
        return gradient


class Moving:
    """The columns that move at a step (None: all); the optimiser starts afresh when they change."""

    def __init__(self, algorithm: Algorithm, take: Any) -> None:
        self.moves, self.name, self.take = algorithm.moves, algorithm.name, take
        self.columns: Tensor | None = None
        self.phase: Any = None

    def __call__(self, work: Work, step: int, here: Tensor) -> Tensor | None:
        if self.moves is None:
            return None
        phase = self.moves.phase(step) if hasattr(self.moves, "phase") else None
        if phase is not None and phase == self.phase:
            return self.columns
        columns = checked_columns(f"{self.name}: what moves returns", self.moves(work, step), here)
        before = self.columns
        if phase is not None or not (columns is before or _equal(columns, before)):  # a GPU would wait for the second
            self.take.restart()
            self.columns, self.phase = columns, phase
        return self.columns


def _equal(a: Tensor | None, b: Tensor | None) -> bool:
    return a is not None and b is not None and torch.equal(a, b)
