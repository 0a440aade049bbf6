"""A federation that attains a worst case, and a run of the method on it.

The clients' functions interpolate the points, gradients and values of a solution of the program. If the method's own
hooks, run on these functions, produce the models of the solution to ``ACCURACY``, a federation of the class attains the
value, independently of the solver. That no federation exceeds it follows from the dual certificate.

Let ``h = f - mu/2 |x|^2``, which is convex and M-smooth with M = L - mu. If the interpolation conditions hold,

    h(x) = min over w in the simplex of  M/2 |x - sum_j w_j (x_j - g_j / M)|^2 + sum_j w_j (h_j - |g_j|^2 / (2 M))

passes through every (x_j, g_j, h_j). It is the Moreau envelope of a polyhedral convex function (Taylor, Hendrickx and
Glineur 2017, proof of Theorem 4), hence convex and M-smooth for any numbers.

The weights come from an active-set method, which is exact up to rounding. An interior-point method would stop at gaps
of about 1e-8, and the error of gradients is of the order of the square root.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from .formulation import Formulation
from .interior_point import follow_path
from .packed import Array, unpack_blocks
from .program import Program, used_unknowns, WorstCaseError
from .question import Question
from .solve import WorstCase
from .symbolic_run import play_all

ACCURACY = 1e-4
"""Largest accepted error of a replay, relative to the distance that models move or the largest function value."""
GAP = 1e-10
"""Duality gap of the solution from which the federation is made; a small gap also gives it a low dimension."""
THRESHOLDS = (1e-3, 1e-5, 1e-7, 1e-9, 0.0)
"""Relative eigenvalues below which dimensions are left out; the first that gives an accurate replay is used."""
SMALL = 1e-9
"""Lower limit of the size to which an error is relative."""
EXACT = 1e-15
"""Gap at which weights count as optimal, relative to the size of the numbers."""
ACCEPTED = 1e-12
"""Largest accepted gap; the relative error of the gradient is then at most about 1e-6."""
SINGULAR = 1e-12
TURNS = 20
"""Limit on the steps of the active-set method, per point."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A federation given by values ``(N, m)`` and gradients ``(N, m, d)`` of N clients at points ``(N, m, d)``.

    ``value`` is its metric and ``server (r, d)`` are the server models of its run. With convex clients the minimiser of
    F is the origin and F* is 0.
    """

    question: Question
    value: float
    server: Array
    points: Array
    gradients: Array
    values: Array

    @cached_property
    def functions(self) -> tuple[Interpolant, ...]:
        """The clients' losses."""
        mu, L = self.question.curvature, self.question.assumptions["smoothness"]
        clients = zip(self.points, self.gradients, self.values, strict=True)
        return tuple(Interpolant(mu, L, points, gradients, values) for points, gradients, values in clients)


@dataclass(frozen=True)
class Replay:
    """The result of a run in ``dimension`` dimensions; ``error`` is its distance from the instance, relative to it.

    An accurate replay shows that a federation attains the value. If the question has relaxations, the federation meets
    the relaxed assumptions at the visited models only.
    """

    value: float
    error: float
    dimension: int

    @property
    def agrees(self) -> bool:
        return self.error <= ACCURACY


def attaining_instance(worst: WorstCase) -> Instance:
    """Return an instance, in few dimensions, whose run attains the worst case."""
    formulation, whole = worst.question.formulate()
    solution = follow_path(worst.program, GAP)
    for x, threshold in product((solution.near, solution.x), THRESHOLDS):
        instance = _instance(worst, formulation, whole, x, threshold)
        try:
            error = replay(instance).error
        except WorstCaseError:
            continue
        if max(error, abs(instance.value - worst.value) / max(abs(worst.value), 1e-3)) <= ACCURACY:
            return instance
    raise WorstCaseError(f"no vectors were found that attain the value {worst.value:.6g}: no instance is given")


