"""Table 6: accuracy for several numbers of local steps."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparing import by_place, Entry, judge, Judged
from .grid import Setup
from .reading import rising
from .settings import LOCAL_STEPS
from .sweeps import table


def setup(column: str) -> Setup:
    """As many times the default number of local steps as in the paper."""
    return Setup(stretch=int(column) / LOCAL_STEPS)


def conclusions(found: Sequence[Entry], methods: Sequence[str], shown: Sequence[str]) -> list[Judged]:
    at = by_place(found)
    rise = [rising(at, m, "200", "400") for m in methods]
    fall = [rising(at, m, "800", "400") for m in methods] if "800" in shown else []
    return [
        judge("All methods gain from half the default number of local steps to the default", rise),
        judge("With twice the default number of local steps all methods lose", fall),
    ]


ARTEFACT = table(
    "6",
    "number of local steps",
    "taus",
    "columns are the paper's numbers of local steps; here as many times the default as 400 there",
    setup,
    conclusions,
)
