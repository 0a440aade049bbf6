"""Building blocks of several networks: options and their checks, the split into features and head, layers, norms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, KW_ONLY
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import nn, Tensor

from bounds.domains import COUNT

from ...errors import EmpiricsError
from ...numbers import check_fields, must, Rule
from ..network import begins_layer
from .pooling import relu_pool

Choices = Mapping[str, Collection[str]]
PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class Architecture:
    """Options of a network; calling an instance builds the initialised module. Subclasses are frozen dataclasses.

    ``loss`` is a name in ``LOSSES``, ``precision`` one in ``PRECISIONS``. ``extractor`` is the number of layers before
    the head of layer-wise methods (the L of FedALS, Table 3); None means all but the module's head.
    """

    classes: int = 10
    _: KW_ONLY
    extractor: int | None = None
    loss: str = "cross_entropy"
    precision: str = "float32"

    losses: ClassVar[tuple[str, ...]] = ("cross_entropy", "multi_label")
    choices: ClassVar[Choices] = {}
    """The allowed values of further options."""
    sides: ClassVar[tuple[str, ...]]
    """The options that are the shape of one sample."""

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        return tuple(getattr(self, option) for option in self.sides)

    def __call__(self) -> nn.Module:
        raise NotImplementedError

    def begins(self, name: str, ndim: int) -> bool:
        """Whether a parameter begins a layer, as FedALS counts them; the first parameter always does."""
        return begins_layer(name, ndim)

    def __post_init__(self) -> None:
        rules: dict[str, Rule] = {"loss": self.losses, "precision": PRECISIONS}
        rules |= {option.name: COUNT for option in fields(self) if option.type == "int"}
        check_fields(self, type(self).__name__, rules | dict(self.choices))


@dataclass(frozen=True)
class ImageArchitecture(Architecture):
    """A network for square images ``(channels, side, side)``."""

    channels: int = 3
    side: int = 32

    sides = ("channels", "side", "side")


class Split(nn.Module):
    """``head(features(x))``. Parameters of the head come last in a flat row, and their names begin with ``head``."""

    def __init__(self, features: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.features, self.head = features, head

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


class ConvPool(nn.Conv2d):
    """Convolution (stride 1), 2x2 max-pooling, bias, ReLU: the same values as ReLU before pooling, but faster.

    Without padding, a last row or column that pooling would ignore is not computed.
    """

    def forward(self, x: Tensor) -> Tensor:
        if self.padding == (0, 0):
            for axis, kernel in zip((-2, -1), self.kernel_size, strict=True):
                size = x.shape[axis]
                if (size - kernel + 1) % 2:  # otherwise no slice, since its gradient would be a copy
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
"""Norms of channels with the treatment of their running statistics (group norm has none)."""


@dataclass(frozen=True)
class NormedArchitecture(ImageArchitecture):
    """A network with group norm of ``groups``, or with batch norm and one of three treatments of its statistics.

    ``batch`` averages them with the model, with ``batch_local`` each client keeps its own, and ``batch_frozen`` always
    uses means 0 and variances 1, in training too, so that only scales and shifts remain.
    """

    norm: str = field(default="group", kw_only=True)
    groups: int = 2

    choices: ClassVar[Choices] = {"norm": NORMS}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm != "group" and self.groups != NormedArchitecture.groups:
            raise EmpiricsError(f"groups= is for group norm: leave it out; got {self.groups} with norm={self.norm!r}")

    @property
    def statistics(self) -> str:
        return NORMS[self.norm]

    def normed(self, channels: int) -> nn.Module:
        """Return a normalisation layer for this number of channels."""
        return norm(self.groups, channels) if self.norm == "group" else nn.BatchNorm2d(channels)


def norm(groups: int, channels: int) -> nn.GroupNorm:
    """Return a group norm, which does not depend on other samples of the batch and has no running statistics."""
    must(groups >= 1 and channels % groups == 0, "groups", f"a divisor of the {channels} channels of a layer", groups)
    return nn.GroupNorm(groups, channels)
