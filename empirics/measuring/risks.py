"""Losses, accuracies, gaps and excess risk: of the server model, and of the clients' own models after a round."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..errors import EmpiricsError
from ..problems import evaluation
from .core import (
    measured,
    of_excess,
    of_minimum,
    of_population,
    one,
    per_client,
    Readings,
    sampled,
    Snapshot,
)


def _mean(s: Snapshot, values: Tensor) -> float:
    """The mean over all clients by their weights."""
    return float(s.problem.weights.to(values.device) @ values.double())


def _active_mean(s: Snapshot, values: Tensor) -> float:
    """The mean over the active clients by their weights in the average; ``values`` are of all clients."""
    weights = s.done.weights[s.averaged].double()
    return float(weights @ values.double()[torch.from_numpy(s.active)] / weights.sum())


# ---- the server model ----


@measured(cost=1)
def train_loss(s: Snapshot) -> Readings:
    return one(_mean(s, s.train.loss))


@measured(cost=0)
def train_accuracy(s: Snapshot) -> Readings:
    return one(_mean(s, s.train.right))


@measured(sampled, cost=0.2, tests="any")
def test_loss(s: Snapshot) -> Readings:
    return one(s.test.loss)


@measured(sampled, cost=0, tests="any")
def test_accuracy(s: Snapshot) -> Readings:
    return one(s.test.right)


@measured(of_population, cost=1.2, tests="risk")
def generalization_gap(s: Snapshot) -> Readings:
    """``R(w) - R_S(w)`` (FedALS (3))."""
    return one(_mean(s, s.risks - s.train.loss))


@measured(of_population, cost=0.2, local=True, tests="risk")
def participation_gap(s: Snapshot) -> Readings:
    """``R(w) - R^active(w)`` (FedALS (62)): over all clients, minus over the last round's participants."""
    return one(_mean(s, s.risks) - _active_mean(s, s.risks))


@measured(of_population, cost=1.2, local=True, tests="risk")
def out_of_sample_gap(s: Snapshot) -> Readings:
    """``R^active(w) - R_S^active(w)`` (FedALS (62))."""
    return one(_active_mean(s, s.risks - s.train.loss))


@measured(of_minimum, cost=1)
def optimality_gap(s: Snapshot) -> Readings:
    """``F(w) - F*``: the optimisation part of the excess risk."""
    return one(_mean(s, s.train.loss) - s.problem.smallest_loss)


@measured(of_excess, cost=0.2, tests="risk")
def excess_risk(s: Snapshot) -> Readings:
    """``R(w) - F*``: generalization gap plus optimality gap (FedInit (14))."""
    return one(_mean(s, s.risks) - s.problem.smallest_loss)


@measured()
def heterogeneity(s: Snapshot) -> Readings:
    """Gamma, which no training changes."""
    value = s.problem.heterogeneity
    if value is None:
        raise EmpiricsError(f"heterogeneity needs exact minimisers; {s.problem} is not convex")
    return one(value)


# ---- the local models after a round ----


@measured(of_population, cost=2, local=True, by_client=True, tests="risk")
def local_gap(s: Snapshot) -> Readings:
    """``Delta_k``: population minus training risk of client k's own model on its own distribution (FedALS (24))."""
    return per_client(s.local_risks - s.local_train.loss, s.active)


@measured(cost=2, local=True, by_client=True)
def non_iidness(s: Snapshot) -> Readings:
    """``delta_k``: training risk on client k's samples of the server model minus that of its own model (FedALS (6))."""
    return per_client(s.train.loss[torch.from_numpy(s.active)] - s.local_train.loss, s.active)


@measured(of_minimum, cost=1, local=True, by_client=True)
def local_suboptimality(s: Snapshot) -> Readings:
    """``epsilon_k``: training risk of client k's own model minus its smallest (FedALS, Theorem C.1)."""
    smallest: Tensor | float = s.problem.lower_bound
    if s.problem.convex:
        smallest = s.problem.local_optimal_losses[torch.from_numpy(s.active)]
    return per_client(s.local_train.loss - smallest, s.active)


@measured(sampled, cost=2, local=True, by_client=True, tests="any")
def local_accuracy_common(s: Snapshot) -> Readings:
    return per_client(s.local_common.right, s.active)


@measured(sampled, cost=0.2, local=True, by_client=True, tests="own")
def local_accuracy_own(s: Snapshot) -> Readings:
    assert s.problem.own_tests is not None
    return per_client(evaluation.own(s.problem.model, s.rows, s.active, s.problem.own_tests).right, s.active)


@measured(of_population, local=True, over="mean", tests="risk")
def round_averaged_gap(s: Snapshot) -> Readings:
    """One round's share of FedALS (8): the new server model, on the population and on the samples of the round.

    ``Z_{k,r}`` are the samples client k used, each counted once. The mean over clients is that of the participants. It
    equals the theorem's quantity where each round's samples are new (``Fresh``).
    """
    work, federation, batch = s.done, s.problem.federation, s.setting.batch
    clients = s.active
    drawn = federation.draw(work.seed, work.state.round, clients, work.steps[s.averaged.cpu().numpy()], batch)
    losses = []
    for row in range(len(clients)):
        index = drawn.index[row]
        seen = index[drawn.weight[row] > 0] if drawn.weight is not None else index
        used = torch.unique(seen)
        x, y = s.problem.federation.take(used)
        losses.append(s.problem.model.evaluate(s.state.model.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))[0].mean())
    weights = work.weights[s.averaged].double()
    gaps = s.risks[torch.from_numpy(np.asarray(clients))].double() - torch.stack(losses).double()
    return one(weights @ gaps / weights.sum())
