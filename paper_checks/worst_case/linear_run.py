"""The models of a run as linear combinations of the start and the gradients, recorded by running a method's own hooks.

A deterministic first-order method only adds and scales vectors: the start and the gradients. Here the hooks run on
models that are rows of coefficients of these vectors, and every gradient query is answered by a new unit row. So no
algorithm is written twice, and user-defined methods work like those of the papers.

If each round draws a cohort, all cohorts are equally likely. The expectation of a metric is then a mean over finitely
many runs, which form a tree, and its worst case is one program over the gradients at all of their models. A client
that several runs query at the same model answers once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from math import comb
from typing import ClassVar

import numpy as np

from empirics.algorithms.algorithm import Algorithm, renamed
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import PlayedRound, Player
from empirics.training.setting import Setting

from .program import Array

Members = tuple[int, ...]
History = tuple[Members, ...]
MAX_COLUMNS, MAX_TREE_COLUMNS = 4000, 180
"""Limits on the gradients of all clients together, the columns of a model's row: of a run, and of a tree."""
LINEAR = 1e-9
"""Relative tolerance for a method to count as linear."""
SAME = 1e-12
"""Tolerance within which two coefficient rows are equal."""


@dataclass(frozen=True)
class StepsPerRound:
    """Rule for the number of local steps: one number per round, the last one also for all later rounds."""

    steps: tuple[int, ...]
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.steps[min(state.round, len(self.steps) - 1)], step_size


def with_steps(algorithm: Algorithm, steps: Sequence[int]) -> Algorithm:
    """Return the algorithm with these numbers of local steps, one per round."""
    if not steps or any(not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1 for k in steps):
        raise EmpiricsError(f"local steps per round must be integers >= 1; got {tuple(steps)}")
    return renamed(algorithm, algorithm.name, steps=StepsPerRound(tuple(int(k) for k in steps)))


@dataclass(frozen=True)
class SettingWithStepSizes(Setting):
    """A setting with one step size for every local step of the run; ``steps_by_round`` counts the steps."""

    all_sizes: tuple[float, ...] = ()
    steps_by_round: tuple[int, ...] = ()

    def sizes(self, round_: int, step_size: float, steps: int) -> Array:
        begin = sum(self.steps_by_round[:round_])
        return np.array(self.all_sizes[begin : begin + steps])


@dataclass(frozen=True, eq=False)
class LinearRun:
    """A run with full participation, its models as rows of coefficients.

    The first of the n columns is the start; column ``1 + k m + j`` is the j-th gradient of client k, in query order.

    Attributes:
        queries: Models ``(clients, m, n)`` at which each client takes its m gradients.
        server: Server models ``(R + 1, n)``.
        paths: For round r, the local models ``(clients, K_r + 1, n)``.
        step_sizes: Step sizes of all local steps, in order.
    """

    queries: Array
    server: Array
    paths: tuple[Array, ...]
    step_sizes: tuple[float, ...]

    @property
    def clients(self) -> int:
        return int(self.queries.shape[0])

    @property
    def gradients(self) -> int:
        """The number of gradients that each client computes."""
        return int(self.queries.shape[1])

    def base_gradient(self, number: int) -> int:
        """Return the gradient of a client relative to which this one is expressed; -1 for the first one."""
        return number - 1

    @property
    def models_by_round(self) -> list[Array]:
        """The equally likely server models ``(runs, n)`` after 0, 1, ... rounds."""
        return [model[None] for model in self.server]

    def base_model(self, model: Array) -> Array | None:
        """Return the server model relative to which the gradient at a server model is expressed.

        None means the nearest model at which gradients are taken.
        """
        return None


@dataclass(frozen=True, eq=False)
class LinearTree(LinearRun):
    """The tree of all runs in which cohorts are drawn.

    ``server (models, n)`` are the server models breadth first; ``paths`` is empty.

    Attributes:
        histories: For each server model, the cohorts of the rounds that lead to it.
        numbers: As ``Oracle.numbers``.
        earlier: For each gradient of a client, the one relative to which it is expressed, or -1.
    """

    histories: tuple[History, ...]
    numbers: dict[tuple[History, Members, int, int], int]
    earlier: tuple[int, ...]

    @cached_property
    def indices(self) -> dict[History, int]:
        """The index of the server model after each history."""
        return {history: index for index, history in enumerate(self.histories)}

    def base_gradient(self, number: int) -> int:
        return self.earlier[number]

    @property
    def models_by_round(self) -> list[Array]:
        rounds = [len(history) for history in self.histories]
        return [self.server[[r == length for r in rounds]] for length in range(max(rounds) + 1)]

    def base_model(self, model: Array) -> Array | None:
        index = next((i for i, row in enumerate(self.server) if np.array_equal(row, model)), 0)
        return self.server[self.indices[self.histories[index][:-1]]] if index else None

    def permuted(self, order: Members) -> tuple[list[list[int]], list[int]]:
        """Return where each client's gradients and the server models go when client k becomes ``order[k]``."""

        def image(cohort: Members) -> Members:
            return tuple(sorted(order[k] for k in cohort))

        gradients = [[-1] * self.gradients for _ in range(self.clients)]
        for (history, cohort, k, q), j in self.numbers.items():
            gradients[k][j] = self.numbers[tuple(map(image, history)), image(cohort), order[k], q]
        return gradients, [self.indices[tuple(map(image, history))] for history in self.histories]


