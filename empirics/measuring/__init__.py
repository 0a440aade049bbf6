"""Measurements in the vocabulary's words, each EXACT, SAMPLED or PROXY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..spec_strings import parse
from .core import Exactness, Measurement, Reading, Snapshot
from .costs import COSTS, runtime
from .models import average_gap, MODELS
from .record import default_every, Run
from .risks import RISKS
from .stability import of_pairs, PAIRED, paired, Swap, swaps
from .table import read, Row, write


@dataclass(frozen=True)
class Fixed:
    """Makes a measurement without options."""

    measurement: Measurement

    def __call__(self) -> Measurement:
        return self.measurement


MEASUREMENTS: dict[str, Callable[..., Measurement]] = {
    **{m.name: Fixed(m) for m in (*RISKS, *MODELS, *COSTS)},
    "average_gap": average_gap,
    "runtime": runtime,
}
"""Every measurement by name; those with options are calls, such as ``runtime(upload_rate=2, spread=0.5)``."""


def measurement(text: str) -> Measurement:
    """The measurement written as ``text``."""
    built: Measurement = parse(text, MEASUREMENTS, "measurement", declared=True)
    return built


__all__ = [
    "MEASUREMENTS",
    "PAIRED",
    "Exactness",
    "Measurement",
    "Reading",
    "Row",
    "Run",
    "Snapshot",
    "Swap",
    "default_every",
    "measurement",
    "of_pairs",
    "paired",
    "read",
    "runtime",
    "swaps",
    "write",
]
