"""Running statistics of batch norm, which are the last columns of a model and not changed by methods and steps.

A client begins a round with the server's statistics, which are the cohort's mean for every method, or with its own.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from ..algorithms.algorithm import Work
from ..algorithms.state import State, STATISTICS as OWN
from ..models.model import Batch, Trainable
from ..models.network import Network


def first_statistic(model: Trainable) -> int | None:
    """The first column of the statistics; None for a model without batch norm."""
    parameters = model.trained if isinstance(model, Network) else model.dim
    return None if parameters == model.dim else parameters


def unpadded(batch: Batch) -> Batch:
    """The batch of a single row without padding, which would be counted by statistics."""
    inputs, targets, weight = batch
    real = slice(None) if weight is None else weight[0] > 0
    return inputs[:, real], targets[:, real], None


def start_models(model: Trainable, state: State, rows: Tensor, starts: Tensor) -> Tensor:
    """The models ``starts`` of the clients ``rows``, with the statistics that they begin a round with."""
    first = first_statistic(model)
    if first is None:
        return starts
    statistics = state.memory[OWN][rows] if OWN in state.memory else state.model[first:].expand(len(rows), -1)
    return torch.cat([starts[:, :first], statistics], 1)


def next_state(model: Trainable, work: Work, ends: Tensor, after: State) -> State:
    """The state after a round, with the cohort's mean statistics in the server's model, and the clients' own."""
    first = first_statistic(model)
    if first is None:
        return after
    whose, of_clients, of_server = cast(Network, model).statistics, ends[:, first:], work.state.model[first:]
    if whose == "local":
        own = after.memory[OWN] if OWN in after.memory else of_server.expand(work.total, -1).clone()
        own[work.client_index] = of_clients
        after = after._replace(memory={**after.memory, OWN: own})
    if whose != "frozen":
        of_server = work.mean(of_clients) / work.weights.sum()
    return after._replace(model=torch.cat([after.model[:first], of_server]))
