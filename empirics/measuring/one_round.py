"""One averaging round of exact local minimisers: what one draw of everybody's samples says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ..problems.pool import Pool

Draw = dict[str, np.ndarray]

ROUNDING = 1e-12  # relative error of a difference of two mean losses


@dataclass(frozen=True, eq=False)
class OneRound:
    """One averaging round: every client trains to its exact minimum, the server averages with equal weights.

    Called with a seed, it draws the samples of all clients once; for every number K in ``client_counts`` the
    federation is that of the first K clients, so the values at different K are paired. All numbers are exact for the
    draw. Keys (K on the first axis where a quantity depends on it, clients on the last, NaN beyond client K):

    * ``generalization_gap`` (K): mean over clients of population minus training risk of the averaged model;
    * ``local_gap`` (clients): the same difference for client k's own model on its own distribution;
    * ``non_iidness`` (K, clients): training risk, on client k's samples, of the averaged minus of its own model;
    * ``generalization_gap_control``, ``local_gap_control``: control variates with mean exactly zero, see ``_control``.
    """

    problem: Pool
    client_counts: tuple[int, ...]

    @cached_property
    def reference(self) -> Tensor:
        """A fixed model per client, its population risk minimiser: (clients, dim)."""
        models = self.problem.population_minimisers()
        return models.expand(self.problem.clients, -1)

    @cached_property
    def _reference_losses(self) -> Tensor:
        return self.problem.losses(self.reference)

    def prepare(self) -> OneRound:
        """Compute what all draws share, before several threads ask for it at once."""
        _ = self._reference_losses, self.problem.draw(0)
        return self

    def __call__(self, seed: int) -> Draw:
        return self.of(self.problem.draw(seed))

    def of(self, drawn: np.ndarray) -> Draw:
        """The same for given samples: pool indices of shape (clients, samples)."""
        rows = torch.from_numpy(drawn)
        models = self.problem.local_minimisers(drawn)
        own = self.problem.losses(models)
        trained = _training_risk(own, rows)
        rounds = [self._averaged(models[:count], rows[:count], trained) for count in self.client_counts]
        reference = self._reference_losses
        return {
            "generalization_gap": np.array([gap for gap, _, _ in rounds]),
            "generalization_gap_control": np.array([control for _, control, _ in rounds]),
            "local_gap": (self._risk(own) - trained).cpu().numpy(),
            "local_gap_control": (self._risk(reference) - _training_risk(reference, rows)).cpu().numpy(),
            "non_iidness": np.stack([excess for _, _, excess in rounds]),
        }

    def _averaged(self, models: Tensor, drawn: Tensor, trained: Tensor) -> tuple[float, float, np.ndarray]:
        """Gap, its control variate and every client's non-iidness for the average of these clients' models."""
        count = len(models)
        average = models.mean(0, keepdim=True)
        shared = self.problem.losses(average).expand(count, -1)
        risk = _training_risk(shared, drawn)
        excess = np.full(self.problem.clients, np.nan)
        higher = risk - trained[:count]
        seen = higher.abs() > ROUNDING * risk  # a lone client's is exactly zero
        excess[:count] = torch.where(seen, higher, 0.0).cpu().numpy()
        return float((self._risk(shared) - risk).mean()), self._control(models, average, drawn), excess

    def _control(self, models: Tensor, average: Tensor, drawn: Tensor) -> float:
        """Population minus training risk on client k's data of a model that has not seen them, mean over k.

        The model is the average with client k's own model replaced by its fixed reference. Given the other clients'
        samples it is a fixed model to client k, so the difference has mean exactly zero whatever the other clients
        drew; subtracted (coefficient one, nothing fitted) it removes the noise that all clients' samples share, and
        leaves client k's influence on itself, which is the gap.
        """
        count = len(models)
        unseen = self.problem.losses(average + (self.reference[:count] - models) / count)
        return float((self._risk(unseen) - _training_risk(unseen, drawn)).mean())

    def _risk(self, losses: Tensor) -> Tensor:
        """Population risk of row k under client k's distribution."""
        return (self.problem.shares[: len(losses)] * losses).sum(1)


def _training_risk(losses: Tensor, drawn: Tensor) -> Tensor:
    """Mean of row k's losses over the points client k has drawn."""
    return losses.gather(1, drawn).mean(1)


@dataclass(frozen=True)
class AverageOfMinimisers:
    """The algorithm ``OneRound`` runs: FedAvg's average of exact local minimisers (each draw checks them)."""

    name: str = "fedavg"
    exact_local_solver: bool = True
    local_sgd: bool = False
