"""From a data set and a partition to a federation with model-ready tensors and the tests the papers need."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from bounds.errors import unknown

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..streams import stream
from .augment import AUGMENTATIONS, CropFlip
from .federation import Federation
from .partitions import ByGroup, partition as read_partition, Split
from .prepared import PreparedFederation, Recipe

BEYOND_ONE = "beyond one"
LOCAL_TESTS = ("none", "held_out", "matched", "groups")


@dataclass(frozen=True, eq=False)
class FederatedData:
    """What a run needs: who trains on what, the common test set, and every client's own test samples, if asked for.

    ``test`` holds model inputs of the common test set in one client; ``local_test`` has the same clients as ``train``.
    """

    data: Dataset
    partition: Split
    seed: int
    train: Federation
    test: Federation | None
    local_test: Federation | None

    def __str__(self) -> str:
        return f"{self.data}, {self.partition}, {self.train.clients} clients, seed {self.seed}"


def federate(
    data: Dataset | str,
    partition: Split | str,
    clients: int | None = None,
    seed: int = 0,
    *,
    local_test: str = "none",
    test_share: float = 0.2,
    standardise: bool | str = False,
    intercept: bool = False,
    flat: bool = False,
    augment: CropFlip | str | None = None,
    dtype: torch.dtype | None = None,
) -> FederatedData:
    """Deal ``data`` to ``clients`` by ``partition`` (both may be written as text).

    ``clients=None`` takes every group of a partition by group. ``local_test``: ``"held_out"`` keeps ``test_share`` of
    every client's samples for its test (of sequences the last, without windows that reach into training);
    ``"matched"`` draws from the common test set with the client's label shares (FedCOG); ``"groups"`` takes the samples
    of the client's group in the test set. ``standardise`` moves real features to mean 0 and variance 1 (``"beyond
    one"``: only if they leave [-1, 1]) over the samples that clients train on. ``intercept``
    appends a constant feature, ``flat`` flattens images, both for linear models. Floats become ``dtype`` (None: float64
    for real features, float32 for what is prepared by batch).

    Raises:
        EmpiricsError: if data, partition and options do not go together; the message says which of them.

    >>> held = federate("iris", "dirichlet(0.7, least=4)", clients=5, seed=3, local_test="held_out", intercept=True)
    >>> held.train.clients, int(held.train.client_sizes.sum() + held.local_test.client_sizes.sum())
    (5, 150)
    >>> inputs, targets = held.train.samples(client=2)  # (samples, features and a constant), (samples,)
    >>> inputs.shape[1], targets.dtype
    (5, torch.int64)
    """
    data, split = _read(data), read_partition(partition) if isinstance(partition, str) else partition
    if local_test not in LOCAL_TESTS:
        raise EmpiricsError(f"local_test must be one of {', '.join(LOCAL_TESTS)}; got {local_test!r}")
    if clients is None:
        if not isinstance(split, ByGroup):
            raise EmpiricsError(f"{split} needs clients=N (only by_group() has a number of its own)")
        clients = len(split.everyone(data))
    recipe = _recipe(data, augment, flat, intercept, dtype)
    parts = split(data, clients, seed)
    tests: list[np.ndarray] | None = None
    if local_test == "held_out":
        parts, tests = held_out(data, parts, test_share, seed)
    if standardise:
        trained = np.unique(np.concatenate(parts))  # some may be held out, or belong to no client
        seen = None if len(trained) == len(data) else trained
        if standardise != BEYOND_ONE or np.abs(data.inputs if seen is None else data.inputs[seen]).max() > 1:
            data = data.standardised(seen)
    train = _federation(data, parts, recipe)
    common = None if data.test is None else _federation(data.test, [np.arange(len(data.test))], recipe)
    own = None if tests is None else _holding(train, tests)
    if local_test in ("matched", "groups"):
        if data.test is None or common is None:
            raise EmpiricsError(f"{data} has no test set to take {local_test} tests from: use local_test='held_out'")
        chosen = _matched(data, parts, seed) if local_test == "matched" else _own_groups(data, split, clients, seed)
        own = _holding(common, chosen)
    return FederatedData(data, split, seed, train, common, own)


def everything(data: Dataset, *, flat: bool, intercept: bool, dtype: torch.dtype | None = None) -> Federation:
    """All samples of ``data`` in their order, with a single client; the options are those of ``federate``."""
    return _federation(data, [np.arange(len(data))], _recipe(data, None, flat, intercept, dtype))


def held_out(
    data: Dataset, parts: list[np.ndarray], share: float, seed: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Every client's samples cut in two: (training, test), at least one sample each.

    Where samples overlap their neighbours (windows of a text), the last ones are the test, and those before it that
    reach into it are dropped.
    """
    if not 0 < share < 1:
        raise EmpiricsError(f"test_share must be above 0 and below 1; got {share:g}")
    train, test = [], []
    for k, part in enumerate(parts):
        count = max(1, round(share * len(part)))
        if data.overlap:
            ordered = np.sort(part)
            last = ordered[len(part) - count :]
            kept = ordered[ordered < last[0] - data.overlap]
        else:
            mixed = stream(seed, "held out", client=k).permutation(part)
            kept, last = mixed[count:], mixed[:count]
        if not len(kept):
            raise EmpiricsError(f"client {k} has {len(part)} samples, too few to hold out {share:g} of them")
        train.append(kept)
        test.append(last)
    return train, test


