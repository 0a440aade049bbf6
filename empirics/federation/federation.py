"""A federation: one resident pool of samples and, for every client, which of them it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from ..errors import EmpiricsError
from ..models.model import Batch
from .augment import noise, Recipe
from .shuffles import orders


class Minibatches(Protocol):
    """The batches of some clients in one round, step by step."""

    def part(self, chosen: slice) -> Self:
        """The batches of some of the rows."""
        ...

    def at(self, active: int, step: int) -> Batch:
        """The batch of one step for the first ``active`` rows."""
        ...


class Source(Protocol):
    """Where the training loop gets its clients and their batches from: a federation, or quadratics that need no data.

    ``client_sizes (clients,)`` are the weights of settings that average by samples; ``inputs`` lie on the device that
    is trained on; ``label_counts (clients, classes)`` are used by some methods only.
    """

    @property
    def clients(self) -> int: ...

    @property
    def client_sizes(self) -> np.ndarray: ...

    @property
    def inputs(self) -> Tensor: ...

    @property
    def label_counts(self) -> Tensor: ...

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Minibatches:
        """The batches of ``clients`` in a round, which depend on (seed, round, client) alone."""
        ...


@dataclass(frozen=True, eq=False)
class Batches:
    """The minibatches of some clients in one round: ``index (rows, steps, batch)`` into the pool.

    ``weight`` of the same shape is 1/size of the batch on real entries and 0 on padding; None when no batch is short.
    ``recipe`` makes model inputs of a batch as it is taken, ``words (rows, steps, batch, ...)`` drive its augmentation.
    """

    inputs: Tensor
    targets: Tensor
    index: Tensor
    weight: Tensor | None
    recipe: Recipe | None = None
    words: Tensor | None = None

    @property
    def along(self) -> dict[str, Tensor]:
        """The fields that run along rows and steps, ``(rows, steps, ...)``: what changes from round to round."""
        fields = {"index": self.index, "weight": self.weight, "words": self.words}
        return {name: field for name, field in fields.items() if field is not None}

    def part(self, chosen: slice) -> Self:
        """The batches of some of the rows."""
        fields: Any = {name: field[chosen] for name, field in self.along.items()}
        return replace(self, **fields)

    def at(self, active: int, step: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Inputs, targets and weights of one step for the first ``active`` rows."""
        index = self.index[:active, step]
        weight = None if self.weight is None else self.weight[:active, step]
        shape, places = index.shape, index.reshape(-1)
        inputs, targets = _take(self.inputs, places, shape), _take(self.targets, places, shape)
        if self.recipe is not None:
            inputs = self.recipe.train(inputs, None if self.words is None else self.words[:active, step])
        return inputs, targets, weight

    @cached_property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] | None:
        """The first four fields for compiled code, inputs and targets flat; None where they are not ready on a CPU."""
        fields = [self.inputs, self.targets, self.index] + ([] if self.weight is None else [self.weight])
        if self.recipe is not None or any(field.device.type != "cpu" or field.requires_grad for field in fields):
            return None
        inputs, targets, index, *weight = (field.contiguous().numpy() for field in fields)
        return inputs.reshape(-1), targets.reshape(-1), index, weight[0] if weight else None


def _take(pool: Tensor, places: Tensor, shape: torch.Size) -> Tensor:
    """``pool[places]`` in the shape of the index; index_select is three times faster than fancy indexing."""
    return pool.index_select(0, places).view(*shape, *pool.shape[1:])


