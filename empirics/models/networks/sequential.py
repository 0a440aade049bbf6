"""Sequential networks: those of FedCOG (Section 6) and Decaying-K (Section 5.2), and FedInit's VGG-11."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from torch import nn, Tensor

from bounds.domains import COUNT

from ...numbers import checked, must
from .blocks import Architecture, ConvPool, ConvReLU, DenseReLU, ImageArchitecture, Split


def cnn(image: tuple[int, int], channels: Sequence[int], kernel: int, dense: Sequence[int], classes: int) -> Split:
    """Return unpadded convolutions with pooling on images ``(channels, side)``, dense layers, and a dense head."""
    inputs, side = image
    for _ in channels:
        side = (side - kernel + 1) // 2
    checked("side after pooling", side, COUNT)
    widths = [inputs, *channels]
    convolutions = [ConvPool(a, b, kernel) for a, b in pairwise(widths)]
    sizes = [widths[-1] * side**2, *dense]
    hidden = [DenseReLU(a, b) for a, b in pairwise(sizes)]
    return Split(nn.Sequential(*convolutions, nn.Flatten(), *hidden), nn.Linear(sizes[-1], classes))


@dataclass(frozen=True)
class FedCogCnn(ImageArchitecture):
    """FedCOG's CNN for CIFAR-10 (62,006 parameters) and, with one channel and side 28, Fashion-MNIST (44,426).

    Convolutions 5x5 to 6 and 16 maps, each with ReLU and 2x2 max-pooling, dense layers 120, 84 and classes. The paper
    mentions one pooling layer; these are the two of its released code.
    """

    def __call__(self) -> nn.Module:
        return cnn((self.channels, self.side), (6, 16), 5, (120, 84), self.classes)


@dataclass(frozen=True)
class FedCogCifar100Cnn(ImageArchitecture):
    """FedCOG's CNN for CIFAR-100 (69,380 parameters, as in its appendix A.4.3).

    Convolutions 3x3 to 16, 32 and 64 maps, each with ReLU and 2x2 max-pooling, dense layers 128 and classes.
    """

    classes: int = 100

    def __call__(self) -> nn.Module:
        return cnn((self.channels, self.side), (16, 32, 64), 3, (128,), self.classes)


@dataclass(frozen=True)
class DecayingKCnn(ImageArchitecture):
    """Decaying-K's CNN for CIFAR-100 (1,250,852 parameters): two 3x3 convolutions with pooling, dense 512 and classes.

    The paper states neither channels nor padding nor the size of its inputs (it crops images to 28x28). 32 and 64 maps
    without padding on 32x32 images give the 40.0 Mb of its Table 1 (at 32 bits); on 28x28 they give 28.5 Mb, padded
    53.7 Mb.
    """

    classes: int = 100

    def __call__(self) -> nn.Module:
        return cnn((self.channels, self.side), (32, 64), 3, (512,), self.classes)


@dataclass(frozen=True)
class FemnistDnn(Architecture):
    """Decaying-K's network for FEMNIST (209,662 parameters): flattened 28x28 images, dense 200, 200 and 62 classes."""

    classes: int = 62
    pixels: int = 784

    sides = ("pixels",)

    def __call__(self) -> nn.Module:
        features = nn.Sequential(nn.Flatten(), DenseReLU(self.pixels, 200), DenseReLU(200, 200))
        return Split(features, nn.Linear(200, self.classes))


@dataclass(frozen=True)
class Sent140Linear(Architecture):
    """Decaying-K's linear classifier for Sent140 (10,002 parameters), its only convex experiment.

    Its inputs are bags of the 5,000 most frequent words, with 2 classes; the features are the inputs themselves.
    """

    classes: int = 2
    words: int = 5000

    sides = ("words",)

    def __call__(self) -> nn.Module:
        return Split(nn.Flatten(), nn.Linear(self.words, self.classes))


# ---- Shakespeare ----


class Recurrence(nn.Module):
    """States of a GRU over embedded tokens: of ``every`` position, or of the last one."""

    def __init__(self, tokens: int, embedding: int, width: int, depth: int, every: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, embedding)
        self.gru = nn.GRU(embedding, width, depth, batch_first=True)
        self.every = every

    def forward(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.gru(self.embedding(tokens.long()))[0]
        return states if self.every else states[:, -1]


@dataclass(frozen=True)
class ShakespeareGru(Architecture):
    """Decaying-K's network for Shakespeare (162,887 parameters): embedding 79 to 8, two GRU layers of 128, 79 classes.

    Inputs are character numbers ``(length,)``. With ``loss="cross_entropy"`` it predicts the character after the
    sequence, as in LEAF's task; with ``"next_token"`` the character after every position.
    """

    classes: int = 79
    embedding: int = 8
    width: int = 128
    depth: int = 2
    length: int = 80

    losses: ClassVar[tuple[str, ...]] = ("cross_entropy", "next_token")
    sides = ("length",)

    def __call__(self) -> nn.Module:
        every = self.loss == "next_token"
        features = Recurrence(self.classes, self.embedding, self.width, self.depth, every)
        return Split(features, nn.Linear(self.width, self.classes))

    def begins(self, name: str, ndim: int) -> bool:
        """Whether the parameter begins the embedding, a GRU layer or the head."""
        return ndim >= 2 and "weight_hh" not in name


# ---- VGG-11, the second network of FedInit ----

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))  # maps of each convolution


def convolutions(channels: int, stages: Sequence[Sequence[int]]) -> list[nn.Module]:
    """Return padded 3x3 convolutions with pooling at the end of every stage."""
    layers: list[nn.Module] = []
    for stage in stages:
        *inner, last = pairwise((channels, *stage))
        layers += [ConvReLU(a, b, 3, padding=1) for a, b in inner]
        layers.append(ConvPool(*last, 3, padding=1))
        channels = stage[-1]
    return layers


@dataclass(frozen=True)
class Vgg11(ImageArchitecture):
    """VGG-11 (configuration A of Simonyan and Zisserman), without norms: eight convolutions, then dense layers.

    FedInit gives only the name. The original has two hidden dense layers of 4096 for large images. On 32x32 images one
    pixel of 512 maps remains, and the default is a single dense layer (9,225,610 parameters for 10 classes);
    ``dense=(512, 512)`` gives the eleven weight layers of the name.
    """

    dense: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        must(self.side >= 2 ** len(STAGES), "side of Vgg11", f">= {2 ** len(STAGES)}", self.side)
        for width in self.dense:
            checked("dense of Vgg11", width, COUNT)

    def __call__(self) -> nn.Module:
        left = self.side // 2 ** len(STAGES)
        sizes = [STAGES[-1][-1] * left**2, *self.dense]
        hidden = [DenseReLU(a, b) for a, b in pairwise(sizes)]
        features = nn.Sequential(*convolutions(self.channels, STAGES), nn.Flatten(), *hidden)
        return Split(features, nn.Linear(sizes[-1], self.classes))
