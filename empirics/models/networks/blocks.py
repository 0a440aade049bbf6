"""What several networks are made of: the split into features and head, norms, and convolutions that end in pooling."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, KW_ONLY
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import nn, Tensor

from ...errors import EmpiricsError
from ...numbers import must
from ..network import weighs
from .pooling import relu_pool

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class Architecture:
    """A network's options: subclasses are frozen dataclasses, and calling one builds the module freshly initialised.

    ``loss`` is a name in ``LOSSES``, ``precision`` one in ``PRECISIONS``. ``extractor`` counts the layers before the
    border to the head of layer-wise methods (the L of FedALS, Table 3); None: all but the module's own head.
    """

    classes: int = 10
    _: KW_ONLY
    extractor: int | None = None
    loss: str = "cross_entropy"
    precision: str = "float32"

    losses: ClassVar[tuple[str, ...]] = ("cross_entropy", "multi_label")

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        raise NotImplementedError

    def __call__(self) -> nn.Module:
        raise NotImplementedError

    def begins(self, name: str, ndim: int) -> bool:
        """Whether a parameter begins a new layer, as FedALS counts them; the first parameter always does."""
        return weighs(name, ndim)

    def __post_init__(self) -> None:
        one_of(self.losses, loss=self.loss)
        one_of(PRECISIONS, precision=self.precision)
        for option in fields(self):
            if option.type == "int":
                whole(**{option.name: getattr(self, option.name)})


@dataclass(frozen=True)
class ImageArchitecture(Architecture):
    """A network for square images ``(channels, side, side)``."""

    channels: int = 3
    side: int = 32

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.channels, self.side, self.side)


def whole(least: int = 1, **options: object) -> None:
    """Refuse an option that is not an integer of at least so much."""
    for name, value in options.items():
        must(type(value) is int and value >= least, name, f"a whole number >= {least}", value)


def one_of(allowed: Collection[object], **options: object) -> None:
    """Refuse an option that is none of the words."""
    for name, value in options.items():
        must(value in allowed, name, f"one of {', '.join(map(str, allowed))}", value)


class Split(nn.Module):
    """``head(features(x))``. Parameters of the head come last in a flat row and their names begin with ``head``."""

    def __init__(self, features: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.features, self.head = features, head

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


class ConvPool(nn.Conv2d):
    """Convolution (stride 1), 2x2 max-pooling, bias, ReLU: the values of ReLU before pooling, quicker.

    Without padding, the last row and column that pooling would leave out at an odd border are not computed.
    """

    def forward(self, x: Tensor) -> Tensor:
        if self.padding == (0, 0):
            for axis, kernel in zip((-2, -1), self.kernel_size, strict=True):
                size = x.shape[axis]
                if (size - kernel + 1) % 2:  # else no slice: its gradient would be a copy all the same
                    x = x.narrow(axis, 0, size - 1)
        return relu_pool(F.conv2d(x, self.weight, None, padding=self.padding), self.bias)


class ConvReLU(nn.Conv2d):
    """Convolution and ReLU."""

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(super().forward(x), inplace=True)


class DenseReLU(nn.Linear):
    """A dense layer and ReLU."""

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(super().forward(x), inplace=True)


NORMS = {"group": "averaged", "batch": "averaged", "batch_local": "local", "batch_frozen": "frozen"}
"""Norms of channels, with what becomes of their running statistics; group norm has none."""


@dataclass(frozen=True)
class NormedArchitecture(ImageArchitecture):
    """A network with group norm of ``groups``, or with batch norm and one of the treatments of its statistics.

    ``batch``: averaged with the model; ``batch_local``: each client goes on with its own; ``batch_frozen``: means 0 and
    variances 1 for ever, by which training normalises too, so that only scales and shifts are left.
    """

    norm: str = field(default="group", kw_only=True)
    groups: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(NORMS, norm=self.norm)
        if self.norm != "group" and self.groups != NormedArchitecture.groups:
            raise EmpiricsError(f"groups belong to group norm: leave them out; got {self.groups} with {self.norm}")

    @property
    def statistics(self) -> str:
        return NORMS[self.norm]

    def normed(self, channels: int) -> nn.Module:
        """A normalisation layer for this number of channels."""
        return norm(self.groups, channels) if self.norm == "group" else nn.BatchNorm2d(channels)


def norm(groups: int, channels: int) -> nn.GroupNorm:
    """Group norm: nothing depends on the other samples of a batch, nothing is remembered."""
    must(groups >= 1 and channels % groups == 0, "groups", f"a divisor of the {channels} channels of a layer", groups)
    return nn.GroupNorm(groups, channels)
