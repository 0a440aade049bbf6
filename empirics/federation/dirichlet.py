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
        for _ in range(TRIES):
            parts = self._try(labels, data.classes, clients, rng)
            if parts is not None:
                return [rng.permutation(part) for part in parts]
        raise EmpiricsError(
            f"no split of {data} over {clients} clients with at least {self.least} samples each in {TRIES} draws of "
            f"Dirichlet({self.alpha:g}): raise alpha, or lower least or the number of clients"
        )

    def _try(self, labels: np.ndarray, classes: int, clients: int, rng: np.random.Generator) -> list[np.ndarray] | None:
        """One draw; None where a client is too small, or nobody who still may take a class has a share in it."""
        cap = len(labels) / clients
        sizes = np.zeros(clients, dtype=np.int64)
        pieces: list[list[np.ndarray]] = [[] for _ in range(clients)]
        for pool in members(labels, classes, rng):
            shares = rng.dirichlet(np.full(clients, self.alpha)) * (sizes < cap)
            if not shares.sum() > 0:
                return None
            # A cumulative sum that ends just below one must not leave a sample to those who get nothing.
            cuts = np.floor(np.cumsum(shares / shares.sum()) * len(pool) + 1e-9).astype(np.int64)[:-1]
            for k, piece in enumerate(np.split(pool, cuts)):
                pieces[k].append(piece)
                sizes[k] += len(piece)
        return [np.concatenate(own) for own in pieces] if sizes.min() >= self.least else None


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
