"""Curvatures of the softmax cross-entropy for any data, in fractions: lower bounds on the smoothness constant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def bias_curvature(odds: Sequence[int]) -> Fraction:
    """Return the curvature along opposite output biases of the first two classes, at outputs p = ``odds / sum(odds)``.

    All other weights of the last layer are 0, so that every sample has these outputs. The Hessian in the biases is
    diag(p) - p p^T for every sample and target: neither data nor earlier layers matter. The curvature tends to 1/2 as
    the two classes take all probability.
    """
    p, q = (Fraction(o, sum(odds)) for o in odds[:2])
    return (p + q) / 2 - (p - q) ** 2 / 2


def hidden_curvature(unit: int) -> Fraction:
    """Return the curvature h^2 / 4 of log(1 + exp(-u h)) in an output weight u at u = 0, for a hidden unit of value h.

    A bias can set a unit of a ReLU network to any h > 0 for all samples, so that no constant bounds the curvature.
    """
    return Fraction(unit) ** 2 / 4
