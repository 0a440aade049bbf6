"""Measurements in the vocabulary's words, each EXACT, SAMPLED or PROXY."""

from __future__ import annotations

from collections.abc import Callable

from ..spec_strings import parse
from .core import Exactness, Measurement, Reading, Snapshot
from .costs import runtime
from .measurements import average_gap, ROWS
from .record import Run
from .stability import of_pairs, PAIRED, paired, Swap, swaps
from .table import read, Row, write


def fixed(made: Measurement) -> Callable[[], Measurement]:
    """Make a measurement without options."""
    return lambda: made


MEASUREMENTS: dict[str, Callable[..., Measurement]] = {
    **{made.name: fixed(made) for made in ROWS},
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
    "measurement",
    "of_pairs",
    "paired",
    "read",
    "swaps",
    "write",
]
