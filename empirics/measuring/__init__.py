"""Measurements of training runs, named by the quantities of the vocabulary.

``Run`` trains and yields rows of a tidy table (``Row``); ``measurement("runtime(upload_rate=2)")`` makes a measurement
from text, and ``MEASUREMENTS`` lists them. Each number is EXACT, SAMPLED (unbiased) or a PROXY. ``stability`` compares
pairs of runs, ``one_round`` computes exact averages of local minimisers, and ``constants`` estimates the constants of a
problem. ``kept`` stores runs in a file, to be continued.
"""

from __future__ import annotations

from collections.abc import Callable

from ..spec_strings import parse
from .core import Exactness, Measurement, Reading, Snapshot
from .costs import runtime
from .measurements import average_gap, ROWS
from .record import Run
from .stability import pair_rows, PAIRED, paired_runs, Swap, swaps
from .table import Row, write


def without_options(row: Measurement) -> Callable[[], Measurement]:
    """A function without arguments that returns the measurement."""
    return lambda: row


MEASUREMENTS: dict[str, Callable[..., Measurement]] = {
    **{row.name: without_options(row) for row in ROWS},
    "average_gap": average_gap,
    "runtime": runtime,
}
"""Every measurement by name; those with options are calls, such as ``runtime(upload_rate=2, spread=0.5)``."""


def measurement(text: str) -> Measurement:
    """Return the measurement written as ``text``."""
    built: Measurement = parse(text, MEASUREMENTS, "measurement", declared=True)
    return built


__all__ = [
    "MEASUREMENTS", "PAIRED", "Exactness", "Measurement", "Reading", "Row", "Run", "Snapshot", "Swap", "measurement",
    "pair_rows", "paired_runs", "swaps", "write",
]  # fmt: skip
