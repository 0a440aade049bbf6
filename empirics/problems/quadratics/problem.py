"""Federations of quadratic losses ``F_i(w) = 1/2 (w - b_i)^T A_i (w - b_i) + c_i`` with all constants in closed form.

The global loss is ``F = sum_i p_i F_i``; a stochastic gradient of client i is ``A_i (w - b_i)`` plus Gaussian noise of
covariance ``Sigma_i``, drawn anew in every local step. All computations are in float64, exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...numbers import must
from ...streams import stream

SINGULAR = 1e-12
"""Eigenvalues below this share of the largest count as zero."""


@dataclass(frozen=True, eq=False)
class Quadratics:
    """Clients' ``curvatures`` A (C, d, d), ``minima`` b (C, d), ``noise`` covariances (C, d, d), ``floors`` c (C,).

    ``weights`` are the clients' weights in the global loss (default equal), ``start`` is the initial model (default
    zero), ``layers`` names ranges of coordinates (default one layer). Curvatures must be symmetric and positive
    semidefinite, and their weighted mean positive definite, so that F has one minimiser.
    """

    curvatures: np.ndarray
    minima: np.ndarray
    noise: np.ndarray = None  # type: ignore[assignment]
    weights: np.ndarray = None  # type: ignore[assignment]
    floors: np.ndarray = None  # type: ignore[assignment]
    start: np.ndarray = None  # type: ignore[assignment]
    layers: Mapping[str, slice] = field(default_factory=dict)

    convex = True
    independent_samples = True
    independent_noise = True
    lipschitz = float("inf")
    loss_cap = float("inf")

    def __post_init__(self) -> None:
        clients, dim = np.shape(self.minima)
        layout: dict[str, tuple[tuple[int, ...], Any]] = {
            "curvatures": ((clients, dim, dim), None),
            "minima": ((clients, dim), None),
            "noise": ((clients, dim, dim), np.zeros((clients, dim, dim))),
            "weights": ((clients,), np.full(clients, 1 / clients)),
            "floors": ((clients,), np.zeros(clients)),
            "start": ((dim,), np.zeros(dim)),
        }
        for name, (shape, default) in layout.items():
            field_value = getattr(self, name)
            value = np.array(default if field_value is None else field_value, dtype=float)
            must(value.shape == shape, name, f"of shape {shape}", value.shape)
            must(np.isfinite(value).all(), name, "finite", value)
            object.__setattr__(self, name, value)
        if not self.layers:
            object.__setattr__(self, "layers", {"model": slice(0, dim)})
        for name in ("curvatures", "noise"):
            stack = getattr(self, name)
            values = np.linalg.eigvalsh(stack)
            size = 1e-9 * np.abs(values).max(-1)
            wrong = (np.abs(stack - np.swapaxes(stack, 1, 2)).max((1, 2)) > size) | (values[:, 0] < -size)
            must(not wrong.any(), name, "symmetric and positive semidefinite", f"client {wrong.argmax()}'s")
        valid = (self.weights >= 0).all() and abs(self.weights.sum() - 1) <= 1e-9
        must(valid, "weights", ">= 0 and of sum 1", self.weights)
        definite = self._eigenvalues[0] > SINGULAR * self._eigenvalues[-1]
        must(definite, "the mean curvature", "positive definite, so that F has one minimiser", self._eigenvalues)

    def __str__(self) -> str:
        return f"quadratics of {self.clients} clients in {self.dim} dimensions"

    # ---- the global loss ----

    @property
    def clients(self) -> int:
        return len(self.minima)

    @property
    def dim(self) -> int:
        return self.minima.shape[1]

    @cached_property
    def curvature(self) -> np.ndarray:
        """Hessian of F, ``sum_i p_i A_i``."""
        return np.einsum("i,ide->de", self.weights, self.curvatures)

    @cached_property
    def _eigenvalues(self) -> np.ndarray:
        return np.linalg.eigvalsh(self.curvature)

    @cached_property
    def _client_eigenvalues(self) -> np.ndarray:
        return np.linalg.eigvalsh(self.curvatures)

    @cached_property
    def minimiser(self) -> np.ndarray:
        """The minimiser ``w*`` of F."""
        pull = np.einsum("i,ide,ie->d", self.weights, self.curvatures, self.minima)
        return np.linalg.solve(self.curvature, pull)

    @property
    def local_minimisers(self) -> np.ndarray:
        """A minimiser of every client's loss ``(C, d)``, unique if its curvature is definite."""
        return self.minima

    @cached_property
    def optimal_loss(self) -> float:
        """``F* = F(w*)``."""
        return float(self.loss(self.minimiser))

    @property
    def local_optimal_losses(self) -> np.ndarray:
        return self.floors

    def client_losses(self, w: np.ndarray) -> np.ndarray:
        """Return ``F_i(w) (..., C)`` of models ``w (..., d)``."""
        difference = np.asarray(w)[..., None, :] - self.minima
        return 0.5 * np.einsum("...id,ide,...ie->...i", difference, self.curvatures, difference) + self.floors

    def loss(self, w: np.ndarray) -> np.ndarray:
        """Return ``F(w)``, which is also the population risk, since the noise has mean zero and is always new."""
        return self.client_losses(w) @ self.weights

    def client_gradients(self, w: np.ndarray) -> np.ndarray:
        """Return ``grad F_i(w) (..., C, d)`` of models ``w (..., d)``."""
        return np.einsum("ide,...ie->...id", self.curvatures, np.asarray(w)[..., None, :] - self.minima)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return ``grad F(w)``."""
        return (np.asarray(w) - self.minimiser) @ self.curvature

    # ---- constants that theorems need ----

    @cached_property
    def smoothness(self) -> float:
        """The smallest L for which every client's loss is L-smooth."""
        return float(self._client_eigenvalues[:, -1].max())

    @property
    def sample_smoothness(self) -> float:
        """``smoothness``, also for single stochastic gradients, since their noise does not depend on the model."""
        return self.smoothness

    @cached_property
    def strong_convexity(self) -> float:
        """The largest mu for which every client's loss is mu-strongly convex; 0 if one is constant in a direction."""
        lowest = min(float(self._client_eigenvalues[:, 0].min()), self.pl_constant)
        return lowest if lowest > SINGULAR * self.smoothness else 0.0

    @cached_property
    def pl_constant(self) -> float:
        """The largest mu with ``2 mu (F - F*) <= ||grad F||^2``: the smallest eigenvalue of F's Hessian."""
        return min(float(self._eigenvalues[0]), self.smoothness)

    @cached_property
    def heterogeneity(self) -> float:
        """``Gamma = F* - sum_i p_i min F_i``, computed without the floors, which cancel."""
        return float((self.client_losses(self.minimiser) - self.floors) @ self.weights)

    @cached_property
    def client_gradient_variance(self) -> np.ndarray:
        """``E ||g_i - grad F_i||^2`` of every client, the trace of its noise covariance."""
        return np.trace(self.noise, axis1=1, axis2=2)

    @property
    def gradient_variance(self) -> float:
        """The smallest upper bound on the variances of the clients' stochastic gradients."""
        return float(self.client_gradient_variance.max())

    @property
    def lower_bound(self) -> float:
        return self.optimal_loss

    @property
    def nonnegative_loss(self) -> bool:
        return bool((self.floors >= 0).all())

    @property
    def identical_clients(self) -> bool:
        """Whether all clients have the same loss up to a constant."""
        return not any(np.ptp(stack, axis=0).any() for stack in (self.curvatures, self.minima))

    @cached_property
    def uniform_dissimilarity(self) -> float:
        """The largest ``||grad F_i(w) - grad F(w)||^2`` over clients and models; infinite if curvatures differ."""
        if np.ptp(self.curvatures, axis=0).max() > SINGULAR * self.smoothness:
            return float("inf")
        return float((self.client_gradients(self.minimiser) ** 2).sum(-1).max())

    # ---- gradient dissimilarity: sum_i p_i ||grad F_i||^2 <= G^2 + B^2 ||grad F||^2 ----

    @cached_property
    def optimum_dissimilarity(self) -> float:
        """``sum_i p_i ||grad F_i(w*)||^2``."""
        return float((self._gradients_at_optimum**2).sum(-1) @ self.weights)

    @cached_property
    def _gradients_at_optimum(self) -> np.ndarray:
        return self.client_gradients(self.minimiser)

    def dissimilarity_offset_for(self, factor: float) -> float:
        """Return the smallest ``G^2`` that is valid at every model with ``B^2 = factor``, or infinity if none is.

        With ``u = w - w*`` the difference ``sum_i p_i ||A_i u + g_i||^2 - B^2 ||H u||^2`` is quadratic in u. It is
        bounded above if and only if ``D = B^2 H^2 - sum_i p_i A_i^2`` is positive semidefinite and the linear part v
        vanishes on the kernel of D; then its maximum is ``c + v^T D^+ v``.
        """
        values, vectors = np.linalg.eigh(factor * self.curvature @ self.curvature - self._mean_square)
        scale = factor * self._eigenvalues[-1] ** 2
        linear = np.einsum("i,ide,id->e", self.weights, self.curvatures, self._gradients_at_optimum) @ vectors
        constant = self.optimum_dissimilarity
        kernel = values <= 1e-11 * scale
        if (values < -1e-11 * scale).any() or (np.abs(linear[kernel]) > 1e-9 * np.sqrt(scale * constant)).any():
            return float("inf")
        return constant + float((linear[~kernel] ** 2 / values[~kernel]).sum())

    @cached_property
    def smallest_dissimilarity_factor(self) -> float:
        """Infimum of the ``B^2`` with a finite ``G^2``: the largest generalised eigenvalue of (mean A_i^2, H^2)."""
        inverse = np.linalg.inv(self.curvature)
        return float(np.linalg.eigvalsh(inverse @ self._mean_square @ inverse)[-1])

    @cached_property
    def dissimilarity_factor(self) -> float:
        """A ``B^2`` >= 1 with a finite ``G^2``: the infimum if its ``G^2`` is finite, else twice the infimum."""
        smallest = max(self.smallest_dissimilarity_factor, 1.0)
        return smallest if np.isfinite(self.dissimilarity_offset_for(smallest)) else 2 * smallest

    @cached_property
    def dissimilarity_offset(self) -> float:
        """The smallest ``G^2`` for ``dissimilarity_factor``."""
        return self.dissimilarity_offset_for(self.dissimilarity_factor)

    @cached_property
    def _mean_square(self) -> np.ndarray:
        return np.einsum("i,ide,ief->df", self.weights, self.curvatures, self.curvatures)

    @cached_property
    def noise_roots(self) -> np.ndarray:
        """Matrices ``R_i`` with ``R_i R_i^T = Sigma_i`` ``(C, d, d)``."""
        values, vectors = np.linalg.eigh(self.noise)
        return vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]


def random_quadratics(
    seed: int,
    clients: int,
    dim: int,
    curvature: tuple[float, float] = (0.5, 2.0),
    spread: float = 1.0,
    noise: float = 0.3,
    same_curvature: bool = False,
    **options: object,
) -> Quadratics:
    """Return a random federation: eigenvalues in the range ``curvature``, minima with standard deviation ``spread``.

    Noise covariances are random with a mean eigenvalue of ``noise**2``; ``options`` are fields of ``Quadratics``.
    """
    draws = stream(seed, "quadratics")
    count = 1 if same_curvature else clients
    rotations = np.linalg.qr(draws.standard_normal((count, dim, dim)))[0]
    matrices = rotations * draws.uniform(*curvature, (count, 1, dim)) @ rotations.swapaxes(1, 2)
    curvatures = np.broadcast_to((matrices + matrices.swapaxes(1, 2)) / 2, (clients, dim, dim))
    minima = spread * draws.standard_normal((clients, dim))
    roots = noise / np.sqrt(dim) * draws.standard_normal((clients, dim, dim))
    values = {"start": 2 * spread * draws.standard_normal(dim), **options}
    return Quadratics(curvatures, minima, roots @ roots.swapaxes(1, 2), **values)  # type: ignore[arg-type]
