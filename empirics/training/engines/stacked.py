"""Steps all clients of a chunk at once: closed-form gradients by batched matrix products over stacked models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from ..threads import one_thread, raise_if_stopped
from .steppers import stepper

FEWEST = 2  # rows of a step: a product with a single row is computed by other code, whose last bits differ


@dataclass(frozen=True)
class Stacked:
    """Steps ``chunk`` clients together; a client's results do not depend on the chunk or the clients in it.

    For this no step is computed on a single row (``FEWEST``), and one thread is used: several would divide the rows of
    a softmax in a way that depends on their number.
    """

    chunk: int = 256

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        with one_thread(work.starts.device):
            if len(work.clients) <= self.chunk:
                return self._chunk(model, federation, algorithm, setting, work._replace(net=None))
            ends, losses = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device), []
            for begin in range(0, len(ends), self.chunk):
                rows = slice(begin, begin + self.chunk)
                ends[rows], first = self._chunk(model, federation, algorithm, setting, work.part(rows))
                losses.append(first)
        return ends, joined(losses)

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


def joined(losses: Sequence[Tensor | None]) -> Tensor | None:
    """Concatenate the losses of parts of a cohort, which are all None or all tensors."""
    return None if losses[0] is None else torch.cat([part for part in losses if part is not None])


def descend(
    model: Trainable, algorithm: Algorithm, setting: Setting, work: Work, w: Tensor, batches: Minibatches
) -> Tensor | None:
    """Take local steps in place on ``w (rows, dim)``; return the losses before them if the algorithm needs them.

    Rows must be sorted by decreasing number of steps: every step moves the first rows, which have steps left.
    """
    optimiser, rows, first = stepper(setting), w.shape[0], None
    parameters = statistics.first_statistic(model)
    moving = MovingColumns(algorithm, optimiser)
    if type(batches) is Batches and _plain(algorithm, setting) and (walk := getattr(model, "walk_in", None)):
        if algorithm.steps.needs_loss:
            first = model.task_loss(w, batches.at(rows, 0)).detach()
        if walk(w, batches, work.steps, work.step_sizes):
            return first
    sizes = work.step_sizes
    active_rows = (work.steps[:, None] > np.arange(len(sizes))).sum(0)
    sizes = list(sizes) if isinstance(sizes, Tensor) else sizes.tolist()  # tensors while recorded
    for step, (active, size) in enumerate(zip(active_rows.tolist(), sizes, strict=True)):
        if not active:
            break
        raise_if_stopped()
        computed = max(active, min(FEWEST, rows))
        now = (work if computed == rows else work.part(slice(0, computed)))._replace(step=step)
        here = w if computed == rows else w[:computed]

        gradient_at = LocalGradient(model, algorithm.objective, now, batches, computed, step)
        if algorithm.steps.needs_loss and step == 0:
            first = model.task_loss(here, gradient_at.batch).detach()
        version = w._version
        result = algorithm.direction(now, here, gradient_at(here), gradient_at)
        if w._version != version:
            raise EmpiricsError(f"{algorithm.name}: direction must not change its models argument in place")
        direction = checked_tensor(f"{algorithm.name}: the direction of a step", result, here)
        columns = moving(now, step, here)
        if active < computed:
            here, direction = here[:active], direction[:active]
        if parameters is not None:
            here, direction = here[:, :parameters], direction[:, :parameters]
            columns = None if columns is None else columns[:parameters]
        optimiser(here, direction, size, columns)
    return first


def _plain(algorithm: Algorithm, setting: Setting) -> bool:
    """Whether local steps are those of SGD along the gradient of the task loss, and nothing else."""
    kinds = type(algorithm.objective), type(algorithm.direction)
    bare = setting.optimizer == "sgd" and not setting.momentum and not setting.weight_decay and setting.clip is None
    return kinds == (TaskLoss, Gradient) and algorithm.moves is None and bare


@dataclass(frozen=True, eq=False)
class LocalGradient:
    """Gradients on the batch of one step: in closed form for the task loss, by autograd for other objectives."""

    model: Trainable
    objective: Callable[..., Tensor]
    work: Work
    batches: Minibatches
    rows: int
    step: int

    @cached_property
    def batch(self) -> Batch:
        """The samples of the step."""
        batch = self.batches.at(self.rows, self.step)
        return batch if statistics.first_statistic(self.model) is None else statistics.unpadded(batch)

    def __call__(self, point: Tensor, objective: Callable[..., Tensor] | None = None) -> Tensor:
        """The gradient at ``point (rows, dim)`` of ``objective``, by default the local objective."""
        objective = objective or self.objective
        if isinstance(objective, TaskLoss):
            compiled: Tensor | None = None
            if type(self.batches) is Batches and (gradient_in := getattr(self.model, "gradient_in", None)):
                compiled = gradient_in(point, self.batches, self.step)
            return self.model.gradient(point, self.batch) if compiled is None else compiled
        with torch.enable_grad():
            point = point.detach().requires_grad_()
            losses = checked_losses(objective, objective(self.model, point, self.batch, self.work))
            (gradient,) = torch.autograd.grad(losses.sum(), point)
        return gradient


class MovingColumns:
    """The columns that a step changes (None: all); restarts the optimiser when they differ from the step before."""

    def __init__(self, algorithm: Algorithm, optimiser: Any) -> None:
        self.moves, self.name, self.optimiser = algorithm.moves, algorithm.name, optimiser
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
        # A phase decides without comparing tensors, for which a GPU would have to wait.
        if phase is not None or not (columns is before or _equal(columns, before)):
            self.optimiser.restart()
            self.columns, self.phase = columns, phase
        return self.columns


def _equal(a: Tensor | None, b: Tensor | None) -> bool:
    return a is not None and b is not None and torch.equal(a, b)