class Oracle:
    """Answers gradient queries with given ``vectors``: the start, then ``gradients`` for each client.

    With ``gradients=0`` it only counts the queries, and answers all with the start.
    """

    def __init__(self, clients: int, vectors: Array, gradients: int = 0) -> None:
        self.clients, self.vectors, self.gradients = clients, vectors, gradients
        self.queries: list[list[Array]] = [[] for _ in range(clients)]
        """For each client, the models at which gradients were taken."""
        self.numbers: dict[tuple[History, Members, int, int], int] = {}
        """By history, cohort, client and query of the round: which of the client's gradients was the answer."""
        self.tolerance = SAME * float(np.abs(vectors).max())
        self.begin_round((), ())

    def begin_round(self, history: History, cohort: Members) -> None:
        """Note that the next queries are from the round of a cohort after a history."""
        self.round, self.count = (history, cohort), [0] * self.clients

    def play(self, algorithm: Algorithm, setting: Setting) -> PlayedRuns:
        gradients = [partial(self._answer, client) for client in range(self.clients)]
        return play_all(gradients, self.vectors[0], algorithm, setting, self.begin_round)

    def _answer(self, client: int, model: Array) -> Array:
        """Return a client's gradient at a model; a model queried before gets the same answer."""
        queries, tolerance = self.queries[client], self.tolerance + SAME * np.abs(model)
        same = (j for j, x in enumerate(queries) if (np.abs(x - model) <= tolerance).all())
        j = next(same, len(queries)) if self.gradients else len(queries)
        if j == len(queries):
            check_columns(self.clients, 1 + j)
            queries.append(model)
        self.numbers[(*self.round, client, self.count[client])] = j
        self.count[client] += 1
        return self.vectors[1 + client * self.gradients + j if self.gradients else 0]


def record_run(algorithm: Algorithm, setting: Setting) -> LinearRun:
    """Return the run of ``setting.rounds`` rounds with all ``setting.cohort`` clients.

    Raises ``EmpiricsError`` for methods that are not linear in the gradients.
    """
    check_supported(setting)
    check_columns(setting.cohort, setting.rounds)
    oracle, played = _record(algorithm, setting, setting.cohort)
    return LinearRun(np.array(oracle.queries), played.server, played.paths, played.step_sizes)


def record_tree(algorithm: Algorithm, setting: Setting, clients: int) -> LinearTree:
    """Return the tree of ``setting.rounds`` rounds with ``setting.cohort`` of ``clients`` drawn in each."""
    check_supported(setting)
    count_starting_models(setting.rounds, setting.cohort, clients)
    oracle, played = _record(algorithm, setting, clients)
    numbers, gradients = oracle.numbers, oracle.gradients
    check_columns(clients, gradients, MAX_TREE_COLUMNS)
    earlier = _earlier(numbers, gradients)
    queries: Array = np.array(oracle.queries)
    return LinearTree(queries, played.server, (), played.step_sizes, played.histories, numbers, earlier)


@dataclass(frozen=True, eq=False)
class PlayedRuns:
    """All runs of a tree (one run with full participation); ``paths`` and ``step_sizes`` are those of the last run."""

    histories: tuple[History, ...]
    server: Array
    paths: tuple[Array, ...]
    step_sizes: tuple[float, ...]


def play_all(
    gradients: Sequence[Callable[[Array], Array]],
    start: Array,
    algorithm: Algorithm,
    setting: Setting,
    begin: Callable[[History, Members], None] = lambda history, cohort: None,
) -> PlayedRuns:
    """Run all cohorts that may be drawn, breadth first; ``begin`` is called with history and cohort before a round."""
    player, last = Player(algorithm, gradients, setting), list[PlayedRound]()
    cohorts = list(combinations(range(len(gradients)), setting.cohort))
    level: list[tuple[History, State]] = [((), player.begin(start))]
    states = list(level)
    for _ in range(setting.rounds):
        before, level = level, []
        for (history, state), cohort in product(before, cohorts):
            begin(history, cohort)
            after, played = player.next(state, cohort)
            level.append(((*history, cohort), after))
        states, last = states + level, [*last, played]
    server = np.stack([np.array(state.model) for _, state in states])
    sizes = tuple(size for played in last for size in played.sizes.tolist())
    return PlayedRuns(tuple(history for history, _ in states), server, tuple(played.paths for played in last), sizes)


