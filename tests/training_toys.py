"""Small federations and models for tests of training: a start of one's own, columns split into a body and a head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from empirics.federation.federation import Federation
from empirics.models.linear import Logistic, Softmax


@dataclass(frozen=True)
class SplitLogistic(Logistic):
    """Starts at ``begin``; the first ``body`` columns are the body, the others the head."""

    begin: tuple[float, ...] = ()
    body: int = 1

    @property
    def layers(self) -> Mapping[str, slice]:
        return {"body": slice(0, self.body), "head": slice(self.body, self.dim)}

    def start(self, seed: int) -> Tensor:
        return torch.tensor(self.begin, dtype=self.dtype)


def two_classes(sizes: tuple[int, ...], features: int = 4, dtype: torch.dtype = torch.float64) -> Federation:
    """Clients of these sizes with Gaussian inputs around means of their own, labels -1 and 1."""
    rng = np.random.default_rng(11)
    parts, begin = [], 0
    for size in sizes:
        parts.append(np.arange(begin, begin + size))
        begin += size
    inputs = rng.normal(size=(begin, features)) + np.repeat(rng.normal(size=(len(sizes), features)), sizes, axis=0)
    labels = np.where(rng.random(begin) < 0.4, -1.0, 1.0)
    shuffled = rng.permutation(begin)  # members need not lie side by side
    parts = [np.sort(shuffled[part]) for part in parts]
    return Federation.of(torch.tensor(inputs, dtype=dtype), torch.tensor(labels, dtype=dtype), parts)


def many_classes(
    sizes: tuple[int, ...], features: int = 7, classes: int = 3, dtype: torch.dtype = torch.float64
) -> tuple[Softmax, Federation]:
    """A softmax model and clients of these sizes."""
    rng = np.random.default_rng(5)
    total = sum(sizes)
    parts = np.split(np.arange(total), np.cumsum(sizes)[:-1])
    inputs = torch.tensor(rng.normal(size=(total, features)), dtype=dtype)
    targets = torch.tensor(rng.integers(0, classes, total))
    return Softmax(features, classes, 0.03, dtype), Federation.of(inputs, targets, parts)
