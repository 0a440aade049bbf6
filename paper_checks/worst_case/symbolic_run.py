"""What a method does to unknown gradients: its own hooks, played on coefficients instead of numbers.

A deterministic first-order method adds and scales vectors: the start and the gradients it asks for. Played with models
that *are* coefficient rows over these vectors, with an oracle that answers every question by a fresh unit row, its
hooks write every model of a run as a combination of them. No algorithm is written twice, and a user's own is served
like the papers'.

Where some clients are drawn, every set of ``cohort`` of them is as likely as any other, every round anew. So the
expectation of what a run ends with is a mean over finitely many runs, a tree, and its worst case is one program over
the gradients at all of their models. A client answers once where several runs ask it the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar

import numpy as np

from empirics.algorithms.algorithm import Algorithm, renamed
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import PlayedRound, Player
from empirics.training.setting import Setting

Array = np.ndarray[Any, Any]
Cohort = tuple[int, ...]
History = tuple[Cohort, ...]
COLUMNS = 4000
"""Gradients of all clients together: the models of a run are rows over as many, once for every one of them."""
MODELS = 4000
"""Server models of a tree times clients: every one of them is played, and most ask every client something new."""
ROOM = 2e9
"""Bytes that the inequalities of a tree may take."""
LINEAR = 1e-9
SAME = 1e-12


@dataclass(frozen=True)
class GivenSteps:
    """Local steps round by round; the last number serves all later rounds."""

    steps: tuple[int, ...]
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.steps[min(state.round, len(self.steps) - 1)], step_size


def with_steps(algorithm: Algorithm, steps: Sequence[int]) -> Algorithm:
    """``algorithm`` with these numbers of local steps, one per round."""
    if not steps or any(not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1 for k in steps):
        raise EmpiricsError(f"local steps per round must be whole numbers >= 1; got {tuple(steps)}")
    return renamed(algorithm, algorithm.name, steps=GivenSteps(tuple(int(k) for k in steps)))


@dataclass(frozen=True)
class Listed(Setting):
    """A plan whose local steps have the step sizes ``each``, in order; ``lengths`` are those steps round by round."""

    each: tuple[float, ...] = ()
    lengths: tuple[int, ...] = ()

    def sizes(self, round_: int, step_size: float, steps: int) -> Array:
        begin = sum(self.lengths[:round_])
        return np.array(self.each[begin : begin + steps])


@dataclass(frozen=True, eq=False)
class Recorded:
    """A run whose models are rows over the start (first column) and every client's gradients, in the order asked.

    ``asked (clients, m, n)`` are the models at which client k took its gradients 1 to m at; column
    ``1 + k m + j`` is the j-th gradient. ``server (R+1, n)``, ``path[r] (clients, K_r + 1, n)``; ``step_sizes``
    are those of all local steps in order.
    """

    asked: Array
    server: Array
    path: tuple[Array, ...]
    step_sizes: tuple[float, ...]

    @property
    def clients(self) -> int:
        return int(self.asked.shape[0])

    @property
    def gradients(self) -> int:
        """How many gradients a client computes."""
        return int(self.asked.shape[1])

    def before(self, number: int) -> int:
        """Which gradient of a client this one is written as a change of; of the first none (-1)."""
        return number - 1

    @property
    def after(self) -> list[Array]:
        """The server models after 0, 1, ... rounds ``(runs, n)``: all that may be there, each as likely."""
        return [model[None] for model in self.server]

    def leading(self, model: Array) -> Array | None:
        """The server model whose gradient that of another is written as a change of; None: the nearest model."""
        return None


@dataclass(frozen=True, eq=False)
class Drawn(Recorded):
    """A tree of runs; ``server (models, n)`` are the server models breadth first, ``path`` is empty.

    ``histories`` are the cohorts that led to each of them, ``numbers`` those of the oracle; ``earlier[j]`` says which
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


class Oracle:
    """Gradients of ``clients``: ``start`` is the first of ``vectors``, the j-th gradient of client k another one.

    Without ``gradients`` it only counts: every question is a new one, and every answer the start.
    """

    def __init__(self, clients: int, vectors: Array, gradients: int = 0) -> None:
        self.clients, self.vectors, self.gradients = clients, vectors, gradients
        self.asked: list[list[Array]] = [[] for _ in range(clients)]
        self.numbers: dict[tuple[History, Cohort, int, int], int] = {}
        """Which of a client's gradients answered its q-th question in the round of a cohort after a history."""
        self.near = SAME * float(np.abs(vectors).max())
        self.begin((), ())

    def begin(self, history: History, cohort: Cohort) -> None:
        """The round of a cohort after a history is played next."""
        self.at, self.count = (history, cohort), [0] * self.clients

    def play(self, algorithm: Algorithm, setting: Setting) -> Played:
        gradients = [partial(self._answer, client) for client in range(self.clients)]
        return play_all(gradients, self.vectors[0], algorithm, setting, self.begin)

    @property
    def questions(self) -> Array:
        """The models ``(clients, m, n)`` at which gradients were taken."""
        return np.array(self.asked)

    def _answer(self, client: int, model: Array) -> Array:
        """A client's gradient at a model: the one given before where it asks the same again."""
        asked, off = self.asked[client], self.near + SAME * np.abs(model)
        same = (j for j, x in enumerate(asked) if (np.abs(x - model) <= off).all())
        j = next(same, len(asked)) if self.gradients else len(asked)
        if j == len(asked):
            _check_room(self.clients, 1 + j)
            asked.append(model)
        self.numbers[(*self.at, client, self.count[client])] = j
        self.count[client] += 1
        return self.vectors[1 + client * self.gradients + j if self.gradients else 0]


