"""What a run in exact numbers has read so far, by name, as arrays of exact numbers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np


class Collected:
    """Readings of the server (one per state), of the rounds (one fewer) and along the local iterations."""

    def __init__(self) -> None:
        self._server: dict[str, list[Any]] = {}
        self._rounds: dict[str, list[Any]] = {}
        self._along: dict[str, list[Any]] = {}

    @cached_property
    def server(self) -> dict[str, Any]:
        return {name: np.array(values, dtype=object) for name, values in self._server.items()}

    @cached_property
    def rounds(self) -> dict[str, Any]:
        gap = self.server["optimality_gap"]
        found = {name: np.array(values, dtype=object) for name, values in self._rounds.items()}
        return {**found, "loss_change": gap[1:] - gap[:-1], "loss_decrease": gap[:-1] - gap[1:]}

    def iterations(self, name: str) -> Any:
        return np.array(self._along[name], dtype=object)
