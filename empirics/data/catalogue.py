"""The catalogue of data sets by name: some inside scikit-learn, the others read from disk or downloaded.

``dataset("fashion_mnist")`` or, with options, ``dataset("tiny_shakespeare(stride=40)")``. Where files lie: see
``empirics.data.store``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bounds.errors import unknown

from . import (
    cifar,
    embedded,
    flair,
    idx,
    leaf,
    libsvm,
    multinli,
    natural,
    omniglot,
    own,
    parts,
    shakespeare,
    svhn,
    tweets,
)
from .dataset import Dataset
from .download import fetch
from .embedded import digits
from .store import Files

DATASETS: dict[str, Callable[..., Dataset]] = {
    "a9a": libsvm.a9a,
    "airline": tweets.airline,
    "breast_cancer": embedded.breast_cancer,
    "cifar10": cifar.cifar10,
    "cifar100": cifar.cifar100,
    "diabetes": embedded.diabetes,
    "digits": digits,
    "fashion_mnist": idx.fashion_mnist,
    "femnist": leaf.femnist,
    "fewer": parts.fewer,
    "flair": flair.flair,
    "german": libsvm.german,
    "heart_disease": natural.heart_disease,
    "held_out": parts.held_out,
    "iris": embedded.iris,
    "landmine": natural.landmine,
    "mnist": idx.mnist,
    "multinli": multinli.multinli,
    "mushrooms": libsvm.mushrooms,
    "omniglot": omniglot.omniglot,
    "parkinson": natural.parkinson,
    "phishing": libsvm.phishing,
    "school": natural.school,
    "sent140": tweets.sent140,
    "sent140_csv": tweets.sent140_csv,
    "sent140_sample": tweets.sent140_sample,
    "sent140_users": tweets.sent140_users,
    "shakespeare": shakespeare.shakespeare,
    "svhn": svhn.svhn,
    "table": own.table,
    "tiny_shakespeare": shakespeare.tiny_shakespeare,
    "w8a": libsvm.w8a,
    "wine": embedded.wine,
}

OF_ANOTHER = ("fewer", "held_out")
"""Those that are made of another set: ``held_out(digits)``."""
OWN = ("table",)
"""Those that are read from a file of one's own: ``table('my.csv', target='label')``."""

FILES: dict[str, Files] = {
    "a9a": libsvm.a9a.files,
    "airline": tweets.AIRLINE,
    "cifar10": cifar.CIFAR10,
    "cifar100": cifar.CIFAR100,
    "fashion_mnist": idx.FASHION_MNIST,
    "femnist": leaf.FEMNIST,
    "flair": flair.FLAIR,
    "german": libsvm.german.files,
    "heart_disease": natural.HEART,
    "landmine": natural.LANDMINE,
    "mnist": idx.MNIST,
    "multinli": multinli.MULTINLI,
    "mushrooms": libsvm.mushrooms.files,
    "omniglot": omniglot.OMNIGLOT,
    "parkinson": natural.PARKINSON,
    "phishing": libsvm.phishing.files,
    "school": natural.SCHOOL,
    "sent140": tweets.SENT140,
    "sent140_csv": tweets.SENT140_CSV,
    "sent140_sample": tweets.SENT140_SAMPLE,
    "sent140_users": tweets.SENT140_USERS,
    "shakespeare": shakespeare.SPEECHES,
    "svhn": svhn.SVHN,
    "tiny_shakespeare": shakespeare.TINY,
    "w8a": libsvm.w8a.files,
}
"""What each set that is not embedded needs on disk."""


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
