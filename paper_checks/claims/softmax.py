"""Curvatures that a softmax cross-entropy has whatever the data: lower bounds on smoothness, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def bias_curvature(odds: Sequence[int]) -> Fraction:
    """Along opposite output biases of the first two classes, where every sample has the outputs ``odds / sum(odds)``.

    The other weights of the last layer are 0 there. The Hessian in the biases is diag(p) - p p^T for every sample and
    every target, so that neither data nor earlier layers enter; it tends to 1/2 as these two classes take all.
    """
    p, q = (Fraction(o, sum(odds)) for o in odds[:2])
    return (p + q) / 2 - (p - q) ** 2 / 2


def hidden_curvature(unit: int) -> Fraction:
    """Of log(1 + exp(-u h)) in an output weight u at u = 0, where a hidden unit h has this value: h^2 / 4.

    A bias alone can set a unit of a ReLU network to any h > 0 for all samples, so that no constant bounds this.
    """
    return Fraction(unit) ** 2 / 4
