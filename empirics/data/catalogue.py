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
    files.set: files
    for files in (
        *(made.files for made in (libsvm.a9a, libsvm.german, libsvm.mushrooms, libsvm.phishing, libsvm.w8a)),
        *(cifar.CIFAR10, cifar.CIFAR100, flair.FLAIR, idx.FASHION_MNIST, idx.MNIST, leaf.FEMNIST, multinli.MULTINLI),
        *(natural.HEART, natural.LANDMINE, natural.PARKINSON, natural.SCHOOL, omniglot.OMNIGLOT, svhn.SVHN),
        *(shakespeare.SPEECHES, shakespeare.TINY, tweets.AIRLINE),
        *(tweets.SENT140, tweets.SENT140_CSV, tweets.SENT140_SAMPLE, tweets.SENT140_USERS),
    )
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
