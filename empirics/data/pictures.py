"""Data sets of images, read from their original files: MNIST, Fashion-MNIST, CIFAR, SVHN, FEMNIST, Omniglot, FLAIR."""

from __future__ import annotations

import json
import struct
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..numbers import must
from ..streams import stream
from .conversion import CIFAR10_PIXELS, CIFAR100_PIXELS, HALF_PIXELS, MNIST_PIXELS, NATURAL_PIXELS, Pixels, UNIT_PIXELS
from .dataset import Dataset, numbered, Part, with_test
from .store import damaged, FILES, Files, leaf_users, matlab, members, picture, read, reading

# ---- MNIST and Fashion-MNIST: IDX files ----

TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
WRITERS = ("qmnist-train-labels-idx2-int", "qmnist-test-labels-idx2-int")


def mnist() -> Dataset:
    """Handwritten digits, 60,000 + 10,000 of 28x28; groups are the 836 NIST writers if QMNIST's label files exist."""
    return _idx_images(FILES["mnist"], MNIST_PIXELS)


def fashion_mnist() -> Dataset:
    """Ten kinds of clothes, 60,000 + 10,000 of 28x28."""
    return _idx_images(FILES["fashion_mnist"], HALF_PIXELS)


def read_idx(path: Path) -> np.ndarray:
    """Return the array of an IDX file: a magic number with type and number of axes, the lengths, the numbers."""
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


def _idx_images(files: Files, pixels: Pixels) -> Dataset:
    """Return a set of images ``(n, 1, 28, 28)`` with labels and, for MNIST, writers (column 2 of QMNIST's labels).

    QMNIST has more test images than MNIST; its first ones are MNIST's.
    """
    parts: list[Part] = []
    for names, writers in zip((files.names[:2], files.names[2:]), WRITERS, strict=True):
        images, labels = (read_idx(files.one(name)) for name in names)
        if images.ndim != 3 or labels.shape != images.shape[:1] or labels.max(initial=0) > 9:
            raise damaged(files.one(names[0]), f"images {images.shape} with labels {labels.shape}")
        owners = None
        if files.set == "mnist" and all(files.paths(name) for name in WRITERS):
            table = read_idx(files.one(writers))
            if table.ndim != 2 or table.shape[1] < 3 or len(table) < len(labels):
                raise damaged(files.one(writers), f"{table.shape} labels for {len(labels)} images")
            owners = table[: len(labels), 2]
        parts.append((images[:, None], labels.astype(np.int64), owners))
    writer_names: tuple[str, ...] = ()
    if parts[0][2] is not None:
        writer_ids, numbers = np.unique(np.concatenate([part[2] for part in parts]), return_inverse=True)
        groups = np.split(numbers, [len(parts[0][1])])
        parts = [(*part[:2], group) for part, group in zip(parts, groups, strict=True)]
        writer_names = tuple(map(str, writer_ids))
    return with_test(files, parts, 10, group_names=writer_names, group_word="writer", prepare=pixels)


# ---- CIFAR and SVHN ----


def cifar10() -> Dataset:
    """Ten classes of objects, 50,000 + 10,000 colour images of 32x32."""
    files = FILES["cifar10"]
    *parts, test = (_records(files.one(name), 1, 10) for name in files.names)
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    train_part, test_part = ((x, y[:, 0], None) for x, y in ((images, labels), test))
    return with_test(files, [train_part, test_part], 10, prepare=CIFAR10_PIXELS)


def cifar100() -> Dataset:
    """A hundred classes of objects, 50,000 + 10,000 colour images of 32x32; groups are the 20 coarse classes."""
    files = FILES["cifar100"]
    pairs = [_records(files.one(name), 2, 100) for name in files.names]
    train, test = ((images, labels[:, 1], labels[:, 0]) for images, labels in pairs)
    names = tuple(map(str, range(20)))
    return with_test(files, [train, test], 100, prepare=CIFAR100_PIXELS, group_names=names, group_word="coarse class")


