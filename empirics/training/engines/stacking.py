"""A network for a stack of models: ``torch.func`` maps the network over rows of parameters."""

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

    Convolutions become grouped ones and dense layers batched products, whose number is that of one client.
    """

    stacked = True
    class_axis = 2

    def __init__(self, network: Network) -> None:
        if network.trained < network.dim:
            raise EmpiricsError(f"{network.name} has batch norm, which is only trained client by client on a CPU")
        self.network = replace(network, build=WithFoldedNorms(network.build))
        _ = self.network.work  # built now, as its initial weights must not be drawn while local steps are recorded
        self.dim, self.layers = self.network.dim, self.network.layers

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Outputs ``(rows, batch, ...)``."""
        return vmap(lambda row, x: self.network.output(row.unsqueeze(0), x.unsqueeze(0))[0])(w, inputs)

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Loss of every sample ``(rows, batch)``."""
        return vmap(lambda o, t: self.network.losses(o.unsqueeze(0), t.unsqueeze(0))[0])(output, targets)

    def _row_loss(self, row: Tensor, inputs: Tensor, targets: Tensor, weight: Tensor | None) -> Tensor:
        batch = inputs.unsqueeze(0), targets.unsqueeze(0), None if weight is None else weight.unsqueeze(0)
        return self.network.task_loss(row.unsqueeze(0), batch)[0]

    def _over_rows(self, function: Callable[..., Tensor], w: Tensor, batch: Batch) -> Tensor:
        axes = (0, 0, 0, None if batch[2] is None else 0)
        results: Tensor = vmap(function, in_dims=axes, randomness="error")(w, *batch)
        return results

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Weighted mean of the losses of every row's batch ``(rows,)``."""
        return self._over_rows(self._row_loss, w, batch)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` in every row ``(rows, dim)``."""
        with torch.enable_grad():
            return self._over_rows(grad(self._row_loss), w, batch)


# ---- group norm ----


@dataclass(frozen=True)
class WithFoldedNorms:
    """``build`` with ``FoldedNorm`` for group norm, whose gradient torch maps over rows by some fifty operations."""

    build: Callable[[], nn.Module]

    def __call__(self) -> nn.Module:
        module = self.build()
        for part in module.modules():
            if type(part) is nn.GroupNorm:
                part.__class__ = FoldedNorm
        return module


class FoldedNorm(nn.GroupNorm):
    """Group norm that treats a stack ``(rows, batch, ...)`` as ``rows * batch`` samples, which it does not mix."""

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
    """Apply a function of samples to stacks of samples, as one batch of all samples.

    To avoid copies, rows and samples have the order of the first tensor (convolutions put samples first).
    """
    axis = 1 if in_dims[0] == 1 else 0
    rows = tensors[0].shape[in_dims[0]]
    stacks = [
        x.unsqueeze(axis).expand(*x.shape[:axis], rows, *x.shape[axis:]) if d is None else x.movedim(d, axis)
        for x, d in zip(tensors, in_dims, strict=False)
    ]
    lead = stacks[0].shape[:2]
    result = function.apply(*(x.reshape(-1, *x.shape[2:]) for x in stacks), *rest)
    if isinstance(result, tuple):
        return tuple(y.view(*lead, *y.shape[1:]) for y in result), (axis,) * len(result)
    return result.view(*lead, *result.shape[1:]), axis


class Normed(torch.autograd.Function):
    """Inputs normed in groups of channels, with the means and inverse deviations of the groups."""

    @staticmethod
    def forward(x: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        return torch.native_group_norm(x.contiguous(), None, None, *_sizes(x), groups, eps)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], *output[1:])
        ctx.groups = inputs[1]
        ctx.mark_non_differentiable(*output[1:])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor, None, None]:
        return NormedGradient.apply(gradient, *ctx.saved_tensors, ctx.groups), None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, groups: int, eps: float) -> tuple[Any, Any]:
        return _folded(Normed, in_dims, (x,), (groups, eps))


class NormedGradient(torch.autograd.Function):
    """The gradient of ``Normed`` in its inputs."""

    @staticmethod
    def forward(gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, groups: int) -> Tensor:
        in_x_alone = (True, False, False)
        result: Tensor = torch.ops.aten.native_group_norm_backward(
            gradient.contiguous(), x.contiguous(), mean, scale, None, *_sizes(x), groups, in_x_alone
        )[0]
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Any, Any]:
        return _folded(NormedGradient, in_dims, args[:4], args[4:])
