"""A named method on given clients in a given kind of number: what a run makes of its models, or its exact moments.

``play`` follows a run whose cohorts and noise are given, on losses of any gradient; ``expected`` takes expectations
over both, on quadratics. Either plays the hooks of ``empirics.algorithms``: no method is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import algorithm
from ..algorithms.algorithm import Algorithm, Work
from ..algorithms.state import Exchange, State
from ..errors import EmpiricsError
from ..training.setting import Setting
from .coefficients import LAST, refuse
from .draws import draw
from .moments import Run
from .numbers import Array, exactly, FRACTIONS, Kind, vectors
from .paths import Clients, layer_of


@dataclass(frozen=True)
class Group:
    """``count`` identical clients with the loss ``1/2 (x - minimum)^T curvature (x - minimum)``.

    In one dimension all are plain numbers. ``noise`` is the covariance of a stochastic gradient, or its variance in
    each coordinate; ``weight`` is that of one client, up to a factor.
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
    """The exact moments of a run, in fractions unless told: see ``Run`` for the quantities it has.

    Step sizes of ``setting`` may be fractions; a method's decimals are taken as they are written.

    >>> clients = [Group(curvature=1, minimum=0, noise=1, count=3), Group(2, Fraction(1, 2))]
    >>> setting = Setting(rounds=2, cohort=2, local_steps=2, step_size=Fraction(1, 10))
    >>> expected("fedinit(beta=0.1)", clients, 1, setting).server["distance_sq"][1]
    Fraction(7639, 20000)
    """
    made = algorithm(method) if isinstance(method, str) else method
    first = np.atleast_1d(np.asarray(start, dtype=object))
    d = len(first)

    def matrix(value: Any) -> Any:
        given = np.asarray(value, dtype=object)
        return given if given.ndim == 2 else np.diag(np.broadcast_to(given, (d,)))

    sizes, weights = [group.count for group in groups], kind.array([group.weight for group in groups])
    bends, noises = ([matrix(getattr(group, name)) for group in groups] for name in ("curvature", "noise"))
    minima = [np.atleast_1d(np.asarray(group.minimum, dtype=object)) for group in groups]
    clients = Clients.of(kind, sizes, weights, bends, minima, noises, first, layers=layer_of(layers, d))
    unlike = any(bool(weight != weights[0]) for weight in weights)
    alone = clients.weights / clients.number
    if unlike and setting.sampling != "with_replacement" and setting.cohort < sum(sizes):
        raise EmpiricsError(
            "clients that weigh differently need all clients, or draws with replacement; "
            f"got {setting.cohort} of {sum(sizes)}"
        )
    drawn = draw(setting.sampling, setting.cohort, sizes, alone, kind)
    return Run(clients, made, setting, drawn, list(alone) if unlike else None, layers=layers)


class PlayedRound(NamedTuple):
    """What is known before a round, and the local models that it makes.

    ``model (d,)``; ``server`` and ``memory`` are what the method remembers by name, ``(d,)`` and ``(C, d)``, with
    ``last`` among the latter; ``paths (rows, K + 1, d)`` are the local models of the ``clients`` that work. The last
    entry of a run has none.
    """

    model: Array
    server: Mapping[str, Array]
    memory: Mapping[str, Array]
    clients: Sequence[int] = ()
    paths: Array = np.zeros((0, 1, 0))


