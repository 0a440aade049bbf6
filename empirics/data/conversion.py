"""Conversion of stored samples (small integers) to model inputs, batch by batch, on the device of the samples.

Converters are frozen dataclasses that take a batch ``(rows, b, ...)`` or a pool ``(n, ...)`` and return model inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Pixels:
    """Converts pixels 0 .. 255 of images ``(..., C, H, W)`` to ``(x/255 - mean)/std`` per channel, in float32."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, images: Tensor) -> Tensor:
        scale, shift = _affine(self.mean, self.std, str(images.device))
        return images.float().mul_(scale).add_(shift)

    def warm(self, device: torch.device) -> None:
        """Copy the constants to the device ahead of time."""
        _affine(self.mean, self.std, str(device))


@lru_cache(maxsize=64)
def _affine(mean: tuple[float, ...], std: tuple[float, ...], device: str) -> Any:
    """Return scale and shift ``(C, 1, 1)``, cached per device since a copy per batch would stall a GPU."""
    import torch

    centre, spread = (torch.tensor(v, dtype=torch.float64).view(-1, 1, 1) for v in (mean, std))
    return (1 / (255 * spread)).float().to(device), (-centre / spread).float().to(device)


@dataclass(frozen=True)
class Frequencies:
    """Converts counts of words ``(..., words)`` to shares of the counted words, in float32; texts without any to 0."""

    def __call__(self, counts: Tensor) -> Tensor:
        bags = counts.float()
        return bags / bags.sum(-1, keepdim=True).clamp_(min=1)


@dataclass(frozen=True)
class Codes:
    """Converts codes of characters or bytes to the 64-bit integers that embeddings take."""

    def __call__(self, codes: Tensor) -> Tensor:
        return codes.long()


# As in the released code of the papers; for MNIST, mean and deviation of its training set.
MNIST_PIXELS = Pixels((0.1307,), (0.3081,))
HALF_PIXELS = Pixels((0.5,), (0.5,))  # FedCOG on Fashion-MNIST
CIFAR10_PIXELS = Pixels((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))  # FedCOG
CIFAR100_PIXELS = Pixels((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762))  # FedCOG
NATURAL_PIXELS = Pixels((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))  # FedALS, on all its image sets
UNIT_PIXELS = Pixels((0.0,), (1.0,))  # grey levels in [0, 1]
