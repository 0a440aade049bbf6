"""The catalogue of data sets by name: some inside scikit-learn, the others read from disk or downloaded.

``dataset("fashion_mnist")`` or, with options, ``dataset("tiny_shakespeare(stride=40)")``. Where files lie: see
``empirics.data.store``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bounds.errors import unknown

from . import features, own, parts, pictures, texts
from .dataset import Dataset
from .features import digits
from .store import fetch, FILES

READERS: tuple[Callable[..., Dataset], ...] = (
    features.a9a, texts.airline, features.breast_cancer, pictures.cifar10, pictures.cifar100, features.diabetes,
    features.digits, pictures.fashion_mnist, pictures.femnist, parts.fewer, pictures.flair, features.german,
    features.heart_disease, parts.held_out, features.iris, features.landmine, pictures.mnist, texts.multinli,
    features.mushrooms, pictures.omniglot, features.parkinson, features.phishing, features.school, texts.sent140,
    texts.sent140_csv, texts.sent140_sample, texts.sent140_users, texts.shakespeare, pictures.svhn, own.table,
    texts.tiny_shakespeare, features.w8a, features.wine,
)  # fmt: skip
DATASETS: dict[str, Callable[..., Dataset]] = {reader.__name__: reader for reader in READERS}
OF_ANOTHER = ("fewer", "held_out")
"""Those that are made of another set: ``held_out(digits)``."""
OWN = ("table",)
"""Those that are read from a file of one's own: ``table('my.csv', target='label')``."""


def dataset(text: str) -> Dataset:
    """The set written as ``text``: a name, or a call with the options of its loader."""
    from ..spec_strings import parse  # brings torch, which the arrays do without

    loaded: Dataset = parse(text, DATASETS, "data set", declared=True)
    return loaded


def present(name: str) -> bool:
    """Whether the set can be loaded now, without a network."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return name not in FILES or FILES[name].present


def download(name: str) -> Path | None:
    """Fetch the files of a set with checked hashes (needs the extra ``data``); their folder, None if embedded."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return fetch(FILES[name]) if name in FILES else None


__all__ = ["DATASETS", "FILES", "Dataset", "dataset", "digits", "download", "present"]