def _record(algorithm: Algorithm, setting: Setting, clients: int) -> tuple[Oracle, PlayedRuns]:
    oracle = Oracle(clients, np.zeros((1, 1)))
    played = oracle.play(algorithm, setting)
    # the first run counts the queries; the number falls when models are queried twice
    while oracle.gradients != (gradients := _gradient_count(oracle, algorithm)):
        oracle = Oracle(clients, np.eye(1 + clients * gradients), gradients)
        played = oracle.play(algorithm, setting)
    _check_linear(oracle, played, algorithm, setting)
    # the formulation moves the minimiser (or the start) to the origin, which must not change the steps
    models = (np.array(oracle.queries), played.server, *played.paths)
    if max(np.abs(rows[..., 0] - 1).max() for rows in models) > LINEAR:
        raise EmpiricsError(
            f"{algorithm}: an exact worst case needs steps that do not change when start and losses are translated; "
            "this method's do (as with weight decay, which pulls to the origin)"
        )
    return oracle, played


def _gradient_count(oracle: Oracle, algorithm: Algorithm) -> int:
    """Return the number of gradients that each client computes."""
    counts = {len(queries) for queries in oracle.queries}
    if len(counts) != 1:
        raise EmpiricsError(f"{algorithm}: all clients must compute the same number of gradients; got {sorted(counts)}")
    return counts.pop()


def check_columns(clients: int, gradients: int, limit: int = MAX_COLUMNS) -> None:
    """Raise ``EmpiricsError`` if the gradients of all clients exceed a limit."""
    if clients * gradients > limit:
        raise EmpiricsError(
            f"too large: {clients} clients with {gradients} or more gradients each; the limit is {limit} for all "
            "clients together: take fewer rounds, local steps or clients (two represent any number of identical ones)"
        )


def count_starting_models(rounds: int, cohort: int, clients: int) -> int:
    """Return the number of server models with which rounds of a tree begin; every client computes a gradient there.

    Raises ``EmpiricsError`` if these gradients exceed the limit.
    """
    models, level = 0, 1
    for _ in range(rounds):
        models += level
        check_columns(clients, models, MAX_TREE_COLUMNS)
        level *= comb(clients, cohort)
    return models


def _earlier(numbers: dict[tuple[History, Members, int, int], int], gradients: int) -> tuple[int, ...]:
    """Return, for each gradient, the client's previous one in the round, or the first one of the previous round.

    It is -1 for the first gradient of all, and for all gradients if clients differ, so that permuting the clients
    permutes these too.
    """
    previous: dict[tuple[int, int], int] = {}
    first: dict[tuple[History, int], int] = {}
    for (history, cohort, k, q), j in numbers.items():
        if q == 0:
            first.setdefault((history, k), j)
        last = numbers[history, cohort, k, q - 1] if q else first.get((history[:-1], k), j) if history else j
        if last < j:
            previous.setdefault((k, j), last)
    clients = {k for k, _ in previous}
    rows = {tuple(previous.get((k, j), -1) for j in range(gradients)) for k in clients}
    return rows.pop() if len(rows) == 1 else (-1,) * gradients


def check_supported(setting: Setting) -> None:
    """Raise ``EmpiricsError`` for kinds of sampling and client weights that have no exact worst case."""
    if setting.sampling != "without_replacement" or setting.client_weight != "uniform":
        raise EmpiricsError("an exact worst case needs all clients in every round and equal weights")


def _check_linear(oracle: Oracle, symbolic: PlayedRuns, algorithm: Algorithm, setting: Setting) -> None:
    """Run again with random vectors in place of unit rows: a linear method makes the same combinations of them."""
    random = np.random.default_rng(2024)
    for scale in (1e-2, 1.0, 1e3):
        vectors = scale * random.standard_normal((symbolic.server.shape[1], 3))
        other = Oracle(oracle.clients, vectors, oracle.gradients)
        numeric = other.play(algorithm, setting)
        queries: Array = np.array(other.queries)
        pairs = [(numeric.server, symbolic.server), (queries, np.array(oracle.queries))]
        pairs += zip(numeric.paths, symbolic.paths, strict=True)
        error = max(np.abs(models - rows @ vectors).max() for models, rows in pairs)
        if not error <= LINEAR * (np.abs(queries).max() + scale):
            raise EmpiricsError(
                f"{algorithm} does not only add and scale gradients (it differs by {error:.2g} at size {scale:g}): an "
                "exact worst case needs a fixed-step first-order method; try `fedbounds falsify` instead"
            )
