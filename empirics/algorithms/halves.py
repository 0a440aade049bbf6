"""What methods for networks share: halves of a model, generators, means over real samples, divergences, Adam."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import nn, Tensor

from ..errors import EmpiricsError
from ..models.model import Halved, Model
from ..models.network import Network


def halves(net: Halved, w: Tensor, inputs: Tensor, method: str) -> tuple[Tensor, Tensor]:
    """Representations ``(rows, batch, d)`` and the outputs that the head makes of them."""
    z = represented(net, w, inputs, method)
    return z.flatten(2), net.head(w, z)


def represented(net: Halved, w: Tensor, inputs: Tensor, method: str) -> Tensor:
    """What the head of the models ``w`` sees, in the shape the head takes."""
    if not hasattr(net, "head"):
        raise EmpiricsError(f"{method} needs a network made of features and head; got {type(net).__name__}")
    z: Tensor = net.features(w, inputs)
    return z


def over(values: Tensor, weight: Tensor | None) -> Tensor:
    """Mean over the samples of a batch ``(rows,)``, padding left out."""
    return values.mean(-1) if weight is None else (values * weight).sum(-1)


def floating(inputs: Tensor, method: str) -> Tensor:
    """Inputs if they are numbers one can change a little."""
    if not inputs.is_floating_point():
        raise EmpiricsError(f"{method} makes inputs by gradients and needs real numbers; got {inputs.dtype} inputs")
    return inputs


@lru_cache(maxsize=16)
def generator(build: Callable[[], nn.Module], dtype: torch.dtype) -> Network:
    """A network that generates, as a model over flat rows, made once."""
    return Network(type(build).__name__, build, dtype=dtype)


class Probable(NamedTuple):
    """Probabilities of the classes and their logarithms, classes as last axis ``(rows, batch, classes)``.

    Both come from a softmax, which goes row by row: exponentials of whole stacks would take the last few of their
    numbers by another routine, and a client's last bits would depend on who else is in the stack.
    """

    p: Tensor
    log: Tensor

    def divergence(self, log_q: Tensor) -> Tensor:
        """``KL(p || q)`` of every sample ``(rows, batch)``."""
        return (self.p * (self.log - log_q)).sum(-1)


def probable(net: Model, output: Tensor) -> Probable:
    """What a model's outputs say of the classes."""
    axis = net.class_axis
    return Probable(torch.softmax(output, axis).movedim(axis, -1), torch.log_softmax(output, axis).movedim(axis, -1))


def log_sum(log_p: Tensor, log_q: Tensor) -> Tensor:
    """``log(p + q)``, row by row as well."""
    return log_p - torch.log_softmax(torch.stack([log_p, log_q], 1), 1)[:, 0]


def adam(
    x: Tensor, gradient: Tensor, moments: Tensor, count: int, step_size: float, beta1: float, beta2: float = 0.999
) -> None:
    """The ``count``-th step of Adam (from 1) in place on ``x``, and on its two ``moments (2, *x.shape)``."""
    moments[0].mul_(beta1).add_(gradient, alpha=1 - beta1)
    moments[1].mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
    scale = (moments[1] / (1 - beta2**count)).sqrt_().add_(1e-8)
    x.sub_((moments[0] / (1 - beta1**count)).div_(scale), alpha=step_size)
