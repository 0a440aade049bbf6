"""Makes a federation with model inputs and test sets from a data set and a partition."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bounds.errors import unknown

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..numbers import must
from ..streams import stream
from .augment import AUGMENTATIONS, CropFlip, Recipe
from .federation import Federation
from .partitions import ByGroup, partition as read_partition, Split

BEYOND_ONE = "beyond one"
"""Value of ``standardise``: only if features leave [-1, 1]."""
LOCAL_TESTS = ("none", "held_out", "matched", "groups")


class FederatedData(NamedTuple):
    """A federation for training, the common test set as one client, and the clients' own test samples, if any.

    ``local_test`` has the same clients as ``train``.
    """

    train: Federation
    test: Federation | None
    local_test: Federation | None
    name: str


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
    """Split ``data`` over ``clients`` by ``partition`` (both may be text); return the federation and its test sets.

    ``clients=None`` takes every group of a partition by group. ``local_test``: ``"held_out"`` keeps ``test_share`` of
    every client's samples for its test (the last ones of sequences, without windows that overlap training);
    ``"matched"`` draws from the common test set with the client's label shares (FedCOG); ``"groups"`` takes the samples
    of the client's group in the test set. ``standardise`` scales real features to mean 0 and variance 1 over the
    samples that clients train on (``"beyond one"``: only if they leave [-1, 1]). ``intercept`` appends a constant
    feature and ``flat`` flattens images, both for linear models. Floats become ``dtype`` (None: float64 for real
    features, float32 for inputs that are prepared by batch).

    Raises:
        EmpiricsError: if data, partition and options do not go together.

    >>> parts = federate("iris", "dirichlet(0.7, least=4)", clients=5, seed=3, local_test="held_out", intercept=True)
    >>> parts.train.clients, int(parts.train.client_sizes.sum() + parts.local_test.client_sizes.sum())
    (5, 150)
    >>> inputs, targets = parts.train.samples(client=2)  # (samples, features and a constant), (samples,)
    >>> inputs.shape[1], targets.dtype
    (5, torch.int64)
    """
    if isinstance(data, str):
        from ..data.catalogue import dataset  # the catalogue imports every reader

        data = dataset(data)
    split = read_partition(partition) if isinstance(partition, str) else partition
    must(local_test in LOCAL_TESTS, "local_test", f"one of {', '.join(LOCAL_TESTS)}", local_test)
    if clients is None:
        if not isinstance(split, ByGroup):
            raise EmpiricsError(f"{split} needs clients=N (only by_group() determines the number)")
        clients = len(split.large_groups(data))
    recipe = _recipe(data, augment, flat, intercept, dtype)
    parts = split(data, clients, seed)
    tests: list[np.ndarray] | None = None
    if local_test == "held_out":
        parts, tests = held_out(data, parts, test_share, seed)
    if standardise:
        trained = np.unique(np.concatenate(parts))  # some may be held out, or belong to no client
        rows = None if len(trained) == len(data) else trained
        if standardise != BEYOND_ONE or np.abs(data.inputs if rows is None else data.inputs[rows]).max() > 1:
            data = data.standardised(rows)
    train = _federation(data, parts, recipe)
    common = None if data.test is None else _federation(data.test, [np.arange(len(data.test))], recipe)
    local = None if tests is None else _with_parts(train, tests)
    if local_test in ("matched", "groups"):
        if data.test is None or common is None:
            raise EmpiricsError(f"{data} has no test set to take {local_test} tests from: use local_test='held_out'")
        tests = _matched(data, parts, seed) if local_test == "matched" else _group_tests(data, split, clients, seed)
        local = _with_parts(common, tests)
    return FederatedData(train, common, local, f"{data}, {split}, {clients} clients, seed {seed}")


def everything(data: Dataset, *, flat: bool, intercept: bool, dtype: torch.dtype | None = None) -> Federation:
    """Return a federation of one client with all samples of ``data`` in their order; options as in ``federate``."""
    return _federation(data, [np.arange(len(data))], _recipe(data, None, flat, intercept, dtype))


def held_out(
    data: Dataset, parts: list[np.ndarray], share: float, seed: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Split every client's samples in two, (training, test), with at least one sample each.

    If samples overlap their neighbours (windows of a text), the last ones are the test, and samples before them that
    overlap the test are dropped.
    """
    must(0 < share < 1, "test_share", "above 0 and below 1", share)
    train, test = [], []
    for k, part in enumerate(parts):
        count = max(1, round(share * len(part)))
        if data.overlap:
            ordered = np.sort(part)
            last = ordered[len(part) - count :]
            rest = ordered[ordered < last[0] - data.overlap]
        else:
            shuffled = stream(seed, "held out", client=k).permutation(part)
            rest, last = shuffled[count:], shuffled[:count]
        if not len(rest):
            raise EmpiricsError(f"client {k} has {len(part)} samples, too few to hold out {share:g} of them")
        train.append(rest)
        test.append(last)
    return train, test


