"""Runs of a method on clients given as numbers or functions, in any kind of number.

``play`` follows a run with given cohorts and noise, on losses with any gradients; ``expected`` takes expectations over
both, on quadratics. Both call the hooks of ``empirics.algorithms``, so no method is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import algorithm
from ..algorithms.algorithm import Algorithm, Work
from ..algorithms.state import State
from ..errors import EmpiricsError
from ..training.setting import Setting
from .coefficients import begin, finish, NotAffineError, plan, refuse
from .draws import draw
from .moments import Run
from .numbers import Array, exactly, FLOATS, FRACTIONS, Kind, vectors
from .paths import Clients, layer_of


@dataclass(frozen=True)
class Group:
    """``count`` identical clients with the loss ``1/2 (x - minimum)^T curvature (x - minimum)``.

    In one dimension all are plain numbers. ``noise`` is the covariance of a stochastic gradient, or its variance in
    every coordinate; ``weight`` is that of a single client, up to a factor.
    """

    curvature: Any
    minimum: Any
    noise: Any = 0
    count: int = 1
    weight: Any = 1


def expected(
    method: Algorithm | str,
    groups: Sequence[Group],
    start: Any,
    setting: Setting,
    kind: Kind = FRACTIONS,
    layers: Mapping[str, slice] | None = None,
) -> Run:
    """Return the exact moments of a run, in fractions by default; see ``Run`` for its quantities.

    Step sizes of ``setting`` may be fractions; decimals in a method are read exactly (0.1 is 1/10).

    >>> clients = [Group(curvature=1, minimum=0, noise=1, count=3), Group(2, Fraction(1, 2))]
    >>> setting = Setting(rounds=2, cohort=2, local_steps=2, step_size=Fraction(1, 10))
    >>> expected("fedinit(beta=0.1)", clients, 1, setting).server["distance_sq"][1]
    Fraction(7639, 20000)
    """
    built = algorithm(method) if isinstance(method, str) else method
    first = np.atleast_1d(np.asarray(start, dtype=object))
    d = len(first)

    def matrix(value: Any) -> Any:
        array = np.asarray(value, dtype=object)
        return array if array.ndim == 2 else np.diag(np.broadcast_to(array, (d,)))

    sizes, weights = [group.count for group in groups], kind.array([group.weight for group in groups])
    curvatures, noises = ([matrix(getattr(group, name)) for group in groups] for name in ("curvature", "noise"))
    minima = [np.atleast_1d(np.asarray(group.minimum, dtype=object)) for group in groups]
    clients = Clients.of(kind, sizes, weights, curvatures, minima, noises, first, layers=layer_of(layers, d))
    unequal = any(bool(weight != weights[0]) for weight in weights)
    shares = clients.weights / clients.counts
    if unequal and setting.sampling != "with_replacement" and setting.cohort < sum(sizes):
        raise EmpiricsError(
            "clients of different weights need all clients in every round, or sampling with replacement; "
            f"got {setting.cohort} of {sum(sizes)}"
        )
    cohort = draw(setting.sampling, setting.cohort, sizes, shares, kind)
    return Run(clients, built, setting, cohort, list(shares) if unequal else None, layers=layers)


class PlayedRound(NamedTuple):
    """The state before a round, and the local models of the round.

    ``model (d,)`` is the server's; ``server`` and ``memory`` are the method's vectors by name, ``(d,)`` and ``(C, d)``,
    with ``last`` among the latter; ``paths (rows, K + 1, d)`` are the local models of the ``clients`` that work, and
    ``sizes (K,)`` their step sizes. The last entry of a run has no clients.
    """

    model: Array
    server: Mapping[str, Array]
    memory: Mapping[str, Array]
    clients: Sequence[int] = ()
    paths: Array = np.zeros((0, 1, 0))
    sizes: Array = np.zeros(0)


def play(
    method: Algorithm | str,
    gradients: Sequence[Callable[[Array], Any]],
    start: Any,
    cohorts: Sequence[Sequence[int]],
    *,
    local_steps: int,
    step_size: Any,
    noise: Callable[[int, int, int], Any] | None = None,
    number: Callable[[Any], Any] = Fraction,
    layers: Mapping[str, slice] | None = None,
) -> list[PlayedRound]:
    """Return the rounds of a run with given cohorts, and its last state; ``number`` is the type it computes with.

    ``gradients`` has one function per client, from its model ``(d,)`` to its gradient. ``noise(round, client, step)``
    is added to a gradient.

    >>> slopes = [lambda x: x - 1, lambda x: 2 * x]
    >>> runs = play("fedavg()", slopes, 0, [(0, 1)], local_steps=2, step_size=Fraction(1, 2))
    >>> runs[-1].model, runs[0].paths[0, :, 0]
    (array([Fraction(3, 8)], dtype=object), array([Fraction(0, 1), Fraction(1, 2), Fraction(3, 4)], dtype=object))
    """
    kind = FLOATS if number is float else Kind(getattr(number, "__name__", "numbers"), number, number)
    built = algorithm(method) if isinstance(method, str) else method
    setting = Setting(rounds=max(len(cohorts), 1), cohort=1, local_steps=local_steps, step_size=step_size)
    player = Player(built, gradients, setting, kind, noise, layers)
    state, rounds = player.begin(start), []
    for cohort in cohorts:
        state, played_round = player.next(state, cohort)
        rounds.append(played_round)
    return [*rounds, _without_clients(state)]


def _without_clients(state: State) -> PlayedRound:
    server, memory = ({name: np.array(x) for name, x in parts.items()} for parts in (state.server, state.memory))
    return PlayedRound(np.array(state.model), server, memory)


class Player:
    """The training loop on losses with given gradients, in any kind of number, with clients of equal weight."""

    def __init__(
        self,
        method: Algorithm,
        gradients: Sequence[Callable[[Array], Any]],
        setting: Setting,
        kind: Kind = FLOATS,
        noise: Callable[[int, int, int], Any] | None = None,
        layers: Mapping[str, slice] | None = None,
    ) -> None:
        refuse(method, setting)
        self.method, self.gradients, self.setting, self.kind = exactly(method, kind), gradients, setting, kind
        self.noise, self.layers = noise, layers

    def begin(self, start: Any) -> State:
        """The state before the first round."""
        model = vectors(self.kind.array(np.atleast_1d(np.asarray(start, dtype=object))))
        return begin(self.method, model, len(self.gradients))

    def next(self, before: State, cohort: Sequence[int]) -> tuple[State, PlayedRound]:
        """Return the state after a round of this cohort, which may name a client more than once, and the round."""
        try:
            return self._next(before, cohort)
        except (AttributeError, TypeError) as error:
            raise NotAffineError(
                f"{self.method} does not add and scale its gradients only; sample it instead"
            ) from error

    def _next(self, state: State, cohort: Sequence[int]) -> tuple[State, PlayedRound]:
        before, work = _without_clients(state), self._work(state, cohort)
        models, paths, velocity = work.starts.clone(), [np.array(work.starts)], 0 * work.starts
        momentum, decay = (self.kind.make(x) for x in (self.setting.momentum, self.setting.weight_decay))
        for step, size in enumerate(work.step_sizes):
            gradient_at = partial(self._gradients, work, step)
            direction = self.method.direction(work._replace(step=step), models, gradient_at(models), gradient_at)
            direction = direction + decay * models
            velocity = momentum * velocity + direction
            models = models - size * (direction + momentum * velocity if self.setting.nesterov else velocity)
            paths.append(np.array(models))
        clients = tuple(work.clients.tolist())
        played_round = before._replace(clients=clients, paths=np.stack(paths, axis=1), sizes=work.step_sizes)
        return finish(self.method, work, models), played_round

    def _gradients(self, work: Work, step: int, models: Any, objective: Any = None) -> Any:
        """The clients' gradients, each at its own model ``(rows, d)``."""
        if objective is not None:
            raise AttributeError("gradients of another objective are not followed")
        gradients = []
        for row, client in enumerate(work.clients.tolist()):
            gradient = np.atleast_1d(np.asarray(self.gradients[client](np.array(models[row]))))
            gradients.append(gradient + self.noise(work.state.round, client, step) if self.noise else gradient)
        return vectors(self.kind.array(gradients))

    def _work(self, state: State, cohort: Sequence[int]) -> Work:
        total, draws, kind = len(self.gradients), list(cohort), self.kind
        clients: Any = np.arange(total) if self.method.everyone else np.array(sorted(set(draws)))
        counts = vectors(kind.array([draws.count(k) for k in clients.tolist()]))
        starts = vectors(np.broadcast_to(self.method.start(state, clients), (len(clients), len(state.model))))
        steps, sizes = plan(self.method, self.setting, kind, state.round)
        return Work(
            state=state, clients=clients, client_index=clients, counts=counts, weights=counts / counts.sum(),
            steps=np.full(len(clients), steps), step_size=sizes[0], total=total, seed=0, starts=starts,
            layers=self.layers or {"model": slice(0, len(state.model))}, step_sizes=sizes, recalled={},
            momentum=self.setting.momentum, nesterov=self.setting.nesterov,
        )  # fmt: skip
