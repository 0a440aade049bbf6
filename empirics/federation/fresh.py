"""Samples that are used once: every round takes each client's next samples, as theorems on disjoint rounds require."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EmpiricsError
from ..numbers import must
from .federation import Batches, Federation
from .shuffles import orders


@dataclass(frozen=True, eq=False)
class Fresh(Federation):
    """A federation whose every round uses ``per_round`` new samples of a client, in one shuffled order per run."""

    per_round: int = 1

    @classmethod
    def from_(cls, federation: Federation, per_round: int) -> Fresh:
        """Make one of a federation; ``per_round`` is at least local steps times batch."""
        if type(federation) is not Federation or federation.recipe is not None:
            raise EmpiricsError("fresh samples need a federation whose inputs are ready, without preparation by batch")
        must(per_round >= 1, "per_round", ">= 1", per_round)
        return cls(federation.inputs, federation.targets, federation.members, federation.offsets, per_round=per_round)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Batches:
        """The minibatches of a round, which share no samples with other rounds of the same seed."""
        most, sizes = int(steps.max()), self.client_sizes[clients]
        if most * batch > self.per_round:
            raise EmpiricsError(f"{most} steps of batch {batch} take more than the {self.per_round} samples of a round")
        short = sizes < (round_ + 1) * self.per_round
        if short.any():
            k, needed = int(np.argmax(short)), (round_ + 1) * self.per_round
            raise EmpiricsError(f"round {round_ + 1} needs {needed} samples of client {clients[k]}; it has {sizes[k]}")
        order = orders(seed, 0, clients, sizes, 1)[:, 0]
        first = round_ * self.per_round
        local = order[:, first : first + most * batch].reshape(len(clients), most, batch)
        return Batches(self.inputs, self.targets, self._members(local + self.offsets[clients][:, None, None]), None)