def replay(instance: Instance) -> Replay:
    """Run the question's method on the instance and compare models, values and gradients with those of the instance."""
    question, functions = instance.question, instance.functions
    run = play_all([f.gradient for f in functions], instance.server[0], question.method, question.plan)
    evaluated = [[f.at(x) for x in points] for f, points in zip(functions, instance.points, strict=True)]
    values = np.array([[value for value, _ in client] for client in evaluated])
    gradients = np.array([[gradient for _, gradient in client] for client in evaluated])
    error = max(
        _relative_error(run.server, instance.server, instance.server - instance.server[0]),
        _relative_error(values, instance.values, instance.values),
        _relative_error(gradients, instance.gradients, instance.gradients),
    )
    return Replay(instance.value, error, instance.server.shape[1])


def _relative_error(actual: Array, expected: Array, sizes: Array) -> float:
    return float(np.abs(actual - expected).max(initial=0.0) / max(np.abs(sizes).max(initial=0.0), SMALL))


def _instance(worst: WorstCase, f: Formulation, whole: Program, x: Array, threshold: float) -> Instance:
    """Return the federation of a solution, without dimensions whose relative eigenvalue is below the threshold."""
    columns, used_values = used_unknowns(whole)
    spectra = [np.linalg.eigh(gram) for gram in unpack_blocks(x, worst.program.blocks)]
    smallest = threshold * max(float(lengths[-1]) for lengths, _ in spectra)
    blocks, rest = [], iter(spectra)
    for used in columns:  # vectors that occur in no row are zero
        lengths, axes = next(rest) if used.any() else (np.zeros(0), np.zeros((0, 0)))
        kept = lengths > max(smallest, 0.0)
        blocks.append(np.zeros((int(kept.sum()), len(used))))
        blocks[-1][:, used] = (axes[:, kept] * np.sqrt(lengths[kept])).T
    all_values = np.zeros(len(used_values))
    all_values[used_values] = x[worst.program.packed :]

    def values(indices: tuple[int | None, ...]) -> Array:
        of_members = np.array([0.0 if index is None else all_values[index] for index in indices])
        return np.broadcast_to(of_members, (f.run.clients,))

    def vectors(rows: list[Array]) -> Array:
        return _vectors(f, blocks, rows)

    return Instance(
        worst.question,
        min(float(goal @ x) for goal in worst.program.objectives),
        np.stack([vectors(f.points(model))[0] for model in f.run.server]),
        np.stack([vectors(e.points) for e in f.evaluations], axis=1),
        np.stack([vectors(e.gradients) for e in f.evaluations], axis=1),
        np.stack([values(e.values) for e in f.evaluations], axis=1),
    )


def _vectors(f: Formulation, blocks: list[Array], rows: list[Array]) -> Array:
    """Return the clients' vectors ``(N, d)`` from the members' rows and the unknown vectors of every block.

    In symmetric coordinates the deviation of client i is placed along vertex i of a simplex around 0, so that the inner
    products of different clients' deviations are -1/(N - 1) times the member's square.
    """
    if not f.symmetric:
        return np.asarray(np.array(rows) @ blocks[0].T)
    mean, deviation = blocks
    split = mean.shape[1]
    middle, aside = mean @ rows[0][:split], deviation @ rows[0][split:]
    return np.array([np.concatenate([middle, np.kron(aside, s)]) for s in simplex(f.run.clients)])


def simplex(clients: int) -> Array:
    """Return unit vectors ``(N, N - 1)`` that sum to zero and have inner products -1/(N - 1)."""
    centred = np.eye(clients) - 1 / clients
    return np.asarray(np.linalg.eigh(centred)[1][:, 1:] * (clients / max(clients - 1, 1)) ** 0.5)


# ---- functions of the class through given points ----


@dataclass(frozen=True, eq=False)
class Interpolant:
    """A function with curvatures in [mu, L] that has ``values (m,)`` and ``gradients (m, d)`` at ``points (m, d)``.

    It interpolates them if they meet the interpolation conditions, and belongs to the class in any case.
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
