"""Linear models by compiled gradients: the same models over flat rows, their numbers by other code than torch's."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ..linear import LeastSquares, Linear, Logistic, Softmax, SquaredHinge
from .exponential import EXPONENTIAL
from .gradients import gradients, LOGISTIC, RESIDUAL, SOFTMAX, SQUARED_HINGE

Array = np.ndarray[Any, Any]
CLASS = torch.int64
NO_STEPS, NO_SIZES = np.zeros(0, np.int64), np.zeros(0)


class CompiledLinear(Linear):
    """A linear model that makes the gradients of a step, or plain steps, for all rows in one compiled call, on a CPU.

    Numbers agree with torch's to rounding. Samples are read where they lie in the pool. Gradients on samples that have
    been gathered, losses, second derivatives and minimisers are torch's: copying costs what compiled passes gain.
    """

    compiled: ClassVar[bool] = True
    kind: ClassVar[int]
    """What the loss does with the outputs, by its number among ``gradients``."""

    def gradient_in(self, w: Tensor, batches: Any, step: int) -> Tensor | None:
        """``gradient`` on a step's ``batches`` of the first rows; None where compiled passes do not read such arrays.

        Batches say with ``arrays`` where samples lie in their pool (``empirics.federation.federation.Batches``).
        """
        g = torch.empty_like(w, memory_format=torch.contiguous_format)
        return g if self._done(w.contiguous(), g, batches, step, NO_STEPS, NO_SIZES) else None

    def walk_in(self, w: Tensor, batches: Any, steps: Array, sizes: Array) -> bool:
        """Plain SGD steps in place on ``w (rows, dim)``, ``steps`` for each row; False where they are not served."""
        return w.is_contiguous() and self._done(w, torch.empty_like(w[:1]), batches, 0, steps, sizes)

    def load(self) -> None:
        """Compile what rows of this kind need, or load what was compiled before."""
        inputs = torch.zeros(1, self.features, dtype=self.dtype)
        targets = torch.zeros(1, dtype=CLASS if self._takes_classes else self.dtype)
        arrays = inputs.numpy().reshape(-1), targets.numpy(), np.zeros((1, 1, 1), np.int64), None
        one = SimpleNamespace(inputs=inputs, targets=targets, arrays=arrays)
        self.gradient_in(torch.zeros(1, self.dim, dtype=self.dtype), one, 0)

    def _done(self, w: Tensor, g: Tensor, batches: Any, step: int, steps: Array, sizes: Array) -> bool:
        """Whether compiled passes did it: they never look where an array ends, so that all must fit."""
        arrays = batches.arrays
        if arrays is None or w.requires_grad or w.device.type != "cpu" or torch._C._are_functorch_transforms_active():
            return False
        inputs, targets, index, weight = arrays
        models = w.numpy()
        shapes = (*batches.inputs.shape[1:], *models.shape[1:]) == (self.features, self.dim)
        kinds = models.dtype in EXPONENTIAL and inputs.dtype == models.dtype and self._takes(batches.targets, w.dtype)
        if not shapes or not kinds or len(models) > len(index):
            return False
        if weight is None:
            weight = _even(index.shape[2], models.dtype)
        right: bool = gradients(
            self.kind, models, g.numpy(), inputs, index, step, steps, sizes, targets, batches.targets.dtype is CLASS,
            weight, self.features, self.outputs, self.regularisation, EXPONENTIAL[models.dtype],
        )  # fmt: skip
        return right  # false: a target is not a class; torch names it

    @property
    def _takes_classes(self) -> bool:
        return self.kind == SOFTMAX or (self.kind == RESIDUAL and self.outputs > 1)

    def _takes(self, targets: Tensor, kind: torch.dtype) -> bool:
        """Whether targets of samples are class numbers, or numbers in the model's own precision."""
        if targets.dtype is CLASS:
            return targets.ndim == 1 and self._takes_classes
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
def _even(count: int, kind: np.dtype[Any]) -> Array:
    """Equal weights ``(1, 1, count)``."""
    return np.full((1, 1, count), 1 / count, kind)
