"""What a method does to unknown gradients: its own hooks, played on coefficients instead of numbers.

A deterministic first-order method adds and scales vectors: the start and the gradients it asks for. Played with models
that *are* coefficient rows over these vectors, with an oracle that answers every question by a fresh unit row, the
training loop itself writes every model of a run as a combination of them. No algorithm is written twice, and a user's
own is served like the papers'.

Where some clients are drawn, every set of ``cohort`` of them is as likely as any other, every round anew. So the
expectation of what a run ends with is a mean over finitely many runs, a tree, and its worst case is one program over
the gradients at all of their models. A client answers once where several runs ask it the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from empirics.algorithms.algorithm import Algorithm, renamed
from empirics.algorithms.state import copied, State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
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

    ``asked (clients, m, n)`` are the models at which client k asked for its gradients 1 to m; column
    ``1 + k m + j`` stands for the j-th answer. ``server (R+1, n)``, ``path[r] (clients, K_r + 1, n)``; ``step_sizes``
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


@dataclass(eq=False)
class Oracle:
    """The model of a play: ``start`` is the first of ``vectors``, the j-th gradient of client k another one."""

    clients: int
    vectors: Tensor
    gradients: int
    asked: list[list[Tensor]] = field(init=False)
    at: tuple[History, Cohort] = field(default=((), ()), init=False)
    numbers: dict[tuple[History, Cohort, int, int], int] = field(default_factory=dict, init=False)
    """Which of a client's gradients answered its q-th question in the round of a cohort after a history."""

    stacked: ClassVar[bool] = True
    dtype: ClassVar[torch.dtype] = torch.float64

    def __post_init__(self) -> None:
        self.asked, self.count = [[] for _ in range(self.clients)], dict[int, int]()
        self._largest = float(self.vectors.abs().max())

    @property
    def questions(self) -> Array:
        """The models ``(clients, m, n)`` at which gradients were asked for."""
        asked: Array = torch.stack([torch.stack(rows) for rows in self.asked]).numpy()
        return asked

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def layers(self) -> Mapping[str, slice]:
        return {"model": slice(0, self.dim)}

    def start(self, seed: int) -> Tensor:
        return self.vectors[0].clone()

    def task_loss(self, w: Tensor, batch: Tensor) -> Tensor:
        raise EmpiricsError("exact worst cases cover methods that ask for gradients of the task loss and nothing else")

    def gradient(self, w: Tensor, batch: Tensor) -> Tensor:
        answers = []
        for client, model in zip(batch.tolist(), w, strict=True):
            answers.append(self._answer(client, model))
            q = self.count.get(client, 0)
            self.count[client] = q + 1
            self.numbers[(*self.at, client, q)] = (answers[-1] - 1) % max(self.gradients, 1)
        return self.vectors[answers]

    def begin(self, history: History, cohort: Cohort) -> None:
        """The round of a cohort after a history is played next."""
        self.at, self.count = (history, cohort), {}

    def _answer(self, client: int, model: Tensor) -> int:
        """The column of a client's gradient at a model: the one given before where it asks the same again."""
        asked = self.asked[client]
        if not self.gradients:  # only counting: every question is a new one
            _check_room(self.clients, len(asked) + 1)
            asked.append(model.clone())
            return 0
        for j, before in enumerate(asked):
            if torch.allclose(before, model, rtol=SAME, atol=SAME * self._largest):
                return 1 + client * self.gradients + j
        asked.append(model.clone())
        return client * self.gradients + len(asked)


@dataclass(frozen=True, eq=False)
class Members:
    """The federation of a play: a batch says which clients the rows belong to."""

    clients: int

    inputs: ClassVar[Tensor] = torch.zeros(0)

    @property
    def client_sizes(self) -> Array:
        return np.ones(self.clients)

    def draw(self, seed: int, round_: int, clients: Array, steps: Array, batch: int) -> Rows:
        return Rows(torch.from_numpy(np.asarray(clients)))


@dataclass(frozen=True, eq=False)
class Rows:
    """The clients of some rows, in every step the same."""

    clients: Tensor

    def part(self, chosen: slice) -> Rows:
        return Rows(self.clients[chosen])

    def at(self, active: int, step: int) -> Tensor:
        return self.clients[:active]


def record(algorithm: Algorithm, setting: Setting) -> Recorded:
    """Play ``setting.rounds`` rounds with all ``setting.cohort`` clients; refuses a method that is not linear."""
    refuse(algorithm, setting)
    _check_room(setting.cohort, setting.rounds)
    played = _recorded(algorithm, setting, setting.cohort)
    return Recorded(played.oracle.questions, played.server, played.path, played.step_sizes)


def draw(algorithm: Algorithm, setting: Setting, clients: int) -> Drawn:
    """Play the tree of ``setting.rounds`` rounds with ``setting.cohort`` of ``clients`` drawn in each."""
    refuse(algorithm, setting)
    _check_inequalities(
        clients, starting_models(setting.rounds, setting.cohort, clients)
    )  # each asks all at least once
    played = _recorded(algorithm, setting, clients)
    numbers, gradients = played.oracle.numbers, played.oracle.gradients
    _check_inequalities(clients, gradients)
    sizes, earlier = played.step_sizes, _earlier(numbers, gradients)
    return Drawn(played.oracle.questions, played.server, (), sizes, played.histories, numbers, earlier)


@dataclass(frozen=True, eq=False)
class Played:
    """All runs of a tree, of one run where everybody takes part; ``path`` and step sizes are those of the last runs."""

    oracle: Oracle
    histories: tuple[History, ...]
    server: Array
    path: tuple[Array, ...]
    step_sizes: tuple[float, ...]


