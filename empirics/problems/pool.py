"""A task whose data are the population, from which clients draw their samples with replacement.

Client k's distribution gives every point of the pool a share, so that its population risk is a finite weighted sum,
exact up to rounding, and only the draw of the samples is random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..errors import EmpiricsError
from ..federation.federation import Federation
from ..federation.partitions import Split
from ..models.linear import Linear, minimisers
from ..numbers import check_options
from ..streams import stream
from .problem import FederatedProblem, Population

if TYPE_CHECKING:
    from .tasks import Task

CHUNK = 5  # number of models whose outputs on the pool fit the cache


@dataclass(frozen=True, eq=False)
class Pool:
    """A linear task, each client's distribution over its data, and the number of ``samples`` that a client draws.

    ``federation_seed`` determines the distributions; draws of samples have another seed. Models are flat rows
    ``(models, dim)`` in float64.
    """

    task: Task
    partition: Split
    clients: int
    samples: int
    federation_seed: int = 0

    convex = True
    nonnegative_loss = True
    independent_samples = True

    def __post_init__(self) -> None:
        check_options({"clients": self.clients, "samples": self.samples})
        if not self.task.linear:
            raise EmpiricsError(f"a pool needs a linear model, whose minimisers are exact; got {self.task}")

    def __str__(self) -> str:
        return f"{self.task}, {self.partition}"

    def problem(self, seed: int) -> FederatedProblem:
        """Return the problem of clients that drew their samples with ``seed``; the pool is its population."""
        inputs, targets = self.inputs[0], self.targets[0]
        return FederatedProblem(
            self.model,
            Federation.of(inputs, targets, list(self.draw(seed))),
            population=Population(inputs, targets, self.shares),
            name=str(self),
            independent_samples=True,
        )

    # ---- constants ----

    @cached_property
    def _whole(self) -> Federation:
        return self.task.whole(torch.float64)

    @cached_property
    def model(self) -> Linear:
        """The linear model of the pool's shape."""
        model = self.task.make(self._whole)
        assert isinstance(model, Linear)
        return model

    @cached_property
    def inputs(self) -> Tensor:
        """The pool with its constant feature ``(1, points, features)``."""
        return self._whole.samples(0)[0].unsqueeze(0)

    @cached_property
    def targets(self) -> Tensor:
        """The targets as the loss uses them ``(1, points)``."""
        return self._whole.samples(0)[1].unsqueeze(0)

    @cached_property
    def shares(self) -> Tensor:
        """Every client's distribution over the pool ``(clients, points)``; rows sum to 1."""
        data = self.task.data
        return torch.from_numpy(self.partition.shares(data.labels, self.clients, self.federation_seed))

    @cached_property
    def sample_smoothness(self) -> float:
        """Exact smoothness constant of a sample's loss over the pool."""
        return self.model.smoothness(self.inputs[0])

    @property
    def smoothness(self) -> float:
        """Smoothness constant of a client's loss for any draw, since all samples may be the same point."""
        return self.sample_smoothness

    @property
    def strong_convexity(self) -> float:
        """Exact strong-convexity constant of a sample's loss."""
        return self.model.strong_convexity

    @property
    def client_sizes(self) -> tuple[int, ...]:
        return (self.samples,) * self.clients

    # ---- draws and minimisers ----

    @cached_property
    def _distribution_functions(self) -> np.ndarray:
        sums = np.cumsum(self.shares.cpu().numpy(), axis=1)
        return sums / sums[:, -1:]

    def draw(self, seed: int, purpose: str = "samples") -> np.ndarray:
        """Draw the clients' samples with replacement; return their numbers in the pool ``(clients, samples)``."""
        uniform = (stream(seed, purpose, client=k).random(self.samples) for k in range(self.clients))
        pairs = zip(self._distribution_functions, uniform, strict=True)
        return np.stack([np.searchsorted(function, u, side="right") for function, u in pairs])

    def local_minimisers(self, drawn: np.ndarray) -> Tensor:
        """Return every client's empirical risk minimiser ``(clients, dim)``, checked to gradient norm 1e-10."""
        rows = torch.from_numpy(drawn)
        weights = torch.full(drawn.shape, 1 / drawn.shape[1], dtype=torch.float64)
        return minimisers(self.model, self.inputs[0][rows], self.targets[0][rows], weights)

    def population_minimisers(self) -> Tensor:
        """Return every client's population risk minimiser ``(clients, dim)``, one row if clients are identical."""
        shares = self.shares[:1] if self.partition.identical else self.shares
        parts = [
            minimisers(self.model, self.inputs, self.targets, part, first=i * CHUNK)
            for i, part in enumerate(shares.split(CHUNK))
        ]
        return torch.cat(parts)

    # ---- risks ----

    def losses(self, models: Tensor) -> Tensor:
        """Return the loss of every model at every point of the pool ``(models, points)``."""
        return torch.cat([self.model.evaluate(w, self.inputs, self.targets)[0] for w in models.split(CHUNK)])
