"""CIFAR-10 and CIFAR-100 in their binary records: label bytes, then the red, green and blue planes of 32x32."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .dataset import Dataset, with_test
from .resident import CIFAR10_PIXELS, CIFAR100_PIXELS
from .store import damaged, Download, Files, read

PIXELS = 3 * 32 * 32
PAGE = "www.cs.toronto.edu/~kriz/cifar.html"
BATCHES = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
LICENCE = "none stated (cite Krizhevsky 2009)"


def _download(name: str, sha256: str) -> tuple[Download, ...]:
    return (Download((f"https://www.cs.toronto.edu/~kriz/{name}-binary.tar.gz",), sha256),)


CIFAR10 = Files(
    "cifar10",
    "cifar-10",
    (*BATCHES, "test_batch.bin"),
    PAGE,
    _download("cifar-10", "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
    LICENCE,
)
CIFAR100 = Files(
    "cifar100",
    "cifar-100",
    ("train.bin", "test.bin"),
    PAGE,
    _download("cifar-100", "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"),
    LICENCE,
)


def cifar10() -> Dataset:
    """Ten kinds of things, 50,000 + 10,000 colour images of 32x32."""
    parts = [_records(CIFAR10.one(name), 1, 10) for name in CIFAR10.names]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts[:-1], strict=True))
    test_images, test_labels = parts[-1]
    train, test = (images, labels[:, 0], None), (test_images, test_labels[:, 0], None)
    return with_test(CIFAR10, train, test, 10, prepare=CIFAR10_PIXELS)


def cifar100() -> Dataset:
    """A hundred kinds of things, 50,000 + 10,000 colour images of 32x32; groups are the 20 coarse classes."""
    pairs = [_records(CIFAR100.one(name), 2, 100) for name in CIFAR100.names]
    train, test = ((images, labels[:, 1], labels[:, 0]) for images, labels in pairs)
    names = tuple(str(i) for i in range(20))
    return with_test(CIFAR100, train, test, 100, prepare=CIFAR100_PIXELS, group_names=names, group_word="coarse class")


def _records(path: Path, label_bytes: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Images ``(n, 3, 32, 32)`` of bytes and labels ``(n, label_bytes)`` of one file."""
    data = np.frombuffer(read(path), np.uint8)
    length = label_bytes + PIXELS
    if not len(data) or len(data) % length:
        raise damaged(path, f"its {len(data)} bytes are not a multiple of the record length {length}")
    records = data.reshape(-1, length)
    labels = records[:, :label_bytes].astype(np.int64)
    if labels[:, -1].max() >= classes:
        raise damaged(path, f"label {labels[:, -1].max()} of {classes} classes")
    return records[:, label_bytes:].reshape(-1, 3, 32, 32), labels
