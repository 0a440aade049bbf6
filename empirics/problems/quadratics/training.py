"""Quadratic federations as the engine trains them: a stacked model, and batches of curvature, minimum and noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from ...errors import EmpiricsError
from ...models.model import Batch
from ...streams import stream
from .problem import Quadratics


@dataclass(frozen=True)
class QuadraticModel:
    """The model trained on a quadratic federation; a batch is ``(A (rows, d, d), b (rows, d), noise (rows, d))``."""

    problem: Quadratics
    dtype: torch.dtype = torch.float64

    stacked: ClassVar[bool] = True

    @property
    def dim(self) -> int:
        return self.problem.dim

    @property
    def layers(self) -> Mapping[str, slice]:
        return self.problem.layers

    def start(self, seed: int) -> Tensor:
        """Return the problem's start for every seed."""
        return torch.as_tensor(self.problem.start, dtype=self.dtype)

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Return ``1/2 (w-b)^T A (w-b) + <noise, w-b>`` ``(rows,)``: on average the client's loss minus its floor."""
        curvature, minimum, noise = batch
        assert noise is not None
        difference = w - minimum
        return (difference * (0.5 * _times(curvature, difference) + noise)).sum(-1)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Return ``A (w-b) + noise`` ``(rows, d)``."""
        curvature, minimum, noise = batch
        assert noise is not None
        return _times(curvature, w - minimum) + noise


def _times(matrices: Tensor, vectors: Tensor) -> Tensor:
    """Multiply row by row; by sums, since a row of a batched product may depend on its neighbours in the last bits."""
    return (matrices * vectors.unsqueeze(-2)).sum(-1)


@dataclass(frozen=True, eq=False)
class QuadraticBatches:
    """Curvatures, minima and noise ``(rows, steps, d)`` of some clients in one round."""

    curvatures: Tensor
    minima: Tensor
    noise: Tensor

    def part(self, rows: slice) -> QuadraticBatches:
        return QuadraticBatches(self.curvatures[rows], self.minima[rows], self.noise[rows])

    def at(self, active: int, step: int) -> Batch:
        """Return the batch of one step for the first ``active`` rows."""
        return self.curvatures[:active], self.minima[:active], self.noise[:active, step]


@dataclass(frozen=True, eq=False)
class QuadraticFederation:
    """The federation from which the engine draws a quadratic problem's batches.

    The noise is that of one local step, whatever the setting's batch size, and depends only on seed, round and client.
    ``client_sizes`` are the client weights, by which a setting with ``client_weight="samples"`` averages.
    """

    problem: Quadratics
    dtype: torch.dtype = torch.float64
    device: torch.device | str = "cpu"

    @property
    def clients(self) -> int:
        return self.problem.clients

    @property
    def client_sizes(self) -> np.ndarray:
        return self.problem.weights

    @cached_property
    def inputs(self) -> Tensor:
        """The curvatures ``(C, d, d)``."""
        return torch.as_tensor(self.problem.curvatures, dtype=self.dtype, device=self.device)

    @cached_property
    def targets(self) -> Tensor:
        """The minima ``(C, d)``."""
        return torch.as_tensor(self.problem.minima, dtype=self.dtype, device=self.device)

    @property
    def label_counts(self) -> Tensor:
        raise EmpiricsError("the method needs class numbers, and quadratics have no samples")

    def to(self, device: torch.device | str) -> QuadraticFederation:
        return QuadraticFederation(self.problem, self.dtype, device)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> QuadraticBatches:
        """Draw batches with new Gaussian noise for the ``steps`` of ``clients``."""
        if not np.issubdtype(steps.dtype, np.integer):
            raise EmpiricsError("quadratics have no samples and so no epochs: set local_steps instead of local_epochs")
        noise = np.zeros((len(clients), int(steps.max()), self.problem.dim))
        for row, client in enumerate(clients):
            if self.problem.client_gradient_variance[client] > 0:
                draws = stream(seed, "gradient noise", round=round_, client=int(client))
                normal = draws.standard_normal((int(steps[row]), self.problem.dim))
                noise[row, : len(normal)] = normal @ self.problem.noise_roots[client].T
        return self.batches(clients, noise)

    def batches(self, clients: np.ndarray, noise: np.ndarray) -> QuadraticBatches:
        """Return the batches of ``clients`` with the noise ``(rows, steps, d)``."""
        rows = torch.from_numpy(np.asarray(clients)).to(self.device)
        noise_tensor = torch.as_tensor(noise, dtype=self.dtype, device=self.device)
        return QuadraticBatches(self.inputs[rows], self.targets[rows], noise_tensor)
