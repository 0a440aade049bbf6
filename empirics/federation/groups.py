"""Splits as found in nature: a client is a user, writer, speaker, school or hospital."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .split import must, Split


@dataclass(frozen=True)
class ByGroup(Split):
    """One client per group with at least ``least`` samples; of these, as many as asked for are drawn by the seed.

    Clients come in the order of their group numbers; ``chosen`` says which they are.
    """

    least: int = 1
    word = "by_group"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.least >= 1, "least", "at least 1", self.least)

    def everyone(self, data: Dataset) -> np.ndarray:
        """Numbers of all groups that are large enough."""
        if data.groups is None:
            raise EmpiricsError(f"{data} does not say whose its samples are: choose another partition")
        numbers, counts = np.unique(data.groups, return_counts=True)  # numbers may be as large as those of patients
        return numbers[counts >= self.least]

    def chosen(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """The group number of every client."""
        able = self.everyone(data)
        if clients > len(able):
            raise EmpiricsError(
                f"clients must be at most the {len(able)} {data.group_word}s of {data} with {self.least} or more "
                f"samples; got {clients}"
            )
        return np.sort(stream(seed, "groups drawn").permutation(able)[:clients])

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        groups = self.chosen(data, clients, seed)
        assert data.groups is not None
        order = np.argsort(data.groups, kind="stable")
        first = np.searchsorted(data.groups[order], [groups, groups + 1])
        return [order[a:b] for a, b in zip(*first, strict=True)]
