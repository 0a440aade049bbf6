"""The catalogue of data sets by name: some inside scikit-learn, the others read from disk or downloaded.

``dataset("fashion_mnist")`` or, with options, ``dataset("tiny_shakespeare(stride=40)")``. ``empirics.data.store`` says
where files are expected.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bounds.errors import unknown

from . import csv_tables, features, pictures, texts
from .dataset import Dataset, fewer, held_out
from .features import digits
from .store import fetch, FILES

READERS: tuple[Callable[..., Dataset], ...] = (
    *features.READERS,
    *(features.digits, features.heart_disease, features.parkinson),
    *(pictures.cifar10, pictures.cifar100, pictures.fashion_mnist, pictures.femnist, pictures.flair, pictures.mnist),
    *(pictures.omniglot, pictures.svhn),
    *(texts.airline, texts.multinli, texts.sent140, texts.sent140_csv, texts.sent140_sample, texts.sent140_users),
    *(texts.shakespeare, texts.tiny_shakespeare),
    *(csv_tables.table, fewer, held_out),
)
DATASETS = {reader.__name__: reader for reader in sorted(READERS, key=lambda reader: reader.__name__)}
OF_ANOTHER = ("fewer", "held_out")
"""Readers that derive a set from another one: ``held_out(digits)``."""
OWN = ("table",)
"""Readers of a user's file: ``table('my.csv', target='label')``."""


def dataset(text: str) -> Dataset:
    """Return the data set that ``text`` describes: a name, or a call with options of its reader."""
    from ..spec_strings import parse  # imports torch, which data sets do not need

    loaded: Dataset = parse(text, DATASETS, "data set", declared=True)
    return loaded


def present(name: str) -> bool:
    """Whether the set can be read now, without a network."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return name not in FILES or FILES[name].present


def download(name: str) -> Path | None:
    """Download and check the files of a set (needs the extra ``data``); return their folder, or None without files."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return fetch(FILES[name]) if name in FILES else None


__all__ = ["DATASETS", "FILES", "Dataset", "dataset", "digits", "download", "present"]