def matched(labels: np.ndarray, counts: np.ndarray, seed: int, client: int) -> np.ndarray:
    """The largest subset of a test set, drawn without repetition, that has the class shares of ``counts``.

    Class sizes are rounded down, so a class with a tiny share may be left out.
    """
    shares = counts / counts.sum()
    available = np.bincount(labels, minlength=len(counts))
    present = shares > 0
    total = np.min(available[present] / shares[present])
    rng = stream(seed, "matched test", client=client)
    sizes = np.floor(shares * total + 1e-9).astype(np.int64)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == c))[: sizes[c]] for c in np.flatnonzero(sizes)])


def _matched(data: Dataset, parts: list[np.ndarray], seed: int) -> list[np.ndarray]:
    assert data.test is not None
    labels, common = data.labels, data.test.labels
    absent = np.setdiff1d(labels, common)
    if len(absent):
        raise EmpiricsError(f"the test set of {data} has no sample of class {absent[0]}: use local_test='held_out'")
    counts = [np.bincount(labels[part], minlength=data.classes) for part in parts]
    return [matched(common, count, seed, k) for k, count in enumerate(counts)]


def _group_tests(data: Dataset, split: Split, clients: int, seed: int) -> list[np.ndarray]:
    """The test samples of every client's group."""
    if not isinstance(split, ByGroup) or data.test is None or data.test.groups is None:
        raise EmpiricsError(f"local_test='groups' needs by_group() and a test set with groups; got {split} of {data}")
    tests = [np.flatnonzero(data.test.groups == g) for g in split.client_groups(data, clients, seed)]
    if empty := [k for k, part in enumerate(tests) if not len(part)]:
        raise EmpiricsError(f"client {empty[0]} of {data} has no sample in the test set: use local_test='held_out'")
    return tests


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
    """A federation whose model inputs are made now, or by batch if they are small integers or are augmented."""
    inputs, dtype = tensor(data.inputs), recipe.dtype or torch.float32
    targets, ready = tensor(data.targets), data.prepare is None and recipe.augment is None
    if ready and inputs.is_floating_point():
        dtype = recipe.dtype or inputs.dtype
        inputs = recipe.test(inputs.to(dtype))
    targets = targets.to(dtype if targets.is_floating_point() else torch.int64)
    plain = Federation.of(inputs, targets, parts)
    return plain if ready else replace(plain, recipe=recipe)


def tensor(array: np.ndarray) -> Tensor:
    """The array as a tensor, which shares its memory if the array is writeable."""
    ready = np.ascontiguousarray(array)
    return torch.from_numpy(ready if ready.flags.writeable else ready.copy())


def _with_parts(federation: Federation, parts: list[np.ndarray]) -> Federation:
    """The federation with its pool split in another way."""
    other = Federation.of(federation.inputs, federation.targets, parts)
    return replace(federation, members=other.members, offsets=other.offsets)
