"""Splits that ignore what the samples are: equal sizes, or skewed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .split import apportioned, cut, must, Split


@dataclass(frozen=True)
class Iid(Split):
    """Shuffled and cut evenly, sizes differ by one at most; of a pool, everybody draws uniformly from the whole."""

    word = "iid"
    identical: ClassVar[bool] = True

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        sizes = len(data) // clients + (np.arange(clients) < len(data) % clients)
        return cut(stream(seed, "iid split").permutation(len(data)), sizes)

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        return np.full((clients, len(labels)), 1.0 / len(labels))


@dataclass(frozen=True)
class _SkewedSizes(Split):
    """Shuffled and cut into pieces of skewed sizes, each at least ``least``."""

    def weights(self, clients: int, seed: int) -> np.ndarray:
        raise NotImplementedError

    @property
    def smallest(self) -> int:
        raise NotImplementedError

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        if clients * self.smallest > len(data):
            raise EmpiricsError(
                f"{clients} clients with at least {self.smallest} samples need more than the {len(data)} of {data}"
            )
        sizes = apportioned(len(data), self.weights(clients, seed), self.smallest)
        return cut(stream(seed, "sizes split").permutation(len(data)), sizes)


@dataclass(frozen=True)
class LogNormalSizes(_SkewedSizes):
    """Sizes proportional to ``exp(sigma z_k)`` with normal ``z_k`` of client k: beyond ``least``, a log-normal law."""

    sigma: float = 1.0
    least: int = 1
    word = "log_normal_sizes"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(0 <= self.sigma < 50, "sigma", "at least 0 and below 50", self.sigma)
        must(self.least >= 1, "least", "at least 1", self.least)

    @property
    def smallest(self) -> int:
        return self.least

    def weights(self, clients: int, seed: int) -> np.ndarray:
        return np.exp(self.sigma * np.array([stream(seed, "size", client=k).normal() for k in range(clients)]))


@dataclass(frozen=True)
class PowerLawSizes(_SkewedSizes):
    """Sizes proportional to ``rank^-exponent`` beyond ``least``; which client has which rank is drawn."""

    exponent: float = 1.0
    least: int = 1
    word = "power_law_sizes"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(0 <= self.exponent < 50, "exponent", "at least 0 and below 50", self.exponent)
        must(self.least >= 1, "least", "at least 1", self.least)

    @property
    def smallest(self) -> int:
        return self.least

    def weights(self, clients: int, seed: int) -> np.ndarray:
        return (1.0 + stream(seed, "size ranks").permutation(clients)) ** -self.exponent
