"""One averaging round of exact local minimisers: the quantities of a random draw of all clients' samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ..problems.pool import Pool

DrawValues = dict[str, np.ndarray]
"""The quantities of one draw, by name."""

ROUNDING = 1e-12  # relative error of a difference of two mean losses


@dataclass(frozen=True, eq=False)
class OneRound:
    """One averaging round: every client trains to its exact minimum, and the server averages with equal weights.

    Called with a seed, it draws the samples of all clients; for every number K in ``client_counts`` the federation has
    the first K clients, so values at different K are paired. All numbers are exact for the draw. Keys (K on the first
    axis if a quantity depends on it, clients on the last, NaN beyond client K):

    * ``generalization_gap`` (K): mean over clients of population minus training risk of the averaged model;
    * ``local_gap`` (clients): the same difference for client k's own model on its own distribution;
    * ``non_iidness`` (K, clients): training risk, on client k's samples, of the averaged minus of its own model;
    * ``generalization_gap_control``, ``local_gap_control``: control variates of mean zero, see ``_control``.
    """

    problem: Pool
    client_counts: tuple[int, ...]

    @cached_property
    def reference(self) -> Tensor:
        """Every client's population risk minimiser ``(clients, dim)``."""
        models = self.problem.population_minimisers()
        return models.expand(self.problem.clients, -1)

    @cached_property
    def _reference_losses(self) -> Tensor:
        return self.problem.losses(self.reference)

    def prepare(self) -> OneRound:
        """Compute what all draws share, before several threads need it at once."""
        _ = self._reference_losses, self.problem.draw(0)
        return self

    def __call__(self, seed: int) -> DrawValues:
        return self.of(self.problem.draw(seed))

    def of(self, samples: np.ndarray) -> DrawValues:
        """Return the quantities for samples given as pool indices ``(clients, samples)``."""
        index = torch.from_numpy(samples)
        models = self.problem.local_minimisers(samples)
        own = self.problem.losses(models)
        own_risk = _training_risk(own, index)
        rounds = [self._averaged(models[:count], index[:count], own_risk) for count in self.client_counts]
        reference = self._reference_losses
        return {
            "generalization_gap": np.array([gap for gap, _, _ in rounds]),
            "generalization_gap_control": np.array([control for _, control, _ in rounds]),
            "local_gap": (self._risk(own) - own_risk).cpu().numpy(),
            "local_gap_control": (self._risk(reference) - _training_risk(reference, index)).cpu().numpy(),
            "non_iidness": np.stack([excess for _, _, excess in rounds]),
        }

    def _averaged(self, models: Tensor, index: Tensor, own_risk: Tensor) -> tuple[float, float, np.ndarray]:
        """The gap, its control variate and every client's non-iidness for the average of these clients' models."""
        count = len(models)
        average = models.mean(0, keepdim=True)
        shared = self.problem.losses(average).expand(count, -1)
        risk = _training_risk(shared, index)
        excess = np.full(self.problem.clients, np.nan)
        difference = risk - own_risk[:count]
        significant = difference.abs() > ROUNDING * risk  # the excess of a single client must be exactly zero
        excess[:count] = torch.where(significant, difference, 0.0).cpu().numpy()
        return float((self._risk(shared) - risk).mean()), self._control(models, average, index), excess

    def _control(self, models: Tensor, average: Tensor, index: Tensor) -> float:
        """Population minus training risk on client k's samples of a model that does not depend on them, mean over k.

        The model is the average with client k's model replaced by its fixed reference. Given the other clients'
        samples it is a fixed model for client k, so the difference has mean zero. Subtracting it (with coefficient one)
        removes the noise that all clients' samples share, and leaves client k's influence on itself, which is the gap.
        """
        count = len(models)
        independent = self.problem.losses(average + (self.reference[:count] - models) / count)
        return float((self._risk(independent) - _training_risk(independent, index)).mean())

    def _risk(self, losses: Tensor) -> Tensor:
        """Population risks ``(rows,)`` of row k under client k's distribution."""
        return (self.problem.shares[: len(losses)] * losses).sum(1)


def _training_risk(losses: Tensor, index: Tensor) -> Tensor:
    """The mean of row k's losses over client k's samples ``(rows,)``."""
    return losses.gather(1, index).mean(1)


@dataclass(frozen=True)
class AverageOfMinimisers:
    """The algorithm of ``OneRound``: FedAvg's average of exact local minimisers."""

    name: str = "fedavg"
    exact_local_solver: bool = True
    local_sgd: bool = False
