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

        def stacked(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: zeros(held, rows, *held.shape[1:]) for name, held in named.items()}

        self.w, self.first = zeros(work.starts, rows, work.starts.shape[1]), zeros(work.starts, rows)
        self.fields, self.recalled, self.memory = map(stacked, (_fields(work), work.recalled, work.state.memory))
        self.sizes, self.step_size = zeros(work.starts, len(work.sizes)), zeros(work.starts)
        self.step = torch.zeros((), dtype=torch.int64, device=work.rows.device)
        self.rows = torch.arange(rows, device=work.rows.device)
        self.model = torch.zeros_like(work.state.model)
        self.server = {name: torch.zeros_like(vector) for name, vector in work.state.server.items()}
        self.along = {name: zeros(field, rows, steps, *field.shape[2:]) for name, field in batches.along.items()}

    def fit(self, rows: int, steps: int, work: Work, batches: Batches) -> bool:
        """Whether this work fits into these buffers, with the same names and kinds of tensors."""
        along = self.along["index"]
        fits = rows <= along.shape[0] and steps <= along.shape[1] and len(work.sizes) <= len(self.sizes)
        same = _sizes(batches.along) == _sizes(self.along) and _sizes(work.recalled, 1) == _sizes(self.recalled, 1)
        names = work.state.server.keys() == self.server.keys() and work.state.memory.keys() == self.memory.keys()
        return fits and same and names and _sizes(_fields(work), 1) == _sizes(self.fields, 1)

    def fill(self, work: Work) -> None:
        """Copy in what the local steps of some clients read beside their batches."""
        rows = len(work.rows)
        for held, kept in ((_fields(work), self.fields), (work.recalled, self.recalled)):
            for name, made in held.items():
                kept[name][:rows].copy_(made)
        self.step_size.fill_(work.step_size)
        self.sizes[: len(work.sizes)].copy_(torch.from_numpy(work.sizes))
        self.model.copy_(work.state.model)
        for name, vector in work.state.server.items():
            self.server[name].copy_(vector)
        for name, memory in work.state.memory.items():
            torch.index_select(memory, 0, work.rows, out=self.memory[name][:rows])

    def turn_to(self, batches: Batches, steps: slice, active: int) -> None:
        """Copy in the batches of some steps, from the first place on, and the number of the first step."""
        self.step.fill_(steps.start)
        for name, field in batches.along.items():
            self.along[name][:active, : steps.stop - steps.start].copy_(field[:active, steps])

    def batches(self, batches: Batches, rows: int, steps: int) -> Batches:
        """The batches that lie here."""
        fields: Any = {name: field[:rows, :steps] for name, field in self.along.items()}
        return replace(batches, **fields)

    def work(self, work: Work, rows: int) -> Work:
        """The work as it lies here, steps and their sizes as tensors; what else a round changes cannot be read."""
        memory = {name: ActiveRows(name, kept, self.rows) for name, kept in self.memory.items()}
        unseen: Any = {name: Unseen(f"the clients' {name}") for name in ("clients", "seed", "steps", "shares")}
        tensors: Any = {"sizes": self.sizes, "step_size": self.step_size, "step": self.step, "rows": self.rows[:rows]}
        fields: Any = {name: kept[:rows] for name, kept in self.fields.items()}
        state: Any = StillState(self.model, memory, self.server)
        recalled = {name: made[:rows] for name, made in self.recalled.items()}
        return work._replace(state=state, recalled=recalled, **fields, **tensors, **unseen)


def _fields(work: Work) -> dict[str, Tensor]:
    """The fields of a work that are tensors with a row for every client."""
    fields = {name: getattr(work, name) for name in ("starts", "counts", "weights", "labels")}
    return {name: field for name, field in fields.items() if field is not None}


def _sizes(named: Mapping[str, Tensor], axes: int = 2) -> dict[str, torch.Size]:
    """Sizes beyond the first axes (rows and steps), by name."""
    return {name: held.shape[axes:] for name, held in named.items()}
