"""Means of losses, correctness and gradients over clients' samples, in large batches without autograd where possible.

One model is evaluated once on all samples and averaged by client. Different models on different clients are evaluated
together if the model is stacked, else one after another. Losses are those that are trained: they include the
regularisation of a linear model, but not the setting's weight decay.
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
"""Number of samples that a network processes at once."""
WHOLE = 1 << 62
"""Chunk size that includes all samples."""
MOST_CACHED = 1 << 27
"""Largest size in bytes of model inputs, in the order of the clients, that are cached between measurements."""


class Means(NamedTuple):
    """Mean loss and share of correct predictions, one number per client or model."""

    loss: Tensor
    right: Tensor


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a federation, client after client, as model inputs."""

    federation: Federation

    @cached_property
    def owner(self) -> Tensor:
        """Number of the client of every sample."""
        return torch.repeat_interleave(torch.arange(len(self._sizes), device=self._sizes.device), self._sizes)

    @cached_property
    def share(self) -> Tensor:
        """Weight of every sample in its client's mean: one over the client's number of samples."""
        return (1.0 / self._sizes.double())[self.owner]

    @cached_property
    def _sizes(self) -> Tensor:
        sizes = torch.from_numpy(np.ascontiguousarray(self.federation.client_sizes))
        return sizes.to(self.federation.members.device)

    @cached_property
    def _cached(self) -> tuple[Tensor, Tensor] | None:
        """Inputs and targets of all samples, or None if they are too large to cache."""
        first = self.federation.take(self.federation.members[:1])[0]
        if first.numel() * first.element_size() * len(self.federation.members) > MOST_CACHED:
            return None
        return self.federation.take(self.federation.members)

    def span(self, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of the samples from ``begin`` to ``end`` in the order of the clients."""
        if self._cached is None:
            return self.federation.take(self.federation.members[begin:end])
        return self._cached[0][begin:end], self._cached[1][begin:end]

    def chunks(self, size: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield all samples in chunks: their range, inputs ``(1, n, ...)`` and targets ``(1, n, ...)``."""
        total = len(self.federation.members)
        for begin in range(0, total, size):
            end = min(begin + size, total)
            inputs, targets = self.span(begin, end)
            yield slice(begin, end), inputs.unsqueeze(0), targets.unsqueeze(0)

    def like(self, w: Tensor) -> Samples:
        """Return the samples in the precision of ``w`` if their inputs are cached real numbers, else unchanged."""
        cached = self._cached
        if cached is None or not cached[0].is_floating_point() or cached[0].dtype == w.dtype:
            return self
        if w.dtype not in self._converted:
            other = Samples(self.federation)
            other.__dict__["_cached"] = (cached[0].to(w.dtype), cached[1])
            self._converted[w.dtype] = other
        return self._converted[w.dtype]

    @cached_property
    def _converted(self) -> dict[torch.dtype, Samples]:
        return {}

    def of(self, client: int) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of one client's samples."""
        return self.span(int(self.federation.offsets[client]), int(self.federation.offsets[client + 1]))

    def full_batches(self, clients: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Return the padded full batches of some clients: inputs ``(rows, n, ...)``, targets, weights of sum 1."""
        sizes, offsets = self.federation.client_sizes[clients], self.federation.offsets[clients]
        place = np.arange(int(sizes.max()))
        real = place < sizes[:, None]
        index = torch.from_numpy(np.where(real, offsets[:, None] + place, 0)).to(self.owner.device)
        weight = torch.from_numpy(real / sizes[:, None]).to(self.owner.device)
        if self._cached is not None:
            return self._cached[0][index], self._cached[1][index], weight
        inputs, targets = self.federation.take(self.federation.members[index.flatten()])
        return inputs.view(*index.shape, *inputs.shape[1:]), targets.view(*index.shape, *targets.shape[1:]), weight

    def client_means(self, values: Tensor) -> Tensor:
        """Return the mean of ``values (..., samples)`` over every client's samples ``(..., clients)``."""
        weighted = (values.double() * self.share).movedim(-1, 0)  # summed in the order of the samples on every device
        return torch.segment_reduce(weighted, "sum", lengths=self._sizes).movedim(0, -1)


def client_groups(model: Model, samples: Samples, clients: np.ndarray) -> Iterator[np.ndarray]:
    """Yield ``clients`` in groups whose padded batches have a moderate size."""
    largest = int(samples.federation.client_sizes[clients].max()) if len(clients) else 1
    count = max(1, MOST_CACHED // 8 // max(1, largest * max(1, model.dim // getattr(model, "outputs", 1))))
    for begin in range(0, len(clients), count):
        yield clients[begin : begin + count]


def one_model(model: Model, w: Tensor, samples: Samples) -> Means:
    """Return the means of one model ``w (dim,)`` over every client's samples ``(clients,)``."""
    losses, right = per_sample(model, w, samples)
    return Means(samples.client_means(losses), samples.client_means(right))


def per_sample(model: Model, w: Tensor, samples: Samples) -> tuple[Tensor, Tensor]:
    """Return loss and correctness of one model for every sample, in the order of the clients."""
    chunks = samples.like(w).chunks(CHUNK << 4 if model.stacked else CHUNK)
    losses, right = zip(*(model.evaluate(w.unsqueeze(0), x, y) for _, x, y in chunks), strict=True)
    return torch.cat(losses, 1)[0], torch.cat(right, 1)[0].to(losses[0].dtype)


def own_models(model: Model, rows: Tensor, clients: np.ndarray, samples: Samples) -> Means:
    """Return the means of row k's model over the samples of ``clients[k]`` ``(rows,)``."""
    samples, means = samples.like(rows), []
    if not model.stacked:
        for row, client in zip(rows, clients, strict=True):
            x, y = samples.of(int(client))
            values = model.evaluate(row.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))
            means.append(torch.stack([value.double().mean() for value in values]).unsqueeze(1))
    begin = 0
    for group in client_groups(model, samples, clients) if model.stacked else ():
        x, y, weight = samples.full_batches(group)
        values = model.evaluate(rows[begin : begin + len(group)], x, y)
        means.append(torch.stack([(value * weight).sum(-1) for value in values]))
        begin += len(group)
    return Means(*torch.cat(means, 1).double())


def every_model(model: Model, rows: Tensor, samples: Samples) -> Means:
    """Return the means of every row's model over all samples, equally weighted ``(rows,)``."""
    samples, totals = samples.like(rows), []
    for part in rows.split(32 if model.stacked else 1):
        total = torch.zeros(2, len(part), dtype=torch.float64, device=rows.device)
        for _, x, y in samples.chunks(CHUNK):
            total += torch.stack([value.double().sum(-1) for value in model.evaluate(part, x, y)])
        totals.append(total)
    return Means(*torch.cat(totals, 1) / len(samples.federation.members))


def client_gradients(model: Model, w: Tensor, samples: Samples) -> Tensor:
    """Return the gradient of every client's mean loss at one model ``(clients, dim)``."""
    clients, samples, gradients = np.arange(samples.federation.clients), samples.like(w), []
    if model.stacked:
        for group in client_groups(model, samples, clients):
            x, y, weight = samples.full_batches(group)
            gradients.append(model.gradient(w.expand(len(group), -1).contiguous(), (x, y, weight.to(w.dtype))))
        return torch.cat(gradients)
    for client in clients:
        inputs, targets = samples.of(int(client))
        total = torch.zeros_like(w).unsqueeze(0)
        for x, y in zip(inputs.split(CHUNK), targets.split(CHUNK), strict=True):
            part = model.gradient(w.unsqueeze(0), (x.unsqueeze(0), y.unsqueeze(0), None))
            total += part * (len(x) / len(inputs))
        gradients.append(total)
    return torch.cat(gradients)


def gradient(model: Model, rows: Tensor, samples: Samples, weights: Tensor) -> Tensor:
    """Return the gradient of the clients' losses averaged by ``weights (clients,)``, at every row ``(rows, dim)``."""
    share, samples = (samples.share * weights[samples.owner]).to(rows.dtype), samples.like(rows)
    gradients = []
    for part in rows.split(16 if model.stacked else 1):
        total = torch.zeros_like(part)
        for span, x, y in samples.chunks(WHOLE if model.stacked else CHUNK):
            total += model.gradient(part.contiguous(), (x, y, share[span].expand(len(part), -1)))
        gradients.append(total)
    return torch.cat(gradients)
