"""A federation whose population is a finite pool: clients draw their samples from it with replacement.

Client k's distribution gives every point of the pool a share, so its population risk is a finite weighted sum, exact up
to rounding, and only the draw of the samples is random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ..data.catalogue import Dataset
from ..errors import EmpiricsError, NotConvergedError
from ..federation.partitions import Partition
from ..models.linear import Linear, with_intercept
from ..streams import stream
from .families import Family

EXACT = 1e-10  # gradient norm at which a local minimiser counts as exact
CHUNK = 5  # models whose outputs on the pool fit the cache


@dataclass(frozen=True, eq=False)
class PoolProblem:
    """A linear model, a pool, every client's distribution over it, and how many samples each client draws.

    ``federation_seed`` fixes the distributions; the draws of samples take a seed of their own. A constant feature (the
    bias, penalised like the others) is appended to the inputs. Models are flat rows ``(models, dim)`` in float64.
    """

    family: Family
    data: Dataset
    partition: Partition
    clients: int
    samples: int
    federation_seed: int = 0

    convex = True
    nonnegative_loss = True
    independent_samples = True

    def __post_init__(self) -> None:
        for word, count in (("clients", self.clients), ("samples", self.samples)):
            if count < 1:
                raise EmpiricsError(f"{word} must be at least 1; got {count}")

    def __str__(self) -> str:
        return f"{self.family} on {self.data}, {self.partition}"

    # ---- constants ----

    @cached_property
    def model(self) -> Linear:
        """The linear model of the pool's shape."""
        return self.family.model(self.inputs.shape[-1], self.data.classes)

    @cached_property
    def inputs(self) -> Tensor:
        """The pool with its constant feature: (1, points, features)."""
        return with_intercept(torch.from_numpy(np.asarray(self.data.inputs, dtype=np.float64))).unsqueeze(0)

    @cached_property
    def targets(self) -> Tensor:
        """What the loss is told of the classes: (1, points)."""
        return self.family.targets(self.data.labels, self.data.classes).unsqueeze(0)

    @cached_property
    def shares(self) -> Tensor:
        """Every client's distribution over the pool: (clients, points), rows summing to one."""
        return torch.from_numpy(self.partition(self.data.labels, self.clients, self.federation_seed))

    @cached_property
    def smoothness(self) -> float:
        """Exact smoothness constant of a sample's loss over the pool."""
        return self.model.smoothness(self.inputs[0])

    @property
    def strong_convexity(self) -> float:
        """Exact strong-convexity constant of a sample's loss."""
        return self.model.strong_convexity

    @property
    def client_sizes(self) -> tuple[int, ...]:
        return (self.samples,) * self.clients

    # ---- draws and minimisers ----

    @cached_property
    def _ladder(self) -> np.ndarray:
        steps = np.cumsum(self.shares.numpy(), axis=1)
        return steps / steps[:, -1:]

    def draw(self, seed: int, purpose: str = "samples") -> np.ndarray:
        """Pool indices of every client's samples, drawn with replacement: (clients, samples)."""
        heights = [stream(seed, purpose, client=k).random(self.samples) for k in range(self.clients)]
        return np.stack([np.searchsorted(self._ladder[k], h, side="right") for k, h in enumerate(heights)])

    def local_minimisers(self, drawn: np.ndarray) -> Tensor:
        """Every client's empirical risk minimiser, checked to gradient norm ``EXACT``: (clients, dim)."""
        rows = torch.from_numpy(drawn)
        weights = torch.full(drawn.shape, 1 / drawn.shape[1], dtype=torch.float64)
        return minimisers(self.model, self.inputs[0][rows], self.targets[0][rows], weights)

    def population_minimisers(self) -> Tensor:
        """Every client's population risk minimiser (one row where the clients are identical), checked likewise."""
        shares = self.shares[:1] if self.partition.identical else self.shares
        parts = [
            minimisers(self.model, self.inputs, self.targets, part, first=i * CHUNK)
            for i, part in enumerate(shares.split(CHUNK))
        ]
        return torch.cat(parts)

    # ---- risks ----

    def losses(self, models: Tensor) -> Tensor:
        """Loss of every model at every point of the pool: (models, points)."""
        return torch.cat([self.model.sample_losses(w, self.inputs, self.targets) for w in models.split(CHUNK)])


def minimisers(model: Linear, inputs: Tensor, targets: Tensor, weights: Tensor, first: int = 0) -> Tensor:
    """The minimiser of every row's weighted mean loss, refused unless its gradient norm is at most ``EXACT``.

    ``first`` is the number of the first row's client, for the message.
    """
    batch = (inputs, targets, weights)
    found = model.minimise(batch, EXACT / 10)
    norms = model.gradient(found, batch).norm(dim=-1)
    if not (norms <= EXACT).all():  # also catches NaN
        worst = int(norms.nan_to_num(torch.inf).argmax())
        norm = float(norms[worst])
        raise NotConvergedError(f"client {first + worst}: gradient norm {norm:.2g} > {EXACT:g} at its minimiser")
    return found
