"""One object for every data set: plain arrays, what they mean, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bounds.domains import COUNT

from ..errors import EmpiricsError
from ..numbers import array_of_numbers, check_kind, check_name, checked, must, quoted
from ..streams import stream
from .store import Files

KINDS = ("classification", "binary", "regression", "multilabel", "sequence")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples: ``inputs (n, ...)`` and ``targets (n, ...)``, with the user, writer or hospital of each, if known.

    Targets by ``kind``: class numbers 0 .. classes - 1 (classification), -1 and 1 (binary), real numbers (regression),
    rows of 0 and 1 (multilabel), the following code (sequence). Images, texts and bags of words are stored as small
    integers; ``prepare`` turns a batch of them into model inputs (None: inputs are used unchanged). ``groups`` are
    indices into ``group_names``, shared with ``test``. Sample i shares text with the next ``overlap`` samples.
    ``class_names`` are the labels of a user's table. Arrays may be anything that NumPy reads as numbers (lists, tables,
    tensors).

    Raises:
        EmpiricsError: if an argument is invalid; the message names it and the rule.
    """

    name: str
    inputs: np.ndarray
    targets: np.ndarray
    classes: int
    kind: str = "classification"
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    group_word: str = "group"
    test: Dataset | None = None
    source: str = ""
    licence: str = ""
    prepare: Callable[[Any], Any] | None = None
    overlap: int = 0
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name("name of a data set", self.name)
        must(self.kind in KINDS, "kind of a data set", f"one of {', '.join(KINDS)}", self.kind)
        check_kind(f"{self.name}: classes", "int", self.classes)
        must(self.prepare is None or callable(self.prepare), f"{self.name}: prepare", "callable or None", self.prepare)
        for name in ("inputs", "targets"):
            what = f"{self.name}: {name}"
            array = array_of_numbers(what, getattr(self, name))
            object.__setattr__(self, name, array)
            must(array.size > 0, what, "at least one sample", array.shape)
            if np.issubdtype(array.dtype, np.floating) and not (finite := np.isfinite(array)).all():
                first = int(np.argmin(finite.reshape(len(array), -1).all(-1)))
                raise EmpiricsError(f"{what} must be finite numbers; sample {first} holds nan or infinity")
        self._check_groups()
        for name, values in (("targets", self.targets), ("groups", self.groups)):
            if values is not None and len(values) != len(self.inputs):
                raise EmpiricsError(f"{self.name}: {len(self.inputs)} inputs but {len(values)} {name}")
        if self.prepare is None:
            rule = "of shape (samples, features); write a single feature as inputs[:, None]"
            must(self.inputs.ndim > 1, f"{self.name}: inputs", rule, self.inputs.shape)
        must(isinstance(self.test, Dataset | None), f"{self.name}: test", "a Dataset or None", type(self.test).__name__)
        if self.test is not None and self.prepare is None:
            shape, test_shape = self.inputs.shape[1:], self.test.inputs.shape[1:]
            must(test_shape == shape, f"{self.name}: samples of the test set", f"of shape {shape}", test_shape)
        self._check_targets()

    def _check_groups(self) -> None:
        """Raise unless the groups are indices into the group names; store Booleans as integers."""
        if self.groups is None:
            return
        what, names = f"{self.name}: groups", self.group_names
        rule = "one integer >= 0 per sample (empirics.data.dataset.numbered makes them from names)"
        groups = array_of_numbers(what, self.groups, rule)
        must(groups.ndim == 1 and groups.dtype.kind != "f", what, rule, (groups.shape, str(groups.dtype)))
        must(groups.min(initial=0) >= 0, what, rule, groups.min(initial=0))
        count = groups.max(initial=0) + 1
        unique = not names or len(set(names)) == len(names) >= count
        must(unique, f"{self.name}: group_names", f"at least {count} different names, one per group", tuple(names))
        object.__setattr__(self, "groups", groups.astype(np.int64) if groups.dtype.kind == "b" else groups)

    def _check_targets(self) -> None:
        """Raise unless the targets have the shape and the values of their kind."""
        what, shape = f"{self.name}: targets", self.targets.shape
        flat = self.kind not in ("classification", "binary") or len(shape) == 1
        must(flat, what, "one number per sample; write a column as targets[:, 0]", shape)
        must(len(shape) < 3, what, "of shape (samples,) or (samples, numbers)", shape)
        if self.kind == "binary":
            wrong = self.targets[np.abs(self.targets) != 1]
            must(not len(wrong), what, "-1 or 1 in a binary set", *wrong[:1])
        if self.kind in ("classification", "sequence"):
            rule = f"integers from 0 to {self.classes - 1}"
            must(np.issubdtype(self.targets.dtype, np.integer), what, rule, str(self.targets.dtype))
            for extreme in (self.targets.min(), self.targets.max()):
                must(0 <= extreme < self.classes, what, rule, extreme)

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Make the arrays of this set and of its test set read-only inside the context."""
        arrays = [a for part in (self, self.test) if part for a in (part.inputs, part.targets, part.groups)]
        writeable = [a for a in arrays if a is not None and a.flags.writeable]
        for array in writeable:
            array.flags.writeable = False
        try:
            yield
        finally:
            for array in writeable:
                with suppress(ValueError):  # NumPy refuses for arrays that share the memory of a tensor
                    array.flags.writeable = True

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def labels(self) -> np.ndarray:
        """Class numbers 0 .. classes - 1 ``(n,)``, also for binary targets -1 and 1."""
        if self.kind in ("regression", "multilabel") or self.targets.ndim > 1:
            raise EmpiricsError(
                f"{self.name} has no single label per sample ({self.kind}); partition it by group or iid"
            )
        return (self.targets > 0).astype(np.int64) if self.kind == "binary" else self.targets

    @property
    def tabular(self) -> bool:
        """Whether the inputs are rows of real features."""
        return self.inputs.ndim == 2 and np.issubdtype(self.inputs.dtype, np.floating)

    def as_classes(self) -> Dataset:
        """Return a binary set with class numbers 0 and 1 instead of -1 and 1, for models with one output per class."""
        test = self.test and self.test.as_classes()
        return replace(self, targets=self.labels, kind="classification", test=test)

    def as_signs(self) -> Dataset:
        """Return a set of two classes with targets -1 and 1, for models of the margin."""
        if self.classes != 2:
            raise EmpiricsError(f"targets -1 and 1 need two classes; {self.name} has {self.classes}")
        test = self.test and self.test.as_signs()
        return replace(self, targets=np.where(self.labels == 1, 1.0, -1.0), kind="binary", test=test)

    def as_features(self) -> Dataset:
        """Return the set with integers (counts, flags) and unusual floats as float64, for models that multiply them."""
        real = self.kind in ("regression", "multilabel")
        test = self.test and self.test.as_features()
        inputs = self.inputs if self.prepare else _real(self.inputs)
        targets = _real(self.targets) if real else self.targets
        if inputs is self.inputs and targets is self.targets and test is self.test:
            return self
        return replace(self, inputs=inputs, targets=targets, test=test)

    def part(self, index: np.ndarray) -> Dataset:
        """Return the samples with the numbers ``index``, in this order, with the whole test set."""
        groups = None if self.groups is None else self.groups[index]
        return replace(self, inputs=self.inputs[index], targets=self.targets[index], groups=groups)

    def standardised(self, over: np.ndarray | None = None) -> Dataset:
        """Return the set with features of mean 0 and variance 1 over the samples with numbers ``over`` (None: all).

        The other samples and the test set are shifted and scaled by the same numbers.
        """
        if not self.tabular:
            raise EmpiricsError(f"only real features can be standardised; {self.name} holds {self.inputs.dtype}")
        with np.errstate(over="ignore", invalid="ignore"):
            sample = self.inputs if over is None else self.inputs[over]
            mean, spread, smallest = sample.mean(0), sample.std(0), sample.min(0)
        if not np.isfinite(spread).all():
            column = int(np.argmin(np.isfinite(spread)))
            rule = f"small enough for a variance in {self.inputs.dtype}: use another unit"
            largest = quoted(np.abs(self.inputs[:, column]).max())
            raise EmpiricsError(f"{self.name}: feature {column} must be {rule}; its largest number is {largest}")
        constant = sample.max(0) == smallest  # rounding of the mean can make the spread of a constant nonzero
        mean, spread = np.where(constant, smallest, mean), np.where(constant | (spread == 0), 1.0, spread)
        test = self.test and replace(self.test, inputs=(self.test.inputs - mean) / spread)
        return replace(self, inputs=(self.inputs - mean) / spread, test=test)


def _real(array: np.ndarray) -> np.ndarray:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


Part = tuple[np.ndarray, np.ndarray, Any]
"""Inputs, targets and the owner of each sample: group numbers, a list of names, or None."""


def with_test(files: Files, parts: Sequence[Part], classes: int, **options: Any) -> Dataset:
    """Return the data set of the first part, with the second part, if any, as its test set.

    Name, source and licence are those of ``files``; ``options`` are further fields of ``Dataset``.
    """
    options = {"source": files.page, "licence": files.licence, **options}
    if isinstance(parts[0][2], list):
        *groups, options["group_names"] = numbered(*(owners for _, _, owners in parts))
        parts = [(*part[:2], group) for part, group in zip(parts, groups, strict=False)]
    tests = [Dataset(files.set, *part[:2], classes, groups=part[2], **options) for part in parts[1:]]
    inputs, targets, owners = parts[0]
    return Dataset(files.set, inputs, targets, classes, groups=owners, test=tests[0] if tests else None, **options)


def signs(labels: np.ndarray, name: str) -> np.ndarray:
    """Return labels of two classes as -1.0 (the smaller label) and 1.0; ``name`` is for the error."""
    values = np.unique(labels)
    if len(values) != 2:
        raise EmpiricsError(f"{name} must hold two classes; found {len(values)}")
    return np.where(labels == values[1], 1.0, -1.0)


def numbered(names: list[str], more: list[str] | None = None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return the indices of ``names`` and of ``more`` in the sorted distinct names of both, and these names."""
    distinct = tuple(sorted({*names, *(more or [])}))
    number = {name: i for i, name in enumerate(distinct)}
    first, second = (np.array([number[name] for name in column], dtype=np.int64) for column in (names, more or []))
    return first, second, distinct


