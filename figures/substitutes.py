"""Real data sets that stand in for one that is not here, of the same kind; whatever is shown of them says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from empirics.data.catalogue import present

_SEEN: ContextVar[dict[str, bool] | None] = ContextVar("seen", default=None)
"""Which sets are here, looked up once in a command: its plans ask thousands of times."""

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
"""By set, what may take its place: pictures for pictures, handwriting for handwriting, tweets for tweets."""

TITLES = {
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "fashion_mnist": "Fashion-MNIST",
    "femnist": "FEMNIST",
    "flair": "FLAIR",
    "mnist": "MNIST",
    "multinli": "MultiNLI",
    "omniglot": "Omniglot",
    "sent140": "Sent140",
    "sent140_sample": "Sent140 (sample)",
    "sent140_users": "Sent140 (part)",
    "shakespeare": "Shakespeare",
    "svhn": "SVHN",
    "tiny_shakespeare": "tiny Shakespeare",
}
"""The names of data sets as papers print them."""


CLASSES = {
    "cifar10": 10, "cifar100": 100, "digits": 10, "fashion_mnist": 10, "femnist": 62, "mnist": 10, "svhn": 10,
}  # fmt: skip
"""Of pictures whose classes are equally frequent: one over it is the accuracy of guessing."""


def classes(name: str) -> int:
    """The same by the printed name; 0 where accuracies are not compared with guessing."""
    return next((count for key, count in CLASSES.items() if title(key) == name), 0)


def title(name: str) -> str:
    """A data set as it is printed."""
    return TITLES.get(name, name.replace("_", " "))


def found(name: str) -> str:
    """The set itself where it is here, else the first substitute that is; empty where there is none."""
    return next((n for n in (name, *SUBSTITUTES.get(name, ())) if _is_here(n)), "")


def _is_here(name: str) -> bool:
    seen = _SEEN.get()
    if seen is None:
        return present(name)
    if name not in seen:
        seen[name] = present(name)
    return seen[name]


@contextmanager
def counted_as_here(names: Iterable[str]) -> Iterator[None]:
    """Count these sets as here: drawing from runs that were made elsewhere needs no data; look for others once."""
    token = _SEEN.set(dict.fromkeys(names, True))
    try:
        yield
    finally:
        _SEEN.reset(token)


def remark(name: str, used: str) -> str:
    """What a caption says of a set that is not the paper's; empty for the set itself."""
    return (
        ""
        if used == name
        else f"{title(used)} for {title(name)}, which is not here"
        if used
        else f"{title(name)}: data not available"
    )
