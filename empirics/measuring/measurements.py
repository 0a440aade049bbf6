"""The table of measurements (``ROWS``) and their computation from a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bounds.weights import Weights

from ..errors import EmpiricsError
from ..models.model import Trainable
from ..problems import evaluation
from ..spec_strings import spec_string
from ..training.statistics import first_statistic
from .core import (
    Measurement,
    of_all_minima,
    of_everyone,
    of_excess,
    of_minimum,
    of_population,
    Reading,
    Readings,
    sampled,
    Snapshot,
)
from .costs import columns_sent

# ---- means over clients, distances, and local models ----


def over_all(s: Snapshot, values: Tensor) -> float:
    """The mean of ``values (clients,)`` over all clients by their weights."""
    return float(s.problem.weights.to(values.device) @ values.double())


def over_active(s: Snapshot, values: Tensor) -> float:
    """The mean of ``values (clients,)`` over the active clients by their weights in the average."""
    weights = s.last_work.weights[s.averaged].double()
    return float(weights @ values.double()[torch.from_numpy(s.active)] / weights.sum())


def weights_of(s: Snapshot, rows: Tensor) -> Tensor:
    """Models without their columns of running statistics of batch norm ``(..., columns)``."""
    return rows[..., : first_statistic(s.problem.model)]


def squares(rows: Tensor) -> Tensor:
    """Squared norms of the last axis, in double precision."""
    return (rows.double() ** 2).sum(-1)


def spread(s: Snapshot, rows: Tensor) -> Tensor:
    """``sum_k p_k (w_k - mean)^2`` by coordinate ``(..., d)`` for the active clients' rows ``(k, ..., d)``."""
    weights = s.last_work.weights[s.averaged]
    weights = (weights / weights.sum()).double().view(-1, *[1] * (rows.ndim - 1))
    rows = weights_of(s, rows).double()
    return (weights * (rows - (weights * rows).sum(0)) ** 2).sum(0)


def layers_of(model: Trainable) -> dict[str, slice]:
    """Columns of all parameters (named ""), and of the model's layers, or of its parts if it has no layers."""
    return {"": slice(None), **(getattr(model, "weight_layers", None) or model.layers)}


def local_paths(s: Snapshot) -> Tensor:
    """The active clients' models before, between and after their local steps ``(active, K + 1, d)``."""
    assert s.path is not None
    assert s.ends is not None
    ends = s.ends.unsqueeze(1)
    steps = torch.as_tensor(s.last_work.steps, device=ends.device).view(-1, 1, 1)
    before = torch.arange(s.path.shape[1], device=ends.device).view(1, -1, 1) < steps
    return torch.cat([torch.where(before, s.path, ends), ends], dim=1)[s.averaged]


def virtual_averages(s: Snapshot) -> Tensor:
    """The weighted average of the clients' models before and after every local step ``(K + 1, d)``.

    A client with fewer steps counts with its last model.
    """
    weights = s.last_work.weights[s.averaged]
    return torch.einsum("r,rsd->sd", weights / weights.sum(), local_paths(s))


# ---- measurements of more than a line ----


def grad_norm_sq(s: Snapshot) -> Tensor:
    return s.gradient.double() @ s.gradient.double()


def heterogeneity(s: Snapshot) -> float:
    if s.problem.heterogeneity is None:
        raise EmpiricsError(f"heterogeneity needs exact minimisers; {s.problem} is not convex")
    return s.problem.heterogeneity


def local_suboptimality(s: Snapshot) -> Tensor:
    smallest: Tensor | float = s.problem.lower_bound
    if s.problem.convex:
        smallest = s.problem.local_optimal_losses[torch.from_numpy(s.active)]
    return s.local_train.loss - smallest


def local_accuracy_own(s: Snapshot) -> Tensor:
    """The accuracy of the clients' models on their own test samples; for FedRep and Ditto of the personal models."""
    assert s.problem.own_tests is not None
    rows = s.algorithm.own_models(s.state)[torch.from_numpy(s.active)] if s.algorithm.personal else s.local_models
    return evaluation.own_models(s.problem.model, rows, s.active, s.problem.own_tests).right


