"""Extreme eigenvalues of Hessians: from the whole matrix for small models, else by Lanczos' method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...problems.evaluation import CHUNK

DENSE = 60
"""The largest dimension for which the whole Hessian is computed."""
TOLERANCE = 1e-8
"""Relative accuracy of Lanczos' method."""
FEW_STEPS = 12
"""Steps of Lanczos' method for an estimate: it finds the largest eigenvalue of a network to about one percent."""


class Eigenvalues(NamedTuple):
    """The smallest and the largest eigenvalue, each with its residual, the norm of ``H v - value v``.

    H has an eigenvalue within the residual of each value; values of Lanczos' method are inside the spectrum.
    """

    smallest: float
    largest: float
    residual_smallest: float
    residual_largest: float


def hessian_product(model: Any, w: Tensor, inputs: Tensor, targets: Tensor) -> Callable[[Tensor], Tensor]:
    """Return ``v -> H v`` with the Hessian at ``w (dim,)`` of the mean loss over samples, computed in chunks."""

    def mean_loss(x: Tensor, y: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda at: model.task_loss(at.unsqueeze(0), (x.unsqueeze(0), y.unsqueeze(0), None))[0]

    chunks = zip(inputs.split(CHUNK), targets.split(CHUNK), strict=True)
    losses = [(mean_loss(x, y), len(x) / len(inputs)) for x, y in chunks]

    def product(v: Tensor) -> Tensor:
        total = torch.zeros_like(v)
        for loss, share in losses:
            pullback = torch.func.vjp(torch.func.grad(loss), w)[1]
            total += share * pullback(v)[0]
        return total

    return product


def eigenvalues(product: Callable[[Tensor], Tensor], like: Tensor) -> Eigenvalues:
    """Return the extreme eigenvalues of the symmetric map ``product`` on vectors of the size and type of ``like``."""
    if len(like) <= DENSE:
        units = torch.eye(len(like), dtype=like.dtype, device=like.device)
        dense = torch.stack([product(unit) for unit in units]).double()
        values = torch.linalg.eigvalsh((dense + dense.T) / 2)
        return Eigenvalues(float(values[0]), float(values[-1]), 0.0, 0.0)
    (low, off_low), (high, off_high) = (_lanczos(product, like, which) for which in ("SA", "LA"))
    return Eigenvalues(low, high, off_low, off_high)


def _lanczos(product: Callable[[Tensor], Tensor], like: Tensor, which: str) -> tuple[float, float]:
    from scipy.sparse.linalg import eigsh, LinearOperator

    def times(v: np.ndarray) -> np.ndarray:
        return product(torch.from_numpy(np.ascontiguousarray(v.ravel())).to(like)).double().cpu().numpy()

    size = len(like)
    operator = LinearOperator((size, size), matvec=times, dtype=np.float64)
    tolerance = TOLERANCE if like.dtype == torch.float64 else 1e-4
    first = np.cos(1.0 + np.arange(size))  # a fixed start makes results repeatable
    (value,), vectors = eigsh(operator, k=1, which=which, tol=tolerance, v0=first)
    vector = vectors[:, 0]
    return float(value), float(np.linalg.norm(times(vector) - value * vector))


def few_step_eigenvalues(product: Callable[[Tensor], Tensor], like: Tensor, steps: int = FEW_STEPS) -> Eigenvalues:
    """Estimate the extreme eigenvalues by some steps of Lanczos' method, never too large in absolute value."""
    basis = torch.cos(torch.arange(1.0, len(like) + 1, dtype=torch.float64, device=like.device)).unsqueeze(0)
    basis = basis / basis.norm()
    images = basis[:0]
    while True:
        image = product(basis[-1].to(like.dtype)).double()
        images = torch.cat([images, image.unsqueeze(0)])
        rest = image
        for _ in range(2):  # orthogonalising once leaves rounding errors
            rest = rest - (basis @ rest) @ basis
        if len(basis) == min(steps, len(like)) or rest.norm() <= 1e-10 * image.norm():
            break
        basis = torch.cat([basis, (rest / rest.norm()).unsqueeze(0)])
    small = basis @ images.T
    values, vectors = torch.linalg.eigh((small + small.T) / 2)
    off = [float((vectors[:, i] @ images - values[i] * (vectors[:, i] @ basis)).norm()) for i in (0, -1)]
    return Eigenvalues(float(values[0]), float(values[-1]), off[0], off[1])
