"""A federation: a pool of samples in memory, and the indices of every client's samples; ``federate`` makes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from bounds.errors import unknown

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..models.model import Batch
from ..numbers import must
from ..streams import stream
from .augment import AUGMENTATIONS, CropFlip, noise, Recipe
from .partitions import ByGroup, partition as read_partition, Split
from .shuffles import orders

BEYOND_ONE = "beyond one"
"""Value of ``standardise``: only if features leave [-1, 1]."""
LOCAL_TESTS = ("none", "held_out", "matched", "groups")


class Minibatches(Protocol):
    """The minibatches of some clients, one per row, in one round."""

    def part(self, rows: slice) -> Self:
        """The minibatches of some rows."""
        ...

    def at(self, active: int, step: int) -> Batch:
        """The batch of one step for the first ``active`` rows."""
        ...


class Source(Protocol):
    """The clients and minibatches of the training loop: a ``Federation``, or quadratics that need no data.

    ``client_sizes (clients,)`` are the weights if settings average by samples; ``inputs`` are on the device on which
    training takes place; ``label_counts (clients, classes)`` are used by some methods only.
    """

    @property
    def clients(self) -> int: ...

    @property
    def client_sizes(self) -> np.ndarray: ...

    @property
    def inputs(self) -> Tensor: ...

    @property
    def label_counts(self) -> Tensor: ...

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Minibatches:
        """The minibatches of ``clients`` in a round, which depend on (seed, round, client) alone."""
        ...


@dataclass(frozen=True, eq=False)
class Batches:
    """The minibatches of some clients in one round: ``index (rows, steps, batch)`` into the pool.

    ``weight`` of the same shape is 1/size of the batch on real entries and 0 on padding; None if all batches are full.
    ``recipe`` makes model inputs of a batch, with the random integers ``words (rows, steps, batch, ...)``.
    """

    inputs: Tensor
    targets: Tensor
    index: Tensor
    weight: Tensor | None
    recipe: Recipe | None = None
    words: Tensor | None = None

    @property
    def by_step(self) -> dict[str, Tensor]:
        """The fields of shape ``(rows, steps, ...)``, which differ from round to round."""
        fields = {"index": self.index, "weight": self.weight, "words": self.words}
        return {name: field for name, field in fields.items() if field is not None}

    def part(self, rows: slice) -> Self:
        """The minibatches of some rows."""
        fields: Any = {name: field[rows] for name, field in self.by_step.items()}
        return replace(self, **fields)

    def at(self, active: int, step: int) -> tuple[Tensor, Tensor, Tensor | None]:
        """Inputs, targets and weights of one step for the first ``active`` rows."""
        index = self.index[:active, step]
        weight = None if self.weight is None else self.weight[:active, step]
        inputs, targets = _take(self.inputs, index), _take(self.targets, index)
        if self.recipe is not None:
            inputs = self.recipe.train(inputs, None if self.words is None else self.words[:active, step])
        return inputs, targets, weight

    @cached_property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] | None:
        """The first four fields for compiled code, inputs and targets flat; None unless they are ready on a CPU."""
        fields = [self.inputs, self.targets, self.index] + ([] if self.weight is None else [self.weight])
        if self.recipe is not None or any(field.device.type != "cpu" or field.requires_grad for field in fields):
            return None
        inputs, targets, index, *weight = (field.contiguous().numpy() for field in fields)
        return inputs.reshape(-1), targets.reshape(-1), index, weight[0] if weight else None


def _take(pool: Tensor, index: Tensor) -> Tensor:
    """``pool[index]`` by index_select, which is three times faster than fancy indexing."""
    return pool.index_select(0, index.reshape(-1)).view(*index.shape, *pool.shape[1:])


@dataclass(frozen=True, eq=False)
class Federation:
    """A pool of samples ``inputs (n, ...)`` and ``targets (n, ...)``, and the indices of every client's samples.

    ``members`` lists sample indices client by client; client k has ``members[offsets[k]:offsets[k+1]]``. ``recipe``
    (None: inputs are ready) makes model inputs of ``inputs``; ``samples`` and ``draw`` return model inputs.
    """

    inputs: Tensor
    targets: Tensor
    members: Tensor
    offsets: np.ndarray
    recipe: Recipe | None = None

    @classmethod
    def of(cls, inputs: Tensor, targets: Tensor, parts: Sequence[np.ndarray]) -> Federation:
        """Return the federation in which client k has the samples ``parts[k]`` (indices into ``inputs``)."""
        for k, part in enumerate(parts):
            if len(part) == 0:
                raise EmpiricsError(f"every client must have a sample; client {k} of {len(parts)} is empty")
        members = torch.as_tensor(np.concatenate(parts), dtype=torch.int64, device=inputs.device)
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
        return cls(inputs, targets, members, offsets)

    @classmethod
    def from_frame(
        cls, frame: Any, target: str, group: str = "", leave_out: str | Sequence[str] = (), kind: str = ""
    ) -> Federation:
        """Make a federation of a pandas DataFrame, with a client for each value of the column ``group``, or one client.

        Features are float64 ``(rows, columns)`` in the order of the columns, unscaled; targets are class numbers from 0
        or, for regression, float64. Columns and errors are those of ``empirics.data.csv_tables.table``.
        """
        from ..data.csv_tables import from_frame  # with pandas

        data = from_frame(frame, target, group, leave_out, kind)
        data = data.as_classes() if data.kind == "binary" else data
        names = range(len(data.group_names))
        parts = [np.arange(len(data))] if data.groups is None else [np.flatnonzero(data.groups == g) for g in names]
        return cls.of(torch.from_numpy(data.inputs), torch.from_numpy(data.targets), parts)

    @property
    def clients(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def client_sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def _common_size(self) -> int:
        """The size of all clients, or 0 if sizes differ."""
        sizes = self.client_sizes
        return int(sizes[0]) if (sizes == sizes[0]).all() else 0

    def all_full(self, batch: int) -> bool:
        """Whether all clients have the same size, a multiple of ``batch``, so that batches need no weights.

        All clients count, not those of a round, so that a client's numbers do not depend on the others drawn.
        """
        return self._common_size > 0 and self._common_size % batch == 0

    @cached_property
    def label_counts(self) -> Tensor:
        """The number of samples of every class of each client ``(clients, classes)``; targets must be class numbers."""
        if self.targets.ndim != 1 or self.targets.is_floating_point():
            raise EmpiricsError("the method needs class numbers as targets, one per sample")
        owner = torch.from_numpy(np.repeat(np.arange(self.clients), self.client_sizes)).to(self.members.device)
        classes = int(self.targets.max()) + 1
        flat = torch.bincount(owner * classes + self.targets[self.members], minlength=self.clients * classes)
        return flat.view(self.clients, classes)

    def samples(self, client: int) -> tuple[Tensor, Tensor]:
        """All samples of one client."""
        return self.take(self.members[self.offsets[client] : self.offsets[client + 1]])

    def take(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Model inputs and targets of the samples with these indices."""
        raw = self.inputs[index]
        return (raw if self.recipe is None else self.recipe.test(raw)), self.targets[index]

    def to(self, device: torch.device | str) -> Self:
        inputs, targets, members = (tensor.to(device) for tensor in (self.inputs, self.targets, self.members))
        return replace(self, inputs=inputs, targets=targets, members=members)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Batches:
        """The minibatches of ``clients`` in a round: shuffled passes over each client's samples, cut into batches.

        The last batch of a pass may be smaller; a client with fewer samples than a batch takes all of them. A client's
        batches depend on (seed, round, client) alone.
        """
        sizes = self.client_sizes[clients]
        batch = min(batch, int(self.client_sizes.max()))
        most = int(steps.max())
        passes = int((-(-steps // -(-sizes // batch))).max())
        order = orders(seed, round_, clients, sizes, passes)
        starts, weight = self.offsets[clients][:, None, None], None
        if self.all_full(batch):
            places = order.reshape(len(clients), -1)[:, : most * batch].reshape(len(clients), most, batch) + starts
        else:
            local, real = _cut(order, sizes, most, batch)
            places = np.where(real, local, 0) + starts
            # Integer inputs (pixels, codes) become floats when a batch is prepared; weights need a float dtype now.
            dtype = self.inputs.dtype if self.inputs.is_floating_point() else torch.get_default_dtype()
            weight = torch.from_numpy(real / real.sum(-1, keepdims=True)).to(self.inputs.device, dtype)
        words = None
        if self.recipe is not None:
            self.recipe.warm(self.inputs.device)
            if self.recipe.augment is not None:
                words = noise(seed, round_, clients, most, batch).to(self.inputs.device)
        return Batches(self.inputs, self.targets, self._members(places), weight, self.recipe, words)

    def _members(self, places: np.ndarray) -> Tensor:
        """The sample indices at positions ``places`` of ``members``."""
        return _take(self.members, torch.from_numpy(places).to(self.members.device))


# ---- samples that are used once, as theorems on disjoint rounds require ----


@dataclass(frozen=True, eq=False)
class Fresh(Federation):
    """A federation whose every round uses ``per_round`` new samples of a client, in one shuffled order per run."""

    per_round: int = 1

    @classmethod
    def from_(cls, federation: Federation, per_round: int) -> Fresh:
        """Make one of a federation; ``per_round`` is at least local steps times batch."""
        if type(federation) is not Federation or federation.recipe is not None:
            raise EmpiricsError("fresh samples need a federation whose inputs are ready, without preparation by batch")
        must(per_round >= 1, "per_round", ">= 1", per_round)
        return cls(federation.inputs, federation.targets, federation.members, federation.offsets, per_round=per_round)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> Batches:
        """The minibatches of a round, which share no samples with other rounds of the same seed."""
        most, sizes = int(steps.max()), self.client_sizes[clients]
        if most * batch > self.per_round:
            raise EmpiricsError(f"{most} steps of batch {batch} take more than the {self.per_round} samples of a round")
        short = sizes < (round_ + 1) * self.per_round
        if short.any():
            k, needed = int(np.argmax(short)), (round_ + 1) * self.per_round
            raise EmpiricsError(f"round {round_ + 1} needs {needed} samples of client {clients[k]}; it has {sizes[k]}")
        order = orders(seed, 0, clients, sizes, 1)[:, 0]
        first = round_ * self.per_round
        local = order[:, first : first + most * batch].reshape(len(clients), most, batch)
        return Batches(self.inputs, self.targets, self._members(local + self.offsets[clients][:, None, None]), None)


def short_batch_note(batch: int, sizes: Sequence[int] | np.ndarray) -> list[str]:
    """A message if clients of these sizes cannot fill a batch; else no message."""
    short = np.asarray(sizes) < batch
    if not short.any():
        return []
    who = f"{short.sum()} of {len(short)} clients have" if short.sum() > 1 else "one client has"
    return [
        f"{who} fewer than the {batch} samples of a batch (the smallest {np.min(sizes)}): "
        "their batches are all their samples"
    ]


def _cut(order: np.ndarray, sizes: np.ndarray, steps: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Passes ``(rows, passes, longest size)`` cut into batches ``(rows, steps, batch)``, and which entries are real."""
    pass_of, batch_of = np.divmod(np.arange(steps)[None, :], -(-sizes // batch)[:, None])
    position = batch_of[:, :, None] * batch + np.arange(batch)
    inside = np.minimum(position, order.shape[-1] - 1)
    within = np.minimum(pass_of, order.shape[1] - 1)[:, :, None]
    rows = np.arange(len(order))[:, None, None]
    return order[rows, within, inside], position < sizes[:, None, None]


# ---- from a data set ----


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
