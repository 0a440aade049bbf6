"""Identical clients that step towards fresh samples, in fractions: half squared distances, so L = mu = 1.

A sample has variance 1 (a fair coin of 1 and -1, say) and a step of size ``pull`` goes that share of the way to a new
one, so a client's model is a weighted sum of its samples and every expectation is a sum over the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction as F


def weights(pulls: Sequence[F]) -> list[F]:
    """How much of every sample is in the model after one step towards each, in this order."""
    found: list[F] = []
    for pull in pulls:
        found = [(1 - pull) * x for x in found] + [pull]
    return found


@dataclass(frozen=True)
class Walk:
    """One round: ``clients`` identical clients, each with one sample a step, from the common mean."""

    clients: int
    pulls: tuple[F, ...]

    @classmethod
    def of(cls, clients: int, steps: int, pull: F) -> Walk:
        return cls(clients, (pull,) * steps)

    @property
    def steps(self) -> int:
        return len(self.pulls)

    @property
    def local_gap(self) -> F:
        """Covariance of a client's model with the mean of its samples."""
        return sum(weights(self.pulls), F(0)) / self.steps

    @property
    def gap(self) -> F:
        return self.local_gap / self.clients

    @property
    def non_iidness(self) -> F:
        """Half of what the average is farther from the mean of a client's samples than its own model, squared."""
        variance = sum((x**2 for x in weights(self.pulls)), F(0))
        return (1 - F(1, self.clients)) * (2 * self.local_gap - variance) / 2

    @property
    def suboptimality(self) -> F:
        """Half the squared distance of a client's model to the mean of its samples."""
        return sum(((x - F(1, self.steps)) ** 2 for x in weights(self.pulls)), F(0)) / 2
