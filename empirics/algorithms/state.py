"""What survives from round to round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

SETTLED = {" sent": -1.0, " written": 0.0}
"""By the ending of their names, what columns and rows say where every row holds what is in force."""


class State(NamedTuple):
    """The server's model and everything an algorithm remembers; ``round`` counts finished rounds.

    ``memory`` holds one row per client (such as its last local model); rows are rewritten in place between rounds, so
    whoever wants to keep them copies them. ``server`` holds single vectors (such as a momentum). ``losses`` is the mean
    loss of the active clients at the server model, round by round, as they report it after their first step.
    """

    round: int
    model: Tensor
    memory: Mapping[str, Tensor]
    server: Mapping[str, Tensor]
    losses: tuple[float, ...] = ()


def own_rows(state: State, key: str, rows: Tensor | None = None) -> Tensor:
    """The clients' own models in the memory ``key`` (all of them, or those of ``rows``), as they are by now.

    Where parts of models are averaged and sent to everyone, a row is touched by its own client alone: what was sent
    since then (``sent``, by column, not before ``written``, by row) takes the place of what the row holds.
    """
    kept = state.memory[key] if rows is None else state.memory[key][rows]
    sent = state.server.get(f"{key} sent")
    if sent is None:
        return kept
    written = state.memory[f"{key} written"]
    return torch.where(sent >= (written if rows is None else written[rows]), state.server["received"], kept)


def settled(state: State) -> State:
    """The same state with every client's own model written out, so that it depends on nobody's history: a copy."""
    keys = [name.removesuffix(" sent") for name in state.server if name.endswith(" sent")]
    server, memory = dict(state.server), dict(state.memory)
    for key in keys:
        memory[key] = own_rows(state, key).clone()
        memory[f"{key} written"] = torch.full_like(memory[f"{key} written"], SETTLED[" written"])
        server[f"{key} sent"] = torch.full_like(server[f"{key} sent"], SETTLED[" sent"])
    return state._replace(memory=memory, server=server)
