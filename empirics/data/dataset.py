"""One object for every data set: plain arrays, what they mean, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import EmpiricsError
from ..numbers import array_of_numbers, check_kind, check_name, must, quoted
from .store import Files

KINDS = ("classification", "binary", "regression", "multilabel", "sequence")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples: ``inputs (n, ...)`` and ``targets (n, ...)``, with the user, writer or hospital of each, if known.

    Targets by ``kind``: class numbers 0 .. classes - 1 (classification), -1 and 1 (binary), real numbers (regression),
    rows of 0 and 1 (multilabel), the code that follows (sequence). Images, texts and bags of words stay small whole
    numbers; ``prepare`` makes model inputs of a batch of them (None: the inputs are ready as they are).
    ``groups`` are integers into ``group_names``, shared with ``test``. Sample i shares text with the ``overlap``
    samples after it. ``class_names`` are those of a user's labels. Whatever NumPy reads as an array of numbers is taken
    (lists, tables, tensors).

    Raises:
        EmpiricsError: where a part is not what it must be; the message says which, and the rule.
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
        for word in ("inputs", "targets"):
            what = f"{self.name}: {word}"
            array = array_of_numbers(what, getattr(self, word))
            object.__setattr__(self, word, array)
            must(array.size > 0, what, "a sample or more", array.shape)
            if np.issubdtype(array.dtype, np.floating) and not (finite := np.isfinite(array)).all():
                first = int(np.argmin(finite.reshape(len(array), -1).all(-1)))
                raise EmpiricsError(f"{what} must be finite numbers; sample {first} holds nan or infinity")
        self._check_groups()
        for word, held in (("targets", self.targets), ("groups", self.groups)):
            if held is not None and len(held) != len(self.inputs):
                raise EmpiricsError(f"{self.name}: {len(self.inputs)} inputs but {len(held)} {word}")
        if self.prepare is None:
            rule = "of shape (samples, features), a single feature being inputs[:, None]"
            must(self.inputs.ndim > 1, f"{self.name}: inputs", rule, self.inputs.shape)
        must(isinstance(self.test, Dataset | None), f"{self.name}: test", "a Dataset or None", type(self.test).__name__)
        if self.test is not None and self.prepare is None:
            shape, given = self.inputs.shape[1:], self.test.inputs.shape[1:]
            must(given == shape, f"{self.name}: samples of the test set", f"of shape {shape}", given)
        self._check_classes()

    def _check_groups(self) -> None:
        """Refuse groups that are no integers into the names."""
        if self.groups is None:
            return
        what, names = f"{self.name}: groups", self.group_names
        rule = "one whole number from 0 per sample (empirics.data.dataset.numbered makes them of names)"
        groups = array_of_numbers(what, self.groups, rule)
        must(groups.ndim == 1 and groups.dtype.kind != "f", what, rule, (groups.shape, str(groups.dtype)))
        must(groups.min(initial=0) >= 0, what, rule, groups.min(initial=0))
        count = groups.max(initial=0) + 1
        unique = not names or len(set(names)) == len(names) >= count
        must(unique, f"{self.name}: group_names", f"{count} different names or more, one per group", tuple(names))
        object.__setattr__(self, "groups", groups.astype(np.int64) if groups.dtype.kind == "b" else groups)

    def _check_classes(self) -> None:
        """Refuse class numbers that are none."""
        what, shape = f"{self.name}: targets", self.targets.shape
        one = self.kind not in ("classification", "binary") or len(shape) == 1
        must(one, what, "one number per sample, a column being targets[:, 0]", shape)
        must(len(shape) < 3, what, "of shape (samples,) or (samples, numbers)", shape)
        if self.kind == "binary":
            wrong = self.targets[np.abs(self.targets) != 1]
            must(not len(wrong), what, "-1 or 1 in a binary set", *wrong[:1])
        if self.kind in ("classification", "sequence"):
            rule = f"whole numbers from 0 to {self.classes - 1}"
            must(np.issubdtype(self.targets.dtype, np.integer), what, rule, str(self.targets.dtype))
            for extreme in (self.targets.min(), self.targets.max()):
                must(0 <= extreme < self.classes, what, rule, extreme)

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Its arrays, those of its test set too, refuse to be written to meanwhile."""
        arrays = [a for part in (self, self.test) if part for a in (part.inputs, part.targets, part.groups)]
        held = [a for a in arrays if a is not None and a.flags.writeable]
        for array in held:
            array.flags.writeable = False
        try:
            yield
        finally:
            for array in held:
                with suppress(ValueError):  # over the memory of a tensor it cannot be set again, and copies are made
                    array.flags.writeable = True

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def labels(self) -> np.ndarray:
        """Class numbers 0 .. classes - 1 ``(n,)``, whatever way the targets write them."""
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
        """A binary set with class numbers 0 and 1 instead of -1 and 1, for models with one output per class."""
        test = self.test and self.test.as_classes()
        return replace(self, targets=self.labels, kind="classification", test=test)

    def as_signs(self) -> Dataset:
        """A classification of two classes with targets -1 and 1, for models of the margin."""
        if self.classes != 2:
            raise EmpiricsError(f"only two classes have signs; {self.name} has {self.classes}")
        test = self.test and self.test.as_signs()
        return replace(self, targets=np.where(self.labels == 1, 1.0, -1.0), kind="binary", test=test)

    def as_features(self) -> Dataset:
        """Integers (counts, flags) and short or long floats as float64, for models that multiply them."""
        real = self.kind in ("regression", "multilabel")
        test = self.test and self.test.as_features()
        inputs = self.inputs if self.prepare else _real(self.inputs)
        targets = _real(self.targets) if real else self.targets
        if inputs is self.inputs and targets is self.targets and test is self.test:
            return self
        return replace(self, inputs=inputs, targets=targets, test=test)

    def part(self, chosen: np.ndarray) -> Dataset:
        """The samples with these numbers, in this order; the test set stays."""
        groups = None if self.groups is None else self.groups[chosen]
        return replace(self, inputs=self.inputs[chosen], targets=self.targets[chosen], groups=groups)

    def standardised(self, over: np.ndarray | None = None) -> Dataset:
        """Every feature with mean 0 and variance 1 over the samples with the numbers ``over`` (None: over all).

        The other samples and the test set are moved by the same numbers.
        """
        if not self.tabular:
            raise EmpiricsError(f"only real features can be standardised; {self.name} holds {self.inputs.dtype}")
        with np.errstate(over="ignore", invalid="ignore"):
            seen = self.inputs if over is None else self.inputs[over]
            mean, spread, least = seen.mean(0), seen.std(0), seen.min(0)
        if not np.isfinite(spread).all():
            column = int(np.argmin(np.isfinite(spread)))
            rule = f"small enough for a variance in {self.inputs.dtype}: take another unit"
            largest = quoted(np.abs(self.inputs[:, column]).max())
            raise EmpiricsError(f"{self.name}: feature {column} must be {rule}; its largest number is {largest}")
        constant = seen.max(0) == least  # becomes zero: its mean is rounded, and so its spread need not be 0
        mean, spread = np.where(constant, least, mean), np.where(constant | (spread == 0), 1.0, spread)
        test = self.test and replace(self.test, inputs=(self.test.inputs - mean) / spread)
        return replace(self, inputs=(self.inputs - mean) / spread, test=test)


