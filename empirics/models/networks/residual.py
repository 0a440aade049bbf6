"""Residual networks for images: ResNet-20 (FedALS) and ResNet-18 (FedInit, FedCOG), with group or batch norm.

FedALS and FedCOG use batch norm, which makes a sample's output depend on its batch and has statistics that are not
trained by gradients. FedInit replaces it by group norm with two groups, the default here for both networks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F
from torch import nn, Tensor

from .blocks import Choices, NormedArchitecture, NORMS, Split

Norm = Callable[[int], nn.Module]
SHORTCUTS = {"pad": 0, "conv1": 1, "conv3": 3}
"""Kernel of the convolution in the shortcut of a block that changes the shape (0: no convolution)."""
STEMS = {"imagenet": (7, 2, 3), "cifar": (3, 1, 1)}
"""Kernel, stride and padding of the first convolution."""


class PadShortcut(nn.Module):
    """Every stride-th pixel with channels of zeros on both sides: the parameter-free shortcut (A) of He et al."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.stride, before = stride, (outputs - inputs) // 2
        self.padding = (0, 0, 0, 0, before, outputs - inputs - before)

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x[:, :, :: self.stride, :: self.stride], self.padding)


class Block(nn.Module):
    """Two 3x3 convolutions with norms and a shortcut added before the last ReLU; ``kernel`` is that of the shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int, norm: Norm, kernel: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False), norm(outputs)
        self.conv2, self.norm2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), norm(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if (stride > 1 or inputs != outputs) and kernel:
            convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
            self.shortcut = nn.Sequential(convolution, norm(outputs))
        elif stride > 1 or inputs != outputs:
            self.shortcut = PadShortcut(inputs, outputs, stride)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(hidden)).add_(self.shortcut(x)), inplace=True)


class GlobalMean(nn.Module):
    """Mean over all pixels: ``(batch, channels)``."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))


def residual(
    stem: Sequence[nn.Module], widths: Sequence[int], depth: int, norm: Norm, kernel: int, classes: int
) -> Split:
    """Return a network of ``depth`` blocks per width behind a stem; the first block of a new width halves the image."""
    blocks, before = [], widths[0]
    for stage, width in enumerate(widths):
        for position in range(depth):
            blocks.append(Block(before, width, 2 if stage and position == 0 else 1, norm, kernel))
            before = width
    return Split(nn.Sequential(*stem, *blocks, GlobalMean()), nn.Linear(before, classes))


@dataclass(frozen=True)
class ResNet20(NormedArchitecture):
    """The CIFAR ResNet-20 of FedALS: 16, 32 and 64 maps, three blocks each, a mean and one dense layer.

    ``shortcut`` of blocks that change the shape: ``conv3`` (a 3x3 convolution, as in FedALS's released code and the
    only one with the numbers of its Table 2: head 650, extractor 292,304), ``conv1`` (1x1, extractor 271,824) or
    ``pad`` (no parameters, extractor 269,072). FedALS uses batch norm (``norm="batch"``); group norm, the default, has
    the same number of parameters.
    """

    shortcut: str = "conv3"

    choices: ClassVar[Choices] = {"norm": NORMS, "shortcut": SHORTCUTS}

    def __call__(self) -> nn.Module:
        stem = [nn.Conv2d(self.channels, 16, 3, padding=1, bias=False), self.normed(16), nn.ReLU(inplace=True)]
        return residual(stem, (16, 32, 64), 3, self.normed, SHORTCUTS[self.shortcut], self.classes)


@dataclass(frozen=True)
class ResNet18(NormedArchitecture):
    """ResNet-18: 64 to 512 maps, two blocks each, 1x1 shortcuts, a mean and one dense layer.

    ``stem`` is ``imagenet`` (7x7 with stride 2 and 3x3 pooling: torchvision's network, in FedInit even on 32x32 images)
    or ``cifar`` (3x3 only). FedInit replaces batch norm by group norm with 2 groups, as here; FedCOG uses torchvision's
    ResNet-18 for FLAIR (17 labels, ``loss="multi_label"``), which has batch norm (``norm="batch"``). Convolutions are
    initialised as in torchvision: normal, with variance 2 over the number of outgoing connections.
    """

    stem: str = "imagenet"

    choices: ClassVar[Choices] = {"norm": NORMS, "stem": STEMS}

    def __call__(self) -> nn.Module:
        convolution = nn.Conv2d(self.channels, 64, *STEMS[self.stem], bias=False)
        pooling = [nn.MaxPool2d(3, 2, 1)] if self.stem == "imagenet" else []
        stem = [convolution, self.normed(64), nn.ReLU(inplace=True), *pooling]
        module = residual(stem, (64, 128, 256, 512), 2, self.normed, 1, self.classes)
        for part in module.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
        return module
