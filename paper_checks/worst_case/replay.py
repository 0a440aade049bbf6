"""The federation that attains a worst case, and the method run on it.

The clients' functions pass through the points, gradients and values of a solution of the program. Where the run of the
method's own hooks on them makes the program's models, to ``ACCURACY``, it is a federation of the class that does so
badly, whatever the solver claims; that none does worse is what the dual certificate says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from .coordinates import Array, unpacked
from .formulation import Formulation
from .interior_point import followed
from .interpolants import Interpolant
from .program import Program, spoken, WorstCaseError
from .question import Question
from .solve import WorstCase
from .symbolic_run import play_all

ACCURACY = 1e-4
"""How well a replay agrees: relative to how far the models move, or to the largest function value."""
GAP = 1e-10
"""To which the path is followed: what a federation lacks of the worst case, and of its lowest rank."""
THRESHOLDS = (1e-3, 1e-5, 1e-7, 1e-9, 0.0)
"""Eigenvalues, relative to the largest of all, below which directions are left out: the first that agree."""
SMALL = 1e-9
"""Sizes below this are those of nothing."""
LIMITS = "the replay shows the value, and every assumption at the visited models only: "
EXACT = "the replay shows a federation that meets every assumption and attains the value"


@dataclass(frozen=True, eq=False)
class Instance:
    """Clients of which values ``(N, m)`` and gradients are known at points, ``(N, m, d)`` each.

    ``value`` is the metric of the question that they have, ``server (r, d)`` are the server models of the run. The
    minimiser of F is the origin and F* is 0 where the clients are convex.
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
        mu, smoothness = self.question.lower, self.question.assumptions["smoothness"]
        given = zip(self.points, self.gradients, self.values, strict=True)
        return tuple(Interpolant(mu, smoothness, *numbers) for numbers in given)


@dataclass(frozen=True)
class Replay:
    """What a run gave, in ``dimension`` dimensions; ``error`` is how far it is from what the instance says.

    ``shows`` says in words what that amounts to: where the program is a relaxation, less than a federation of the
    theorem that does so badly.
    """

    value: float
    error: float
    dimension: int
    shows: str

    @property
    def agrees(self) -> bool:
        return self.error <= ACCURACY


def attained(worst: WorstCase) -> Instance:
    """The instance of the fewest dimensions whose run attains the worst case."""
    formulation, whole = worst.question.stated()
    path = followed(worst.program, GAP)
    for x, threshold in product((path.near, path.x), THRESHOLDS):
        instance = _placed(worst, formulation, whole, x, threshold)
        try:
            error = replay(instance).error
        except WorstCaseError:
            continue
        if max(error, abs(instance.value - worst.value) / max(abs(worst.value), 1e-3)) <= ACCURACY:
            return instance
    raise WorstCaseError(f"no vectors were found that attain the value {worst.value:.6g}: no instance is given")


def replay(instance: Instance) -> Replay:
    """Run the question's method on the instance, and compare its models and functions with what the instance says."""
    question, functions = instance.question, instance.functions
    ran = play_all([f.gradient for f in functions], instance.server[0], question.method, question.plan)
    found = [[f.at(x) for x in points] for f, points in zip(functions, instance.points, strict=True)]
    values, gradients = (
        np.array([[v for v, _ in own] for own in found]),
        np.array([[g for _, g in own] for own in found]),
    )
    error = max(
        _apart(ran.server, instance.server, instance.server - instance.server[0]),
        _apart(values, instance.values, instance.values),
        _apart(gradients, instance.gradients, instance.gradients),
    )
    lost = question.relaxations
    shows = LIMITS + "; ".join(lost) if lost else EXACT
    return Replay(instance.value, error, instance.server.shape[1], shows)


def _apart(found: Array, said: Array, sizes: Array) -> float:
    return float(np.abs(found - said).max(initial=0.0) / max(np.abs(sizes).max(initial=0.0), SMALL))


def _placed(worst: WorstCase, f: Formulation, whole: Program, x: Array, threshold: float) -> Instance:
    """The federation whose vectors and values solve the program, without directions of less than a threshold."""
    columns, known = spoken(whole)
    spectra = [np.linalg.eigh(gram) for gram in unpacked(x, worst.program.blocks)]
    least = threshold * max(float(lengths[-1]) for lengths, _ in spectra)
    blocks, rest = [], iter(spectra)
    for alive in columns:  # vectors that no row speaks of are zero
        lengths, axes = next(rest) if alive.any() else (np.zeros(0), np.zeros((0, 0)))
        kept = lengths > max(least, 0.0)
        blocks.append(np.zeros((int(kept.sum()), len(alive))))
        blocks[-1][:, alive] = (axes[:, kept] * np.sqrt(lengths[kept])).T
    values = np.zeros(len(known))
    values[known] = x[worst.program.packed :]

    def numbers(places: tuple[int | None, ...]) -> Array:
        each = np.array([0.0 if place is None else values[place] for place in places])
        return np.broadcast_to(each, (f.space.clients,))

    def vectors(rows: list[Array]) -> Array:
        return _vectors(f, blocks, rows)

    here = f.evaluations
    return Instance(
        worst.question,
        min(float(goal @ x) for goal in worst.program.objectives),
        np.stack([vectors(f.points(model))[0] for model in f.recorded.server]),
        np.stack([vectors(e.points) for e in here], axis=1),
        np.stack([vectors(e.gradients) for e in here], axis=1),
        np.stack([numbers(e.values) for e in here], axis=1),
    )


def _vectors(f: Formulation, blocks: list[Array], rows: list[Array]) -> Array:
    """The clients' vectors ``(N, d)`` of the members' rows, by the unknown vectors ``(r_b, n_b)`` of every block.

    In symmetric coordinates client i's deviation goes along vertex i of a simplex around 0: its square is that of the
    member, and between two clients it is -1/(N - 1) of it.
    """
    space = f.space
    if not space.symmetric:
        found: Array = np.array(rows) @ blocks[0].T
        return found
    mean, deviation = blocks
    cut = mean.shape[1]
    middle, aside = mean @ rows[0][:cut], deviation @ rows[0][cut:]
    return np.array([np.concatenate([middle, np.kron(aside, s)]) for s in simplex(space.clients)])


def simplex(clients: int) -> Array:
    """Unit vectors ``(N, N - 1)`` with inner products -1/(N - 1), summing to zero."""
    centred = np.eye(clients) - 1 / clients
    vertices: Array = np.linalg.eigh(centred)[1][:, 1:] * (clients / max(clients - 1, 1)) ** 0.5
    return vertices
