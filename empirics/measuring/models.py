"""Where models stand: gradients at them, distances between them, their spread around averages."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bounds.weights import Weights

from ..spec_strings import written
from ..training.statistics import border
from .core import (
    layers_of,
    measured,
    Measurement,
    of_all_minima,
    of_everyone,
    one,
    per_client,
    Reading,
    Readings,
    Snapshot,
)

# ---- gradients ----


@measured(cost=2)
@measured(over="earlier", name="mean_grad_norm_sq")
def grad_norm_sq(s: Snapshot) -> Readings:
    """``||grad F||^2`` at the server model."""
    return one(s.gradient.double() @ s.gradient.double())


def virtual_averages(s: Snapshot) -> Tensor:
    """The weighted average of the clients' models before and after every local step ``(K + 1, d)``.

    A client that has taken all its steps stays where it ended.
    """
    weights = s.done.weights[s.averaged]
    return torch.einsum("r,rsd->sd", weights / weights.sum(), along(s))


def along(s: Snapshot) -> Tensor:
    """The active clients' models before, between and after their local steps ``(active, K + 1, d)``."""
    assert s.path is not None
    assert s.ends is not None
    ends = s.ends.unsqueeze(1)
    taken = torch.as_tensor(s.done.steps, device=ends.device).view(-1, 1, 1)
    before = torch.arange(s.path.shape[1], device=ends.device).view(1, -1, 1) < taken
    whole = torch.cat([torch.where(before, s.path, ends), ends], dim=1)
    return whole[s.averaged]


@measured(word="grad_norm_sq", cost=10, local=True, path=True)
def virtual_grad_norm_sq(s: Snapshot) -> Readings:
    """``||grad F||^2`` at the virtual average after every local step (Decaying-K (6))."""
    gradients = s.problem.gradients(virtual_averages(s)[1:]).double()
    return [Reading(float(v), step=k) for k, v in enumerate((gradients**2).sum(-1), 1)]


@measured(cost=0.1)
def distance_sq(s: Snapshot) -> Readings:
    """``||w - w*||^2`` of the server model: of convex problems, which know their minimiser."""
    return one(_squares(s.state.model.double() - s.problem.minimiser))


@measured(of_all_minima, local=True, path=True, over="mean")
def mean_gap(s: Snapshot) -> Readings:
    """The mean of ``F - F*`` over the virtual averages after every local step of a round (its share of the run's)."""
    averages = virtual_averages(s)[1:].double()
    losses = [s.problem.loss(w.to(s.state.model)) for w in averages]
    return one(sum(losses) / len(losses) - s.problem.smallest_loss)


@dataclass(frozen=True)
class AverageGap:
    """``F - F*`` at the mean of the virtual averages before every local step since the start, by these weights."""

    weights: Weights

    def __call__(self, s: Snapshot) -> Readings:
        return one(s.problem.loss(s.averages[self.weights].to(s.state.model)) - s.problem.smallest_loss)


def average_gap(growth: float = 1.0, offset: float = 1.0, power: float = 0.0) -> Measurement:
    """The loss gap at the average of the iterates; iteration t counts ``growth**t * (offset + t)**power``."""
    parts = dict(growth=growth, offset=offset, power=power)
    weights = Weights(**{name: float(value) for name, value in parts.items()})
    name = "average_gap" if weights == Weights() else written("average_gap", **parts)
    return Measurement(
        name, AverageGap(weights), of_all_minima, "average_gap", cost=1, local=True, path=True, average=weights
    )


# ---- spread ----


def _spread(rows: Tensor, weights: Tensor) -> Tensor:
    """``sum_k p_k (w_k - mean)^2`` by coordinate ``(..., d)`` for rows ``(k, ..., d)``."""
    weights = (weights / weights.sum()).double().view(-1, *[1] * (rows.ndim - 1))
    rows = rows.double()
    return (weights * (rows - (weights * rows).sum(0)) ** 2).sum(0)


@measured(cost=0.1, local=True)
def consensus_distance(s: Snapshot) -> Readings:
    """Mean squared distance of the participants' models to their average, in all and by layer, before averaging."""
    spread = _spread(weights_of(s, s.rows), s.done.weights[s.averaged])
    by_layer = [Reading(float(spread[c].sum()), layer=name) for name, c in layers_of(s.problem.model).items()]
    return [*one(spread.sum()), *by_layer]


@measured(word="consensus_distance", cost=0.5, local=True, path=True)
def consensus_distance_steps(s: Snapshot) -> Readings:
    """The same after every local step (FedALS, Figure 1)."""
    spread = _spread(weights_of(s, along(s)[:, 1:]), s.done.weights[s.averaged])
    layers = {"": slice(None), **layers_of(s.problem.model)}
    return [
        Reading(float(at[columns].sum()), layer=name, step=k)
        for k, at in enumerate(spread, 1)
        for name, columns in layers.items()
    ]


@measured(cost=0.1, local=True, by_client=True)
def client_distance_sq(s: Snapshot) -> Readings:
    """``||w_k - w||^2`` of every participant's model to the new server model."""
    return per_client(_squares(weights_of(s, s.rows - s.state.model)), s.active)


def weights_of(s: Snapshot, rows: Tensor) -> Tensor:
    """Models without their running statistics, which are not weights ``(..., columns)``."""
    return rows[..., : border(s.problem.model)]


def _squares(rows: Tensor) -> Tensor:
    return (rows.double() ** 2).sum(-1)


# ---- FedInit's terms ----


@measured(of_everyone, cost=0.1, last=True)
@measured(of_everyone, last=True, over="earlier", name="mean_divergence")
def divergence(s: Snapshot) -> Readings:
    """``Delta^t``: mean over ALL clients of the squared distance of the last local model to the new server model."""
    assert s.last is not None
    return one(_squares(weights_of(s, s.last - s.state.model)).mean())


@measured(cost=0.1, local=True)
def active_divergence(s: Snapshot) -> Readings:
    """The same over the participants alone, as FedInit's released code reports it."""
    return one(_squares(weights_of(s, s.rows - s.state.model)).mean())


@measured(of_everyone, cost=0.1, local=True, path=True)
def local_drift(s: Snapshot) -> Readings:
    """``V_1``: squared distances to the server model at the start, summed over local steps, mean over clients."""
    assert s.path is not None
    work = s.done
    steps = torch.arange(s.path.shape[1], device=s.path.device)
    before = steps < torch.as_tensor(work.steps, device=s.path.device).unsqueeze(-1)
    moved = _squares(weights_of(s, s.path - work.state.model))
    return one(torch.where(before, moved, 0.0).sum(-1).mean())


@measured(cost=0.1, local=True)
def global_step(s: Snapshot) -> Readings:
    """``V_2``: squared distance between consecutive server models."""
    return one(_squares(weights_of(s, s.state.model - s.done.state.model)))
