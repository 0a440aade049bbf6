"""Methods that change the local step: FedProx, SCAFFOLD, FedDyn, FedCM, FedSAM; and dSGD, one step a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from bounds.domains import NONNEGATIVE, POSITIVE, SHARE

from .algorithm import Algorithm, fedavg, GradientAt, method, State, Work
from .state import Remembered


@dataclass(frozen=True)
class FixedSteps:
    """A fixed number of local steps instead of the planned one."""

    local_steps: int
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.local_steps, step_size


@method()
def dsgd() -> Algorithm:
    """Distributed SGD: FedAvg with one local step a round (Decaying-K, Table 3)."""
    return replace(fedavg, steps=FixedSteps(1))


# ---- FedProx ----


@dataclass(frozen=True)
class Proximal:
    """``g + mu (w - w^t)``: the gradient of the objective plus ``mu/2 ||w - w^t||^2``; w^t is the received model."""

    mu: float

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return gradient + self.mu * (w - work.received)


@method(mu=NONNEGATIVE)
def fedprox(mu: float = 0.01) -> Algorithm:
    """FedProx (Li et al. 2020): a proximal term to the server model."""
    return replace(fedavg, direction=Proximal(mu))


# ---- SCAFFOLD ----


@dataclass(frozen=True)
class Controlled:
    """``g - c_k + c``: the gradient corrected by the client's and the server's control variate.

    With ``after_momentum`` the correction is added after the momentum of the gradients and does not accumulate in it.
    """

    after_momentum: bool = False

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        if self.after_momentum:
            return gradient + work.past_momentum * (work.state.server["control"] - work.recall("control"))
        return gradient - work.recall("control") + work.state.server["control"]


def mean_gradients(work: Work, ends: Tensor) -> Tensor:
    """Return ``(start - end) / (steps * step size)``, the mean direction of each client's steps ``(rows, dim)``."""
    return (work.starts - ends) / work.lengths


@dataclass(frozen=True)
class ClientVectors:
    """A memory of one vector per client, initially zero, of which the server holds the mean over all clients.

    The mean is weighted by the clients' weights, or unweighted if ``uniform``. Subclasses define the ``change
    (rows, dim)`` of the active clients' vectors after a round.
    """

    uniform: bool = False
    key: ClassVar[str] = "control"

    def begin(self, model: Tensor, clients: int) -> Remembered:
        zero = torch.zeros_like(model)
        return Remembered({self.key: zero.expand(clients, -1).clone()}, {self.key: zero})

    def change(self, work: Work, ends: Tensor) -> Tensor:
        raise NotImplementedError

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        change = self.change(work, ends)
        work.state.memory[self.key][work.client_index] += change
        return {self.key: work.state.server[self.key] + work.mean_change(change, self.uniform)}


@dataclass(frozen=True)
class Controls(ClientVectors):
    """``c_k <- c_k - c + (start - end)/(K eta)``; corrections sum to zero over all clients, weighted as the mean."""

    def change(self, work: Work, ends: Tensor) -> Tensor:
        return mean_gradients(work, ends) - work.state.server[self.key]


@method("reading", reading=("intended", "printed", "code"))
def scaffold(reading: str = "intended") -> Algorithm:
    """SCAFFOLD (Karimireddy et al. 2020, option II; FedALS, Algorithm 3): control variates against client drift.

    A client's move is divided by steps times step size even with momentum, as in the listing. The papers' listings and
    FedCOG's released code average the controls uniformly (``printed``); with unequal client weights this converges to
    the minimiser of a different loss. ``intended`` weights the controls as the loss weights the clients. ``code``
    averages uniformly and adds the correction after the momentum, as that code does: the controls of runs with momentum
    already contain it, and momentum would amplify them again.
    """
    return replace(
        fedavg,
        direction=Controlled(after_momentum=reading == "code"),
        remember=(Controls(uniform=reading != "intended"),),
        uploads=2.0,
        downloads=2.0,
        reading=reading,
    )


# ---- FedDyn ----


@dataclass(frozen=True)
class Dynamic:
    """``g + alpha (w - start + h_k)``: gradient of ``f_k + alpha <w, h_k - start> + alpha/2 ||w||^2``."""

    alpha: float

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return gradient + self.alpha * (w - work.starts + work.recall("dual"))


@dataclass(frozen=True)
class Duals(ClientVectors):
    """``h_k <- h_k + end - start``."""

    key: ClassVar[str] = "dual"

    def change(self, work: Work, ends: Tensor) -> Tensor:
        return ends - work.starts


@dataclass(frozen=True)
class AverageWithDuals:
    """Mean of the active clients' models plus the mean of all updated dual vectors, both by the clients' weights."""

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        return work.mean(ends) + (work.state.server["dual"] + work.mean_change(ends - work.starts)), {}


@method(alpha=POSITIVE)
def feddyn(alpha: float = 0.1) -> Algorithm:
    """FedDyn (Acar et al. 2021) in the form of FedInit's released baseline; ``h_k`` is minus its dual over alpha.

    The quadratic is centred at the client's start: the server model, or the relaxed one. The released code averages
    models and duals with equal weights; here both are weighted as the loss weights the clients.
    """
    return replace(fedavg, direction=Dynamic(alpha), combine=AverageWithDuals(), remember=(Duals(),))


# ---- FedCM ----


@dataclass(frozen=True)
class ClientMomentum:
    """``alpha g + (1 - alpha) m``, where ``m`` is the mean direction of the last round."""

    alpha: float

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return self.alpha * gradient + (1 - self.alpha) * work.state.server["direction"]


@dataclass(frozen=True)
class LastDirection:
    """Memory of the server: the weighted mean over clients of ``(start - end)/(K eta)``, broadcast with the model."""

    def begin(self, model: Tensor, clients: int) -> Remembered:
        return Remembered({}, {"direction": torch.zeros_like(model)})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        return {"direction": work.mean(mean_gradients(work, ends))}


@method(alpha=SHARE)
def fedcm(alpha: float = 0.1) -> Algorithm:
    """FedCM (Xu et al. 2021): client momentum from the server; ``alpha`` is the weight of the client's own gradient."""
    return replace(fedavg, direction=ClientMomentum(alpha), remember=(LastDirection(),), downloads=2.0)


# ---- FedSAM ----


@dataclass(frozen=True)
class Sharpness:
    """The gradient on the same batch at ``w + rho g/(||g|| + epsilon)``, with the norm of each client's gradient."""

    rho: float
    epsilon: float

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return gradient_at(w + self.rho * gradient / (gradient.norm(dim=-1, keepdim=True) + self.epsilon))


@method(rho=NONNEGATIVE, epsilon=POSITIVE)
def fedsam(rho: float = 0.1, epsilon: float = 1e-7) -> Algorithm:
    """FedSAM (Qu et al. 2022): sharpness-aware local steps. FedInit uses epsilon 1e-7, FedCOG 1e-12 and rho 0.5."""
    return replace(fedavg, direction=Sharpness(rho, epsilon))
