"""Makes model inputs of batches, with random crops and flips of stacks of images ``(rows, b, C, H, W)``.

Random numbers are integers ``(rows, b, WORDS)`` from the counter hash of ``shuffles``, keyed by (seed, round, client)
with one counter per sample of the round, so an image's crop does not depend on chunks or on other clients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import COUNT, Domain, WHOLE

from ..data.conversion import Pixels
from ..errors import EmpiricsError
from ..models.linear import with_intercept
from ..numbers import check_fields
from .shuffles import random_words

PROBABILITY = Domain(">= 0 and <= 1", low=0, high=1)
WORDS = 4  # top, left, flip, crop or not
PURPOSE = 0x6175676D656E74  # "augment": keeps these words apart from those of the batches


def noise(seed: int, round_: int, clients: np.ndarray, steps: int, batch: int) -> Tensor:
    """Random integers below 2^31 ``(rows, steps, batch, WORDS)`` that depend on seed, round and client."""
    bits = random_words((seed ^ PURPOSE) % 2**64, round_, clients, 1, steps * batch * WORDS)
    return torch.from_numpy((bits >> np.uint64(33)).astype(np.int64)).view(len(clients), steps, batch, WORDS)


def crop(images: Tensor, top: Tensor, left: Tensor, mirrored: Tensor, padding: int, size: tuple[int, int]) -> Tensor:
    """Crop images padded with zeros to ``size`` (height, width), and mirror some left to right.

    ``top``, ``left (rows, b)`` are the corners and ``mirrored (rows, b)`` the flips.
    """
    padded = F.pad(images.flatten(0, 1), (padding,) * 4)
    columns = torch.arange(size[1], device=images.device)
    y = top.reshape(-1, 1) + torch.arange(size[0], device=images.device)
    x = left.reshape(-1, 1) + torch.where(mirrored.reshape(-1, 1), size[1] - 1 - columns, columns)
    pixels = (y.unsqueeze(2) * padded.shape[3] + x.unsqueeze(1)).flatten(1).unsqueeze(1)
    crops = padded.flatten(2).gather(2, pixels.expand(-1, padded.shape[1], -1))
    return crops.view(*images.shape[:3], *size)


@dataclass(frozen=True)
class CropFlip:
    """Random crops of images padded with ``padding`` zeros, and random mirror images (FedALS, FedCOG).

    ``size`` is the side of the crop (None: of the image); ``padding=0, size=28`` is Decaying-K's crop of CIFAR-100,
    which is the centre at test time. ``crop_share`` and ``flip_share`` are the probabilities of a crop and a flip.
    ``pad_prepared`` pads after the normalisation (with grey) instead of before it (with black).
    """

    padding: int = 4
    size: int | None = None
    crop_share: float = 1.0
    flip_share: float = 0.5
    pad_prepared: bool = False

    def __post_init__(self) -> None:
        rules = {"padding": WHOLE, "size": COUNT, "crop_share": PROBABILITY, "flip_share": PROBABILITY}
        check_fields(self, "an augmentation", rules)

    def __call__(self, images: Tensor, noise: Tensor) -> Tensor:
        """Return augmented images ``(rows, b, C, size, size)``; ``noise (rows, b, WORDS)`` has the random integers."""
        height, width, most_down, most_right = self._crop_range(images)
        cropped = noise[..., 3] < self.crop_share * 2**31
        top = torch.where(cropped, noise[..., 0] % (most_down + 1), most_down // 2)
        left = torch.where(cropped, noise[..., 1] % (most_right + 1), most_right // 2)
        mirrored = noise[..., 2] < self.flip_share * 2**31
        return crop(images, top, left, mirrored, self.padding, (height, width))

    def centre(self, images: Tensor) -> Tensor:
        """The centre of ``images (..., C, H, W)`` at the crop's size, for test time."""
        height, width = self._crop_range(images)[:2]
        top, left = ((images.shape[-2] - height) // 2, (images.shape[-1] - width) // 2)
        return images[..., top : top + height, left : left + width]

    def _crop_range(self, images: Tensor) -> tuple[int, int, int, int]:
        """Height and width of the crop, and the largest offsets of its corner down and right."""
        sides = images.shape[-2:]
        size = tuple(sides) if self.size is None else (self.size, self.size)
        most = [side + 2 * self.padding - s for side, s in zip(sides, size, strict=True)]
        if min(most) < 0 or size[0] > sides[0] or size[1] > sides[1]:
            raise EmpiricsError(f"a crop must fit the image; got size {self.size} of images {tuple(sides)}")
        return size[0], size[1], most[0], most[1]


CROP_FLIP = CropFlip()
FEDINIT = CropFlip(crop_share=0.5, pad_prepared=True)
DECAYING_K = CropFlip(padding=0, size=28)
AUGMENTATIONS = {"none": None, "crop_flip": CROP_FLIP, "decaying_k": DECAYING_K, "fedinit": FEDINIT}


@dataclass(frozen=True)
class Recipe:
    """Makes model inputs of a batch of the pool: convert, augment (in training), flatten, append a constant."""

    convert: Callable[[Tensor], Tensor] | None = None
    augment: CropFlip | None = None
    flat: bool = False
    intercept: bool = False
    dtype: torch.dtype | None = None

    def train(self, batch: Tensor, noise: Tensor | None) -> Tensor:
        """Model inputs of a batch ``(rows, b, ...)`` in training, augmented with the random integers ``noise``."""
        if noise is None or self.augment is None:
            return self.test(batch, 2)
        if self.augment.pad_prepared:
            return self._shaped(self.augment(self._converted(batch), noise), 2)
        return self._shaped(self._converted(self.augment(batch, noise)), 2)

    def test(self, batch: Tensor, axes: int = 1) -> Tensor:
        """Model inputs of samples without randomness; the first ``axes`` axes count samples."""
        inputs = self._converted(batch if self.augment is None else self.augment.centre(batch))
        return self._shaped(inputs, axes)

    def warm(self, device: torch.device) -> None:
        """Copy constants to the device before local steps are recorded, as recordings must not copy them."""
        if isinstance(self.convert, Pixels):
            self.convert.warm(device)

    def _converted(self, batch: Tensor) -> Tensor:
        converted = batch if self.convert is None else self.convert(batch)
        return converted if self.dtype is None or not converted.is_floating_point() else converted.to(self.dtype)

    def _shaped(self, inputs: Tensor, axes: int) -> Tensor:
        if self.flat:
            inputs = inputs.flatten(axes)
        return with_intercept(inputs) if self.intercept else inputs
