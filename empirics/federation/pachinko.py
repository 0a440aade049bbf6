"""Skew by classes and by classes of classes: the Pachinko allocation of CIFAR-100."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .split import concentration, members, Split

TINY = 1e-300
"""Keeps a class that a client would never draw as its last resort when all others are used up."""


@dataclass(frozen=True)
class Pachinko(Split):
    """Reddi et al. (2021): a client draws a coarse class, then a class in it, then a sample of that not dealt yet.

    Every client has its own shares of the coarse classes from a symmetric Dirichlet law of parameter ``alpha`` and, in
    each of them, of its classes from one of ``beta``; a class that is used up is left out and the shares of the others
    grow to 1. Clients come in turn and hold equally many samples (samples / clients, rounded down). Coarse classes are
    the groups of the data set, so a class must lie in one group. For CIFAR-100 (Reddi et al., Decaying-K): 500 clients.
    """

    alpha: float = 0.1
    beta: float = 10.0
    word = "pachinko"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            concentration(f"{name} of a Pachinko split", value)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        pools = [list(pool) for pool in members(data.labels, data.classes, stream(seed, "pachinko pools"))]
        inside = [np.array(own) for own in coarse(data)]
        return [
            self._client(pools, inside, len(data) // clients, stream(seed, "pachinko split", client=k))
            for k in range(clients)
        ]

    def _client(
        self, pools: list[list[int]], inside: list[np.ndarray], size: int, rng: np.random.Generator
    ) -> np.ndarray:
        """One client's samples, taken out of the pools."""
        outer = rng.dirichlet(np.full(len(inside), self.alpha)) + TINY
        inner = [rng.dirichlet(np.full(len(own), self.beta)) + TINY for own in inside]
        for c, own in enumerate(inside):
            inner[c] *= [bool(pools[label]) for label in own]
            outer[c] *= inner[c].any()
        taken = np.empty(size, dtype=np.int64)
        for i, (first, second) in enumerate(rng.random((size, 2))):
            c = _drawn(outer, first)
            place = _drawn(inner[c], second)
            pool = pools[inside[c][place]]
            taken[i] = pool.pop()
            if not pool:
                inner[c][place] = 0
                outer[c] *= inner[c].any()
        return taken


def coarse(data: Dataset) -> list[list[int]]:
    """The classes of every coarse class that has samples."""
    if data.groups is None:
        raise EmpiricsError(f"{data} has no coarse classes: choose another partition, such as dirichlet(0.1)")
    pairs = np.unique(np.stack([data.groups, data.labels]), axis=1)
    held, counts = np.unique(pairs[1], return_counts=True)
    if (counts > 1).any():
        raise EmpiricsError(
            f"the {data.group_word}s of {data} are no coarse classes: class {held[counts > 1][0]} lies in several"
        )
    return [pairs[1][pairs[0] == group].tolist() for group in np.unique(pairs[0])]


def _drawn(weights: np.ndarray, uniform: float) -> int:
    """The place that a uniform number from [0, 1) falls into; places of weight 0 are never drawn."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends, uniform * ends[-1], side="right"))