def _real(array: np.ndarray) -> np.ndarray:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


Part = tuple[np.ndarray, np.ndarray, Any]
"""Inputs, targets and whose each sample is: group numbers, a list of names, or None."""


def with_test(files: Files, parts: Sequence[Part], classes: int, **about: Any) -> Dataset:
    """The data set of the first part, with the second as its test set if there is one, all named after ``files``."""
    about = {"source": files.page, "licence": files.licence, **about}
    if isinstance(parts[0][2], list):
        *groups, about["group_names"] = numbered(*(owners for _, _, owners in parts))
        parts = [(*part[:2], group) for part, group in zip(parts, groups, strict=False)]
    found: Dataset | None = None
    for inputs, targets, owners in reversed(parts):  # the test set first
        found = Dataset(files.set, inputs, targets, classes, groups=owners, test=found, **about)
    assert found is not None
    return found


def signs(labels: np.ndarray, name: str) -> np.ndarray:
    """Two labels of any sort as -1.0 (the smaller) and 1.0."""
    values = np.unique(labels)
    if len(values) != 2:
        raise EmpiricsError(f"{name} must hold two classes; found {len(values)}")
    return np.where(labels == values[1], 1.0, -1.0)


def numbered(names: list[str], more: list[str] | None = None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Names as integers into the sorted names of both lists: (numbers, numbers of ``more``, names)."""
    known = tuple(sorted({*names, *(more or [])}))
    number = {name: i for i, name in enumerate(known)}
    first, second = (np.array([number[n] for n in some], dtype=np.int64) for some in (names, more or []))
    return first, second, known
