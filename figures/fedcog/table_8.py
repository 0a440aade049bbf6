"""Table 8: accuracy for several numbers of clients, all of which take part."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparing import Entry, Judged
from .grid import Setup
from .sweeps import table


def setup(column: str) -> Setup:
    """So many clients."""
    return Setup(clients=int(column))


def conclusions(found: Sequence[Entry], methods: Sequence[str], shown: Sequence[str]) -> list[Judged]:
    """The paper draws no other."""
    return []


ARTEFACT = table("8", "number of clients", "clients", "columns are the number of clients", setup, conclusions)
