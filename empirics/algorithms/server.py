"""Methods that differ in the server step: FedAvgM, FedAdam, FedExP.

``update`` is the weighted mean of the clients' moves (end minus start); FedAvg adds it to the server model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bounds.domains import POSITIVE

from ..numbers import MOMENTUM
from .algorithm import Algorithm, fedavg, method, Work


def update(work: Work, ends: Tensor) -> Tensor:
    """Return the weighted mean of the clients' moves ``(dim,)``."""
    return work.mean(ends - work.starts)


@dataclass(frozen=True)
class AddUpdate:
    """``w + server_step_size * update``: the same as averaging models when every client starts at the server model."""

    server_step_size: float = 1.0

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        return work.state.model + self.server_step_size * update(work, ends), {}


@dataclass(frozen=True)
class ServerMomentum:
    """``v <- m v - update``, ``w <- w - v``; with ``divide`` the step of every round but the first is ``v/(1+m)``."""

    momentum: float
    divide: bool = False

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        state = work.state
        velocity = -update(work, ends)
        if state.round:
            velocity = velocity + self.momentum * state.server["velocity"]
        scale = 1 / (1 + self.momentum) if self.divide and state.round else 1
        return state.model - scale * velocity, {"velocity": velocity}


@dataclass(frozen=True)
class ServerAdam:
    """Adam on the update, with moments that start at zero and no bias correction."""

    server_step_size: float
    beta1: float
    beta2: float
    epsilon: float

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        state, move = work.state, update(work, ends)
        first = (1 - self.beta1) * move
        second = (1 - self.beta2) * move**2
        if state.round:
            first = first + self.beta1 * state.server["first_moment"]
            second = second + self.beta2 * state.server["second_moment"]
        model = state.model + self.server_step_size * first / (second.sqrt() + self.epsilon)
        return model, {"first_moment": first, "second_moment": second}


@dataclass(frozen=True)
class Extrapolate:
    """Server step size ``max(1, sum_k p_k ||move_k||^2 / (2 (||update||^2 + epsilon)))``."""

    epsilon: float

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        moves = ends - work.starts
        mean = work.mean(moves)
        spread = work.weights @ (moves**2).sum(-1)
        size = torch.clamp(spread / (2 * ((mean**2).sum() + self.epsilon)), min=1.0)
        return work.state.model + size * mean, {}


@method(momentum=MOMENTUM, reading=("intended", "code"))
def fedavgm(momentum: float = 0.1, reading: str = "intended") -> Algorithm:
    """FedAvg with server momentum (Hsu et al. 2019; FedCOG, baseline 2, with m = 0.1).

    ``reading="code"`` is FedCOG's released variant, which divides the step by ``1 + m`` from the second round on.
    """
    return replace(fedavg, combine=ServerMomentum(momentum, divide=reading == "code"), reading=reading)


@method(server_step_size=POSITIVE, beta1=MOMENTUM, beta2=MOMENTUM, epsilon=POSITIVE)
def fedadam(server_step_size: float = 0.1, beta1: float = 0.9, beta2: float = 0.99, epsilon: float = 0.01) -> Algorithm:
    """FedAdam with the constants of FedInit's released baselines: no bias correction, epsilon outside the root."""
    return replace(fedavg, combine=ServerAdam(server_step_size, beta1, beta2, epsilon))


@method(epsilon=POSITIVE)
def fedexp(epsilon: float = 1e-3) -> Algorithm:
    """FedExP (Jhunjhunwala et al. 2023): the server extrapolates when the clients' moves disagree.

    Its authors report the mean of the last two models; this returns the last one.
    """
    return replace(fedavg, combine=Extrapolate(epsilon))
