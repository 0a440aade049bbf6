"""The federation that attains a worst case, in few dimensions, and the method run on it.

The models are those of the run, losses and gradients those of the clients' functions there. What agrees with the
program's value to ``ACCURACY`` is a federation of the class that does so badly, whatever the solver claims; that none
does worse is what the dual certificate says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .constraints import limits, WORDS
from .coordinates import Array
from .formulation import Formulation
from .interpolants import Interpolant
from .low_rank import Factors, lowered
from .objectives import objectives
from .program import Program, spoken, WorstCaseError
from .question import Question
from .solve import WorstCase
from .symbolic_run import play_all

ACCURACY = 1e-4
"""How well a replay agrees: relative to the value and at least 1e-3, or to what an assumption allows."""
ENOUGH = ACCURACY / 4
"""At which no other instance is tried."""
ALIKE = 1e-12
"""Relative distance of models that are one."""
LIMITS = "the replay shows the value, and every assumption at the visited models only: "
EXACT = "the replay shows a federation that meets every assumption and attains the value"


@dataclass(frozen=True, eq=False)
class Instance:
    """Clients of which values ``(N, m)`` and gradients are known at points, ``(N, m, d)`` each; ``start (d,)``.

    ``value`` is the worst case of the question that they attain. The minimiser of F is the origin and F* is 0 where the
    clients are convex; others have ``floor``, what the program took for inf F (None: the question does not ask for it).
    """

    question: Question
    value: float
    start: Array
    points: Array
    gradients: Array
    values: Array
    floor: float | None = 0.0

    @property
    def clients(self) -> int:
        return int(self.points.shape[0])

    @property
    def dim(self) -> int:
        return int(self.points.shape[2])

    @cached_property
    def functions(self) -> tuple[Interpolant, ...]:
        """The clients' losses."""
        mu, smoothness = self.question.lower, self.question.assumptions["smoothness"]
        given = zip(self.points, self.gradients, self.values, strict=True)
        return tuple(Interpolant(mu, smoothness, *numbers) for numbers in given)


@dataclass(frozen=True)
class Replay:
    """What a run gave: ``measured`` beside the program's ``value``, in ``dimension`` dimensions.

    ``assumptions`` maps each word that limits the federation to the largest number found and the one allowed;
    ``minimiser`` is the squared gradient of F at the origin, which is 0 for convex clients.
    ``shows`` says in words what that amounts to: where the program is a relaxation, less than a federation of the
    theorem that does so badly.
    """

    value: float
    measured: float
    dimension: int
    assumptions: Mapping[str, tuple[float, float]]
    shows: str

    @property
    def error(self) -> float:
        """``|measured - value|`` relative to the value, or to 1e-3 where it is smaller."""
        return abs(self.measured - self.value) / max(abs(self.value), 1e-3)

    @property
    def broken(self) -> tuple[str, ...]:
        """Assumptions that do not hold up to the accuracy."""
        return tuple(w for w, (found, limit) in self.assumptions.items() if found > limit + ACCURACY * max(limit, 1e-3))

    @property
    def agrees(self) -> bool:
        return self.error <= ACCURACY and not self.broken


def attained(worst: WorstCase) -> Instance:
    """The instance of the fewest dimensions whose run attains the worst case, or else the one that comes closest.

    Several are tried: where inequalities of the class are met to rounding only, gradients are off by its root.
    """
    best, least = None, np.inf
    formulation, whole = worst.question.stated()
    for factors in lowered(worst.program, worst.solved):
        instance = _placed(worst, formulation, whole, factors)
        try:
            error = replay(instance).error
        except WorstCaseError:
            continue
        if error < least:
            best, least = instance, error
        if error <= ENOUGH:
            break
    if best is None:
        raise WorstCaseError(f"no vectors were found that attain the value {worst.value:.6g}: no instance is given")
    return best


def replay(instance: Instance) -> Replay:
    """Run the question's method on the instance and read its metric and its assumptions off the run."""
    question, ran = instance.question, RunOnInstance(instance)
    run: Any = ran  # read like a program, with numbers in place of linear forms
    measured = min(map(float, objectives(run, question.metric, question.statistic)))
    given: dict[str, tuple[float, float]] = {}
    for word, number in question.assumptions.items():
        if word in WORDS:
            found = limits(word, run, question.assumptions)
            given[word] = max((number + float(c.row - c.limit) for c in found), default=0.0), number
    if question.convex:
        given["minimiser"] = ran.global_gradient(ran.optimum), 0.0
    lost = question.relaxations
    return Replay(instance.value, measured, instance.dim, given, LIMITS + "; ".join(lost) if lost else EXACT)


# ---- the run ----


class Evaluated(NamedTuple):
    """All clients' functions, each at a point of its own: points and gradients ``(N, d)``, values ``(N,)``."""

    points: Array
    gradients: Array
    values: Array
    shared: bool
    name: str = ""


