"""Data sets derived from another one: with a test set held out, or with fewer samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bounds.domains import COUNT

from ..errors import EmpiricsError
from ..numbers import checked, must
from ..streams import stream
from .dataset import Dataset


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
