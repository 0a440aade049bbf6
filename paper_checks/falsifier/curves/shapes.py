"""The shapes: ``g(x) = height^2 s(x / height) + bowl/2 x^2`` with s of curvature at most 1 and minimum 0 at 0.

Client k's loss is ``g(x) + tilt_k x``; weighted tilts add up to nothing, so F is g: its smallest value is 0, at 0, and
the mean squared client gradient exceeds the squared global one by the mean squared tilt, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np


class Shape(NamedTuple):
    """A shape and its slope, for NumPy arrays and for mpmath numbers, and the lowest value of its curvature."""

    words: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    exact_value: Callable[[Any], Any]
    exact_slope: Callable[[Any], Any]
    lowest: Any


SHAPES = (
    Shape("pseudo-Huber", lambda x: np.hypot(1, x) - 1, lambda x: x / np.hypot(1, x),
          lambda x: mpmath.sqrt(1 + x * x) - 1, lambda x: x / mpmath.sqrt(1 + x * x), 0),
    Shape("log cosh", lambda x: np.logaddexp(x, -x) - np.log(2), np.tanh,
          lambda x: mpmath.log(mpmath.cosh(x)), mpmath.tanh, 0),
    Shape("x^2 / (1 + x^2)", lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2,
          lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2, -0.25),
    Shape("1 - cos x", lambda x: 1 - np.cos(x), np.sin, lambda x: 1 - mpmath.cos(x), mpmath.sin, -1),
)  # fmt: skip
"""Curvatures lie between ``lowest`` and 1, which is their value at 0."""
