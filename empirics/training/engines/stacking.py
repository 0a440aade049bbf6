"""A network as a model of many rows: ``torch.func`` maps the one-row network over a stack of flat rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn, Tensor
from torch.func import grad, vmap

from ...errors import EmpiricsError
from ...models.model import Batch
from ...models.network import Network


class StackedNetwork:
    """``network`` for rows ``(rows, dim)`` and batches ``(inputs (rows, b, ...), targets, weight or None)``.

    Convolutions become grouped ones and dense layers batched products: many clients in as many operations as one takes.
    """

    stacked = True
    class_axis = 2

    def __init__(self, network: Network) -> None:
        if network.trained < network.dim:
            raise EmpiricsError(f"{network.name} has batch norm, which is trained client by client on a CPU alone")
        self.network = replace(network, build=WithFoldedNorms(network.build))
        _ = self.network.work  # made now: its first numbers must not be drawn while local steps are recorded
        self.dim, self.layers = self.network.dim, self.network.layers

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Outputs ``(rows, batch, ...)``."""
        return vmap(lambda row, x: self.network.output(row.unsqueeze(0), x.unsqueeze(0))[0])(w, inputs)

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Loss of every sample ``(rows, batch)``."""
        return vmap(lambda o, t: self.network.losses(o.unsqueeze(0), t.unsqueeze(0))[0])(output, targets)

    def _of_row(self, row: Tensor, inputs: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
        batch = inputs.unsqueeze(0), targets.unsqueeze(0), None if weight is None else weight.unsqueeze(0)
        return self.network.task_loss(row.unsqueeze(0), batch)[0]

    def _over_rows(self, function: Callable[..., Tensor], w: Tensor, batch: Batch) -> Tensor:
        along = (0, 0, 0, None if batch[2] is None else 0)
        found: Tensor = vmap(function, in_dims=along, randomness="error")(w, *batch)
        return found

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Weighted mean of the losses of every row's batch ``(rows,)``."""
        return self._over_rows(self._of_row, w, batch)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` in every row ``(rows, dim)``."""
        with torch.enable_grad():
            return self._over_rows(grad(self._of_row), w, batch)


# ---- group norm ----


@dataclass(frozen=True)
class WithFoldedNorms:
    """``build`` with group norms that stack: torch maps their gradient over rows by some fifty operations each."""

    build: Callable[[], nn.Module]

    def __call__(self) -> nn.Module:
        module = self.build()
        for part in module.modules():
            if type(part) is nn.GroupNorm:
                part.__class__ = FoldedNorm
        return module


class FoldedNorm(nn.GroupNorm):
    """Group norm of a stack ``(rows, batch, ...)`` as that of ``rows * batch`` samples: nothing else mixes them."""

    def forward(self, x: Tensor) -> Tensor:
        normed = Normed.apply(x, self.num_groups, self.eps)[0]
        if not self.affine:
            return normed
        shape = (1, -1, *[1] * (x.ndim - 2))
        return torch.addcmul(self.bias.view(shape), normed, self.weight.view(shape))


def _sizes(x: Tensor) -> tuple[int, int, int]:
    """Samples, channels and positions of ``(samples, channels, ...)``."""
    return len(x), x.shape[1], x[0, 0].numel()


def _folded(function: Any, in_dims: Any, tensors: tuple[Tensor, ...], rest: tuple[Any, ...]) -> tuple[Any, Any]:
    """The function of stacks of samples as that of all their samples at once.

    Rows and samples keep the order that they have in the first tensor (convolutions put samples first): no copies.
    """
    place = 1 if in_dims[0] == 1 else 0
    rows = tensors[0].shape[in_dims[0]]
    stacks = [
        x.unsqueeze(place).expand(*x.shape[:place], rows, *x.shape[place:]) if d is None else x.movedim(d, place)
        for x, d in zip(tensors, in_dims, strict=False)
    ]
    lead = stacks[0].shape[:2]
    found = function.apply(*(x.reshape(-1, *x.shape[2:]) for x in stacks), *rest)
    if isinstance(found, tuple):
        return tuple(y.view(*lead, *y.shape[1:]) for y in found), (place,) * len(found)
    return found.view(*lead, *found.shape[1:]), place


class Normed(torch.autograd.Function):
    """Inputs, normed in groups of channels, with the means and deviations that were taken out."""

    @staticmethod
    def forward(x: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        return torch.native_group_norm(x.contiguous(), None, None, *_sizes(x), groups, eps)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], *output[1:])
        ctx.groups = inputs[1]
        ctx.mark_non_differentiable(*output[1:])

    @staticmethod
    def backward(ctx: Any, slope: Tensor, *_: Tensor) -> tuple[Tensor, None, None]:
        found: Tensor = NormedSlope.apply(slope, *ctx.saved_tensors, ctx.groups)
        return found, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, groups: int, eps: float) -> tuple[Any, Any]:
        return _folded(Normed, in_dims, (x,), (groups, eps))


class NormedSlope(torch.autograd.Function):
    """The gradient of ``Normed`` in its inputs."""

    @staticmethod
    def forward(slope: Tensor, x: Tensor, mean: Tensor, scale: Tensor, groups: int) -> Tensor:
        sizes, wanted = _sizes(x), (True, False, False)
        found: Tensor = torch.ops.aten.native_group_norm_backward(
            slope.contiguous(), x.contiguous(), mean, scale, None, *sizes, groups, wanted
        )[0]
        return found

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
        return _folded(NormedSlope, in_dims, given[:4], given[4:])
