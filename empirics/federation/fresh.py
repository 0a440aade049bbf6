"""Samples used once: every round takes the next ones of every client, as theorems on disjoint rounds ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EmpiricsError
from ..numbers import must
from .federation import Batches, Federation
from .shuffles import orders


@dataclass(frozen=True, eq=False)
class Fresh(Federation):
    """A federation that deals ``per_round`` new samples of a client to every round, in one shuffled order a run."""

    per_round: int = 1

    @classmethod
    def from_(cls, federation: Federation, per_round: int) -> Fresh:
        """The same samples; a round takes ``per_round`` of every client, such as local steps times batch."""
        if type(federation) is not Federation or federation.recipe is not None:
            raise EmpiricsError("fresh samples need a plain federation, whose samples are ready")
        must(per_round >= 1, "per_round", ">= 1", per_round)
        return cls(federation.inputs, federation.targets, federation.members, federation.offsets, per_round=per_round)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Batches:
        """The batches of a round, none of whose samples another round of the same seed has."""
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
