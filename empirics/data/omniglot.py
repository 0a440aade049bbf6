"""Omniglot's two small background sets: characters, each drawn by twenty people, in zipped PNG."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, with_test
from .resident import UNIT_PIXELS
from .store import damaged, Files, members, picture

OMNIGLOT = Files(
    "omniglot",
    "omniglot",
    ("images_background_small1.zip", "images_background_small2.zip"),
    "github.com/brendenlake/omniglot",
    licence="MIT",
)


def omniglot(size: int = 28) -> Dataset:
    """242 characters of eight alphabets, ``size`` x ``size`` (105 in the files), ink bright; groups are the drawers.

    A drawer is a person of one alphabet: the last number of a file's name. Characters are numbered over all alphabets;
    two alphabets lie in both archives and are taken once.
    """
    if size < 1:
        raise EmpiricsError(f"size must be at least 1; got {size}")
    images, characters, drawers = [], [], []
    seen: set[tuple[str, ...]] = set()
    for name in OMNIGLOT.names:
        path = OMNIGLOT.one(name)
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
    groups, _, names = numbered(drawers)
    about = {"group_names": names, "group_word": "drawer", "prepare": UNIT_PIXELS}
    return with_test(OMNIGLOT, (np.stack(images)[:, None], labels, groups), None, len(classes), **about)