def play(
    method: Algorithm | str,
    gradients: Sequence[Callable[[Array], Any]],
    start: Any,
    cohorts: Sequence[Sequence[int]],
    *,
    local_steps: int,
    step_size: Any,
    weights: Sequence[Any] | None = None,
    noise: Callable[[int, int, int], Any] | None = None,
    number: Callable[[Any], Any] = Fraction,
    layers: Mapping[str, slice] | None = None,
) -> list[PlayedRound]:
    """The run of a method whose cohorts are given, round by round; ``number`` is the type it computes with.

    ``gradients`` have one function a client, from its model ``(d,)`` to its gradient. ``weights`` are what clients
    weigh in the average (None: all alike), ``noise(round, client, step)`` is added to a gradient.

    >>> slopes = [lambda x: x - 1, lambda x: 2 * x]
    >>> runs = play("fedavg()", slopes, 0, [(0, 1)], local_steps=2, step_size=Fraction(1, 2))
    >>> runs[-1].model, runs[0].paths[0, :, 0]
    (array([Fraction(3, 8)], dtype=object), array([Fraction(0, 1), Fraction(1, 2), Fraction(3, 4)], dtype=object))
    """
    kind = Kind(getattr(number, "__name__", "numbers"), number, number)
    made = exactly(algorithm(method) if isinstance(method, str) else method, kind)
    setting = Setting(rounds=max(len(cohorts), 1), cohort=1, local_steps=local_steps, step_size=float(step_size))
    refuse(made, setting)
    model, total = vectors(kind.array(np.atleast_1d(np.asarray(start, dtype=object)))), len(gradients)
    rows, server, exchanges = dict[str, Any](), dict[str, Any](), dict[str, Exchange]()
    for keeper in made.remember:
        begun = keeper.begin(model, total)
        rows, server = {**rows, **begun.rows}, {**server, **begun.vectors}
        exchanges.update(begun.exchanges)
    rows.setdefault(LAST, model.expand(total, -1).clone())
    state = State(0, model, rows, server, exchanges=exchanges)
    shares = None if weights is None else kind.array(weights) / kind.array(weights).sum()
    found = []
    for cohort in cohorts:
        work = _work(made, state, cohort, total, shares, local_steps, kind.make(step_size), kind, layers)
        before = {name: np.array(value) for name, value in state.memory.items()}
        now, paths = work.starts.clone(), [np.array(work.starts)]
        for step in range(local_steps):
            slopes = []
            for row, client in enumerate(work.clients):
                slope = np.atleast_1d(np.asarray(gradients[client](np.array(now[row])), dtype=object))
                slopes.append(slope + (noise(state.round, int(client), step) if noise else 0))
            direction = made.direction(work._replace(step=step), now, vectors(kind.array(slopes)), _elsewhere)
            now = now - work.sizes[step] * direction
            paths.append(np.array(now))
        found.append(PlayedRound(np.array(state.model), _plain(state.server), before, tuple(work.clients.tolist()),
                                 np.stack(paths, axis=1)))  # fmt: skip
        after, renewed = made.combine(work, now)
        changed = {**state.server, **renewed}
        for keeper in made.remember:
            changed |= keeper(work, now, after)
        state.memory[LAST][work.rows] = now
        state = State(state.round + 1, after, state.memory, changed, exchanges=state.exchanges)
    last = {name: np.array(value) for name, value in state.memory.items()}
    return [*found, PlayedRound(np.array(state.model), _plain(state.server), last)]


def _plain(vectors_: Mapping[str, Any]) -> dict[str, Array]:
    return {name: np.array(value) for name, value in vectors_.items()}


def _elsewhere(*args: Any, **options: Any) -> Any:
    raise EmpiricsError("a method that asks for gradients at other models is not played")


def _work(
    made: Algorithm, state: State, cohort: Sequence[int], total: int, shares: Any, steps: int, size: Any, kind: Kind,
    layers: Mapping[str, slice] | None,
) -> Work:  # fmt: skip
    """The round of a cohort, in which a client may be named more than once."""
    clients: Any = np.arange(total) if made.everyone else np.array(sorted(set(cohort)))
    counts = kind.array([list(cohort).count(k) for k in clients.tolist()])
    weights = counts if shares is None or len(set(cohort)) < len(cohort) else counts * shares[clients]
    starts = vectors(np.broadcast_to(made.start(state, clients), (len(clients), len(state.model))))
    return Work(
        state=state, clients=clients, rows=clients, counts=vectors(counts), weights=vectors(weights / weights.sum()),
        steps=np.full(len(clients), steps), step_size=size, total=total, seed=0, starts=starts,
        layers=layers or {"model": slice(0, len(state.model))}, sizes=np.array([size] * steps), recalled={},
        shares=None if shares is None else vectors(shares[clients]),
    )  # fmt: skip
