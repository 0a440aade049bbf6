"""FLAIR: photos of Flickr users with 17 coarse labels each may or may not show (Song et al. 2022).

The folder holds ``labels_and_metadata.json`` and ``small_images/*.jpg``, as its download script leaves them. All
430,000 photos are some 85 GB in memory, so a number of users is drawn and only their photos are opened.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import EmpiricsError
from ..streams import stream
from .dataset import Dataset, numbered, Part, with_test
from .resident import NATURAL_PIXELS
from .store import damaged, Files, picture, read

FLAIR = Files(
    "flair",
    "flair",
    ("labels_and_metadata.json", "small_images"),
    "github.com/apple/ml-flair",
    licence="labels CC BY-NC 4.0; the photos belong to their authors",
)


def flair(users: int = 200, test_users: int = 100, size: int = 256, seed: int = 0) -> Dataset:
    """Photos ``size`` x ``size`` of ``users`` drawn of the training part and ``test_users`` of the test part."""
    if min(users, test_users, size) < 1:
        raise EmpiricsError(f"users, test_users and size must be at least 1; got {users}, {test_users}, {size}")
    folder = FLAIR.one("small_images")
    path = FLAIR.one("labels_and_metadata.json")
    try:
        rows = json.loads(read(path))
        words = sorted({label for row in rows for label in row["labels"]})
        parts = [_drawn(rows, part, count, seed) for part, count in (("train", users), ("test", test_users))]
        owners = [[row["user_id"] for row in part] for part in parts]
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None
    *groups, names = numbered(*owners)

    def opened(part: list[Any], group: np.ndarray) -> Part:
        photos = [picture(read(p), p, "RGB", size) for p in (folder / f"{row['image_id']}.jpg" for row in part)]
        targets = np.array([[float(word in row["labels"]) for word in words] for row in part], dtype=np.float32)
        return np.stack(photos).transpose(0, 3, 1, 2), targets, group

    train, test = (opened(part, group) for part, group in zip(parts, groups, strict=True))
    about = {"kind": "multilabel", "group_names": names, "group_word": "user", "prepare": NATURAL_PIXELS}
    return with_test(FLAIR, train, test, len(words), **about)


def _drawn(rows: list[Any], part: str, count: int, seed: int) -> list[Any]:
    """The photos of ``count`` users of a part, drawn without replacement (all, where there are not more)."""
    users = sorted({row["user_id"] for row in rows if row["partition"] == part})
    if not users:
        raise ValueError(f"no photo of the part {part!r}")
    chosen = set(stream(seed, f"flair {part}").permutation(users)[:count].tolist())
    return [row for row in rows if row["user_id"] in chosen and row["partition"] == part]
