"""Who sees which points: every client's distribution over a fixed pool, from which it draws with replacement.

A partition is called with the labels, the number of clients and a seed, and returns the shares, an array of shape
(clients, points) whose rows sum to one. Client k's row depends on (seed, k) alone, so adding clients changes nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..streams import stream
from .split import concentration


class Partition(Protocol):
    """A rule that gives every client its distribution over the points of a pool."""

    @property
    def identical(self) -> bool:
        """Whether all clients share one distribution."""
        ...

    def __call__(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray: ...


@dataclass(frozen=True)
class Iid:
    """Every client draws uniformly from the whole pool."""

    identical = True

    def __call__(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        return np.full((clients, len(labels)), 1.0 / len(labels))

    def __str__(self) -> str:
        return "iid"


@dataclass(frozen=True)
class LabelSkew:
    """Every client has its own class prior, drawn once from a symmetric Dirichlet law; uniform within a class.

    ``concentration`` below one makes most clients see few classes; as it grows the clients become alike.
    """

    concentration: float
    identical = False

    def __post_init__(self) -> None:
        concentration("the concentration of a label skew", self.concentration)

    def __call__(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        counts = np.bincount(labels)
        present = np.flatnonzero(counts)
        shares = np.empty((clients, len(labels)))
        for client in range(clients):
            prior = np.zeros(len(counts))
            weights = np.full(len(present), self.concentration)
            prior[present] = stream(seed, "class prior", client=client).dirichlet(weights)
            shares[client] = (prior / np.maximum(counts, 1))[labels]
        return shares

    def __str__(self) -> str:
        return f"label_skew({self.concentration:g})"
