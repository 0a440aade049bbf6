"""How much minibatch gradients vary, and how much clients' gradients differ, at a point and along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...models.linear import Linear
from ...problems.evaluation import Samples
from ...problems.problem import FederatedProblem
from ...streams import stream

MOST_SAMPLES = 64
"""Samples per client whose gradients are taken one by one where there is no closed form."""


class Noise(NamedTuple):
    """Variance of a single sample's gradient around its client's ``(clients,)``, and its standard error."""

    variance: np.ndarray
    error: np.ndarray


def sample_noise(problem: FederatedProblem, w: Tensor) -> Noise:
    """``mean ||g_i - grad F_k||^2`` over each client's samples: exact for linear models, else from some samples."""
    if isinstance(problem.model, Linear):
        return Noise(_closed_form(problem.model, w, problem.samples.like(w)), np.zeros(problem.clients))
    found = [_one_by_one(problem, w, k) for k in range(problem.clients)]
    return Noise(*(np.array([f[i] for f in found]) for i in (0, 1)))


def _closed_form(model: Linear, w: Tensor, samples: Samples) -> np.ndarray:
    """A sample's gradient is ``pull x^T`` plus the penalty's: norms multiply, and the penalty does not vary."""
    squares = []
    for _, x, y in samples.chunks(1 << 15):
        pull = model.pull(model.output(w.unsqueeze(0), x), y)
        squares.append((pull[0] ** 2).sum(0) * (x[0] ** 2).sum(-1))
    batches = ((x.unsqueeze(0), y.unsqueeze(0), None) for x, y in map(samples.of, range(samples.federation.clients)))
    mean = torch.stack([model.gradient(w.unsqueeze(0), batch)[0] - model.regularisation * w for batch in batches])
    return (samples.client_means(torch.cat(squares)) - (mean.double() ** 2).sum(-1)).clamp(min=0).cpu().numpy()


def _one_by_one(problem: FederatedProblem, w: Tensor, client: int) -> tuple[float, float]:
    """Variance of all gradients from those of some samples, by the unbiased estimator, and its standard error."""
    x, y = problem.samples.of(client)
    chosen = stream(0, "gradient noise samples", client=client).permutation(len(x))[:MOST_SAMPLES]
    gradients = torch.cat(
        [problem.model.gradient(w.unsqueeze(0), (x[None, i : i + 1], y[None, i : i + 1], None)) for i in chosen]
    ).double()
    if len(gradients) < 2:
        return 0.0, 0.0
    away = ((gradients - gradients.mean(0)) ** 2).sum(-1) * len(gradients) / (len(gradients) - 1)
    left = 1 - len(gradients) / len(x)  # nothing is left to chance when all samples were taken
    scale = (len(x) - 1) / len(x)
    return float(away.mean()) * scale, float(away.std() / len(gradients) ** 0.5) * left**0.5


def of_batches(variance: np.ndarray, sizes: np.ndarray, batch: int) -> np.ndarray:
    """The variance of the smallest batch of a shuffled pass: drawn without repetition from a client's samples.

    A sum without repetition varies less by ``(n - b)/(n - 1)``; the last batch of a pass may be short.
    """
    smallest = np.where(sizes % batch, sizes % batch, np.minimum(batch, sizes))
    left = np.where(sizes > 1, (sizes - smallest) / np.maximum(sizes - 1, 1), 0.0)
    return np.asarray(variance / smallest * left)


class Gradients(NamedTuple):
    """Along a path, all ``(T,)``: weighted mean of the clients' squared gradients, squared global one, largest client's
    and the largest squared distance of a client's gradient to the global one."""

    clients: np.ndarray
    together: np.ndarray
    largest: np.ndarray
    apart: np.ndarray


def gradients_along(problem: FederatedProblem, path: Tensor) -> Gradients:
    """Squared gradient norms at every model of ``path (T, dim)``."""
    rows = []
    for w in path:
        each = problem.client_gradients(w).double()
        squares = (each**2).sum(-1)
        total = problem.weights @ each
        apart = ((each - total) ** 2).sum(-1).max()
        rows.append((float(problem.weights @ squares), float(total @ total), float(squares.max()), float(apart)))
    return Gradients(*(np.array(column) for column in zip(*rows, strict=True)))


def offset_along(found: Gradients, factor: float) -> float:
    """The smallest ``G^2`` with ``sum_k p_k ||grad F_k||^2 <= G^2 + factor ||grad F||^2`` all along the path."""
    return float(max(0.0, (found.clients - factor * found.together).max()))
