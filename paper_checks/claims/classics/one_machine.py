"""SGD on one machine: Bottou, Curtis and Nocedal 2018, Theorems 4.6 to 4.8, and Needell, Srebro and Ward 2014."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from .runs import Case, distance_after


def parabolas() -> Iterator[Case]:
    """Two directions of curvatures 3 and 1/2 that share the noise, gradients stretched by 5/4, in closed form."""
    stretch, noise = Fraction(5, 4), Fraction(9, 4)
    for share, step, steps in ((Fraction(1, 2), Fraction(1, 5), 9), (Fraction(1), Fraction(4, 15), 40)):
        gap, start = Fraction(0), Fraction(0)
        for bent, part, x in ((Fraction(3), share, Fraction(2)), (Fraction(1, 2), 1 - share, Fraction(-6))):
            start += bent * x**2 / 2
            gap += bent / 2 * distance_after((1 - step * stretch * bent) ** 2, step**2 * noise * part, x**2, steps)
        yield gap, {
            "smoothness": 3, "strong_convexity": Fraction(1, 2), "alignment": stretch, "variance_growth": 0,
            "gradient_norm_factor": stretch, "gradient_variance": noise, "initial_gap": start, "step_size": step,
            "iterations": steps,
        }  # fmt: skip
