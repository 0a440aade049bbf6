"""What methods share that treat the head of a model and the layers below it differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ..errors import EmpiricsError
from .algorithm import State, Work
from .state import Exchange, own_rows, Remembered


def head_columns(work: Work, head: str) -> Tensor:
    """True on the columns of the head ``(dim,)``: the layers whose name begins with ``head``."""
    mask = torch.zeros(work.starts.shape[-1], dtype=torch.bool, device=work.starts.device)
    named = [name for name in work.layers if name.startswith(head)]
    if not named:
        raise EmpiricsError(f"head must begin a layer's name; got {head!r}; layers: {', '.join(work.layers)}")
    for name in named:
        mask[work.layers[name]] = True
    return mask


def named_head(where: str, head: Any) -> str:
    """``head`` if it can begin a layer's name."""
    if not (isinstance(head, str) and head):
        raise EmpiricsError(f"{where} must be the beginning of a layer's name; got {head!r}")
    return head


class Sharing(Protocol):
    """Which columns are averaged and sent to everyone after a round."""

    def averaged(self, work: Work) -> Tensor: ...


@dataclass(frozen=True)
class OwnStart:
    """Every client goes on from its own model, in which the averaged columns were replaced."""

    key: str = "local"

    def __call__(self, state: State, rows: Tensor) -> Tensor:
        return own_rows(state, self.key, rows)


@dataclass(frozen=True)
class LocalModels:
    """The clients' own models; the averaged columns are the same for all of them, active or not.

    The server remembers what it last sent of every column as ``received``, and after which round. Only the rows of
    active clients are written, so that a round costs the same however many clients there are: see ``own_rows``.
    """

    sharing: Sharing
    key: str = "local"

    def begin(self, model: Tensor, clients: int) -> Remembered:
        exchange = Exchange(sent=torch.zeros_like(model), written=model.new_zeros(clients, 1))
        rows = {self.key: model.expand(clients, -1).clone()}
        return Remembered(rows, {"received": model.clone()}, {self.key: exchange})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        columns, now, exchange = self.sharing.averaged(work), work.state.round + 1, work.state.exchanges[self.key]
        work.state.memory[self.key][work.rows] = ends
        exchange.written[work.rows] = now
        exchange.sent.masked_fill_(columns, now)
        return {"received": torch.where(columns, model, work.received)}
