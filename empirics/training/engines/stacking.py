"""A network as a model of many rows: ``torch.func`` maps the one-row network over a stack of flat rows."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.func import grad, vmap

from ...models.model import Batch
from ...models.network import Network


class StackedNetwork:
    """``network`` for rows ``(rows, dim)`` and batches ``(inputs (rows, b, ...), targets, weight or None)``.

    Convolutions become grouped ones and dense layers batched products: many clients in as many operations as one takes.
    """

    stacked = True
    class_axis = 2

    def __init__(self, network: Network) -> None:
        self.network = network
        self._gradient = vmap(grad(self._loss), randomness="error")
        self._weighted = vmap(grad(self._weighted_loss), randomness="error")

    @property
    def dim(self) -> int:
        return self.network.dim

    @property
    def layers(self) -> Mapping[str, slice]:
        return self.network.layers

    def _losses(self, row: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        output = self.network.output(row.unsqueeze(0), inputs.unsqueeze(0))
        losses: Tensor = self.network.losses(output, targets.unsqueeze(0))[0]
        return losses

    def _loss(self, row: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        return self._losses(row, inputs, targets).mean()

    def _weighted_loss(self, row: Tensor, inputs: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
        return (self._losses(row, inputs, targets) * weight).sum()

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Outputs ``(rows, batch, ...)``."""
        return vmap(lambda row, x: self.network.output(row.unsqueeze(0), x.unsqueeze(0))[0])(w, inputs)

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Loss of every sample ``(rows, batch)``."""
        return vmap(lambda o, t: self.network.losses(o.unsqueeze(0), t.unsqueeze(0))[0])(output, targets)

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Weighted mean of the losses of every row's batch ``(rows,)``."""
        inputs, targets, weight = batch
        losses = self.losses(self.output(w, inputs), targets)
        return losses.mean(-1) if weight is None else (losses * weight).sum(-1)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` in every row ``(rows, dim)``."""
        inputs, targets, weight = batch
        with torch.enable_grad():
            if weight is None:
                return self._gradient(w, inputs, targets)
            return self._weighted(w, inputs, targets, weight)