class RunOnInstance:
    """A run on an instance with the parts of a ``Formulation`` that metrics and assumptions are read off."""

    def __init__(self, instance: Instance) -> None:
        question, asked = instance.question, list[Array]()
        self.instance, self.convex, self.smoothness = instance, question.convex, question.assumptions["smoothness"]

        def gradient(client: int, model: Array) -> Array:
            asked.append(instance.functions[client].gradient(model))
            return asked[-1]

        gradients = [partial(gradient, client) for client in range(instance.clients)]
        self.ran = play_all(gradients, instance.start, question.method, question.plan)
        rounds = np.array([len(history) for history in self.ran.histories])
        after = [self.ran.server[rounds == r] for r in range(question.setting.rounds + 1)]
        path = () if question.drawn else self.ran.path
        sizes = self.ran.step_sizes
        self.recorded = SimpleNamespace(server=self.ran.server, after=after, path=path, step_sizes=sizes)
        means = [model for local in path for model in local.mean(0)[:-1]]
        self.averages = (*means, self.ran.server[-1])
        self.walked = [Evaluated(g[None], g[None], np.zeros(1), False) for g in asked]
        self.known: dict[bytes, Evaluated] = {}

    @property
    def evaluations(self) -> list[Evaluated]:
        return list(self.known.values())

    @property
    def optimum(self) -> Evaluated:
        return self.at(0 * self.instance.start)

    @property
    def own_minima(self) -> Evaluated:
        """A convex client is at its minimum where its gradient vanishes."""
        lowest = []
        for f in self.instance.functions:
            flat = np.flatnonzero(~f.gradients.any(axis=1))
            lowest.append(min(f.value(f.points[j]) for j in flat))
        zero = 0 * self.instance.points[:, 0]
        return Evaluated(zero, zero, np.array(lowest), False)

    def points(self, models: Array) -> Array:
        """One model for all clients, or one for each, as ``(N, d)``."""
        return np.broadcast_to(models, (self.instance.clients, self.instance.dim))

    def at(self, models: Array) -> Evaluated:
        rows = np.ascontiguousarray(self.points(models))
        if rows.tobytes() not in self.known:
            found = [f.at(x) for f, x in zip(self.instance.functions, rows, strict=True)]
            values, gradients = np.array([v for v, _ in found]), np.array([g for _, g in found])
            shared = bool(np.abs(rows - rows[0]).max(initial=0) <= ALIKE * np.abs(rows).max(initial=1))
            self.known[rows.tobytes()] = Evaluated(rows, gradients, values, shared)
        return self.known[rows.tobytes()]

    def server(self, round_: int) -> Evaluated:
        return self.at(self.ran.server[round_])

    def zero(self) -> float:
        return 0.0

    def square(self, rows: Any) -> float:
        """The mean over clients of squared lengths."""
        return float((np.asarray(rows) ** 2).sum(-1).mean())

    def of_member(self, member: int, u: Array, v: Array) -> float:
        return float(u @ v)

    def mean(self, rows: Array) -> Array:
        return np.broadcast_to(rows.mean(0), rows.shape)

    def global_gradient(self, at: Evaluated) -> float:
        return self.square(at.gradients.mean(0)[None])

    def loss(self, at: Evaluated) -> float:
        return float(at.values.mean())

    def gap(self, at: Evaluated) -> float:
        """F - F*, of functions without a known minimum above what the program took for inf F."""
        if self.instance.floor is None:
            raise WorstCaseError("F* is not part of this instance: its question does not ask for it")
        return self.loss(at) - self.instance.floor


# ---- from a solution ----


def _placed(worst: WorstCase, formulation: Formulation, whole: Program, factors: Factors) -> Instance:
    """The federation whose vectors and values solve the program."""
    columns, known = spoken(whole)
    blocks, rest = [], iter(factors.vectors)
    for alive in columns:  # vectors that no row speaks of are zero
        solved = next(rest) if alive.any() else np.zeros((0, 0))
        blocks.append(np.zeros((len(solved), len(alive))))
        blocks[-1][:, alive] = solved
    values = np.zeros(len(known))
    values[known] = factors.values
    here, clients = formulation.evaluations, formulation.space.clients

    def numbers(places: tuple[int | None, ...]) -> Array:
        each = np.array([0.0 if place is None else values[place] for place in places])
        return np.broadcast_to(each, (clients,))

    def vectors(rows: list[Array]) -> Array:
        return _vectors(formulation, blocks, rows)

    convex, floored = worst.question.convex, worst.question.floored
    return Instance(
        worst.question,
        worst.value,
        vectors(formulation.points(formulation.recorded.server[0]))[0],
        np.stack([vectors(e.points) for e in here], axis=1),
        np.stack([vectors(e.gradients) for e in here], axis=1),
        np.stack([numbers(e.values) for e in here], axis=1),
        0.0 if convex else float(values[formulation.floor]) if floored else None,
    )


def _vectors(formulation: Formulation, blocks: list[Array], rows: list[Array]) -> Array:
    """The clients' vectors ``(N, d)`` of the members' rows, by the unknown vectors ``(r_b, n_b)`` of every block.

    In symmetric coordinates client i's deviation goes along vertex i of a simplex around 0: its square is that of the
    member, and between two clients it is -1/(N - 1) of it.
    """
    space = formulation.space
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
