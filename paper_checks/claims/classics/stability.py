"""Hardt, Recht and Singer 2016: how stable SGD is, and what that makes of its risk."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ..checkers import number, short
from ..claim import Book, Finding, judged
from .runs import Case, mean


def line(book: Book) -> Finding:
    """Losses z L w with z = 1 or -1, of which one is turned round: how far apart two runs are expected to be."""
    steep, step, samples, steps = Fraction(3), Fraction(1, 7), 5, 4
    apart = Fraction(0)
    for picks in range(samples**steps):  # every order of draws, each as likely
        turned = sum((picks // samples**t) % samples == 0 for t in range(steps))
        apart += Fraction(turned, samples**steps) * 2 * step * steep
    found = steep * apart
    at: dict[str, Any] = {"lipschitz": steep, "samples": samples, "summed_step_sizes": step * steps, "step_size": step}
    stated = number(book, "classics.hardt_3_7", **at, smoothness=1)
    return judged(found == stated, f"the expected change of the loss is {short(found)}, the bound {short(stated)}")


def kink() -> Iterator[Case]:
    """The loss 3 |w|, whose slope at 0 is taken to be 3: two steps from 0, and one that starts at D = step times 3."""
    steep, step = Fraction(3), Fraction(1, 7)
    values = {"lipschitz": steep, "step_size": step}
    yield steep * mean([Fraction(0), step * steep]), {**values, "initial_distance_sq": 0, "iterations": 2}
    yield steep * (step * steep), {**values, "initial_distance_sq": (step * steep) ** 2, "iterations": 1}
