"""Linear models whose gradients are computed by compiled code instead of torch."""

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
    """A linear model that computes gradients or SGD steps of all rows in one compiled call, on a CPU.

    Numbers agree with torch's to rounding. Samples are read from the pool without copying. torch computes gradients on
    gathered samples, losses, second derivatives and minimisers, since compiled code would not be faster there.
    """

    compiled: ClassVar[bool] = True
    kind: ClassVar[int]
    """The kind of loss, one of those of ``gradients.py``."""

    def gradient_in(self, w: Tensor, batches: Any, step: int) -> Tensor | None:
        """Return the gradient on a step's ``batches`` of the first rows, or None if their arrays are not supported.

        ``batches.arrays`` say where the samples are in the pool (``empirics.federation.federation.Batches``).
        """
        g = torch.empty_like(w, memory_format=torch.contiguous_format)
        return g if self._run(w.contiguous(), g, batches, step, NO_STEPS, NO_SIZES) else None

    def walk_in(self, w: Tensor, batches: Any, steps: Array, sizes: Array) -> bool:
        """Take SGD steps in place on ``w (rows, dim)``, ``steps`` for each row; return False if unsupported."""
        return w.is_contiguous() and self._run(w, torch.empty_like(w[:1]), batches, 0, steps, sizes)

    def load(self) -> None:
        """Compile the kernel for this kind of model, or load it from the cache."""
        inputs = torch.zeros(1, self.features, dtype=self.dtype)
        targets = torch.zeros(1, dtype=CLASS if self._takes_classes else self.dtype)
        arrays = inputs.numpy().reshape(-1), targets.numpy(), np.zeros((1, 1, 1), np.int64), None
        one = SimpleNamespace(inputs=inputs, targets=targets, arrays=arrays)
        self.gradient_in(torch.zeros(1, self.dim, dtype=self.dtype), one, 0)

    def _run(self, w: Tensor, g: Tensor, batches: Any, step: int, steps: Array, sizes: Array) -> bool:
        """Call the kernel, or return False if its arguments do not fit, since it does not check the ends of arrays."""
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
        valid: bool = gradients(
            self.kind, models, g.numpy(), inputs, index, step, steps, sizes, targets, batches.targets.dtype is CLASS,
            weight, self.features, self.outputs, self.regularisation, EXPONENTIAL[models.dtype],
        )  # fmt: skip
        return valid  # if a target is not a class, torch raises an error that names it

    @property
    def _takes_classes(self) -> bool:
        return self.kind == SOFTMAX or (self.kind == RESIDUAL and self.outputs > 1)

    def _takes(self, targets: Tensor, kind: torch.dtype) -> bool:
        """Whether targets are class numbers, or numbers in the model's precision, as the loss requires."""
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
    """Return the compiled version of a model whose class is in ``SERVED``."""
    return SERVED[type(model)](**{field.name: getattr(model, field.name) for field in fields(model)})


@lru_cache(maxsize=16)
def _even(count: int, kind: np.dtype[Any]) -> Array:
    """Return equal weights ``(1, 1, count)``."""
    return np.full((1, 1, count), 1 / count, kind)