def _records(path: Path, label_bytes: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images ``(n, 3, 32, 32)`` of bytes and labels ``(n, label_bytes)`` of CIFAR's binary records."""
    data = np.frombuffer(read(path), np.uint8)
    length = label_bytes + 3 * 32 * 32
    if not len(data) or len(data) % length:
        raise damaged(path, f"its {len(data)} bytes are not a multiple of the record length {length}")
    records = data.reshape(-1, length)
    labels = records[:, :label_bytes].astype(np.int64)
    if labels[:, -1].max() >= classes:
        raise damaged(path, f"label {labels[:, -1].max()} of {classes} classes")
    return records[:, label_bytes:].reshape(-1, 3, 32, 32), labels


def svhn() -> Dataset:
    """Digits of house numbers, 73,257 + 26,032 colour images of 32x32; the file's label 10 is the digit 0."""
    files, parts = FILES["svhn"], list[Part]()
    for path in map(files.one, files.names):
        images, labels = matlab(path, "X", "y")
        if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or labels.size != images.shape[3]:
            raise damaged(path, f"images {images.shape} with {labels.size} labels")
        pixels = np.ascontiguousarray(images.transpose(3, 2, 0, 1), dtype=np.uint8)
        parts.append((pixels, labels.ravel().astype(np.int64) % 10, None))
    return with_test(files, parts, 10, prepare=NATURAL_PIXELS)


# ---- images by writer, drawer or photographer ----


def femnist() -> Dataset:
    """Digits and letters (62 classes) by writer, from LEAF's files; ink is bright, as in MNIST."""
    files, parts = FILES["femnist"], list[Part]()
    for part in files.names:
        images, labels, writers = [], [], []
        for path, name, x, y in leaf_users(files, part):
            pixels = np.asarray(x, dtype=np.float32)
            if pixels.shape != (len(y), 784) or pixels.min(initial=0) < 0 or pixels.max(initial=0) > 1:
                raise damaged(path, f"writer {name}: images must be rows of 784 numbers in [0, 1]")
            ink = np.rint(255 * (1 - pixels))  # LEAF's paper is 1 and its ink 0
            images.append(ink.astype(np.uint8).reshape(-1, 1, 28, 28))
            labels.append(np.asarray(y, dtype=np.int64))
            writers += [name] * len(y)
        parts.append((np.concatenate(images), np.concatenate(labels), writers))
    return with_test(files, parts, 62, group_word="writer", prepare=UNIT_PIXELS)


def omniglot(size: int = 28) -> Dataset:
    """242 characters of eight alphabets, ``size`` x ``size`` (105 in the files), ink bright; groups are the drawers.

    A drawer is a person of one alphabet (the last number of a file's name). Characters are numbered over all alphabets.
    Two alphabets are in both archives and are read once.
    """
    must(size >= 1, "size", "at least 1", size)
    files, images, characters, drawers = FILES["omniglot"], [], [], []
    seen: set[tuple[str, ...]] = set()
    for path in map(files.one, files.names):
        for inside, content in members(path, ".png"):
            places = PurePosixPath(inside)
            if len(places.parts) < 3:
                raise damaged(path, f"{inside} is not alphabet/character/drawing")
            if places.parts[-3:] in seen:
                continue
            seen.add(places.parts[-3:])
            alphabet, character = places.parts[-3:-1]
            images.append(255 - picture(content, path, "L", size))
            characters.append(f"{alphabet}/{character}")
            drawers.append(f"{alphabet}/{places.stem.rsplit('_', 1)[-1]}")
        if not images:
            raise damaged(path, "no pictures")
    labels, _, classes = numbered(characters)
    train = np.stack(images)[:, None], labels, drawers
    return with_test(files, [train], len(classes), group_word="drawer", prepare=UNIT_PIXELS)


def flair(users: int = 200, test_users: int = 100, size: int = 256, seed: int = 0) -> Dataset:
    """FLAIR (Song et al. 2022): photos of Flickr users with any of 17 coarse labels.

    Photos are ``size`` x ``size``. Since all 430,000 would take some 85 GB of memory, ``users`` are drawn from the
    training part and ``test_users`` from the test part, and only their photos are read. The folder has the layout that
    FLAIR's download script creates.
    """
    for name, number in (("users", users), ("test_users", test_users), ("size", size)):
        must(number >= 1, name, "at least 1", number)
    files = FILES["flair"]
    path, folder = map(files.one, files.names)
    with reading(path):
        rows = json.loads(read(path))
        labels = sorted({label for row in rows for label in row["labels"]})
        parts = []
        for part, count in (("train", users), ("test", test_users)):
            selected = _photos(rows, part, count, seed)
            paths = [folder / f"{row['image_id']}.jpg" for row in selected]
            photos = [picture(read(path), path, "RGB", size) for path in paths]
            targets = np.array([[float(x in row["labels"]) for x in labels] for row in selected], dtype=np.float32)
            parts.append((np.stack(photos).transpose(0, 3, 1, 2), targets, [row["user_id"] for row in selected]))
    return with_test(files, parts, len(labels), kind="multilabel", group_word="user", prepare=NATURAL_PIXELS)


def _photos(rows: list[Any], part: str, count: int, seed: int) -> list[Any]:
    """Return the rows of up to ``count`` users of a part, drawn without replacement."""
    users = sorted({row["user_id"] for row in rows if row["partition"] == part})
    if not users:
        raise ValueError(f"no photo of the part {part!r}")
    selected = set(stream(seed, f"flair {part}").permutation(users)[:count].tolist())
    return [row for row in rows if row["user_id"] in selected and row["partition"] == part]
