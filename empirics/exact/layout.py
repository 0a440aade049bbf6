"""An algorithm's state as one flat vector: model, memory rows, server vectors, and every client's last local model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..algorithms.state import Exchange, settled, State

LAST = "last local models"


@dataclass(frozen=True)
class Layout:
    """Where the parts of a state lie in the flat vector; each part is (kind, name, shape).

    The clients' last local models are kept besides what the algorithm remembers, so that divergence can be read of any
    method; before the first round they are the first model.
    """

    parts: tuple[tuple[str, str, tuple[int, ...]], ...]
    exchanges: Mapping[str, Exchange] = field(default_factory=dict)
    """What is no part of the vector because it is the same in every settled state: who was sent what, and when."""

    @classmethod
    def of(cls, states: tuple[State, ...], clients: int) -> Layout:
        """The layout that holds whatever any of ``states`` holds (some server vectors appear after a round)."""
        dim = len(states[0].model)
        parts: dict[tuple[str, str], tuple[int, ...]] = {("model", ""): (dim,), ("last", LAST): (clients, dim)}
        for state in states:
            for kind, values in (("memory", state.memory), ("server", state.server)):
                parts.update({(kind, name): tuple(value.shape) for name, value in values.items()})
        return cls(tuple((kind, name, shape) for (kind, name), shape in parts.items()), states[0].exchanges)

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for _, _, shape in self.parts)

    def part(self, kind: str) -> slice:
        """Where the first part of a kind lies."""
        begin = 0
        for found, _, shape in self.parts:
            size = int(np.prod(shape))
            if found == kind:
                return slice(begin, begin + size)
            begin += size
        raise KeyError(kind)

    def state(self, vector: np.ndarray, round_: int) -> State:
        """A fresh state with the values of ``vector``; the last local models are no part of it."""
        found: dict[str, dict[str, Tensor]] = {"model": {}, "last": {}, "memory": {}, "server": {}}
        begin = 0
        for kind, name, shape in self.parts:
            size = int(np.prod(shape))
            found[kind][name] = torch.tensor(vector[begin : begin + size]).reshape(shape)
            begin += size
        exchanges = {name: exchange.settled() for name, exchange in self.exchanges.items()}
        return State(round_, found["model"][""], found["memory"], found["server"], exchanges=exchanges)

    def vector(self, state: State, last: np.ndarray) -> np.ndarray:
        """The flat vector of a state and the clients' last local models ``(C, dim)``; what is absent is zero."""
        state = settled(state)
        values: Mapping[str, Mapping[str, Tensor]] = {"memory": state.memory, "server": state.server}
        pieces = []
        for kind, name, shape in self.parts:
            if kind == "model":
                pieces.append(state.model.numpy())
            elif kind == "last":
                pieces.append(last)
            else:
                pieces.append(values[kind][name].numpy() if name in values[kind] else np.zeros(shape))
        return np.concatenate([np.ravel(piece) for piece in pieces])