# ---- sets derived from another one: with a test set held out, or with fewer samples ----


def held_out(data: Dataset, share: float = 0.2) -> Dataset:
    """``data`` with the share ``share`` of its samples, always the same ones, held out as its test set."""
    must(isinstance(data, Dataset), "the first argument of held_out", "a data set, as in held_out(digits)", data)
    if data.test is not None:
        raise EmpiricsError(f"{data} has a test set already: use it as it is")
    if data.overlap:
        raise EmpiricsError(f"the samples of {data} overlap: hold out parts of clients instead (local_test='held_out')")
    must(0 < share < 1, "held_out: share", "between 0 and 1", share)
    order = stream(0, "held out").permutation(len(data))
    train_size = round(len(data) * (1 - share))
    if not 0 < train_size < len(data):
        raise EmpiricsError(f"held_out: a share of {share} of {len(data)} samples leaves one part empty")
    name = f"held_out({data.name}, share={share})"
    train, test = data.part(np.sort(order[:train_size])), data.part(np.sort(order[train_size:]))
    return replace(train, name=name, test=replace(test, name=name))


def fewer(data: Dataset, train: int | None = None, test: int | None = None) -> Dataset:
    """``data`` with at most the given numbers of training and test samples, always the same random ones (None: all)."""
    must(isinstance(data, Dataset), "the first argument of fewer", "a data set, as in fewer(digits)", data)
    name = f"fewer({data.name}, train={train}, test={test})"
    fewer_tests = data.test and replace(_first(data.test, test, "test"), name=name)
    return replace(_first(data, train, "train"), name=name, test=fewer_tests)


def _first(data: Dataset, limit: int | None, option: str) -> Dataset:
    if limit is None or checked(f"fewer: {option}", limit, COUNT) >= len(data):
        return data
    return data.part(np.sort(stream(0, f"fewer {option}").permutation(len(data))[:limit]))
