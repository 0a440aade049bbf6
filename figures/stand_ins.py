"""Real data sets that stand in for one that is not here, of the same kind; a caption always says so."""

from __future__ import annotations

from empirics.data.catalogue import present

STAND_INS: dict[str, tuple[str, ...]] = {
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


def found(name: str) -> str:
    """The set itself where it is here, else the first stand-in that is; empty where there is none."""
    return next((n for n in (name, *STAND_INS.get(name, ())) if present(n)), "")


def remark(name: str, used: str) -> str:
    """What a caption says of a set that is not the paper's; empty for the set itself."""
    return (
        ""
        if used == name
        else f"{used} in place of {name}, which is not here"
        if used
        else f"{name}: data not available"
    )