def matched(labels: np.ndarray, counts: np.ndarray, seed: int, client: int) -> np.ndarray:
    """As many samples of a test set as can be drawn without repetition with the class shares of ``counts``.

    Every class gets the share rounded down, so a class with a tiny share may be left out.
    """
    shares = counts / counts.sum()
    have = np.bincount(labels, minlength=len(counts))
    wanted = shares > 0
    size = np.min(have[wanted] / shares[wanted])
    rng = stream(seed, "matched test", client=client)
    taken = np.floor(shares * size + 1e-9).astype(np.int64)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == c))[: taken[c]] for c in np.flatnonzero(taken)])


def _matched(data: Dataset, parts: list[np.ndarray], seed: int) -> list[np.ndarray]:
    assert data.test is not None
    labels, common = data.labels, data.test.labels
    absent = np.setdiff1d(labels, common)
    if len(absent):
        raise EmpiricsError(f"the test set of {data} has no sample of class {absent[0]}: use local_test='held_out'")
    counts = [np.bincount(labels[part], minlength=data.classes) for part in parts]
    return [matched(common, count, seed, k) for k, count in enumerate(counts)]


def _own_groups(data: Dataset, split: Split, clients: int, seed: int) -> list[np.ndarray]:
    """Test samples of every client's own group."""
    if not isinstance(split, ByGroup) or data.test is None or data.test.groups is None:
        raise EmpiricsError(f"local_test='groups' needs by_group() and a test set with groups; got {split} of {data}")
    chosen = [np.flatnonzero(data.test.groups == g) for g in split.chosen(data, clients, seed)]
    if empty := [k for k, part in enumerate(chosen) if not len(part)]:
        raise EmpiricsError(f"client {empty[0]} of {data} has no sample in the test set: use local_test='held_out'")
    return chosen


def _read(data: Dataset | str) -> Dataset:
    if isinstance(data, Dataset):
        return data
    from ..data.catalogue import dataset  # the catalogue imports every reader

    return dataset(data)


def _recipe(
    data: Dataset, augment: CropFlip | str | None, flat: bool, intercept: bool, dtype: torch.dtype | None
) -> Recipe:
    if isinstance(augment, str):
        if augment not in AUGMENTATIONS:
            raise unknown("augmentation", augment, AUGMENTATIONS)
        augment = AUGMENTATIONS[augment]
    if augment is not None and data.inputs.ndim != 4:
        raise EmpiricsError(f"only images can be augmented; inputs of {data} have shape {data.inputs.shape[1:]}")
    return Recipe(data.prepare, augment, flat, intercept, dtype)


def _federation(data: Dataset, parts: list[np.ndarray], recipe: Recipe) -> Federation:
    """Tensors that are ready now, prepared by batch where they are small integers or are augmented."""
    inputs, dtype = tensor(data.inputs), recipe.dtype or torch.float32
    targets, ready = tensor(data.targets), data.prepare is None and recipe.augment is None
    if ready and inputs.is_floating_point():
        dtype = recipe.dtype or inputs.dtype
        inputs = recipe.test(inputs.to(dtype))
    targets = targets.to(dtype if targets.is_floating_point() else torch.int64)
    plain = Federation.of(inputs, targets, parts)
    if ready:
        return plain
    return PreparedFederation(plain.inputs, plain.targets, plain.members, plain.offsets, recipe)


def tensor(array: np.ndarray) -> Tensor:
    """The array as a tensor, sharing its memory where NumPy lets it be written to."""
    ready = np.ascontiguousarray(array)
    return torch.from_numpy(ready if ready.flags.writeable else ready.copy())


def _holding(federation: Federation, parts: list[np.ndarray]) -> Federation:
    """The same pool dealt in another way."""
    dealt = Federation.of(federation.inputs, federation.targets, parts)
    return replace(federation, members=dealt.members, offsets=dealt.offsets)
