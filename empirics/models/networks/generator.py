"""FedCOG's optional generator of images from noise (appendix A.4.2), which is learnt instead of the pixels."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from ...numbers import must
from .blocks import norm, Split


@dataclass(frozen=True)
class Generator:
    """Builds a network from noise ``(noise,)`` to images ``(channels, side, side)`` with values from 0 to 1.

    A dense layer (width 8192 for 32x32 images), two doublings of the image, three 3x3 convolutions. Sizes that the
    paper does not state (256 noise inputs, 128, 128 and 64 maps, leaky ReLU of slope 0.2, sigmoid) are those of the
    released code, whose batch norm is group norm here. The last convolution is the head. It is not a classifier and so
    not in ``NETWORKS``.
    """

    channels: int = 3
    side: int = 32
    noise: int = 256
    maps: int = 64
    groups: int = 2

    def __post_init__(self) -> None:
        must(self.side >= 4 and self.side % 4 == 0, "side", "a multiple of 4", self.side)

    def __call__(self) -> nn.Module:
        wide, quarter = 2 * self.maps, self.side // 4
        dense = [nn.Linear(self.noise, wide * quarter**2), nn.Unflatten(1, (wide, quarter, quarter))]
        layers = [*dense, norm(self.groups, wide)]
        for outputs in (wide, self.maps):
            layers += [nn.Upsample(scale_factor=2), nn.Conv2d(wide, outputs, 3, padding=1, bias=False)]
            layers += [norm(self.groups, outputs), nn.LeakyReLU(0.2, inplace=True)]
        return Split(
            nn.Sequential(*layers), nn.Sequential(nn.Conv2d(self.maps, self.channels, 3, padding=1), nn.Sigmoid())
        )
