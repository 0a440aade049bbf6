"""A network of a few hundred numbers on ragged clients, and hooks that misbehave, for tests of the engines."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import nn, Tensor

from empirics.algorithms import ALGORITHMS
from empirics.algorithms.algorithm import fedavg, renamed, Work
from empirics.federation.federation import Federation
from empirics.models.network import Network


@dataclass(frozen=True)
class Small:
    """A convolution, pooling and a dense layer."""

    def __call__(self) -> nn.Module:
        return nn.Sequential(nn.Conv2d(1, 3, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(27, 4))


def small(dtype: torch.dtype = torch.float32) -> Network:
    return Network("small", Small(), dtype=dtype)


def ragged(dtype: torch.dtype = torch.float32, cuts: tuple[int, ...] = (13, 31, 44, 80, 97)) -> Federation:
    """Six clients (two are equally large) whose last batches are short for most batch sizes."""
    noise = torch.Generator().manual_seed(5)
    inputs = torch.randn(120, 1, 8, 8, generator=noise, dtype=dtype)
    targets = torch.randint(0, 4, (120,), generator=noise)
    return Federation.of(inputs, targets, np.split(np.arange(120), cuts))


def even(dtype: torch.dtype = torch.float32) -> Federation:
    """Six clients of twenty samples."""
    return ragged(dtype, (20, 40, 60, 80, 100))


@dataclass(frozen=True)
class Halving:
    """Halves long gradients: Python looks at a number on the device."""

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: Any) -> Tensor:
        return gradient / 2 if gradient.norm() > 0.7 else gradient


@dataclass(frozen=True)
class ByRound:
    """Weaker from round to round: Python looks at the number of the round."""

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: Any) -> Tensor:
        return gradient / (1 + work.state.round)


@dataclass(frozen=True)
class TowardsAll:
    """Looks at the memory of all clients, active or not."""

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: Any) -> Tensor:
        return gradient + 0.01 * work.state.memory["last"].mean(0)


def directed(direction: Any, **hooks: Any) -> Any:
    return renamed(fedavg, f"fedavg({type(direction).__name__})", direction=direction, **hooks)


def needs_an_algorithm(name: str) -> bool:
    """Whether a method is a plug-in, which takes another one."""
    return any(p.default is p.empty for p in signature(ALGORITHMS[name]).parameters.values())
