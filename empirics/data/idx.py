"""MNIST and Fashion-MNIST in their original IDX files; writers of MNIST from the label files of QMNIST."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from .dataset import Dataset, with_test
from .resident import HALF_PIXELS, MNIST_PIXELS, Pixels
from .store import damaged, Download, Files, read

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def _downloads(place: str, hashes: tuple[str, ...]) -> tuple[Download, ...]:
    return tuple(Download((f"{place}{name}.gz",), known) for name, known in zip(NAMES, hashes, strict=True))


MNIST = Files(
    "mnist",
    "mnist",
    NAMES,
    "yann.lecun.com/exdb/mnist",
    _downloads(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    "none stated (LeCun, Cortes and Burges, from NIST's)",
)
FASHION_MNIST = Files(
    "fashion_mnist",
    "fashion-mnist",
    NAMES,
    "github.com/zalandoresearch/fashion-mnist",
    _downloads(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    "MIT",
)
WRITERS = ("qmnist-train-labels-idx2-int", "qmnist-test-labels-idx2-int")


def mnist() -> Dataset:
    """Handwritten digits, 60,000 + 10,000 of 28x28; groups are the 836 NIST writers where QMNIST's labels lie too."""
    return _images(MNIST, MNIST_PIXELS)


def fashion_mnist() -> Dataset:
    """Ten kinds of clothes, 60,000 + 10,000 of 28x28."""
    return _images(FASHION_MNIST, HALF_PIXELS)


def read_idx(path: Path) -> np.ndarray:
    """The array in an IDX file: a magic number with type and number of axes, the lengths, the numbers."""
    data = read(path)
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in TYPES:
        raise damaged(path, "no IDX magic number")
    kind, axes = np.dtype(TYPES[data[2]]), data[3]
    head = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", data[4:head]) if len(data) >= head else ()
    expected = head + int(np.prod(shape)) * kind.itemsize
    if not shape or len(data) != expected:
        raise damaged(path, f"{len(data)} bytes, {expected} expected")
    return np.frombuffer(data, kind, offset=head).reshape(shape)


def _images(files: Files, pixels: Pixels) -> Dataset:
    parts = [_pair(files, NAMES[i : i + 2]) for i in (0, 2)]
    groups, names = _writers(files, [len(labels) for _, labels in parts])
    train, test = ((*pair, group) for pair, group in zip(parts, groups, strict=True))
    return with_test(files, train, test, 10, group_names=names, group_word="writer", prepare=pixels)


def _pair(files: Files, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Images ``(n, 1, 28, 28)`` and labels of the training or the test part."""
    images, labels = (read_idx(files.one(name)) for name in names)
    if images.ndim != 3 or labels.shape != images.shape[:1] or labels.max(initial=0) > 9:
        raise damaged(files.one(names[0]), f"images {images.shape} with labels {labels.shape}")
    return images[:, None], labels.astype(np.int64)


def _writers(files: Files, counts: list[int]) -> tuple[list[np.ndarray | None], tuple[str, ...]]:
    """Writer numbers of training and test images (column 2 of QMNIST's label files) and names; None if not there.

    QMNIST has more test images than MNIST; its first ones are MNIST's.
    """
    if files is not MNIST or not all(files.paths(name) for name in WRITERS):
        return [None, None], ()
    tables = [read_idx(files.one(name)) for name in WRITERS]
    for table, count, name in zip(tables, counts, WRITERS, strict=True):
        if table.ndim != 2 or table.shape[1] < 3 or len(table) < count:
            raise damaged(files.one(name), f"{table.shape} labels for {count} images")
    ids = [table[:count, 2] for table, count in zip(tables, counts, strict=True)]
    known, numbers = np.unique(np.concatenate(ids), return_inverse=True)
    return [numbers[: counts[0]], numbers[counts[0] :]], tuple(str(w) for w in known)
