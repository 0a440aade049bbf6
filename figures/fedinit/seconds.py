"""Seconds per round, which Table 10 shows and Table 11 multiplies by rounds, as the paper does."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from ..runs import Runs
from .grid import timing
from .settings import METHODS

Blocks = Mapping[str, list[float]]
"""By method, a value per block of rounds."""


def medians(runs: Runs, scale: str, share: str) -> Blocks:
    """Median seconds of a round by method, block by block; empty where it was not timed."""
    found: dict[str, dict[int, list[float]]] = {}
    for cell in timing(scale, share):
        names = dict(zip(cell.arguments["algorithms"], METHODS, strict=True))
        table = runs.columns(cell)
        for name, block, taken in zip(*(table.get(k, []) for k in ("algorithm", "block", "seconds")), strict=True):
            found.setdefault(names[name], {}).setdefault(block, []).append(taken)
    return {method: [median(taken) for taken in blocks.values()] for method, blocks in found.items()}


def ratios(seconds: Blocks) -> Blocks:
    """Over FedAvg's in the same block."""
    return {m: [a / b for a, b in zip(of, seconds["FedAvg"], strict=True)] for m, of in seconds.items()}
