"""Running statistics of batch norm from round to round: columns of a row that no method and no step moves.

A client begins with the server's, which are the cohort's mean, whatever a method makes of models, or with its own.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from ..algorithms.algorithm import Work
from ..algorithms.state import State, STATISTICS as OWN
from ..models.model import Batch, Trainable
from ..models.network import Network


def border(model: Trainable) -> int | None:
    """The column at which statistics begin; None for a model without."""
    moved = model.trained if isinstance(model, Network) else model.dim
    return None if moved == model.dim else moved


def unpadded(batch: Batch) -> Batch:
    """The batch of a single row without the samples that only fill it up, which statistics would count."""
    inputs, targets, weight = batch
    real = slice(None) if weight is None else weight[0] > 0
    return inputs[:, real], targets[:, real], None


def started(model: Trainable, state: State, rows: Tensor, starts: Tensor) -> Tensor:
    """The models ``starts`` of the clients ``rows`` with the statistics that they begin a round with."""
    at = border(model)
    if at is None:
        return starts
    kept = state.memory[OWN][rows] if OWN in state.memory else state.model[at:].expand(len(rows), -1)
    return torch.cat([starts[:, :at], kept], 1)


def finished(model: Trainable, work: Work, ends: Tensor, after: State) -> State:
    """The state after a round, with the cohort's mean statistics in the server's model, and the clients' own."""
    at = border(model)
    if at is None:
        return after
    whose, found, kept = cast(Network, model).statistics, ends[:, at:], work.state.model[at:]
    if whose == "local":
        own = after.memory[OWN] if OWN in after.memory else kept.expand(work.total, -1).clone()
        own[work.rows] = found
        after = after._replace(memory={**after.memory, OWN: own})
    if whose != "frozen":
        kept = work.mean(found) / work.weights.sum()
    return after._replace(model=torch.cat([after.model[:at], kept]))
