"""Functions that the methods for networks share: representations, generators, batch means, divergences, Adam."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import nn, Tensor

from ..errors import EmpiricsError
from ..models.model import Model, SplitModel
from ..models.network import Network


def representation_and_output(net: SplitModel, w: Tensor, inputs: Tensor, method: str) -> tuple[Tensor, Tensor]:
    """Return the flattened representations ``(rows, batch, d)`` of inputs and the outputs of the head on them."""
    z = representation(net, w, inputs, method)
    return z.flatten(2), net.head(w, z)


def representation(net: SplitModel, w: Tensor, inputs: Tensor, method: str) -> Tensor:
    """Return the representations of inputs, in the shape that the head takes; ``method`` is named in the error."""
    if not hasattr(net, "head"):
        raise EmpiricsError(f"{method} needs a network made of features and head; got {type(net).__name__}")
    z: Tensor = net.features(w, inputs)
    return z


def batch_mean(values: Tensor, weight: Tensor | None) -> Tensor:
    """Mean of ``values (rows, batch)`` over the batch ``(rows,)``; ``weight`` is 0 for padding (None: no padding)."""
    return values.mean(-1) if weight is None else (values * weight).sum(-1)


def real_inputs(inputs: Tensor, method: str) -> Tensor:
    """Return the inputs; raise unless they are real numbers, which gradients can change."""
    if not inputs.is_floating_point():
        raise EmpiricsError(f"{method} changes inputs by gradients and needs real numbers; got {inputs.dtype} inputs")
    return inputs


@lru_cache(maxsize=16)
def generator(build: Callable[[], nn.Module], dtype: torch.dtype) -> Network:
    """Return the module that ``build`` makes as a model over flat rows (cached)."""
    return Network(type(build).__name__, build, dtype=dtype)


class Probabilities(NamedTuple):
    """Probabilities of the classes and their logarithms, both ``(rows, batch, classes)``.

    Both are computed by a softmax, row by row. An exponential of the whole stack would process its last few entries by
    another routine, so that a client's last bits would depend on the other clients in the stack.
    """

    p: Tensor
    log: Tensor

    def divergence(self, log_q: Tensor) -> Tensor:
        """``KL(p || q)`` of every sample ``(rows, batch)``."""
        return (self.p * (self.log - log_q)).sum(-1)


def class_probabilities(net: Model, output: Tensor) -> Probabilities:
    """Return the class probabilities that a model's outputs stand for."""
    axis = net.class_axis
    p, log_p = torch.softmax(output, axis), torch.log_softmax(output, axis)
    return Probabilities(p.movedim(axis, -1), log_p.movedim(axis, -1))


def log_sum(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return ``log(p + q)``, computed row by row."""
    return log_p - torch.log_softmax(torch.stack([log_p, log_q], 1), 1)[:, 0]


def adam(
    x: Tensor, gradient: Tensor, moments: Tensor, count: int, step_size: float, beta1: float, beta2: float = 0.999
) -> None:
    """Take step number ``count`` (from 1) of Adam, updating ``x`` and its two ``moments (2, *x.shape)`` in place."""
    moments[0].mul_(beta1).add_(gradient, alpha=1 - beta1)
    moments[1].mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
    scale = (moments[1] / (1 - beta2**count)).sqrt_().add_(1e-8)
    x.sub_((moments[0] / (1 - beta1**count)).div_(scale), alpha=step_size)
