"""Pairs (G^2, B^2) with which the mean squared client gradient is at most G^2 + B^2 ||grad F||^2 at every model.

Clients that are all L-smooth and mu-strongly convex have a family of such pairs. Write u for ``w - w*``, g for
``grad F(w)``, ``z_k`` for ``grad F_k(w*)`` and ``d_k`` for ``grad F_k(w) - z_k``; the ``z_k`` have the weighted mean 0,
the ``d_k`` have g. Strong convexity and smoothness give ``|d_k|^2 <= (L + mu) <d_k, u> - L mu |u|^2``. So the weighted
mean of ``|d_k|^2`` is at most ``(L + mu) <g, u> - L mu |u|^2 <= (L + mu)^2/(4 L mu) |g|^2``, and that of
``|d_k - g|^2`` at most ``e |g|^2`` with ``e = (L - mu)^2/(4 L mu)``. The mean of ``<z_k, d_k>`` is that of
``<z_k, d_k - g>``. Hence ``G^2 = (1 + 1/s) mean |z_k|^2`` goes with ``B^2 = 1 + (1 + s) e``, for every s > 0. Two
parabolas of curvatures mu and L with weights L and mu attain it, so no smaller pair is valid for all such clients.
"""

from __future__ import annotations

import math


def excess(smoothness: float, strong_convexity: float) -> float:
    """Return ``e = (L - mu)^2/(4 L mu)``, the least amount by which B^2 exceeds 1; infinite for mu = 0."""
    L, mu = smoothness, strong_convexity
    return (L - mu) / L * ((L - mu) / mu) / 4 if mu > 0 else math.inf


def convex_pair(at_minimum: float, smoothness: float, strong_convexity: float, split: float) -> tuple[float, float]:
    """Return the (G^2, B^2) for s = ``split``; ``at_minimum`` is the mean squared client gradient at the minimiser."""
    return (1 + 1 / split) * at_minimum, 1 + (1 + split) * excess(smoothness, strong_convexity)


def split_for(factor: float, smoothness: float, strong_convexity: float) -> float:
    """Return the s whose ``B^2`` is ``factor``, for L > mu; not positive if no pair of the family has it."""
    return (factor - 1) / excess(smoothness, strong_convexity) - 1