@dataclass(frozen=True, eq=False)
class Federation:
    """Samples ``inputs (n, ...)`` and ``targets (n, ...)`` with the members of every client, nothing copied.

    ``members`` lists sample numbers client after client; client k owns ``members[offsets[k]:offsets[k+1]]``.
    ``recipe`` (None: samples are ready) makes model inputs of ``inputs``, which lie in memory as they came: ``samples``
    and ``draw`` give model inputs.
    """

    inputs: Tensor
    targets: Tensor
    members: Tensor
    offsets: np.ndarray
    recipe: Recipe | None = None

    @classmethod
    def of(cls, inputs: Tensor, targets: Tensor, parts: Sequence[np.ndarray]) -> Federation:
        """The federation in which client k holds the samples ``parts[k]`` (numbers into ``inputs``)."""
        for k, part in enumerate(parts):
            if len(part) == 0:
                raise EmpiricsError(f"every client must hold a sample; client {k} of {len(parts)} is empty")
        members = torch.as_tensor(np.concatenate(parts), dtype=torch.int64, device=inputs.device)
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
        return cls(inputs, targets, members, offsets)

    @classmethod
    def from_frame(
        cls, frame: Any, target: str, group: str = "", leave_out: str | Sequence[str] = (), kind: str = ""
    ) -> Federation:
        """The rows of a pandas DataFrame: a client for each value of the column ``group``, one client without it.

        Features are float64 ``(rows, columns)`` in the order of the columns, as they are; targets are class numbers
        from 0 or, for regression, float64. Columns and refusals are those of ``empirics.data.own.table``.
        """
        from ..data.own import from_frame  # with pandas

        data = from_frame(frame, target, group, leave_out, kind)
        data = data.as_classes() if data.kind == "binary" else data
        names = range(len(data.group_names))
        parts = [np.arange(len(data))] if data.groups is None else [np.flatnonzero(data.groups == g) for g in names]
        return cls.of(torch.from_numpy(data.inputs), torch.from_numpy(data.targets), parts)

    @property
    def clients(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def client_sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def _even(self) -> dict[int, bool]:
        """By batch size, once asked: whether all clients are of one size and no batch of theirs is short."""
        return {}

    def even(self, batch: int) -> bool:
        """Whether all clients are of one size, a multiple of ``batch``: then no batch needs weights.

        All clients count, not those of a round, so that a client's numbers do not depend on the others drawn.
        """
        if batch not in self._even:
            sizes = self.client_sizes
            self._even[batch] = bool((sizes == sizes[0]).all() and sizes[0] % batch == 0)
        return self._even[batch]

    @cached_property
    def label_counts(self) -> Tensor:
        """How many samples of every class each client holds ``(clients, classes)``; targets must be class numbers."""
        if self.targets.ndim != 1 or self.targets.is_floating_point():
            raise EmpiricsError("the method needs class numbers as targets, one per sample")
        owner = torch.from_numpy(np.repeat(np.arange(self.clients), self.client_sizes)).to(self.members.device)
        classes = int(self.targets.max()) + 1
        flat = torch.bincount(owner * classes + self.targets[self.members], minlength=self.clients * classes)
        return flat.view(self.clients, classes)

    def samples(self, client: int) -> tuple[Tensor, Tensor]:
        """All samples of one client."""
        return self.take(self.members[self.offsets[client] : self.offsets[client + 1]])

    def take(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Model inputs and targets of samples by their numbers."""
        raw = self.inputs[places]
        return (raw if self.recipe is None else self.recipe.test(raw)), self.targets[places]

    def to(self, device: torch.device | str) -> Self:
        inputs, targets, members = (held.to(device) for held in (self.inputs, self.targets, self.members))
        return replace(self, inputs=inputs, targets=targets, members=members)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Batches:
        """The minibatches of ``clients`` in a round: shuffled passes over each one's samples, cut into batches.

        The last batch of a pass may be short, and the only one of a client with fewer samples is all it holds. A
        client's batches depend on (seed, round, client) alone.
        """
        sizes = self.client_sizes[clients]
        batch = min(batch, int(self.client_sizes.max()))  # a place for every sample that one may hold
        most = int(steps.max())
        passes = int((-(-steps // -(-sizes // batch))).max())
        order = orders(seed, round_, clients, sizes, passes)
        starts, weight = self.offsets[clients][:, None, None], None
        if self.even(batch):
            places = order.reshape(len(clients), -1)[:, : most * batch].reshape(len(clients), most, batch) + starts
        else:
            local, real = _cut(order, sizes, most, batch)
            places = np.where(real, local, 0) + starts
            # Integers (pixels, codes) become floats only when a batch is prepared: weights cannot take their dtype.
            dtype = self.inputs.dtype if self.inputs.is_floating_point() else torch.get_default_dtype()
            weight = torch.from_numpy(real / real.sum(-1, keepdims=True)).to(self.inputs.device, dtype)
        words = None
        if self.recipe is not None:
            self.recipe.warm(self.inputs.device)
            if self.recipe.augment is not None:
                words = noise(seed, round_, clients, most, batch).to(self.inputs.device)
        return Batches(self.inputs, self.targets, self._members(places), weight, self.recipe, words)

    def _members(self, places: np.ndarray) -> Tensor:
        """Sample numbers at places of ``members``."""
        index = torch.from_numpy(places).to(self.members.device)
        return self.members.index_select(0, index.view(-1)).view(index.shape)


def short_of(batch: int, sizes: Sequence[int] | np.ndarray) -> list[str]:
    """What is to be said where clients of these sizes cannot fill a batch; usually nothing."""
    short = np.asarray(sizes) < batch
    if not short.any():
        return []
    who = f"{short.sum()} of {len(short)} clients hold" if short.sum() > 1 else "one client holds"
    said = f"{who} fewer than the {batch} samples of a batch (the smallest {np.min(sizes)})"
    return [f"{said}: min(batch, samples) make a batch there, which is all they hold"]


def _cut(order: np.ndarray, sizes: np.ndarray, steps: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Passes ``(rows, passes, longest size)`` cut into ``(rows, steps, batch)``, and which entries are real."""
    pass_of, place = np.divmod(np.arange(steps)[None, :], -(-sizes // batch)[:, None])
    position = place[:, :, None] * batch + np.arange(batch)
    inside = np.minimum(position, order.shape[-1] - 1)
    within = np.minimum(pass_of, order.shape[1] - 1)[:, :, None]
    rows = np.arange(len(order))[:, None, None]
    return order[rows, within, inside], position < sizes[:, None, None]
