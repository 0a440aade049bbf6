"""FedCOG's optional generator (appendix A.4.2): images from noise, learnt instead of the pixels themselves."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from ...numbers import must
from .blocks import norm, Split


@dataclass(frozen=True)
class Generator:
    """Noise ``(noise,)`` to images ``(channels, side, side)`` with values from 0 to 1; calling it builds the module.

    A dense layer (width 8192 for 32x32 images), two doublings of the image, three 3x3 convolutions; sizes beyond the
    paper's text (256 numbers of noise, 128, 128 and 64 maps, leaky ReLU of slope 0.2, sigmoid) as in the released code,
    whose batch norm is group norm here. The last convolution is the head. Not a classifier, so not in ``NETWORKS``.
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
