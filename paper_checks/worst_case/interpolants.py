"""Functions of the class through given points, gradients and values: the smallest one, evaluated exactly.

Without its curvature, ``h = f - mu/2 |x|^2`` is convex and M-smooth, M = L - mu. Where the interpolation conditions
hold,

    h(x) = min over weights of  M/2 |x - sum_j w_j (x_j - g_j / M)|^2 + sum_j w_j (h_j - |g_j|^2 / (2 M)),

weights in the simplex, passes through every (x_j, g_j, h_j): it is the Moreau envelope of a polyhedral convex function
(Taylor, Hendrickx and Glineur 2017, proof of Theorem 4), so convex and M-smooth whatever the numbers are.

The weights come from an active-set method, exact to rounding: an interior point stops at gaps of 1e-8, of which a
gradient feels the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .coordinates import Array
from .program import WorstCaseError

EXACT = 1e-15
"""Gap at which weights count as optimal, relative to the size of the numbers: rounding."""
ACCEPTED = 1e-12
"""Largest accepted gap: the gradient is then good to about 1e-6 of the numbers, and far better as a rule."""
SINGULAR = 1e-12
TURNS = 20
"""Steps per point after which the best weights so far are taken."""


@dataclass(frozen=True, eq=False)
class Interpolant:
    """A function with curvatures in [mu, L] through ``values (m,)`` with ``gradients`` at ``points``, both ``(m, d)``.

    It passes through them if they meet the interpolation conditions; it belongs to the class in any case.
    """

    mu: float
    smoothness: float
    points: Array
    gradients: Array
    values: Array

    @property
    def curvature(self) -> float:
        """M: the smoothness of what is left without mu/2 |x|^2."""
        return self.smoothness - self.mu

    @cached_property
    def poles(self) -> Array:
        """``x_j - g_j / M`` of the convex part ``(m, d)``."""
        return self.points - (self.gradients - self.mu * self.points) / self.curvature

    @cached_property
    def heights(self) -> Array:
        """``h_j - |g_j|^2 / (2 M)`` of the convex part ``(m,)``."""
        bent = self.gradients - self.mu * self.points
        convex = self.values - self.mu / 2 * (self.points**2).sum(1)
        heights: Array = convex - (bent**2).sum(1) / (2 * self.curvature)
        return heights

    def at(self, x: Array) -> tuple[float, Array]:
        """Value and gradient ``(d,)`` at ``x (d,)``."""
        weights = self.weights(x)
        apart = x - weights @ self.poles
        convex = self.curvature / 2 * apart @ apart + weights @ self.heights
        return float(convex + self.mu / 2 * x @ x), self.curvature * apart + self.mu * x

    def value(self, x: Array) -> float:
        return self.at(x)[0]

    def gradient(self, x: Array) -> Array:
        return self.at(x)[1]

    # ---- the weights ----

    def weights(self, x: Array) -> Array:
        """The optimal weights ``(m,)``, by active sets; at a point that was given its own is 1."""
        pull = self.curvature**0.5 * (self.poles - x)
        size = float(np.abs(self.heights).max() + (pull**2).sum(1).max()) or 1.0
        weights = np.eye(len(pull))[np.argmin((pull**2).sum(1) / 2 + self.heights)]
        best, least = weights, np.inf
        for _ in range(TURNS * len(pull)):
            slopes = pull @ (weights @ pull) + self.heights
            gap = float(weights @ slopes - slopes.min())
            if gap < least:
                best, least = weights, gap
            if gap <= EXACT * size:
                break
            weights = _descended(pull, self.heights, weights, int(np.argmin(slopes)))
        if not least <= ACCEPTED * size:
            raise WorstCaseError(f"a client's function could not be evaluated: its program is off by {least:.2g}")
        return best


def _descended(pull: Array, heights: Array, weights: Array, entering: int) -> Array:
    """The minimum of ``|w pull|^2 / 2 + w . heights`` over the points in use and one more, some of them dropped."""
    weights = weights.copy()
    used = np.append(np.flatnonzero((weights > 0) & (np.arange(len(weights)) != entering)), entering)
    while len(used) > 1:
        step, bounded = _step(pull[used], heights[used], weights @ pull)
        falling = step < 0
        ends = -weights[used][falling] / step[falling]
        reach = float(ends.min()) if len(ends) else 1.0
        if bounded and reach >= 1.0:
            weights[used] += step
            break
        weights[used] = np.maximum(weights[used] + reach * step, 0.0)
        last = used[falling][np.argmin(ends)]
        weights[last] = 0.0
        used = used[used != last]
    return weights / weights.sum()


def _step(pull: Array, heights: Array, at: Array) -> tuple[Array, bool]:
    """The step of weights ``(k,)``, of sum zero, to the minimum; where there is none, one that descends (False)."""
    apart, rise = pull[1:] - pull[0], heights[1:] - heights[0]
    slopes = apart @ at + rise
    left, lengths, _ = np.linalg.svd(apart)
    known = lengths > SINGULAR * lengths[0] if lengths[0] > 0 else lengths > 0
    range_, rest = left[:, : len(lengths)][:, known], np.delete(left, np.flatnonzero(known), axis=1)
    free = rest @ (rest.T @ slopes)
    bounded = bool(np.abs(free).max(initial=0.0) <= EXACT * (np.abs(slopes).max() + np.abs(rise).max()))
    step = -range_ @ (range_.T @ slopes / lengths[known] ** 2) if bounded else -free
    return np.append(-step.sum(), step), bounded
