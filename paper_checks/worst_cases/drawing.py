"""Runs in which some clients are drawn every round: the finite tree of all that may be drawn, played on coefficients.

Every set of ``cohort`` of the clients is as likely as any other, every round anew. So the expectation of what a run
ends with is a mean over finitely many runs, and its worst case is one program over the gradients at all of their
models. A client answers once where several runs ask it the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import torch
from torch import Tensor

from empirics.algorithms.algorithm import Algorithm
from empirics.algorithms.state import copied, State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
from empirics.training.setting import Setting

from .recording import Array, Asked, check_linear, check_moved, counted, Members, Oracle, Recorded, refuse

Cohort = tuple[int, ...]
History = tuple[Cohort, ...]
MODELS = 4000
"""Server models of a tree times clients: every one of them is played, and most ask every client something new."""
ROOM = 2e9
"""Bytes that the inequalities of a tree may take."""


@dataclass(frozen=True, eq=False)
class Drawn(Recorded):
    """A tree of runs; ``server (models, n)`` are the server models breadth first, ``path`` is empty.

    ``histories`` are the cohorts that led to each of them. ``numbers`` says which of a client's gradients answered its
    q-th question in the round of a cohort after a history, by ``(history, cohort, client, q)``; ``earlier[j]`` which
    gradient the j-th is written as a change of.
    """

    histories: tuple[History, ...]
    numbers: dict[tuple[History, Cohort, int, int], int]
    earlier: tuple[int, ...]

    @cached_property
    def places(self) -> dict[History, int]:
        """Where the model after a history stands among the server models."""
        return {history: place for place, history in enumerate(self.histories)}

    def before(self, number: int) -> int:
        return self.earlier[number]

    @property
    def after(self) -> list[Array]:
        rounds = [len(history) for history in self.histories]
        return [self.server[[r == length for r in rounds]] for length in range(max(rounds) + 1)]

    def leading(self, model: Array) -> Array | None:
        at = next((i for i, row in enumerate(self.server) if np.array_equal(row, model)), 0)
        return self.server[self.places[self.histories[at][:-1]]] if at else None

    def renamed(self, order: Cohort) -> tuple[list[list[int]], list[int]]:
        """What becomes of every client's gradients, and of the server models, where client k is called ``order[k]``."""

        def named(cohort: Cohort) -> Cohort:
            return tuple(sorted(order[k] for k in cohort))

        gradients = [[-1] * self.gradients for _ in range(self.clients)]
        for (history, cohort, k, q), j in self.numbers.items():
            gradients[k][j] = self.numbers[tuple(map(named, history)), named(cohort), order[k], q]
        return gradients, [self.places[tuple(map(named, history))] for history in self.histories]


def cohorts(setting: Setting, clients: int) -> list[Cohort]:
    """All that may be drawn in a round."""
    return list(combinations(range(clients), setting.cohort))


def tree(
    setting: Setting, clients: int, begun: State, advanced: Callable[[State, History, Cohort], State]
) -> Iterator[tuple[History, State]]:
    """The states of all runs, breadth first, each with what was drawn before it."""
    level: list[tuple[History, State]] = [((), begun)]
    yield from level
    for _ in range(setting.rounds):
        level = [
            ((*history, cohort), advanced(copied(state), history, cohort))
            for history, state in level
            for cohort in cohorts(setting, clients)
        ]
        yield from level


def everyone(cohort: Cohort) -> tuple[Array, Array]:
    """A cohort as the training loop takes it."""
    return np.array(cohort), np.ones(len(cohort))


@dataclass(eq=False)
class _Asking(Oracle):
    """An oracle that notes who asked for which gradient in which round of the tree."""

    numbers: dict[tuple[History, Cohort, int, int], int] = field(default_factory=dict, init=False)
    at: tuple[History, Cohort] = field(default=((), ()), init=False)
    count: dict[int, int] = field(default_factory=dict, init=False)

    def begin(self, history: History, cohort: Cohort) -> None:
        self.at, self.count = (history, cohort), {}

    def _answer(self, client: int, model: Tensor) -> int:
        column = super()._answer(client, model)
        q = self.count.get(client, 0)
        self.count[client] = q + 1
        self.numbers[(*self.at, client, q)] = (column - 1) % max(self.gradients, 1)
        return column


