"""VGG-11, the second network of FedInit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from .parts import ConvPool, ConvReLU, DenseReLU, ImageArchitecture, Split, whole

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))  # maps; every stage ends in pooling


def convolutions(channels: int, stages: Sequence[Sequence[int]]) -> list[nn.Module]:
    """Padded 3x3 convolutions, stage after stage."""
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

    FedInit says no more than the name. The original has hidden dense layers of 4096 and 4096 for large images; on 32x32
    images one pixel of 512 maps is left, and the default is a single dense layer (9,225,610 parameters for 10 classes);
    ``dense=(512, 512)`` gives the eleven weight layers of the name.
    """

    dense: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(2 ** len(STAGES), side=self.side)
        for width in self.dense:
            whole(dense=width)

    def __call__(self) -> nn.Module:
        left = self.side // 2 ** len(STAGES)
        sizes = [STAGES[-1][-1] * left**2, *self.dense]
        hidden = [DenseReLU(a, b) for a, b in pairwise(sizes)]
        features = nn.Sequential(*convolutions(self.channels, STAGES), nn.Flatten(), *hidden)
        return Split(features, nn.Linear(sizes[-1], self.classes))
