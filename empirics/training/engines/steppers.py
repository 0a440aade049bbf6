"""Local optimisers, which step along an algorithm's directions for all rows of a chunk at once.

The order is that of PyTorch's optimisers after ``clip_grad_norm_``: clip the direction, add weight decay, update
momentum, step. Momentum and moments start at zero in every round and for every client.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..setting import Setting


@dataclass
class Sgd:
    """Stochastic gradient descent with momentum, Nesterov's momentum and weight decay."""

    setting: Setting
    velocity: Tensor | None = None

    def restart(self) -> None:
        """Reset the momentum."""
        self.velocity = None

    def __call__(self, w: Tensor, direction: Tensor, size: float | Tensor, moves: Tensor | None) -> None:
        """Step in place on ``w (rows, dim)``, the first rows of the step before; ``moves`` masks columns."""
        setting, rows = self.setting, w.shape[0]
        direction = _clipped(direction, setting.clip)
        if setting.weight_decay:
            direction = torch.add(direction, w, alpha=setting.weight_decay)
        direction = direction if moves is None else direction * moves
        if setting.momentum:
            if self.velocity is None:
                self.velocity = torch.zeros_like(w)
            velocity = self.velocity[:rows].mul_(setting.momentum).add_(direction)
            direction = torch.add(direction, velocity, alpha=setting.momentum) if setting.nesterov else velocity
        _move(w, direction, size)


@dataclass
class AdamW:
    """Adam with decoupled weight decay and bias correction (Loshchilov and Hutter 2019), as PyTorch's ``AdamW``."""

    setting: Setting
    steps: int = 0
    moments: list[Tensor] = field(default_factory=list)

    def restart(self) -> None:
        """Reset the moments and the number of steps."""
        self.steps, self.moments = 0, []

    def __call__(self, w: Tensor, direction: Tensor, size: float | Tensor, moves: Tensor | None) -> None:
        """Step in place on ``w (rows, dim)``, the first rows of the step before; ``moves`` masks columns."""
        setting, rows = self.setting, w.shape[0]
        direction = _clipped(direction, setting.clip)
        self.moments = self.moments or [torch.zeros_like(w), torch.zeros_like(w)]
        self.steps += 1
        first = self.moments[0][:rows].lerp_(direction, 1 - setting.beta1)
        second = self.moments[1][:rows].mul_(setting.beta2).addcmul_(direction, direction, value=1 - setting.beta2)
        scale = (second / (1 - setting.beta2**self.steps)).sqrt_().add_(setting.epsilon)
        change = (first / scale).mul_(1 / (1 - setting.beta1**self.steps))
        if setting.weight_decay:
            change.add_(w, alpha=setting.weight_decay)
        _move(w, change if moves is None else change * moves, size)


def _move(w: Tensor, direction: Tensor, size: float | Tensor) -> None:
    """Subtract ``size * direction`` from w in place; sizes that change between replays of a recording are tensors."""
    if isinstance(size, Tensor):
        w.addcmul_(direction, size, value=-1)
    else:
        w.sub_(direction, alpha=size)


def _clipped(direction: Tensor, limit: float | None) -> Tensor:
    """Shorten rows to at most norm ``limit``, with PyTorch's 1e-6 in the denominator."""
    if limit is None:
        return direction
    norms = direction.norm(dim=-1, keepdim=True)
    return direction * torch.clamp(limit / (norms + 1e-6), max=1.0)


def stepper(setting: Setting) -> Sgd | AdamW:
    """Return a new optimiser for the local steps of a chunk."""
    return Sgd(setting) if setting.optimizer == "sgd" else AdamW(setting)