def round_averaged_gap(s: Snapshot) -> float:
    """One round's term of FedALS (8): population risk of the new server model minus its loss on the round's samples.

    ``Z_{k,r}`` are the samples that client k used, each counted once. The mean over clients is that over participants.
    It equals the theorem's quantity if each round's samples are new (``Fresh``).
    """
    work, federation = s.last_work, s.problem.federation
    steps = work.steps[s.averaged.cpu().numpy()]
    batches = federation.draw(work.seed, work.state.round, s.active, steps, s.setting.batch)
    losses = []
    for row in range(len(s.active)):
        index = batches.index[row]
        used = torch.unique(index if batches.weight is None else index[batches.weight[row] > 0])
        x, y = federation.take(used)
        losses.append(s.problem.model.evaluate(s.state.model.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))[0].mean())
    weights = work.weights[s.averaged].double()
    gaps = s.risks[torch.from_numpy(s.active)].double() - torch.stack(losses).double()
    return float(weights @ gaps / weights.sum())


def virtual_grad_norm_sq(s: Snapshot) -> Readings:
    gradients = s.problem.gradients(virtual_averages(s)[1:])
    return [Reading(float(v), step=k) for k, v in enumerate(squares(gradients), 1)]


def mean_gap(s: Snapshot) -> float:
    losses = [s.problem.loss(w.to(s.state.model)) for w in virtual_averages(s)[1:].double()]
    return sum(losses) / len(losses) - s.problem.smallest_loss


def consensus_distance(s: Snapshot) -> Readings:
    by_column = spread(s, s.local_models)
    return [Reading(float(by_column[c].sum()), layer=name) for name, c in layers_of(s.problem.model).items()]


def consensus_distance_steps(s: Snapshot) -> Readings:
    layers = layers_of(s.problem.model).items()
    by_step = enumerate(spread(s, local_paths(s)[:, 1:]), 1)
    return [Reading(float(at[columns].sum()), layer=name, step=k) for k, at in by_step for name, columns in layers]


def divergence(s: Snapshot) -> Tensor:
    assert s.last is not None
    return squares(weights_of(s, s.last - s.state.model)).mean()


def client_distance_sq(s: Snapshot) -> Tensor:
    """Squared distances of the participants' models to the new server model."""
    return squares(weights_of(s, s.local_models - s.state.model))


def local_drift(s: Snapshot) -> Tensor:
    assert s.path is not None
    before = torch.arange(s.path.shape[1]) < torch.as_tensor(s.last_work.steps).unsqueeze(-1)
    distances = squares(weights_of(s, s.path - s.last_work.state.model))
    return torch.where(before.to(distances.device), distances, 0.0).sum(-1).mean()


def exchanged_parameters(s: Snapshot) -> float:
    return (s.algorithm.uploads + s.algorithm.downloads) * columns_sent(s)


@dataclass(frozen=True)
class AverageGap:
    """``F - F*`` at the weighted mean of the virtual averages before every local step since the start."""

    weights: Weights

    def __call__(self, s: Snapshot) -> float:
        return s.problem.loss(s.averages[self.weights].to(s.state.model)) - s.problem.smallest_loss


def average_gap(growth: float = 1.0, offset: float = 1.0, power: float = 0.0) -> Measurement:
    """The loss gap at the average of the iterates; iteration t has weight ``growth**t * (offset + t)**power``."""
    parts = dict(growth=growth, offset=offset, power=power)
    weights = Weights(**{name: float(value) for name, value in parts.items()})
    name = "average_gap" if weights == Weights() else spec_string("average_gap", **parts)
    return Measurement(
        name, AverageGap(weights), of_all_minima, "average_gap", cost=1, local=True, path=True, average=weights
    )


# ---- the table ----

