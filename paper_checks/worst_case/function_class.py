"""The class of the clients' losses: L-smooth, mu-strongly convex functions.

mu = 0 means convex; with mu < 0 the curvature is at least mu, and mu = -L is L-smoothness alone. Values f_i and
gradients g_i at finitely many points x_i belong to a function of the class if and only if, for all pairs,

    f_i >= f_j + <g_j, x_i - x_j> + mu/2 |x_i - x_j|^2 + |g_i - g_j - mu (x_i - x_j)|^2 / (2 (L - mu))

(Taylor, Hendrickx and Glineur 2017, Theorem 4, after subtracting mu/2 |x|^2). So a worst case over the class is one
over finitely many numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .program import Array, WorstCaseError

EXACT = 1e-15
"""Gap at which weights count as optimal, relative to the size of the numbers."""
ACCEPTED = 1e-12
"""Largest accepted gap; the relative error of the gradient is then at most about 1e-6."""
SINGULAR = 1e-12
TURNS = 20
"""Limit on the steps of the active-set method, per point."""


def interpolation(inner: Callable[[Array, Array], Array], x: Array, one: Array, other: Array, L: Any, mu: Any) -> Array:
    """Return the right side of the inequality without ``f_j``: what the value ``f_i`` is above ``f_j``, at least.

    ``x`` is ``x_i - x_j``; ``one`` and ``other`` are ``g_i`` and ``g_j``; ``inner`` is bilinear.
    """
    residual = one - other - mu * x
    return inner(other, x) + mu / 2 * inner(x, x) + inner(residual, residual) / (2 * (L - mu))


# ---- functions of the class through given points ----


@dataclass(frozen=True, eq=False)
class Interpolant:
    """A function with curvatures in [mu, L] that has ``values (m,)`` and ``gradients (m, d)`` at ``points (m, d)``.

    It interpolates them if they meet the inequalities, and belongs to the class in any case. The convex part
    ``h = f - mu/2 |x|^2`` is M-smooth with M = L - mu. If the inequalities hold,

        h(x) = min over w in the simplex of  M/2 |x - sum_j w_j (x_j - g_j / M)|^2 + sum_j w_j (h_j - |g_j|^2 / (2 M))

    passes through every (x_j, g_j, h_j). It is the Moreau envelope of a polyhedral convex function (proof of the same
    theorem), hence convex and M-smooth for any numbers.

    The weights come from an active-set method, which is exact up to rounding. An interior-point method would stop at
    gaps of about 1e-8, and the error of gradients is of the order of the square root.
    """

    mu: float
    smoothness: float
    points: Array
    gradients: Array
    values: Array

    @property
    def curvature(self) -> float:
        """M, the smoothness of the convex part h."""
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
        """Return the value and the gradient ``(d,)`` at ``x (d,)``."""
        weights = self.weights(x)
        difference = x - weights @ self.poles
        convex = self.curvature / 2 * difference @ difference + weights @ self.heights
        return float(convex + self.mu / 2 * x @ x), self.curvature * difference + self.mu * x

    def gradient(self, x: Array) -> Array:
        return self.at(x)[1]

    # ---- the weights ----

    def weights(self, x: Array) -> Array:
        """Return the optimal weights ``(m,)`` at x."""
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
            weights = _active_set_step(pull, self.heights, weights, int(np.argmin(slopes)))
        if not least <= ACCEPTED * size:
            raise WorstCaseError(f"a client's function could not be evaluated: its program is off by {least:.2g}")
        return best


def _active_set_step(pull: Array, heights: Array, weights: Array, entering: int) -> Array:
    """Return the weights that minimise ``|w pull|^2 / 2 + w . heights`` over the points in use and ``entering``.

    Points whose weights would become negative leave the set.
    """
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
    """Return the step of weights ``(k,)``, of sum zero, to the minimum, and True.

    If the objective is unbounded, return a descent direction and False.
    """
    differences, rise = pull[1:] - pull[0], heights[1:] - heights[0]
    slopes = differences @ at + rise
    left, lengths, _ = np.linalg.svd(differences)
    positive = lengths > SINGULAR * lengths[0] if lengths[0] > 0 else lengths > 0
    range_, kernel = left[:, : len(lengths)][:, positive], np.delete(left, np.flatnonzero(positive), axis=1)
    descent = kernel @ (kernel.T @ slopes)
    bounded = bool(np.abs(descent).max(initial=0.0) <= EXACT * (np.abs(slopes).max() + np.abs(rise).max()))
    step = -range_ @ (range_.T @ slopes / lengths[positive] ** 2) if bounded else -descent
    return np.append(-step.sum(), step), bounded
