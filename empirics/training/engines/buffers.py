"""Places in memory that stay while their contents change: what a recording of local steps reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...algorithms.algorithm import Work
from ...federation.federation import Batches
from .tracing import ActiveRows, StillState, Unseen


class Buffers:
    """Where recordings read and write: models, memories and batch indices of some rows, filled before every replay."""

    def __init__(self, rows: int, steps: int, work: Work, batches: Batches) -> None:
        def zeros(like: Tensor, *shape: int) -> Tensor:
            return torch.zeros(shape, dtype=like.dtype, device=like.device)

        dim = work.starts.shape[1]
        self.w, self.starts = zeros(work.starts, rows, dim), zeros(work.starts, rows, dim)
        self.first, self.counts, self.weights = (zeros(work.starts, rows) for _ in range(3))
        self.sizes, self.step_size = zeros(work.starts, len(work.sizes)), zeros(work.starts)
        self.step = torch.zeros((), dtype=torch.int64, device=work.rows.device)
        self.labels = None if work.labels is None else zeros(work.labels, rows, *work.labels.shape[1:])
        self.recalled = {name: zeros(made, rows, *made.shape[1:]) for name, made in work.recalled.items()}
        self.rows = torch.arange(rows, device=work.rows.device)
        self.model = zeros(work.state.model, dim)
        self.server = {name: torch.zeros_like(vector) for name, vector in work.state.server.items()}
        self.memory = {name: zeros(kept, rows, *kept.shape[1:]) for name, kept in work.state.memory.items()}
        self.along = {name: zeros(field, rows, steps, *field.shape[2:]) for name, field in batches.along.items()}

    def fit(self, rows: int, steps: int, work: Work, batches: Batches) -> bool:
        """Whether this work fits into these buffers, with the same names and kinds of tensors."""
        along = self.along["index"]
        fits = rows <= along.shape[0] and steps <= along.shape[1] and len(work.sizes) <= len(self.sizes)
        same = _sizes(batches.along) == _sizes(self.along) and _sizes(work.recalled, 1) == _sizes(self.recalled, 1)
        names = work.state.server.keys() == self.server.keys() and work.state.memory.keys() == self.memory.keys()
        return fits and same and names and (self.labels is None) == (work.labels is None)

    def fill(self, work: Work) -> None:
        """Copy in what the local steps of some clients read beside their batches."""
        rows = len(work.rows)
        self.starts[:rows].copy_(work.starts)
        self.counts[:rows].copy_(work.counts)
        self.weights[:rows].copy_(work.weights)
        self.step_size.fill_(work.step_size)
        self.sizes[: len(work.sizes)].copy_(torch.from_numpy(work.sizes))
        if self.labels is not None and work.labels is not None:
            self.labels[:rows].copy_(work.labels)
        for name, made in work.recalled.items():
            self.recalled[name][:rows].copy_(made)
        self.model.copy_(work.state.model)
        for name, vector in work.state.server.items():
            self.server[name].copy_(vector)
        for name, memory in work.state.memory.items():
            torch.index_select(memory, 0, work.rows, out=self.memory[name][:rows])

    def turn_to(self, batches: Batches, steps: slice, active: int) -> None:
        """Copy in the batches of some steps, from the first place on, and the number of the first step."""
        count = steps.stop - steps.start
        self.step.fill_(steps.start)
        for name, field in batches.along.items():
            self.along[name][:active, :count].copy_(field[:active, steps])

    def batches(self, batches: Batches, rows: int, steps: int) -> Batches:
        """The batches that lie here."""
        fields: Any = {name: field[:rows, :steps] for name, field in self.along.items()}
        return replace(batches, **fields)

    def work(self, work: Work, rows: int) -> Work:
        """The work as it lies here, steps and their sizes as tensors; what else a round changes cannot be read."""
        memory = {name: ActiveRows(name, kept, self.rows) for name, kept in self.memory.items()}
        state: Any = StillState(self.model, memory, self.server)
        unseen: Any = {name: Unseen(f"the clients' {name}") for name in ("clients", "seed", "steps", "shares")}
        tensors: Any = {"sizes": self.sizes, "step_size": self.step_size, "step": self.step}
        chosen = slice(0, rows)
        return work._replace(
            state=state, rows=self.rows[chosen], counts=self.counts[chosen], weights=self.weights[chosen],
            starts=self.starts[chosen],
            labels=None if self.labels is None else self.labels[chosen],
            recalled={name: made[chosen] for name, made in self.recalled.items()}, **tensors, **unseen,
        )  # fmt: skip


def _sizes(along: Mapping[str, Tensor], axes: int = 2) -> dict[str, torch.Size]:
    """Sizes beyond the first axes (rows and steps), by name."""
    return {name: field.shape[axes:] for name, field in along.items()}
