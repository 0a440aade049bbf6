"""Tensors at fixed places in memory, which recordings of local steps read and write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...algorithms.algorithm import Work
from ...federation.federation import Batches
from .tracing import ActiveRows, FixedState, Unreadable


class Buffers:
    """Models, memories and batch indices of some rows, which are filled before every replay of a recording."""

    def __init__(self, rows: int, steps: int, work: Work, batches: Batches) -> None:
        def zeros(like: Tensor, *shape: int) -> Tensor:
            return torch.zeros(shape, dtype=like.dtype, device=like.device)

        def stacked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: zeros(tensor, rows, *tensor.shape[1:]) for name, tensor in tensors.items()}

        self.w, self.first = zeros(work.starts, rows, work.starts.shape[1]), zeros(work.starts, rows)
        self.fields, self.recalled, self.memory = map(stacked, (_fields(work), work.recalled, work.state.memory))
        self.step_sizes, self.step_size = zeros(work.starts, len(work.step_sizes)), zeros(work.starts)
        self.step = torch.zeros((), dtype=torch.int64, device=work.client_index.device)
        self.rows = torch.arange(rows, device=work.client_index.device)
        self.model = torch.zeros_like(work.state.model)
        self.server = {name: torch.zeros_like(vector) for name, vector in work.state.server.items()}
        self.by_step = {name: zeros(field, rows, steps, *field.shape[2:]) for name, field in batches.by_step.items()}

    def fit(self, rows: int, steps: int, work: Work, batches: Batches) -> bool:
        """Whether this work fits into these buffers, with tensors of the same names and shapes."""
        index = self.by_step["index"]
        fits = rows <= index.shape[0] and steps <= index.shape[1] and len(work.step_sizes) <= len(self.step_sizes)
        same = _sizes(batches.by_step) == _sizes(self.by_step) and _sizes(work.recalled, 1) == _sizes(self.recalled, 1)
        names = work.state.server.keys() == self.server.keys() and work.state.memory.keys() == self.memory.keys()
        return fits and same and names and _sizes(_fields(work), 1) == _sizes(self.fields, 1)

    def fill(self, work: Work) -> None:
        """Copy in everything but the batches that the local steps of some clients read."""
        rows = len(work.client_index)
        for sources, buffers in ((_fields(work), self.fields), (work.recalled, self.recalled)):
            for name, source in sources.items():
                buffers[name][:rows].copy_(source)
        self.step_size.fill_(work.step_size)
        self.step_sizes[: len(work.step_sizes)].copy_(torch.from_numpy(work.step_sizes))
        self.model.copy_(work.state.model)
        for name, vector in work.state.server.items():
            self.server[name].copy_(vector)
        for name, memory in work.state.memory.items():
            torch.index_select(memory, 0, work.client_index, out=self.memory[name][:rows])

    def load_steps(self, batches: Batches, steps: slice, active: int) -> None:
        """Copy in the batches of some steps, and the number of the first of them."""
        self.step.fill_(steps.start)
        for name, field in batches.by_step.items():
            self.by_step[name][:active, : steps.stop - steps.start].copy_(field[:active, steps])

    def batches(self, batches: Batches, rows: int, steps: int) -> Batches:
        """``batches`` with the buffers' tensors."""
        fields: Any = {name: field[:rows, :steps] for name, field in self.by_step.items()}
        return replace(batches, **fields)

    def work(self, work: Work, rows: int) -> Work:
        """``work`` with the buffers' tensors; other values that change from round to round become unreadable."""
        memory = {name: ActiveRows(name, buffer, self.rows) for name, buffer in self.memory.items()}
        unreadable: Any = {name: Unreadable(f"the clients' {name}") for name in ("clients", "seed", "steps", "shares")}
        tensors: Any = {"step_sizes": self.step_sizes, "step_size": self.step_size, "step": self.step}
        fields: Any = {name: buffer[:rows] for name, buffer in self.fields.items()}
        state: Any = FixedState(self.model, memory, self.server)
        recalled = {name: buffer[:rows] for name, buffer in self.recalled.items()}
        return work._replace(
            state=state, client_index=self.rows[:rows], recalled=recalled, **fields, **tensors, **unreadable
        )


def _fields(work: Work) -> dict[str, Tensor]:
    """The fields of a work that are tensors with a row for every client."""
    fields = {name: getattr(work, name) for name in ("starts", "counts", "weights", "labels")}
    return {name: field for name, field in fields.items() if field is not None}


def _sizes(tensors: Mapping[str, Tensor], axes: int = 2) -> dict[str, torch.Size]:
    """Shapes without the first axes (rows and steps)."""
    return {name: tensor.shape[axes:] for name, tensor in tensors.items()}
