"""Estimation of a Gaussian mean, ``1/2 ||w - z||^2``, with exact quadratic risks on samples and population."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numbers import must
from ...streams import stream
from .problem import Quadratics


@dataclass(frozen=True, eq=False)
class GaussianMean:
    """Client k draws ``samples`` points from ``N(means[k], variance I)``; the loss of a point is ``1/2 ||w - z||^2``.

    Stochastic gradients average ``batch`` fresh points, so their covariance is ``variance/batch I``.
    """

    means: np.ndarray
    variance: float
    samples: int
    batch: int = 1

    convex = True
    nonnegative_loss = True
    independent_samples = True
    smoothness = 1.0
    sample_smoothness = 1.0
    strong_convexity = 1.0

    def __post_init__(self) -> None:
        values = self.variance, self.samples, self.batch
        must(min(values) >= 0 and min(values[1:]) >= 1, "variance, samples and batch", ">= 0, >= 1 and >= 1", values)

    @property
    def client_sizes(self) -> tuple[int, ...]:
        return (self.samples,) * len(self.means)

    @cached_property
    def population(self) -> Quadratics:
        """The population risks: unit curvature about the means, floor ``d variance / 2``, gradients of fresh points."""
        return self._quadratics(np.asarray(self.means, dtype=float), self._dim * self.variance / 2)

    def draw(self, seed: int) -> np.ndarray:
        """Draw every client's samples ``(C, samples, d)``."""
        shape = (self.samples, self._dim)
        draws = [stream(seed, "samples", client=k).standard_normal(shape) for k in range(len(self.means))]
        return np.asarray(self.means, dtype=float)[:, None] + self.variance**0.5 * np.stack(draws)

    def training(self, drawn: np.ndarray) -> Quadratics:
        """Return the training risks on given samples: minima are their means, floors half their mean squared distance.

        Stochastic gradients draw ``batch`` of the samples with replacement, approximated by Gaussian noise with the
        covariance of the samples.
        """
        centres = drawn.mean(1)
        deviations = drawn - centres[:, None]
        covariances = np.einsum("knd,kne->kde", deviations, deviations) / self.samples
        floors = np.trace(covariances, axis1=1, axis2=2) / 2
        return self._quadratics(centres, floors, covariances / self.batch)

    def generalization_gap(self, w: np.ndarray, drawn: np.ndarray) -> float:
        """Return population minus training risk of a model, averaged over clients."""
        return float(self.population.loss(w) - self.training(drawn).loss(w))

    @property
    def _dim(self) -> int:
        return np.shape(self.means)[1]

    def _quadratics(
        self, centres: np.ndarray, floors: np.ndarray | float, noise: np.ndarray | None = None
    ) -> Quadratics:
        unit = np.broadcast_to(np.eye(self._dim), (len(centres), self._dim, self._dim))
        noise = self.variance / self.batch * unit if noise is None else noise
        return Quadratics(unit, centres, noise, floors=np.broadcast_to(floors, len(centres)))
