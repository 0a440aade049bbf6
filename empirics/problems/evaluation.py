"""Means over clients' samples: losses, shares right and gradients, in large batches without autograd where possible.

One model is evaluated once on all samples and averaged client by client. Different models on different clients go
together where the model is stacked, one after another where it is a network. Losses are those that are trained:
the regularisation of a linear model is part of them, a weight decay of the setting is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..federation.federation import Federation
from ..models.model import Model

CHUNK = 2048
"""Samples that go through a network at once."""
WHOLE = 1 << 62
"""As many samples as there are."""
KEPT = 1 << 27
"""Bytes up to which model inputs in the order of the clients are kept between two measurements."""


class Means(NamedTuple):
    """Mean loss and share predicted right, one number per client or model."""

    loss: Tensor
    right: Tensor


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a federation, client after client, as model inputs."""

    federation: Federation

    @cached_property
    def owner(self) -> Tensor:
        """The client of every sample."""
        return torch.repeat_interleave(torch.arange(len(self._sizes), device=self._sizes.device), self._sizes)

    @cached_property
    def share(self) -> Tensor:
        """One over the size of its client, for every sample."""
        return (1.0 / self._sizes.double())[self.owner]

    @cached_property
    def _sizes(self) -> Tensor:
        sizes = torch.from_numpy(np.ascontiguousarray(self.federation.client_sizes))
        return sizes.to(self.federation.members.device)

    @cached_property
    def _kept(self) -> tuple[Tensor, Tensor] | None:
        first = self.federation.take(self.federation.members[:1])[0]
        if first.numel() * first.element_size() * len(self.federation.members) > KEPT:
            return None
        return self.federation.take(self.federation.members)

    def span(self, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of the samples from ``begin`` to ``end``, counted over clients."""
        if self._kept is None:
            return self.federation.take(self.federation.members[begin:end])
        return self._kept[0][begin:end], self._kept[1][begin:end]

    def chunks(self, size: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """All samples in pieces: places, inputs ``(1, n, ...)``, targets ``(1, n, ...)``."""
        total = len(self.federation.members)
        for begin in range(0, total, size):
            end = min(begin + size, total)
            inputs, targets = self.span(begin, end)
            yield slice(begin, end), inputs.unsqueeze(0), targets.unsqueeze(0)

    def like(self, w: Tensor) -> Samples:
        """The same samples in the precision of ``w``, where they are real numbers."""
        kept = self._kept
        if kept is None or not kept[0].is_floating_point() or kept[0].dtype == w.dtype:
            return self
        if w.dtype not in self._converted:
            other = Samples(self.federation)
            other.__dict__["_kept"] = (kept[0].to(w.dtype), kept[1])
            self._converted[w.dtype] = other
        return self._converted[w.dtype]

    @cached_property
    def _converted(self) -> dict[torch.dtype, Samples]:
        return {}

    def of(self, client: int) -> tuple[Tensor, Tensor]:
        """All samples of one client."""
        return self.span(int(self.federation.offsets[client]), int(self.federation.offsets[client + 1]))

    def whole(self, clients: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """The full batches of some clients, padded: inputs ``(rows, n, ...)``, targets, weights summing to 1."""
        sizes, offsets = self.federation.client_sizes[clients], self.federation.offsets[clients]
        place = np.arange(int(sizes.max()))
        real = place < sizes[:, None]
        index = torch.from_numpy(np.where(real, offsets[:, None] + place, 0)).to(self.owner.device)
        weight = torch.from_numpy(real / sizes[:, None]).to(self.owner.device)
        if self._kept is not None:
            return self._kept[0][index], self._kept[1][index], weight
        inputs, targets = self.federation.take(self.federation.members[index.flatten()])
        return inputs.view(*index.shape, *inputs.shape[1:]), targets.view(*index.shape, *targets.shape[1:]), weight

    def client_means(self, values: Tensor) -> Tensor:
        """The mean of ``values (..., samples)`` over every client's samples ``(..., clients)``."""
        weighed = (values.double() * self.share).movedim(-1, 0)  # sums in the order of the samples on every device
        return torch.segment_reduce(weighed, "sum", lengths=self._sizes).movedim(0, -1)


def groups(model: Model, samples: Samples, clients: np.ndarray) -> Iterator[np.ndarray]:
    """``clients`` cut so that a group's padded batch stays moderate."""
    widest = int(samples.federation.client_sizes[clients].max()) if len(clients) else 1
    many = max(1, KEPT // 8 // max(1, widest * max(1, model.dim // getattr(model, "outputs", 1))))
    for begin in range(0, len(clients), many):
        yield clients[begin : begin + many]


def shared(model: Model, w: Tensor, samples: Samples) -> Means:
    """One model ``(dim,)`` on every client's samples ``(clients,)``."""
    losses, right = per_sample(model, w, samples)
    return Means(samples.client_means(losses), samples.client_means(right))


def per_sample(model: Model, w: Tensor, samples: Samples) -> tuple[Tensor, Tensor]:
    """Loss and correctness of one model at every sample, in the order of the clients."""
    samples = samples.like(w)
    found = [model.evaluate(w.unsqueeze(0), x, y) for _, x, y in samples.chunks(CHUNK << 4 if model.stacked else CHUNK)]
    losses, right = (torch.cat([f[i][0] for f in found]) for i in (0, 1))
    return losses, right.to(losses.dtype)


def own(model: Model, rows: Tensor, clients: np.ndarray, samples: Samples) -> Means:
    """Row k's model on the samples of ``clients[k]`` ``(rows,)``."""
    samples, found = samples.like(rows), []
    if not model.stacked:
        for row, client in zip(rows, clients, strict=True):
            x, y = samples.of(int(client))
            values = model.evaluate(row.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))
            found.append(torch.stack([value.double().mean() for value in values]).unsqueeze(1))
    begin = 0
    for group in groups(model, samples, clients) if model.stacked else ():
        x, y, weight = samples.whole(group)
        values = model.evaluate(rows[begin : begin + len(group)], x, y)
        found.append(torch.stack([(value * weight).sum(-1) for value in values]))
        begin += len(group)
    return Means(*torch.cat(found, 1).double())


def each(model: Model, rows: Tensor, samples: Samples) -> Means:
    """Every row's model on all samples, equally weighted ``(rows,)``."""
    samples, found = samples.like(rows), []
    for part in rows.split(32 if model.stacked else 1):
        sums = torch.zeros(2, len(part), dtype=torch.float64, device=rows.device)
        for _, x, y in samples.chunks(CHUNK):
            sums += torch.stack([value.double().sum(-1) for value in model.evaluate(part, x, y)])
        found.append(sums)
    return Means(*torch.cat(found, 1) / len(samples.federation.members))


def client_gradients(model: Model, w: Tensor, samples: Samples) -> Tensor:
    """The gradient of every client's mean loss at one model ``(clients, dim)``."""
    clients, samples, found = np.arange(samples.federation.clients), samples.like(w), []
    if model.stacked:
        for group in groups(model, samples, clients):
            x, y, weight = samples.whole(group)
            found.append(model.gradient(w.expand(len(group), -1).contiguous(), (x, y, weight.to(w.dtype))))
        return torch.cat(found)
    for client in clients:
        inputs, targets = samples.of(int(client))
        total = torch.zeros_like(w).unsqueeze(0)
        for x, y in zip(inputs.split(CHUNK), targets.split(CHUNK), strict=True):
            part = model.gradient(w.unsqueeze(0), (x.unsqueeze(0), y.unsqueeze(0), None))
            total += part * (len(x) / len(inputs))
        found.append(total)
    return torch.cat(found)


def gradient(model: Model, rows: Tensor, samples: Samples, weights: Tensor) -> Tensor:
    """The gradient of the clients' losses averaged by ``weights (clients,)``, at every row ``(rows, dim)``."""
    share, samples = (samples.share * weights[samples.owner]).to(rows.dtype), samples.like(rows)
    found = []
    for part in rows.split(16 if model.stacked else 1):
        total = torch.zeros_like(part)
        for place, x, y in samples.chunks(WHOLE if model.stacked else CHUNK):
            total += model.gradient(part.contiguous(), (x, y, share[place].expand(len(part), -1)))
        found.append(total)
    return torch.cat(found)
