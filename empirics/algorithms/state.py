"""What survives from round to round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

STATISTICS = "running statistics"
"""The memory of the clients' own statistics of batch norm, the last columns of their models, where they keep them."""
NEVER = -1.0
"""The round after which a column was sent that no row waits for."""


class Exchange(NamedTuple):
    """When the rows of a memory of own models were touched: a row is written by its own client alone.

    ``sent (dim,)`` is the number of rounds after which every column was last sent to everyone, ``written (clients, 1)``
    that after which every row was last written. Both change in place, as the rows do.
    """

    sent: Tensor
    written: Tensor

    def settled(self) -> Exchange:
        """The same where every row holds what is in force."""
        return Exchange(torch.full_like(self.sent, NEVER), torch.zeros_like(self.written))


class Remembered(NamedTuple):
    """What a memory starts as: ``rows`` by name, one per client, and the server's single ``vectors`` by name."""

    rows: Mapping[str, Tensor]
    vectors: Mapping[str, Tensor]
    exchanges: Mapping[str, Exchange] = {}


class State(NamedTuple):
    """The server's model and everything an algorithm remembers; ``round`` counts finished rounds.

    ``memory`` holds one row per client (such as its last local model); rows are rewritten in place between rounds, so
    whoever wants to keep them copies them. ``server`` holds single vectors (such as a momentum). ``losses`` is the mean
    loss of the active clients at the server model, round by round, as they report it after their first step.
    ``exchanges`` says, by the name of a memory of own models, when its columns were sent and its rows written.
    """

    round: int
    model: Tensor
    memory: Mapping[str, Tensor]
    server: Mapping[str, Tensor]
    losses: tuple[float, ...] = ()
    exchanges: Mapping[str, Exchange] = {}


def copied(state: State) -> State:
    """The same with tensors of its own wherever they are rewritten in place."""
    memory = {name: rows.clone() for name, rows in state.memory.items()}
    exchanges = {name: Exchange(*(x.clone() for x in each)) for name, each in state.exchanges.items()}
    return state._replace(memory=memory, exchanges=exchanges)


def own_rows(state: State, key: str, rows: Tensor | None = None) -> Tensor:
    """The clients' own models in the memory ``key`` (all of them, or those of ``rows``), as they are by now.

    Where parts of models are averaged and sent to everyone, a row is touched by its own client alone: what was sent
    since then (``sent``, by column, not before ``written``, by row) takes the place of what the row holds.
    """
    kept = state.memory[key] if rows is None else state.memory[key][rows]
    if key not in state.exchanges:
        return kept
    sent, written = state.exchanges[key]
    return torch.where(sent >= (written if rows is None else written[rows]), state.server["received"], kept)


def settled(state: State) -> State:
    """The same state with every client's own model written out, so that it depends on no other state: a copy."""
    memory = {**state.memory, **{key: own_rows(state, key).clone() for key in state.exchanges}}
    return state._replace(memory=memory, exchanges={key: e.settled() for key, e in state.exchanges.items()})
