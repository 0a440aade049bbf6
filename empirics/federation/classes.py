"""Splits by class: sorted, a number of classes per client, shards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .split import members, must, Split

LAYOUTS = ("blocks", "random")


@dataclass(frozen=True)
class Sorted(Split):
    """Sorted by ``"label"`` or ``"group"`` (a genre, say), then cut evenly in that order: FedALS's non-iid split."""

    by: str = "label"
    word = "sorted"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.by in ("label", "group"), "by", "'label' or 'group'", self.by)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        return np.array_split(_in_order(data, self.by, seed), clients)


@dataclass(frozen=True)
class ClassesPerClient(Split):
    """Every client holds ``classes`` of the classes; the samples of a class are split evenly among those who hold it.

    ``layout="blocks"`` is FedCOG's NIID-2: the classes fall into consecutive blocks and client i holds block i modulo
    their number. ``layout="random"`` deals classes round after round, each round in a drawn order, so that classes are
    held equally often, give or take one. With few clients some classes are held by nobody, and their samples lie idle.
    """

    classes: int = 2
    layout: str = "blocks"
    word = "classes_per_client"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.classes >= 1, "classes", "at least 1", self.classes)
        must(self.layout in LAYOUTS, "layout", " or ".join(map(repr, LAYOUTS)), self.layout)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        labels = data.labels
        must(self.classes <= data.classes, "classes per client", f"at most {data.classes} in {data}", self.classes)
        held = self._blocks(data, clients) if self.layout == "blocks" else self._drawn(data, clients, seed)
        pools = members(labels, data.classes, stream(seed, "classes split"))
        parts: list[list[np.ndarray]] = [[] for _ in range(clients)]
        for c, pool in enumerate(pools):
            holders = np.flatnonzero((held == c).any(axis=1))
            if len(holders) > len(pool):
                raise EmpiricsError(f"class {c} of {data} has {len(pool)} samples for {len(holders)} clients")
            if len(holders):
                for k, piece in zip(holders, np.array_split(pool, len(holders)), strict=True):
                    parts[k].append(piece)
        return [np.concatenate(pieces) for pieces in parts]

    def _blocks(self, data: Dataset, clients: int) -> np.ndarray:
        if data.classes % self.classes:
            raise EmpiricsError(
                f"blocks need classes per client to divide {data.classes}; got {self.classes}: use layout='random'"
            )
        blocks = np.arange(data.classes).reshape(-1, self.classes)
        return blocks[np.arange(clients) % len(blocks)]

    def _drawn(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """Classes of every client ``(clients, classes)``, none twice for one client."""
        rng = stream(seed, "classes held")
        held = np.zeros((clients, data.classes), dtype=bool)
        counts = np.zeros(data.classes, dtype=np.int64)
        for k in range(clients):
            order = rng.permutation(data.classes)
            chosen = order[np.argsort(counts[order], kind="stable")][: self.classes]
            held[k, chosen] = True
            counts[chosen] += 1
        return np.nonzero(held)[1].reshape(clients, self.classes)


@dataclass(frozen=True)
class Shards(Split):
    """Sorted by label, cut into equal shards, ``per_client`` of them dealt to each at random (McMahan et al. 2017)."""

    per_client: int = 2
    word = "shards"

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.per_client >= 1, "shards per client", "at least 1", self.per_client)

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        count = clients * self.per_client
        must(count <= len(data), "clients times shards per client", f"at most {len(data)} in {data}", count)
        shards = np.array_split(_in_order(data, "label", seed), count)
        dealt = stream(seed, "shards dealt").permutation(count).reshape(clients, self.per_client)
        return [np.concatenate([shards[s] for s in own]) for own in dealt]


def _in_order(data: Dataset, by: str, seed: int) -> np.ndarray:
    """Sample numbers sorted by label or group, in drawn order within each."""
    keys = data.labels if by == "label" else data.groups
    if keys is None:
        raise EmpiricsError(f"{data} has no groups to sort by")
    shuffled = stream(seed, "sorted split").permutation(len(data))
    return shuffled[np.argsort(keys[shuffled], kind="stable")]