def _recorded(algorithm: Algorithm, setting: Setting, clients: int) -> Played:
    gradients, vectors = 0, torch.zeros(1, 1, dtype=torch.float64)
    played = play_all(Oracle(clients, vectors, 0), algorithm, setting)
    while gradients != (several := counted(played.oracle, algorithm)):  # once to count, again if some are asked twice
        gradients, vectors = several, torch.eye(1 + clients * several, dtype=torch.float64)
        played = play_all(Oracle(clients, vectors, gradients), algorithm, setting)
    _check_linear(played, algorithm, setting)
    _check_moved(played, algorithm)
    return played


def counted(oracle: Oracle, algorithm: Algorithm) -> int:
    """How many gradients every client computes."""
    counts = {len(asked) for asked in oracle.asked}
    if len(counts) != 1:
        raise EmpiricsError(f"{algorithm}: all clients must ask for as many gradients; got {sorted(counts)}")
    return counts.pop()


def play_all(model: Any, algorithm: Algorithm, setting: Setting) -> Played:
    """The runs of all cohorts that may be drawn of ``model.clients``, breadth first, each state from the one before."""
    federation: Any = Members(model.clients)
    engine, paths, sizes = Tracing(), dict[int, Array](), dict[int, list[float]]()
    cohorts = list(combinations(range(model.clients), setting.cohort))
    level: list[tuple[History, State]] = [((), algorithm.begin(model.start(0), model.clients))]
    states = list(level)
    for round_ in range(setting.rounds):
        before, level = level, []
        for (history, state), cohort in product(before, cohorts):
            model.begin(history, cohort)
            engine.forget()

            def watch(work: Any, ends: Tensor, after: State, round_: int = round_) -> None:
                sizes[round_] = work.sizes.tolist()

            drawn = np.array(cohort), np.ones(len(cohort))
            after = play(model, federation, algorithm, setting, 0, engine, copied(state), cohort=drawn, watch=watch)
            paths[round_] = engine.models
            level.append(((*history, cohort), after))
        states += level
    server = np.stack([state.model.numpy().copy() for _, state in states])
    step_sizes = tuple(size for row in sizes.values() for size in row)
    return Played(model, tuple(history for history, _ in states), server, tuple(paths.values()), step_sizes)


def _check_room(clients: int, gradients: int) -> None:
    if clients * gradients > COLUMNS:
        raise EmpiricsError(
            f"too large: {clients} clients with {gradients} gradients or more each; an exact worst case has room for "
            f"{COLUMNS} gradients of all clients together: take fewer (two clients stand for any number that are alike)"
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
                f"than the {MODELS // clients} for which there is room: take fewer rounds or clients"
            )
    return models


def _check_inequalities(clients: int, gradients: int) -> None:
    if (need := 4.0 * clients**3 * gradients**4) > ROOM:
        raise EmpiricsError(
            f"too large: {gradients} gradients of each of {clients} clients need {need / 1e9:.0f} GB of inequalities; "
            f"there is room for {ROOM / 1e9:.0f}: take fewer rounds, clients or local steps"
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


def refuse(algorithm: Algorithm, setting: Setting) -> None:
    """One line on what has no exact worst case."""
    if algorithm.steps.needs_loss or algorithm.needs_labels:
        raise EmpiricsError(f"{algorithm} looks at losses or labels: an exact worst case needs a fixed-step method")
    setting.refuse_epochs("an exact worst case has no samples to pass over")
    if setting.optimizer != "sgd" or setting.clip is not None:
        raise EmpiricsError(
            f"an exact worst case needs steps that are linear in the gradients; got optimizer {setting.optimizer!r}"
            f", clip {setting.clip}"
        )
    if setting.sampling != "without_replacement" or setting.client_weight != "uniform":
        raise EmpiricsError("an exact worst case needs all clients in every round and equal weights")


def _check_moved(found: Played, algorithm: Algorithm) -> None:
    """Refuse a run that knows where the origin is: functions are moved to have the minimiser (or the start) there."""
    off = max(np.abs(models[..., 0] - 1).max() for models in (found.oracle.questions, found.server, *found.path))
    if off > LINEAR:
        raise EmpiricsError(
            f"{algorithm}: a run that starts elsewhere on functions moved along must make the same steps; this one "
            "does not (weight decay pulls to the origin): an exact worst case does not cover it"
        )


def _check_linear(found: Played, algorithm: Algorithm, setting: Setting) -> None:
    """Play again with random vectors in place of unit rows: a linear method makes the same combinations of them."""
    draws = np.random.default_rng(2024)
    for scale in (1e-2, 1.0, 1e3):
        vectors = scale * draws.standard_normal((found.server.shape[1], 3))
        other = Oracle(found.oracle.clients, torch.from_numpy(vectors), found.oracle.gradients)
        again, asked = play_all(other, algorithm, setting), other.questions
        pairs = (
            (again.server, found.server),
            (asked, found.oracle.questions),
            *zip(again.path, found.path, strict=True),
        )
        off = max(np.abs(seen - rows @ vectors).max() for seen, rows in pairs)
        if not off <= LINEAR * (np.abs(asked).max() + scale):
            raise EmpiricsError(
                f"{algorithm} does not add and scale its gradients only (off by {off:.2g} at size {scale:g}): an exact "
                "worst case covers fixed-step first-order methods; try `fedbounds falsify` instead"
            )
