"""Estimating a Gaussian mean, ``1/2 ||theta - z||^2``: quadratic risks on samples and on the population, both exact."""

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
        given = self.variance, self.samples, self.batch
        must(min(given) >= 0 and min(given[1:]) >= 1, "variance, samples and batch", ">= 0, >= 1 and >= 1", given)

    @property
    def client_sizes(self) -> tuple[int, ...]:
        return (self.samples,) * len(self.means)

    @cached_property
    def population(self) -> Quadratics:
        """The population risks: unit curvature about the means, floor ``d variance / 2``, gradients of fresh points."""
        return self._quadratics(np.asarray(self.means, dtype=float), self._dim * self.variance / 2)

    def draw(self, seed: int) -> np.ndarray:
        """Every client's samples ``(C, samples, d)``."""
        shape = (self.samples, self._dim)
        draws = [stream(seed, "samples", client=k).standard_normal(shape) for k in range(len(self.means))]
        return np.asarray(self.means, dtype=float)[:, None] + self.variance**0.5 * np.stack(draws)

    def training(self, drawn: np.ndarray) -> Quadratics:
        """The training risks on given samples: about their means, floors half their mean squared distance to them.

        Stochastic gradients draw ``batch`` of the samples with replacement; the covariance is that of the samples, and
        Gaussian noise stands in for the draw.
        """
        centres = drawn.mean(1)
        away = drawn - centres[:, None]
        covariances = np.einsum("knd,kne->kde", away, away) / self.samples
        floors = np.trace(covariances, axis1=1, axis2=2) / 2
        return self._quadratics(centres, floors, covariances / self.batch)

    def generalization_gap(self, w: np.ndarray, drawn: np.ndarray) -> float:
        """Population minus training risk of a model, averaged over clients."""
        return float(self.population.loss(w) - self.training(drawn).loss(w))

    @property
    def _dim(self) -> int:
        return np.shape(self.means)[1]

    def _quadratics(
        self, centres: np.ndarray, floors: np.ndarray | float, noise: np.ndarray | None = None
    ) -> Quadratics:
        unit = np.broadcast_to(np.eye(self._dim), (len(centres), self._dim, self._dim))
        given = self.variance / self.batch * unit if noise is None else noise
        return Quadratics(unit, centres, given, floors=np.broadcast_to(floors, len(centres)))
