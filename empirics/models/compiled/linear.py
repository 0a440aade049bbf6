"""Linear models whose gradients are compiled: the same models over flat rows, their numbers by other code than torch's."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ...federation.federation import Batches
from ..linear import Linear, LeastSquares, Logistic, Softmax, SquaredHinge
from ..model import Batch
from .gradients import EXPONENTIAL, gradients, LOGISTIC, RESIDUAL, SOFTMAX, SQUARED_HINGE

Array = np.ndarray[Any, Any]


class CompiledLinear(Linear):
    """A linear model that makes the gradients of all rows in one compiled call, on a CPU.

    Numbers agree with torch's to rounding. Samples shared by all rows, losses, second derivatives and minimisers are
    torch's.
    """

    compiled: ClassVar[bool] = True
    kind: ClassVar[int]
    """What the loss does with the outputs, by its number among ``gradients``."""

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` in every row ``(rows, dim)``."""
        inputs, targets, weight = batch
        rows, count = inputs.shape[:2]
        if rows == len(w) and targets.shape[:2] == (rows, count) and (weight is None or weight.shape == (rows, count)):
            weights = None if weight is None else weight.unsqueeze(1)
            alone = Batches(inputs.flatten(0, 1), targets.flatten(0, 1), _in_order(rows, count), weights)
            found = self.gradient_in(w, alone, 0)
            if found is not None:
                return found
        return super().gradient(w, batch)

    def gradient_in(self, w: Tensor, batches: Batches, step: int) -> Tensor | None:
        """The same on a step's batches of the first rows, read where the samples lie.

        None where the compiled pass does not read such arrays, for it never looks where they end: then ``gradient``.
        """
        arrays = batches.arrays
        if arrays is None or w.requires_grad or w.device.type != "cpu" or torch._C._are_functorch_transforms_active():
            return None
        pool, targets, index, weight = arrays
        models = w.contiguous().numpy()
        if (
            models.dtype not in EXPONENTIAL
            or pool.dtype != models.dtype
            or batches.inputs.shape[1:] != (self.features,)
            or models.shape[1:] != (self.dim,)
            or not self._takes(batches.targets, w.dtype)
        ):
            return None
        if weight is None:
            weight = _even(index.shape[2], models.dtype)
        g = np.empty(models.shape, models.dtype)
        right = gradients(
            self.kind, models, g, pool, index, step, targets, weight, self.features, self.outputs,
            self.regularisation, EXPONENTIAL[models.dtype],
        )  # fmt: skip
        return torch.from_numpy(g) if right else None  # a target that is no class: torch says which

    def _takes(self, targets: Tensor, kind: torch.dtype) -> bool:
        """Whether targets of samples are class numbers, or numbers in the model's own precision."""
        if targets.dtype is torch.int64:
            return targets.ndim == 1 and (self.kind == SOFTMAX or (self.kind == RESIDUAL and self.outputs > 1))
        if targets.dtype is not kind or self.kind == SOFTMAX:
            return False
        return targets.ndim == self.outputs == 1 or (self.kind == RESIDUAL and targets.shape[1:] == (self.outputs,))


class CompiledSoftmax(CompiledLinear, Softmax):
    kind = SOFTMAX


class CompiledLogistic(CompiledLinear, Logistic):
    kind = LOGISTIC


class CompiledSquaredHinge(CompiledLinear, SquaredHinge):
    kind = SQUARED_HINGE


class CompiledLeastSquares(CompiledLinear, LeastSquares):
    kind = RESIDUAL


SERVED: dict[type[Linear], type[CompiledLinear]] = {
    Softmax: CompiledSoftmax,
    Logistic: CompiledLogistic,
    SquaredHinge: CompiledSquaredHinge,
    LeastSquares: CompiledLeastSquares,
}


def of(model: Linear) -> Linear:
    """The same model, one of ``SERVED``, by compiled gradients."""
    return SERVED[type(model)](**{field.name: getattr(model, field.name) for field in fields(model)})


@lru_cache(maxsize=16)
def _in_order(rows: int, count: int) -> Tensor:
    """Places of samples that lie one after another ``(rows, 1, count)``."""
    return torch.arange(rows * count).view(rows, 1, count)


@lru_cache(maxsize=16)
def _even(count: int, kind: np.dtype[Any]) -> Array:
    """Equal weights ``(1, 1, count)``."""
    return np.full((1, 1, count), 1 / count, kind)
