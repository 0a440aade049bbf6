"""Measurements in the vocabulary's words, each EXACT, SAMPLED or PROXY."""

from __future__ import annotations

from collections.abc import Callable

from ..spec_strings import parse
from . import risks  # noqa: F401 - it adds its measurements to MEASURED, as costs and models do
from .core import Exactness, MEASURED, Measurement, Reading, Snapshot
from .costs import runtime
from .models import average_gap
from .record import Run
from .stability import of_pairs, PAIRED, paired, Swap, swaps
from .table import read, Row, write


def fixed(made: Measurement) -> Callable[[], Measurement]:
    """Make a measurement without options."""
    return lambda: made


MEASUREMENTS: dict[str, Callable[..., Measurement]] = {
    **{name: fixed(made) for name, made in MEASURED.items()},
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
