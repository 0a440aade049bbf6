"""The quadratic twin of a federation: every client's loss to second order around the minimiser of all.

Its runs have exact expectations for whole grids of plans, so it chooses step sizes and local steps without training.
It proves nothing: far from the minimiser its gradients are others, and it chooses well where runs end near it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from empirics.errors import EmpiricsError
from empirics.exact import Averaging, Passes
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem, MOST_COORDINATES
from empirics.problems.quadratics import Quadratics

Array = np.ndarray[Any, Any]


def twin(problem: FederatedProblem) -> Quadratics:
    """Second-order Taylor models of the clients' losses at the federation's minimiser, in float64.

    ``noise`` are the covariances there of the gradient of a single sample, drawn at random from the client's.

    Raises:
        EmpiricsError: for a network, which has no single minimiser, for a linear model without a penalty, which may
            have none, and for models too large for dense Hessians.
    """
    if not isinstance(problem.model, Linear) or not problem.model.regularisation:
        raise EmpiricsError(
            f"the twin is taken at the minimiser of a linear model with a penalty; {problem} is another"
        )
    model = replace(problem.model, dtype=torch.float64)
    if model.dim > MOST_COORDINATES:
        raise EmpiricsError(
            f"the twin holds the clients' Hessians, for models of up to {MOST_COORDINATES} parameters; "
            f"{problem} has {model.dim}"
        )
    at = problem.minimiser
    parts = [_taylor(model, at, *problem.samples.of(k)) for k in range(problem.clients)]
    hessians, gradients, noise = (np.stack(part) for part in zip(*parts, strict=True))
    steps = np.linalg.solve(hessians, gradients[..., None])[..., 0]
    losses = problem.client_losses(at).double().numpy()
    return Quadratics(
        curvatures=hessians,
        minima=at.numpy() - steps,
        noise=noise,
        weights=problem.weights.numpy(),
        floors=losses - (gradients * steps).sum(-1) / 2,
        start=problem.model.start(0).double().numpy(),
    )


def _taylor(model: Linear, at: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[Array, Array, Array]:
    """Hessian and gradient of a client's loss, and the covariance of its samples' gradients."""
    x = x.double()
    batch = (x.unsqueeze(0), y.unsqueeze(0), None)
    eye = torch.eye(model.dim, dtype=torch.float64)
    hessian = model.hessian(at.unsqueeze(0), batch)(eye)
    each = model.gradient(at.expand(len(x), -1).contiguous(), (x.unsqueeze(1), y.unsqueeze(1), None))
    mean = each.mean(0)
    away = each - mean
    return ((hessian + hessian.T) / 2).numpy(), mean.numpy(), (away.T @ away / len(x)).numpy()


def runs(problem: FederatedProblem, cohort: int, batch: int, sampling: str = "without_replacement") -> Averaging:
    """FedAvg on the twin of ``problem``, with minibatches of shuffled passes as training draws them."""
    sizes = np.asarray(problem.federation.client_sizes)
    return Averaging(twin(problem), cohort, sampling, Passes(sizes, batch))
