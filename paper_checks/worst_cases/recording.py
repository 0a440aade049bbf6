"""What a method does to gradients it cannot know: its own hooks, played on coefficients instead of numbers.

A deterministic first-order method adds and scales vectors: the start and the gradients it asks for. Played with models
that *are* coefficient rows over these vectors, with an oracle that answers every question by a fresh unit row, the
training loop itself writes every model of a run as a combination of them. No algorithm is written twice, and a user's
own is served like the papers'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from empirics.algorithms.algorithm import Algorithm, renamed, State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
from empirics.training.setting import Setting

Array = np.ndarray[Any, Any]
Asked = tuple[Array, Array, tuple[Array, ...]]
"""What a play with other vectors wrote: server models, models of the questions, local models."""
COLUMNS = 4000
"""Gradients of all clients together: the models of a run are rows over as many, once for every one of them."""
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


@dataclass(eq=False)
class Oracle:
    """The model of a play: ``start`` is the first of ``vectors``, the j-th gradient of client k another one."""

    clients: int
    vectors: Tensor
    gradients: int
    asked: list[list[Tensor]] = field(init=False)

    stacked: ClassVar[bool] = True
    dtype: ClassVar[torch.dtype] = torch.float64

    def __post_init__(self) -> None:
        self.asked = [[] for _ in range(self.clients)]
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
        answers = [self._answer(client, model) for client, model in zip(batch.tolist(), w, strict=True)]
        return self.vectors[answers]

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
    clients = setting.cohort
    _check_room(clients, setting.rounds)
    gradients = 0
    oracle = Oracle(clients, torch.zeros(1, 1, dtype=torch.float64), gradients)
    played = _played(oracle, algorithm, setting)
    while gradients != (several := counted(oracle, algorithm)):  # once to count, again if some are asked twice
        gradients = several
        oracle = Oracle(clients, torch.eye(1 + clients * gradients, dtype=torch.float64), gradients)
        played = _played(oracle, algorithm, setting)
    found = Recorded(oracle.questions, *played)

    def again(vectors: Tensor) -> Asked:
        other = Oracle(clients, vectors, gradients)
        server, path, _ = _played(other, algorithm, setting)
        return server, other.questions, path

    check_linear(found, algorithm, again)
    check_moved(found, algorithm)
    return found


def _check_room(clients: int, gradients: int) -> None:
    if clients * gradients > COLUMNS:
        raise EmpiricsError(
            f"too large: {clients} clients with {gradients} gradients or more each; an exact worst case has room for "
            f"{COLUMNS} gradients of all clients together: take fewer (two clients stand for any number that are alike)"
        )


def counted(oracle: Oracle, algorithm: Algorithm) -> int:
    counts = {len(asked) for asked in oracle.asked}
    if len(counts) != 1:
        raise EmpiricsError(f"{algorithm}: all clients must ask for as many gradients; got {sorted(counts)}")
    return counts.pop()


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


def _played(oracle: Oracle, algorithm: Algorithm, setting: Setting) -> tuple[Array, tuple[Array, ...], Any]:
    federation: Any = Members(oracle.clients)
    model: Any = oracle  # whose batches are questions
    everyone = np.arange(oracle.clients), np.ones(oracle.clients)
    state = algorithm.begin(oracle.start(0), oracle.clients)
    engine, server, path, sizes = Tracing(), [state.model.numpy().copy()], list[Array](), list[float]()

    def watch(work: Any, ends: Tensor, after: State) -> None:
        sizes.extend(work.sizes.tolist())

    for _ in range(setting.rounds):
        engine.forget()
        state = play(model, federation, algorithm, setting, 0, engine, state, cohort=everyone, watch=watch)
        server.append(state.model.numpy().copy())
        path.append(engine.models)
    return np.stack(server), tuple(path), tuple(sizes)


def check_moved(found: Recorded, algorithm: Algorithm) -> None:
    """Refuse a run that knows where the origin is: functions are moved to have the minimiser (or the start) there."""
    off = max(np.abs(models[..., 0] - 1).max() for models in (found.asked, found.server, *found.path))
    if off > LINEAR:
        raise EmpiricsError(
            f"{algorithm}: a run that starts elsewhere on functions moved along must make the same steps; this one "
            "does not (weight decay pulls to the origin): an exact worst case does not cover it"
        )


def check_linear(found: Recorded, algorithm: Algorithm, again: Callable[[Tensor], Asked]) -> None:
    """Play again with random vectors in place of unit rows: a linear method makes the same combinations of them."""
    size = found.server.shape[1]
    draws = np.random.default_rng(2024)
    for scale in (1e-2, 1.0, 1e3):
        vectors = scale * draws.standard_normal((size, 3))
        server, asked, path = again(torch.from_numpy(vectors))
        pairs = ((server, found.server), (asked, found.asked), *zip(path, found.path, strict=True))
        off = max(np.abs(seen - rows @ vectors).max() for seen, rows in pairs)
        if not off <= LINEAR * (np.abs(asked).max() + scale):
            raise EmpiricsError(
                f"{algorithm} does not add and scale its gradients only (off by {off:.2g} at size {scale:g}): an exact "
                "worst case covers fixed-step first-order methods; try `fedbounds falsify` instead"
            )
