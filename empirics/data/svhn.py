"""Street View House Numbers, cropped digits, in the original MATLAB files."""

from __future__ import annotations

import numpy as np

from .dataset import Dataset, Part, with_test
from .resident import NATURAL_PIXELS
from .store import damaged, Download, Files, matlab

PAGE = "ufldl.stanford.edu/housenumbers"
SVHN = Files(
    "svhn",
    "svhn",
    ("train_32x32.mat", "test_32x32.mat"),
    PAGE,
    (
        Download(
            (f"https://{PAGE}/train_32x32.mat",),
            "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        ),
        Download(
            (f"https://{PAGE}/test_32x32.mat",),
            "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
        ),
    ),
    "for non-commercial use only",
)


def svhn() -> Dataset:
    """Digits of house numbers, 73,257 + 26,032 colour images of 32x32; the file's label 10 is the digit 0."""
    train, test = (_digits(name) for name in SVHN.names)
    return with_test(SVHN, train, test, 10, prepare=NATURAL_PIXELS)


def _digits(name: str) -> Part:
    path = SVHN.one(name)
    images, labels = matlab(path, "X", "y")
    if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or labels.size != images.shape[3]:
        raise damaged(path, f"images {images.shape} with {labels.size} labels")
    pixels = np.ascontiguousarray(images.transpose(3, 2, 0, 1), dtype=np.uint8)
    return pixels, labels.ravel().astype(np.int64) % 10, None