LOCAL: dict[str, Any] = {"local": True, "by_client": True}
"""For every participant's own model after its local work."""
RISK: dict[str, Any] = {"grade": of_population, "tests": "risk"}
"""For a risk under the clients' distributions."""
ROWS = (
    # the server model; the gap is R(w) - R_S(w), FedALS (3), the excess R(w) - F*, FedInit (14)
    Measurement("train_loss", lambda s: over_all(s, s.train.loss), cost=1),
    Measurement("train_accuracy", lambda s: over_all(s, s.train.right)),
    Measurement("test_loss", lambda s: s.test.loss, sampled, cost=0.2, tests="any"),
    Measurement("test_accuracy", lambda s: s.test.right, sampled, tests="any"),
    Measurement("generalization_gap", lambda s: over_all(s, s.risks - s.train.loss), cost=1.2, **RISK),
    Measurement("optimality_gap", lambda s: over_all(s, s.train.loss) - s.problem.smallest_loss, of_minimum, cost=1),
    Measurement(
        "excess_risk", lambda s: over_all(s, s.risks) - s.problem.smallest_loss, of_excess, cost=0.2, tests="risk"
    ),
    Measurement("grad_norm_sq", grad_norm_sq, cost=2),
    Measurement("mean_grad_norm_sq", grad_norm_sq, over="earlier"),
    Measurement("distance_sq", lambda s: squares(s.state.model - s.problem.minimiser), cost=0.1),
    Measurement("heterogeneity", heterogeneity),
    # R(w) - R^active(w) and R^active(w) - R_S^active(w), FedALS (62): of all clients and of the participants
    Measurement(
        "participation_gap", lambda s: over_all(s, s.risks) - over_active(s, s.risks), cost=0.2, local=True, **RISK
    ),
    Measurement("out_of_sample_gap", lambda s: over_active(s, s.risks - s.train.loss), cost=1.2, local=True, **RISK),
    Measurement("round_averaged_gap", round_averaged_gap, local=True, over="mean", **RISK),
    # the clients' own models: Delta_k, FedALS (24), delta_k, FedALS (6), and epsilon_k, FedALS, Theorem C.1
    Measurement("local_gap", lambda s: s.local_risks - s.local_train.loss, cost=2, **LOCAL, **RISK),
    Measurement(
        "non_iidness", lambda s: s.train.loss[torch.from_numpy(s.active)] - s.local_train.loss, cost=2, **LOCAL
    ),
    Measurement("local_suboptimality", local_suboptimality, of_minimum, cost=1, **LOCAL),
    Measurement("local_accuracy_common", lambda s: s.local_common.right, sampled, cost=2, tests="any", **LOCAL),
    Measurement("local_accuracy_own", local_accuracy_own, sampled, cost=0.2, tests="own", **LOCAL),
    # the virtual average after every local step: Decaying-K (6), and its share of the run's mean of F - F*
    Measurement("virtual_grad_norm_sq", virtual_grad_norm_sq, word="grad_norm_sq", cost=10, local=True, path=True),
    Measurement("mean_gap", mean_gap, of_all_minima, local=True, path=True, over="mean"),
    # squared distances of the participants' models to their average, in all and by layer, before averaging and after
    # every local step (FedALS, Figure 1), and of each to the new server model
    Measurement("consensus_distance", consensus_distance, cost=0.1, local=True),
    Measurement(
        "consensus_distance_steps", consensus_distance_steps, word="consensus_distance", cost=0.5, local=True, path=True
    ),
    Measurement("client_distance_sq", client_distance_sq, cost=0.1, **LOCAL),
    # FedInit: Delta^t, over ALL clients the mean squared distance of the last local model to the new server model; over
    # the participants, as the released code has it; V_1, of the local steps to their start; V_2, of two server models
    Measurement("divergence", divergence, of_everyone, cost=0.1, last=True),
    Measurement("mean_divergence", divergence, of_everyone, last=True, over="earlier"),
    Measurement("active_divergence", lambda s: client_distance_sq(s).mean(), cost=0.1, local=True),
    Measurement("local_drift", local_drift, of_everyone, cost=0.1, local=True, path=True),
    Measurement(
        "global_step", lambda s: squares(weights_of(s, s.state.model - s.last_work.state.model)), cost=0.1, local=True
    ),
    # parameters and bytes that a participant sends and receives, and the seconds of training
    Measurement("communicated_parameters", lambda s: s.algorithm.uploads * columns_sent(s), local=True, over="sum"),
    Measurement("exchanged_parameters", exchanged_parameters, local=True, over="sum"),
    Measurement(
        "communicated_bytes", lambda s: exchanged_parameters(s) * s.state.model.element_size(), local=True, over="sum"
    ),
    Measurement("training_seconds", lambda s: s.seconds, sampled),
)
