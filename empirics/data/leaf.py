"""The JSON of LEAF (Caldas et al. 2018), and FEMNIST in it: 28x28 characters by their writers.

A LEAF file holds ``users``, ``num_samples`` and ``user_data`` with lists ``x`` and ``y`` per user; a set is a folder
with ``train/*.json`` and ``test/*.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset, numbered, with_test
from .resident import UNIT_PIXELS
from .store import damaged, Files, read

PARTS = ("train/*.json", "test/*.json")
FEMNIST = Files(
    "femnist", "femnist", PARTS, "github.com/TalwalkarLab/leaf", licence="none stated (NIST special database 19)"
)


def femnist() -> Dataset:
    """Digits and letters (62 classes) by writer, as LEAF writes them; ink is bright, as in MNIST."""
    train, test = (_characters(FEMNIST, part) for part in PARTS)
    groups, test_groups, names = numbered(train[2], test[2])
    about = {"group_names": names, "group_word": "writer", "prepare": UNIT_PIXELS}
    return with_test(FEMNIST, (*train[:2], groups), (*test[:2], test_groups), 62, **about)


def users(files: Files, part: str) -> Iterator[tuple[Path, str, list[Any], list[Any]]]:
    """File, name, samples and targets of every user in the files of a part, in order of their names."""
    for path in files.some(part):
        try:
            content = json.loads(read(path))
            rows = content["user_data"].items()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(path, f"no LEAF file: {error}") from None
        for name, data in rows:
            if not isinstance(data, dict) or len(data.get("x", ())) != len(data.get("y", "?")):
                raise damaged(path, f"user {name} has no lists x and y of one length")
            yield path, name, data["x"], data["y"]


def _characters(files: Files, part: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Images ``(n, 1, 28, 28)``, labels and writer names. LEAF's paper is 1 and its ink 0; ours is the other way."""
    images, labels, names = [], [], []
    for path, name, x, y in users(files, part):
        pixels = np.asarray(x, dtype=np.float32)
        if pixels.shape != (len(y), 784) or pixels.min(initial=0) < 0 or pixels.max(initial=0) > 1:
            raise damaged(path, f"writer {name}: images must be rows of 784 numbers in [0, 1]")
        images.append(np.rint(255 * (1 - pixels)).astype(np.uint8).reshape(-1, 1, 28, 28))
        labels.append(np.asarray(y, dtype=np.int64))
        names += [name] * len(y)
    return np.concatenate(images), np.concatenate(labels), names