def record(algorithm: Algorithm, setting: Setting) -> Recorded:
    """Play ``setting.rounds`` rounds with all ``setting.cohort`` clients; refuses a method that is not linear."""
    refuse(setting)
    _check_room(setting.cohort, setting.rounds)
    oracle, played = _recorded(algorithm, setting, setting.cohort)
    return Recorded(oracle.questions, played.server, played.path, played.step_sizes)


def draw(algorithm: Algorithm, setting: Setting, clients: int) -> Drawn:
    """Play the tree of ``setting.rounds`` rounds with ``setting.cohort`` of ``clients`` drawn in each."""
    refuse(setting)
    _check_inequalities(
        clients, starting_models(setting.rounds, setting.cohort, clients)
    )  # each asks all at least once
    oracle, played = _recorded(algorithm, setting, clients)
    numbers, gradients = oracle.numbers, oracle.gradients
    _check_inequalities(clients, gradients)
    earlier = _earlier(numbers, gradients)
    return Drawn(oracle.questions, played.server, (), played.step_sizes, played.histories, numbers, earlier)


@dataclass(frozen=True, eq=False)
class Played:
    """All runs of a tree, of one run where everybody takes part; ``path`` and step sizes are those of the last runs."""

    histories: tuple[History, ...]
    server: Array
    path: tuple[Array, ...]
    step_sizes: tuple[float, ...]


def play_all(
    gradients: Sequence[Callable[[Array], Array]], start: Array, algorithm: Algorithm, setting: Setting,
    begin: Callable[[History, Cohort], None] = lambda history, cohort: None,
) -> Played:  # fmt: skip
    """The runs of all cohorts that may be drawn, breadth first, each state from the one before.

    ``begin`` hears which cohort is played next after which history.
    """
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
    return Played(tuple(history for history, _ in states), server, tuple(played.paths for played in last), sizes)


def _recorded(algorithm: Algorithm, setting: Setting, clients: int) -> tuple[Oracle, Played]:
    oracle = Oracle(clients, np.zeros((1, 1)))
    played = oracle.play(algorithm, setting)
    while oracle.gradients != (gradients := _counted(oracle, algorithm)):  # once to count, again if some ask twice
        oracle = Oracle(clients, np.eye(1 + clients * gradients), gradients)
        played = oracle.play(algorithm, setting)
    _check_linear(oracle, played, algorithm, setting)
    # functions are moved to have the minimiser (or the start) at the origin
    if max(np.abs(models[..., 0] - 1).max() for models in (oracle.questions, played.server, *played.path)) > LINEAR:
        raise EmpiricsError(
            f"{algorithm}: a run that starts elsewhere on functions moved along must make the same steps; this one "
            "does not (weight decay pulls to the origin): an exact worst case does not cover it"
        )
    return oracle, played


def _counted(oracle: Oracle, algorithm: Algorithm) -> int:
    """How many gradients every client computes."""
    counts = {len(asked) for asked in oracle.asked}
    if len(counts) != 1:
        raise EmpiricsError(f"{algorithm}: all clients must ask for as many gradients; got {sorted(counts)}")
    return counts.pop()


def _check_room(clients: int, gradients: int) -> None:
    if clients * gradients > COLUMNS:
        raise EmpiricsError(
            f"too large: {clients} clients with {gradients} gradients or more each; an exact worst case can have "
            f"{COLUMNS} gradients of all clients together: take fewer (two represent any number of identical ones)"
        )


def starting_models(rounds: int, cohort: int, clients: int) -> int:
    """The server models with which rounds begin; refused as soon as they are too many, however many they would be."""
    models, level = 0, 1
    branches = comb(clients, cohort) if clients <= MODELS else MODELS
    for _ in range(rounds):
        models, level = models + level, level * branches
        if clients * (models + level) > MODELS:
            raise EmpiricsError(
                f"too large: {rounds} rounds with {cohort} of {clients} clients drawn in each have more server models "
                f"than the {MODELS // clients} that fit: take fewer rounds or clients"
            )
    return models


def _check_inequalities(clients: int, gradients: int) -> None:
    if (need := 4.0 * clients**3 * gradients**4) > ROOM:
        raise EmpiricsError(
            f"too large: {gradients} gradients of each of {clients} clients need {need / 1e9:.0f} GB of inequalities; "
            f"the limit is {ROOM / 1e9:.0f}: take fewer rounds, clients or local steps"
        )


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


def refuse(setting: Setting) -> None:
    """Refuse cohorts and weights that have no exact worst case."""
    if setting.sampling != "without_replacement" or setting.client_weight != "uniform":
        raise EmpiricsError("an exact worst case needs all clients in every round and equal weights")


def _check_linear(oracle: Oracle, found: Played, algorithm: Algorithm, setting: Setting) -> None:
    """Play again with random vectors in place of unit rows: a linear method makes the same combinations of them."""
    draws = np.random.default_rng(2024)
    for scale in (1e-2, 1.0, 1e3):
        vectors = scale * draws.standard_normal((found.server.shape[1], 3))
        other = Oracle(oracle.clients, vectors, oracle.gradients)
        again, asked = other.play(algorithm, setting), other.questions
        pairs = [(again.server, found.server), (asked, oracle.questions), *zip(again.path, found.path, strict=True)]
        off = max(np.abs(seen - rows @ vectors).max() for seen, rows in pairs)
        if not off <= LINEAR * (np.abs(asked).max() + scale):
            raise EmpiricsError(
                f"{algorithm} does not add and scale its gradients only (off by {off:.2g} at size {scale:g}): an exact "
                "worst case covers fixed-step first-order methods; try `fedbounds falsify` instead"
            )
