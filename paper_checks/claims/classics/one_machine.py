"""SGD on one machine: Bottou, Curtis and Nocedal 2018, Theorems 4.6 to 4.8, and Needell, Srebro and Ward 2014."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from .runs import Case, distance_after


def parabolas() -> Iterator[Case]:
    """Cases of SGD on curvatures 3 and 1/2 in two directions, with gradients scaled by 5/4 and shared noise."""
    scale, noise = Fraction(5, 4), Fraction(9, 4)
    for share, step, steps in ((Fraction(1, 2), Fraction(1, 5), 9), (Fraction(1), Fraction(4, 15), 40)):
        gap, initial_gap = Fraction(0), Fraction(0)
        for h, part, x in ((Fraction(3), share, Fraction(2)), (Fraction(1, 2), 1 - share, Fraction(-6))):
            initial_gap += h * x**2 / 2
            gap += h / 2 * distance_after((1 - step * scale * h) ** 2, step**2 * noise * part, x**2, steps)
        yield gap, {
            "smoothness": 3, "strong_convexity": Fraction(1, 2), "alignment": scale, "variance_growth": 0,
            "gradient_norm_factor": scale, "gradient_variance": noise, "initial_gap": initial_gap, "step_size": step,
            "iterations": steps,
        }  # fmt: skip
