"""The variance of minibatch gradients at a model, and the differences of clients' gradients along a path."""

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
"""Samples per client whose gradients are computed one by one if there is no closed form."""


class Noise(NamedTuple):
    """The variance of a single sample's gradient for every client ``(clients,)``, and its standard error."""

    variance: np.ndarray
    error: np.ndarray


def sample_noise(problem: FederatedProblem, w: Tensor) -> Noise:
    """``mean ||g_i - grad F_k||^2`` over each client's samples, exact for linear models, else from some samples."""
    if isinstance(problem.model, Linear):
        return Noise(_closed_form(problem.model, w, problem.samples.like(w)), np.zeros(problem.clients))
    pairs = np.array([_one_by_one(problem, w, k) for k in range(problem.clients)])
    return Noise(pairs[:, 0], pairs[:, 1])


def _closed_form(model: Linear, w: Tensor, samples: Samples) -> np.ndarray:
    """The variance for a linear model, as a sample's gradient is ``pull x^T`` plus the same penalty for all."""
    squares = []
    for _, x, y in samples.chunks(1 << 15):
        pull = model.output_gradient(model.output(w.unsqueeze(0), x), y)
        squares.append((pull[0] ** 2).sum(0) * (x[0] ** 2).sum(-1))
    batches = ((x.unsqueeze(0), y.unsqueeze(0), None) for x, y in map(samples.of, range(samples.federation.clients)))
    mean = torch.stack([model.gradient(w.unsqueeze(0), batch)[0] - model.regularisation * w for batch in batches])
    return (samples.client_means(torch.cat(squares)) - (mean.double() ** 2).sum(-1)).clamp(min=0).cpu().numpy()


def _one_by_one(problem: FederatedProblem, w: Tensor, client: int) -> tuple[float, float]:
    """An unbiased estimate from some samples of the variance of all gradients, and its standard error."""
    x, y = problem.samples.of(client)
    index = stream(0, "gradient noise samples", client=client).permutation(len(x))[:MOST_SAMPLES]
    gradients = torch.cat(
        [problem.model.gradient(w.unsqueeze(0), (x[None, i : i + 1], y[None, i : i + 1], None)) for i in index]
    ).double()
    if len(gradients) < 2:
        return 0.0, 0.0
    squares = ((gradients - gradients.mean(0)) ** 2).sum(-1) * len(gradients) / (len(gradients) - 1)
    unused = 1 - len(gradients) / len(x)  # the error is zero if all samples are used
    scale = (len(x) - 1) / len(x)
    return float(squares.mean()) * scale, float(squares.std() / len(gradients) ** 0.5) * unused**0.5


def batch_variance(variance: np.ndarray, sizes: np.ndarray, batch: int) -> np.ndarray:
    """The variance of the smallest batch of a shuffled pass, for clients of these ``sizes`` and sample variances.

    Sampling without replacement reduces the variance by ``(n - b)/(n - 1)``; the last batch of a pass may be smaller.
    """
    smallest = np.where(sizes % batch, sizes % batch, np.minimum(batch, sizes))
    reduction = np.where(sizes > 1, (sizes - smallest) / np.maximum(sizes - 1, 1), 0.0)
    return np.asarray(variance / smallest * reduction)


class Gradients(NamedTuple):
    """Squared norms of gradients along a path, each ``(T,)``.

    The clients' weighted mean, the global gradient's, the largest client's, and the largest distance of a client's
    gradient from the global one.
    """

    mean_sq: np.ndarray
    global_sq: np.ndarray
    largest_sq: np.ndarray
    distance_sq: np.ndarray


def gradients_along(problem: FederatedProblem, path: Tensor) -> Gradients:
    """Return squared norms of gradients at every model of ``path (T, dim)``."""
    rows = []
    for w in path:
        gradients = problem.client_gradients(w).double()
        squares = (gradients**2).sum(-1)
        total = problem.weights @ gradients
        distance = ((gradients - total) ** 2).sum(-1).max()
        rows.append((float(problem.weights @ squares), float(total @ total), float(squares.max()), float(distance)))
    return Gradients(*np.array(rows).T)


def offset_along(gradients: Gradients, factor: float) -> float:
    """The smallest ``G^2`` with ``sum_k p_k ||grad F_k||^2 <= G^2 + factor ||grad F||^2`` along the path."""
    return float(max(0.0, (gradients.mean_sq - factor * gradients.global_sq).max()))
