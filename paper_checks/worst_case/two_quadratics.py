"""Contractions that no certificate can beat: two clients with quadratics, the worst pair of curvatures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .coordinates import Array
from .one_round import OneRound

CURVATURES = 9
"""Curvatures of a client that are tried, from mu to L."""


def slowest(round_: OneRound, smoothness: float, strong_convexity: float) -> float:
    """The largest factor by which a squared error may shrink per round on two one-dimensional quadratics."""
    q = np.geomspace(max(strong_convexity, 1e-6 * smoothness), smoothness, CURVATURES)
    one, other = (x.ravel() for x in np.meshgrid(q, q))
    with np.errstate(all="ignore"):
        maps = round_map(_in_the_mean(round_), (one + other) / 2, (one - other) / 2)
    if not np.isfinite(maps).all():  # steps so long that the models leave the floats
        return math.inf
    return float(np.abs(np.linalg.eigvals(maps)).max() ** 2)


def _in_the_mean(round_: OneRound) -> OneRound:
    """The round over all draws: the mean of a squared error is at least the square of its mean."""
    if round_.renewed is None:
        return round_
    moved = round_.renewed.share * round_.renewed.apart
    moved[:, : len(round_.apart)] += np.eye(len(round_.apart))
    return replace(round_, apart_next=moved)


def round_map(round_: OneRound, mean: Array, half: Array) -> Array:
    """The map of (means, deviations) on two quadratics of curvatures ``mean + half`` and ``mean - half``."""
    n, k, m = len(round_.means), len(round_.apart), round_.gradients
    state = np.broadcast_to(np.eye(n + k), (len(mean), n + k, n + k))
    forms = np.zeros((len(mean), m, 2, n + k))  # the gradients' means and deviations
    for j in range(m):
        at = [
            rows[j, :size] @ part + np.einsum("i,pic->pc", rows[j, size:], forms[:, :, b])
            for b, (rows, size, part) in enumerate(
                ((round_.mean_points, n, state[:, :n]), (round_.apart_points, k, state[:, n:]))
            )
        ]
        forms[:, j, 0] = mean[:, None] * at[0] + half[:, None] * at[1]
        forms[:, j, 1] = mean[:, None] * at[1] + half[:, None] * at[0]
    after = [
        rows[:, :size] @ part + np.einsum("ri,pic->prc", rows[:, size:], forms[:, :, b])
        for b, (rows, size, part) in enumerate(
            ((round_.mean_next, n, state[:, :n]), (round_.apart_next, k, state[:, n:]))
        )
    ]
    return np.concatenate(after, axis=1)
