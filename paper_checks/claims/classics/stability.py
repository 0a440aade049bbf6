"""Hardt, Recht and Singer 2016: uniform stability of SGD."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ..checkers import number, short
from ..claim import Book, Finding, finding
from .runs import Case, mean


def line(book: Book) -> Finding:
    """The bound is the expected change of the loss if one sample z = 1 or -1 of the losses z L w changes its sign."""
    slope, step, samples, steps = Fraction(3), Fraction(1, 7), 5, 4
    separation = Fraction(0)
    for draws in range(samples**steps):  # the base-5 digits are the draws, all equally likely
        changed = sum((draws // samples**t) % samples == 0 for t in range(steps))
        separation += Fraction(changed, samples**steps) * 2 * step * slope
    change = slope * separation
    at: dict[str, Any] = {"lipschitz": slope, "samples": samples, "summed_step_sizes": step * steps, "step_size": step}
    stated = number(book, "classics.hardt_3_7", **at, smoothness=1)
    return finding(change == stated, f"the expected change of the loss is {short(change)}, the bound {short(stated)}")


def kink() -> Iterator[Case]:
    """Cases of the loss 3 |w|, with slope 3 at 0: two steps from 0, and one step from D = step times 3."""
    slope, step = Fraction(3), Fraction(1, 7)
    values = {"lipschitz": slope, "step_size": step}
    yield slope * mean([Fraction(0), step * slope]), {**values, "initial_distance_sq": 0, "iterations": 2}
    yield slope * (step * slope), {**values, "initial_distance_sq": (step * slope) ** 2, "iterations": 1}
