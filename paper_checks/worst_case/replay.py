"""A federation that attains a worst case, and a run of the method on it.

The clients' functions interpolate the points, gradients and values of a solution of the program. If the method's own
hooks, run on these functions, produce the models of the solution to ``ACCURACY``, a federation of the class attains the
value, independently of the solver. That no federation exceeds it follows from the dual certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from .formulation import formulate
from .function_class import Interpolant
from .gram import Gram
from .interior_point import follow_path
from .linear_run import play_all
from .problem import WorstCaseProblem
from .program import Array, Program, unpack_blocks, used_unknowns, WorstCaseError
from .solve import WorstCase

ACCURACY = 1e-4
"""Largest accepted error of a replay, relative to the distance that models move or the largest function value."""
GAP = 1e-10
"""Duality gap of the solution from which the federation is made; a small gap also gives it a low dimension."""
THRESHOLDS = (1e-3, 1e-5, 1e-7, 1e-9, 0.0)
"""Relative eigenvalues below which dimensions are left out; the first that gives an accurate replay is used."""
SMALL = 1e-9
"""Lower limit of the size to which an error is relative."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A federation given by values ``(N, m)`` and gradients ``(N, m, d)`` of N clients at points ``(N, m, d)``.

    ``value`` is its metric and ``server (r, d)`` are the server models of its run. With convex clients the minimiser of
    F is the origin and F* is 0.
    """

    problem: WorstCaseProblem
    value: float
    server: Array
    points: Array
    gradients: Array
    values: Array

    @cached_property
    def functions(self) -> tuple[Interpolant, ...]:
        """The clients' losses."""
        mu, L = self.problem.curvature, self.problem.assumptions["smoothness"]
        clients = zip(self.points, self.gradients, self.values, strict=True)
        return tuple(Interpolant(mu, L, points, gradients, values) for points, gradients, values in clients)


@dataclass(frozen=True)
class Replay:
    """The result of a run in ``dimension`` dimensions; ``error`` is its distance from the instance, relative to it.

    An accurate replay shows that a federation attains the value. If the problem has relaxations, the federation meets
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
    gram, whole = formulate(worst.problem)
    solution = follow_path(worst.program, GAP)
    for x, threshold in product((solution.last_interior, solution.x), THRESHOLDS):
        instance = _instance(worst, gram, whole, x, threshold)
        try:
            error = replay(instance).error
        except WorstCaseError:
            continue
        if max(error, abs(instance.value - worst.value) / max(abs(worst.value), 1e-3)) <= ACCURACY:
            return instance
    raise WorstCaseError(f"no vectors were found that attain the value {worst.value:.6g}: no instance is given")


def replay(instance: Instance) -> Replay:
    """Run the problem's method on the instance and compare models, values and gradients with those of the instance."""
    problem, functions = instance.problem, instance.functions
    run = play_all([f.gradient for f in functions], instance.server[0], problem.method, problem.plan)
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


def _instance(worst: WorstCase, f: Gram, whole: Program, x: Array, threshold: float) -> Instance:
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
        worst.problem,
        min(float(goal @ x) for goal in worst.program.objectives),
        np.stack([vectors(f.points(model))[0] for model in f.run.server]),
        np.stack([vectors(e.points) for e in f.evaluations], axis=1),
        np.stack([vectors(e.gradients) for e in f.evaluations], axis=1),
        np.stack([values(e.value_indices) for e in f.evaluations], axis=1),
    )


def _vectors(f: Gram, blocks: list[Array], rows: list[Array]) -> Array:
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
