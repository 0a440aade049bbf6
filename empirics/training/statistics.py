"""Running statistics of batch norm from round to round: columns of a row that no method and no step moves.

A client begins with the server's, and the server takes their mean over the cohort, whatever the method makes of
models; or it goes on with its own (``local``), and the server's mean serves for evaluating its model alone.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor

from ..algorithms.algorithm import Work
from ..algorithms.state import State, STATISTICS as OWN
from ..models.model import Batch, Trainable
from ..models.network import Network


def border(model: Trainable) -> int | None:
    """The column at which statistics begin; None for a model without."""
    trained = getattr(model, "trained", model.dim)
    return None if trained == model.dim else trained


def learning(model: Trainable) -> AbstractContextManager[Any]:
    """A context of local steps."""
    return nullcontext() if border(model) is None else cast(Network, model).learning()


def unpadded(batch: Batch) -> Batch:
    """The batch of a single row without the samples that only fill it up, which statistics would count."""
    inputs, targets, weight = batch
    real = slice(None) if weight is None else weight[0] > 0
    return inputs[:, real], targets[:, real], None


def begun(model: Trainable, state: State, clients: int) -> State:
    """The first state, with a row of statistics for each client that keeps its own."""
    at = border(model)
    if at is None or cast(Network, model).statistics != "local":
        return state
    return state._replace(memory={**state.memory, OWN: state.model[at:].expand(clients, -1).clone()})


def started(model: Trainable, state: State, rows: Tensor, starts: Tensor) -> Tensor:
    """The models ``starts`` of the clients ``rows`` with the statistics that they begin a round with."""
    at = border(model)
    if at is None:
        return starts
    kept = state.memory[OWN][rows] if OWN in state.memory else state.model[at:].expand(len(rows), -1)
    return torch.cat([starts[:, :at], kept], 1)


def finished(model: Trainable, work: Work, ends: Tensor, after: State) -> State:
    """The state after a round, with the cohort's mean statistics in the server's model."""
    at = border(model)
    if at is None:
        return after
    found = ends[:, at:]
    if OWN in after.memory:
        after.memory[OWN][work.rows] = found
    frozen = cast(Network, model).statistics == "frozen"
    kept = work.state.model[at:] if frozen else work.mean(found) / work.weights.sum()
    return after._replace(model=torch.cat([after.model[:at], kept]))
