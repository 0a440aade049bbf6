"""The shapes: ``g(x) = height^2 s(x / height) + bowl/2 x^2`` with s of curvature at most 1 and minimum 0 at 0.

Client k's loss is ``g(x) + tilt_k x``. The weighted tilts sum to 0, so F is g, with minimum 0 at 0; the mean squared
client gradient exceeds the squared global one by the mean squared tilt everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np


class Shape(NamedTuple):
    """A shape and its derivative, for NumPy arrays and for mpmath numbers, and its smallest curvature."""

    words: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    exact_value: Callable[[Any], Any]
    exact_slope: Callable[[Any], Any]
    lowest: Any


def _log_cosh(x: Any) -> Any:
    size = np.abs(x)
    near = np.log1p(np.sinh(np.minimum(size, 1.0)) ** 2) / 2
    return np.where(size < 1, near, size + np.log1p(np.exp(-2 * size)) - np.log(2))


# The formulas avoid cancellation near the minimum, where runs end.
SHAPES = (
    Shape("pseudo-Huber", lambda x: x * x / (1 + np.hypot(1, x)), lambda x: x / np.hypot(1, x),
          lambda x: x * x / (1 + mpmath.sqrt(1 + x * x)), lambda x: x / mpmath.sqrt(1 + x * x), 0),
    Shape("log cosh", _log_cosh, np.tanh, lambda x: mpmath.log1p(mpmath.sinh(x) ** 2) / 2, mpmath.tanh, 0),
    Shape("x^2 / (1 + x^2)", lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2,
          lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2, -0.25),
    Shape("1 - cos x", lambda x: 2 * np.sin(x / 2) ** 2, np.sin, lambda x: 2 * mpmath.sin(x / 2) ** 2, mpmath.sin, -1),
)  # fmt: skip
"""Curvatures lie between ``lowest`` and 1, which is their value at 0."""
