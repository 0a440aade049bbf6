"""How batches become model inputs; random crops and flips of stacks of images ``(rows, b, C, H, W)``, on their device.

Randomness comes as words: integers ``(rows, b, WORDS)`` from the counter hash of ``shuffles``, keyed by (seed,
round, client) with one counter per sample of the round. So an image's crop depends neither on the chunk nor on who else
trains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..data.resident import Pixels
from ..errors import EmpiricsError
from ..models.linear import with_intercept
from ..numbers import must
from .shuffles import words

WORDS = 4  # top, left, flip, crop or not
PURPOSE = 0x6175676D656E74  # "augment": keeps these words apart from those of the batches


def noise(seed: int, round_: int, clients: np.ndarray, steps: int, batch: int) -> Tensor:
    """Words ``(rows, steps, batch, WORDS)``: integers below 2^31, the same for the same client and round."""
    drawn = words((seed ^ PURPOSE) % 2**64, round_, clients, 1, steps * batch * WORDS)
    whole = (drawn >> np.uint64(33)).astype(np.int64)
    return torch.from_numpy(whole).view(len(clients), steps, batch, WORDS)


def crop(images: Tensor, top: Tensor, left: Tensor, mirrored: Tensor, padding: int, size: tuple[int, int]) -> Tensor:
    """Pieces of ``size`` (height, width) of images padded with zeros, some mirrored left to right.

    ``top``, ``left`` and ``mirrored (rows, b)`` say where and which: one gather over the pixels of an image.
    """
    padded = F.pad(images.flatten(0, 1), (padding,) * 4)
    across = torch.arange(size[1], device=images.device)
    down = top.reshape(-1, 1) + torch.arange(size[0], device=images.device)
    right = left.reshape(-1, 1) + torch.where(mirrored.reshape(-1, 1), size[1] - 1 - across, across)
    place = (down.unsqueeze(2) * padded.shape[3] + right.unsqueeze(1)).flatten(1).unsqueeze(1)
    pieces = padded.flatten(2).gather(2, place.expand(-1, padded.shape[1], -1))
    return pieces.view(*images.shape[:3], *size)


@dataclass(frozen=True)
class CropFlip:
    """A random crop of the image padded with ``padding`` zeros, and a mirror image half of the time (FedALS, FedCOG).

    ``size``: side of the crop (None: of the image); ``padding=0, size=28`` is Decaying-K's crop of CIFAR-100, which at
    test time is the centre. ``crop_share``: how often the crop happens. ``pad_prepared``: padding comes after the
    normalisation (so it is grey), not before (black).
    """

    padding: int = 4
    size: int | None = None
    crop_share: float = 1.0
    flip_share: float = 0.5
    pad_prepared: bool = False

    def __post_init__(self) -> None:
        must(self.padding >= 0, "padding of an augmentation", "at least 0", self.padding)
        must(self.size is None or self.size >= 1, "size of an augmentation", "at least 1", self.size)
        for name in ("crop_share", "flip_share"):
            share = getattr(self, name)
            must(0 <= share <= 1, f"{name} of an augmentation", "between 0 and 1", share)

    def __call__(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Augmented images ``(rows, b, C, size, size)`` by words ``(rows, b, WORDS)``."""
        height, width, down, right = self._room(images)
        cropped = drawn[..., 3] < self.crop_share * 2**31
        top = torch.where(cropped, drawn[..., 0] % (down + 1), down // 2)
        left = torch.where(cropped, drawn[..., 1] % (right + 1), right // 2)
        mirrored = drawn[..., 2] < self.flip_share * 2**31
        return crop(images, top, left, mirrored, self.padding, (height, width))

    def centre(self, images: Tensor) -> Tensor:
        """What the model sees at test time: the middle of ``images (..., C, H, W)`` at the crop's size."""
        height, width = self._room(images)[:2]
        top, left = ((images.shape[-2] - height) // 2, (images.shape[-1] - width) // 2)
        return images[..., top : top + height, left : left + width]

    def _room(self, images: Tensor) -> tuple[int, int, int, int]:
        """Height and width of the crop, and how far its corner can move down and right."""
        side = images.shape[-2:]
        size = tuple(side) if self.size is None else (self.size, self.size)
        room = [s + 2 * self.padding - c for s, c in zip(side, size, strict=True)]
        if min(room) < 0 or size[0] > side[0] or size[1] > side[1]:
            raise EmpiricsError(f"a crop must fit the image; got size {self.size} of images {tuple(side)}")
        return size[0], size[1], room[0], room[1]


CROP_FLIP = CropFlip()
FEDINIT = CropFlip(crop_share=0.5, pad_prepared=True)
DECAYING_K = CropFlip(padding=0, size=28)
AUGMENTATIONS = {"none": None, "crop_flip": CROP_FLIP, "decaying_k": DECAYING_K, "fedinit": FEDINIT}


@dataclass(frozen=True)
class Recipe:
    """How a batch of the pool becomes model inputs: convert, augment (in training), flatten, append a constant."""

    convert: Callable[[Tensor], Tensor] | None = None
    augment: CropFlip | None = None
    flat: bool = False
    intercept: bool = False
    dtype: torch.dtype | None = None

    def train(self, batch: Tensor, drawn: Tensor | None) -> Tensor:
        """Model inputs of a batch ``(rows, b, ...)`` in training, augmented by the words ``drawn``, if any."""
        if drawn is None or self.augment is None:
            return self.test(batch, 2)
        if self.augment.pad_prepared:
            return self._shaped(self.augment(self._converted(batch), drawn), 2)
        return self._shaped(self._converted(self.augment(batch, drawn)), 2)

    def test(self, batch: Tensor, axes: int = 1) -> Tensor:
        """Model inputs of samples, without chance; the first ``axes`` axes count samples."""
        inputs = self._converted(batch if self.augment is None else self.augment.centre(batch))
        return self._shaped(inputs, axes)

    def warm(self, device: torch.device) -> None:
        """Put constants on the device before a recording of local steps, which may not move them."""
        if isinstance(self.convert, Pixels):
            self.convert.warm(device)

    def _converted(self, batch: Tensor) -> Tensor:
        converted = batch if self.convert is None else self.convert(batch)
        return converted if self.dtype is None or not converted.is_floating_point() else converted.to(self.dtype)

    def _shaped(self, inputs: Tensor, axes: int) -> Tensor:
        if self.flat:
            inputs = inputs.flatten(axes)
        return with_intercept(inputs) if self.intercept else inputs
