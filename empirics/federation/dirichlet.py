"""Label skew by Dirichlet laws: over clients for every class, or over classes for every client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .split import concentration, members, must, Split

TRIES = 1000
HOPELESS = ((1, 100), (5, 15))
"""Draws after which it is given up, where each left so many clients too small: that none is too small then has a chance
of some exp(-20) a draw or less."""


@dataclass(frozen=True)
class Dirichlet(Split):
    """For every class, shares of the clients from a symmetric Dirichlet law; samples are dealt once.

    As FedCOG's code does (NIID-1): classes come in turn; who already holds ``samples / clients`` gets nothing more; and
    all is drawn again until the smallest client has ``least`` samples.
    """

    alpha: float
    least: int = 10
    word = "dirichlet"

    def __post_init__(self) -> None:
        super().__post_init__()
        concentration("alpha of a Dirichlet split", self.alpha)
        must(self.least >= 1, "least", "at least 1", self.least)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        labels = data.labels
        count = clients * self.least
        must(count <= len(data), "clients times least", f"at most {len(data)} in {data}", count)
        rng = stream(seed, "dirichlet split")
        small: list[int] = []
        while len(small) < TRIES and not any(len(small) >= n and min(small) >= most for n, most in HOPELESS):
            sizes, pieces = self._try(labels, data.classes, clients, rng)
            if sizes.min() >= self.least:
                return [rng.permutation(np.concatenate(own)) for own in zip(*pieces, strict=True)]
            small.append(int((sizes < self.least).sum()))
        raise EmpiricsError(
            f"no split of {data} over {clients} clients with at least {self.least} samples each in {len(small)} draws, "
            f"each with {min(small)} smaller clients or more, of Dirichlet({self.alpha:g}): raise alpha, or lower "
            "least or the number of clients"
        )

    def _try(
        self, labels: np.ndarray, classes: int, clients: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, list[list[np.ndarray]]]:
        """One draw: how many samples every client gets, and by class the clients' pieces (none where a client gets too
        few, or where no client that may still take a class has a share in it)."""
        cap, sizes, cuts = len(labels) / clients, np.zeros(clients, dtype=np.int64), []
        pools = members(labels, classes, rng)
        for pool in pools:
            shares = rng.dirichlet(np.full(clients, self.alpha)) * (sizes < cap)
            if not shares.sum() > 0:
                return np.zeros(clients, dtype=np.int64), []
            # A cumulative sum that ends just below one must not leave a sample to those who get nothing.
            ends = np.floor(np.cumsum(shares / shares.sum()) * len(pool) + 1e-9).astype(np.int64)[:-1]
            sizes += np.diff(ends, prepend=0, append=len(pool))
            cuts.append(ends)
        if sizes.min() < self.least:
            return sizes, []
        return sizes, [np.split(pool, ends) for pool, ends in zip(pools, cuts, strict=True)]


@dataclass(frozen=True)
class DirichletReplaced(Split):
    """For every client, a class prior from a symmetric Dirichlet law, and as many labels drawn from it as others have.

    ``alpha`` below one makes most clients see few classes; as it grows they become alike. Of a pool, every client draws
    by such a prior, uniformly within a class. FedInit's split: a label takes the next sample of its
    class, and a class that is used up starts again. So sizes are equal (samples / clients, rounded down), clients may
    share samples, and some samples are left out. Client k's prior depends on (seed, k) alone.
    """

    alpha: float
    word = "dirichlet_replaced"
    disjoint: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        concentration("alpha of a Dirichlet split", self.alpha)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        pools = members(data.labels, data.classes, stream(seed, "class pools"))
        held = np.array([len(pool) > 0 for pool in pools])
        used = np.zeros(data.classes, dtype=np.int64)
        size = len(data) // clients
        parts = []
        for k in range(clients):
            rng = stream(seed, "replaced split", client=k)
            counts = rng.multinomial(size, self._prior(rng, held))
            taken = [pools[c][(used[c] + np.arange(counts[c])) % len(pools[c])] for c in np.flatnonzero(counts)]
            used += counts
            parts.append(rng.permutation(np.concatenate(taken)))
        return parts

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        counts = np.bincount(labels)
        priors = (self._prior(stream(seed, "class prior", client=k), counts > 0) for k in range(clients))
        return np.stack([(prior / np.maximum(counts, 1))[labels] for prior in priors])

    def _prior(self, rng: np.random.Generator, held: np.ndarray) -> np.ndarray:
        """A client's shares of the classes, of which those ``held`` by nobody get none."""
        prior = np.zeros(len(held))
        prior[held] = rng.dirichlet(np.full(held.sum(), self.alpha))
        return prior
