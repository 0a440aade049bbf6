"""Conversion of a torch module to the list of layers that compiled passes support.

Nothing here needs numba, so that unsupported networks can be refused without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from ..network import Network
from ..networks.blocks import ConvPool, ConvReLU, DenseReLU, Split
from . import NotServed


@dataclass(frozen=True)
class Layer:
    """A layer; ``kind`` is dense, convolution, maximum or none. ``weight`` and ``bias`` are their first columns.

    ``outputs`` and ``inputs`` count features of dense layers and channels of convolutions.
    """

    kind: str
    relu: bool = False
    weight: int = 0
    bias: int = -1
    outputs: int = 0
    inputs: int = 0
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    flat: bool = False
    """Whether the layer flattens samples."""

    @property
    def taps(self) -> int:
        """Number of entries of the kernel per channel."""
        return self.kernel[0] * self.kernel[1]


SQUARES = Layer("maximum", relu=True, kernel=(2, 2), stride=(2, 2))


def refuse_unserved(network: Network) -> None:
    """Raise ``NotServed`` for a network with a layer or a precision that compiled passes do not support."""
    if network.dtype != torch.float32:
        raise NotServed(f"it is in {str(network.dtype).removeprefix('torch.')}")
    working = [layer for layer in layers(network.work.module, network.parameters) if layer.kind != "none"]
    if len(working) == 1 and working[0].kind == "dense":
        raise NotServed("one dense layer takes less time than copying its samples")


def layers(module: nn.Module, places: Mapping[str, slice], prefix: str = "") -> list[Layer]:
    """Return the layers of a module whose parameters are the columns ``places``; raise ``NotServed`` if impossible."""
    result: list[Layer] = []
    for name, part in _parts(module, prefix):
        new = _layers(name, part, places)
        if new and new[0].kind == "none" and new[0].relu and result:
            result[-1] = replace(result[-1], relu=True)
        else:
            result += new
        if (
            len(result) > 1 and result[-1].kind == "maximum" and result[-2].relu
        ):  # ReLU commutes and costs less after it
            result[-2:] = [replace(result[-2], relu=False), replace(result[-1], relu=True)]
    return result


def _parts(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules that are called one after another, with their names."""
    if any(getattr(module, f"_{kind}") for kind in ("forward_hooks", "forward_pre_hooks", "backward_hooks")):
        raise NotServed(f"{name or 'the module'} has hooks")
    if type(module) not in (nn.Sequential, Split):
        yield name, module
        return
    for key, child in module._modules.items():  # a module may occur twice
        if child is not None:
            yield from _parts(child, f"{name}.{key}" if name else key)


def _layers(name: str, part: Any, places: Mapping[str, slice]) -> list[Layer]:
    """Return the layers that one module stands for."""
    kind: Any = type(part)
    what = f"{name or 'the module'} is {kind.__name__}"

    def begin(key: str) -> int:
        """The first column of a parameter."""
        columns = places.get(f"{name}.{key}" if name else key)
        if columns is None:
            raise NotServed(f"{name} shares its {key}")
        return columns.start

    if kind in (nn.Identity, nn.Dropout, nn.Dropout2d):  # networks refuse dropout with p > 0
        return []
    if kind is nn.ReLU:
        return [Layer("none", relu=True)]
    if kind is nn.Flatten:
        if (part.start_dim, part.end_dim) != (1, -1):
            raise NotServed(f"{what} from dimension {part.start_dim} to {part.end_dim}")
        return [Layer("none", flat=True)]
    if kind in (nn.Linear, DenseReLU, nn.Conv2d, ConvReLU, ConvPool):
        weight, bias = begin("weight"), -1 if part.bias is None else begin("bias")
    if kind in (nn.Linear, DenseReLU):
        return [Layer("dense", kind is DenseReLU, weight, bias, part.out_features, part.in_features)]
    if kind in (nn.Conv2d, ConvReLU, ConvPool):
        if part.groups != 1 or part.dilation != (1, 1) or part.padding_mode != "zeros" or isinstance(part.padding, str):
            raise NotServed(f"{what} with groups, dilation or padding by name")
        sizes = part.kernel_size, (1, 1) if kind is ConvPool else part.stride, part.padding
        shape = weight, bias, part.out_channels, part.in_channels
        return [Layer("convolution", kind is ConvReLU, *shape, *sizes), *[SQUARES] * (kind is ConvPool)]
    if kind is nn.MaxPool2d:
        plain = part.padding in (0, (0, 0)) and part.dilation in (1, (1, 1)) and not part.return_indices
        if not plain or part.kernel_size not in (2, (2, 2)) or part.stride not in (2, (2, 2)) or part.ceil_mode:
            raise NotServed(f"{what} with other windows than 2 x 2 at stride 2")
        return [replace(SQUARES, relu=False)]
    raise NotServed(what)
