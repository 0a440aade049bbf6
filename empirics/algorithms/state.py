"""What an algorithm carries from round to round: the server's model, its vectors, and rows of the clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

STATISTICS = "running statistics"
"""Memory of the clients' own batch norm statistics, the last columns of their models, for methods that keep them."""


class Exchange(NamedTuple):
    """When columns of the clients' own models were last sent to everyone, and when their rows were last written.

    ``sent (dim,)`` is, for each column, the number of finished rounds when it was last sent; ``written (clients, 1)``
    is the same for the last write of each row. Both are updated in place, as the rows are.
    """

    sent: Tensor
    written: Tensor


class Remembered(NamedTuple):
    """Initial value of a memory: ``rows`` by name, one per client, and the server's single ``vectors`` by name."""

    rows: Mapping[str, Tensor]
    vectors: Mapping[str, Tensor]
    exchanges: Mapping[str, Exchange] = {}


class State(NamedTuple):
    """The server's model and everything an algorithm remembers; ``round`` counts finished rounds.

    ``memory`` holds one row per client (such as its last local model). Rows are overwritten in place between rounds;
    use ``copy_state`` to keep them. ``server`` holds single vectors (such as a momentum). ``losses`` lists, for each
    round, the mean loss of the active clients at the server model, as they report it after their first step.
    ``exchanges`` maps the name of a memory of own models to when its columns were sent and its rows written.
    """

    round: int
    model: Tensor
    memory: Mapping[str, Tensor]
    server: Mapping[str, Tensor]
    losses: tuple[float, ...] = ()
    exchanges: Mapping[str, Exchange] = {}


def copy_state(state: State) -> State:
    """Return the state with copies of all tensors that later rounds overwrite in place."""
    memory = {name: rows.clone() for name, rows in state.memory.items()}
    exchanges = {name: Exchange(*(x.clone() for x in each)) for name, each in state.exchanges.items()}
    return state._replace(memory=memory, exchanges=exchanges)


def own_rows(state: State, key: str, rows: Tensor | None = None) -> Tensor:
    """The clients' current own models from the memory ``key``: all of them, or those of ``rows``.

    Where parts of models are averaged and sent to everyone, only a client's own training writes its row. Columns that
    were sent since then replace the columns of the row here.
    """
    stored = state.memory[key] if rows is None else state.memory[key][rows]
    if key not in state.exchanges:
        return stored
    sent, written = state.exchanges[key]
    return torch.where(sent >= (written if rows is None else written[rows]), state.server["received"], stored)
