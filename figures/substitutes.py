"""Real data sets that replace one that is not installed, of the same kind; captions and titles name the replacement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from empirics.data.catalogue import present

_PRESENT: ContextVar[dict[str, bool] | None] = ContextVar("present", default=None)
"""Whether each data set is installed. Cached for one command, whose plans look it up thousands of times."""

SUBSTITUTES: dict[str, tuple[str, ...]] = {
    "cifar10": ("fashion_mnist", "mnist"),
    "cifar100": ("omniglot",),
    "fashion_mnist": ("mnist",),
    "femnist": ("mnist",),
    "mnist": ("fashion_mnist",),
    "sent140": ("sent140_users", "sent140_sample"),
    "shakespeare": ("tiny_shakespeare",),
    "svhn": (),
    "multinli": (),
    "flair": (),
}
"""Substitutes of each data set in order of preference: pictures for pictures, handwriting, tweets for tweets."""

TITLES = {
    "cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "fashion_mnist": "Fashion-MNIST", "femnist": "FEMNIST",
    "flair": "FLAIR", "mnist": "MNIST", "multinli": "MultiNLI", "omniglot": "Omniglot", "sent140": "Sent140",
    "sent140_sample": "Sent140 (sample)", "sent140_users": "Sent140 (part)", "shakespeare": "Shakespeare",
    "svhn": "SVHN", "tiny_shakespeare": "tiny Shakespeare",
}  # fmt: skip
"""Data sets by the names that papers print."""

CLASSES = {
    "cifar10": 10, "cifar100": 100, "digits": 10, "fashion_mnist": 10, "femnist": 62, "mnist": 10, "svhn": 10,
}  # fmt: skip
"""Number of classes of picture sets with equally frequent classes; its inverse is the accuracy of guessing."""


def class_count(name: str) -> int:
    """Return the number of classes of a set by its printed name; 0 if accuracies are not compared with guessing."""
    return next((count for key, count in CLASSES.items() if title(key) == name), 0)


def title(name: str) -> str:
    """Return the printed name of a data set."""
    return TITLES.get(name, name.replace("_", " "))


def available(name: str) -> str:
    """Return the set itself if it is installed, else its first installed substitute, else an empty string."""
    return next((n for n in (name, *SUBSTITUTES.get(name, ())) if _is_present(n)), "")


def _is_present(name: str) -> bool:
    cache = _PRESENT.get()
    if cache is None:
        return present(name)
    if name not in cache:
        cache[name] = present(name)
    return cache[name]


@contextmanager
def assume_present(names: Iterable[str]) -> Iterator[None]:
    """Treat these sets as installed, since drawing from stored runs needs no data; look up any other set once."""
    token = _PRESENT.set(dict.fromkeys(names, True))
    try:
        yield
    finally:
        _PRESENT.reset(token)


def availability_note(name: str, used: str) -> str:
    """Return the caption's remark on a data set ``used`` in place of ``name`` (empty: none); empty for ``name``."""
    if used == name:
        return ""
    return f"{title(used)} for {title(name)}, which is not here" if used else f"{title(name)}: data not available"
