"""Table 7: accuracy for several participation rates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..comparing import by_place, Entry, judge, Judged
from .grid import Setup
from .reading import rising
from .settings import MANY
from .sweeps import table


def setup(column: str) -> Setup:
    """So large a part of 50 clients in every round."""
    return Setup(clients=MANY, cohort=round(float(column) * MANY))


def conclusions(found: Sequence[Entry], methods: Sequence[str], shown: Sequence[str]) -> list[Judged]:
    at = by_place(found)
    rise = [rising(at, m, low, high) for m in methods for low, high in pairwise(shown)]
    return [judge("All methods gain with every step of the participation rate", rise)]


ARTEFACT = table(
    "7", "participation", "rates", f"{MANY} clients, columns are the part that trains in a round", setup, conclusions
)