def draw(algorithm: Algorithm, setting: Setting, clients: int) -> Drawn:
    """Play the tree of ``setting.rounds`` rounds with ``setting.cohort`` of ``clients`` drawn in each."""
    refuse(algorithm, setting)
    models = starting_models(setting.rounds, setting.cohort, clients)
    _check_inequalities(clients, models)  # of which each asks everybody once at least
    gradients = 0
    oracle = _Asking(clients, torch.zeros(1, 1, dtype=torch.float64), gradients)
    played = _played(oracle, algorithm, setting)
    while gradients != (several := counted(oracle, algorithm)):
        gradients = several
        oracle = _Asking(clients, torch.eye(1 + clients * gradients, dtype=torch.float64), gradients)
        played = _played(oracle, algorithm, setting)
    _check_inequalities(clients, gradients)
    histories, server, sizes = played
    found = Drawn(oracle.questions, server, (), sizes, histories, oracle.numbers, _earlier(oracle.numbers, gradients))

    def again(vectors: Tensor) -> Asked:
        other = _Asking(clients, vectors, gradients)
        models = _played(other, algorithm, setting)[1]
        return models, other.questions, ()

    check_linear(found, algorithm, again)
    check_moved(found, algorithm)
    return found


def starting_models(rounds: int, cohort: int, clients: int) -> int:
    """The server models with which rounds begin; refused as soon as they are too many, however many they would be."""
    models, level = 0, 1
    branches = comb(clients, cohort) if clients <= MODELS else MODELS
    for _ in range(rounds):
        models, level = models + level, level * branches
        if clients * (models + level) > MODELS:
            raise EmpiricsError(
                f"too large: {rounds} rounds with {cohort} of {clients} clients drawn in each have more server models "
                f"than the {MODELS // clients} for which there is room: take fewer rounds or clients"
            )
    return models


def _check_inequalities(clients: int, gradients: int) -> None:
    if (need := 4.0 * clients**3 * gradients**4) > ROOM:
        raise EmpiricsError(
            f"too large: {gradients} gradients of each of {clients} clients need {need / 1e9:.0f} GB of inequalities; "
            f"there is room for {ROOM / 1e9:.0f}: take fewer rounds, clients or local steps"
        )


def _played(
    oracle: _Asking, algorithm: Algorithm, setting: Setting
) -> tuple[tuple[History, ...], Array, tuple[float, ...]]:
    federation: Any = Members(oracle.clients)
    model: Any = oracle  # whose batches are questions
    engine, sizes = Tracing(), dict[int, list[float]]()

    def advanced(state: State, history: History, cohort: Cohort) -> State:
        oracle.begin(history, cohort)
        engine.forget()

        def watch(work: Any, ends: Tensor, after: State) -> None:
            sizes[len(history)] = work.sizes.tolist()

        drawn = everyone(cohort)
        return play(model, federation, algorithm, setting, 0, engine, state, cohort=drawn, watch=watch)

    begun = algorithm.begin(oracle.start(0), oracle.clients)
    states = list(tree(setting, oracle.clients, begun, advanced))
    server = np.stack([state.model.numpy() for _, state in states])
    return tuple(history for history, _ in states), server, tuple(size for row in sizes.values() for size in row)


def _earlier(numbers: dict[tuple[History, Cohort, int, int], int], gradients: int) -> tuple[int, ...]:
    """The question before in the same round, or the first one of the round before; of the very first none.

    Alike for all clients, whichever of them are drawn: renaming the clients renames these too.
    """
    found: dict[tuple[int, int], int] = {}
    first: dict[tuple[History, int], int] = {}
    for (history, cohort, k, q), j in numbers.items():
        if q == 0:
            first.setdefault((history, k), j)
        last = numbers[history, cohort, k, q - 1] if q else first.get((history[:-1], k), j) if history else j
        if last < j:
            found.setdefault((k, j), last)
    clients = {k for k, _ in found}
    each = [tuple(found.get((k, j), -1) for j in range(gradients)) for k in sorted(clients)]
    return each[0] if len(set(each)) == 1 else (-1,) * gradients


def check_drawn(clients: int, cohort: int) -> None:
    """One line on numbers of clients from which no cohort is drawn."""
    if isinstance(clients, bool) or not isinstance(clients, (int, np.integer)) or clients < cohort:
        raise EmpiricsError(f"clients must be a whole number >= the setting's cohort {cohort}; got {clients!r}")
