"""The affine map of one round, found by playing the algorithm's own hooks on a zero state, unit states and unit noises.

No algorithm is written twice: what is played is ``train.play`` with the engine's own local loop, the cohort and the
noise given instead of drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from ..algorithms.algorithm import Algorithm, Work
from ..algorithms.state import State
from ..errors import EmpiricsError
from ..federation.federation import Minibatches, Source
from ..models.model import Batch, Trainable
from ..problems.quadratics import QuadraticFederation, QuadraticModel, Quadratics
from ..problems.quadratics.training import QuadraticBatches
from ..training.engines.stacked import descend
from ..training.rounds import plan, play
from ..training.setting import Setting
from .layout import Layout

Array = np.ndarray[Any, Any]
Key = tuple[tuple[int, ...], tuple[int, ...]]

PROBES = (1e-2, 1e-2, 1.0, 1.0, 30.0, 1e4)
"""Distances from the optimum of the random points at which affinity is checked: kinks show at one or the other."""
AFFINE = 1e-9


class NotAffineError(EmpiricsError):
    """A round of the algorithm is no affine map of its state and noise, so its moments do not close."""


class Played(NamedTuple):
    """What a round made of a state: the next state's vector, and the local models ``(rows, steps + 1, dim)``."""

    after: Array
    path: Array


class RoundMap(NamedTuple):
    """``after = constant + linear @ before + noisy @ normals`` and the same for the local models of the round.

    ``normals`` are independent standard normals: the noise of every client, step and direction, whitened. Path arrays
    have shape (inputs, rows, steps + 1, dim), so that reading a path never needs flat indices.
    """

    constant: Array
    linear: Array
    noisy: Array
    path: Array
    path_linear: Array
    path_noisy: Array


class _Watched:
    """Batches that copy the local models whenever a step begins."""

    def __init__(self, batches: Minibatches, models: Tensor, path: list[Array]) -> None:
        self.batches, self.models, self.path = batches, models, path

    def at(self, active: int, step: int) -> Batch:
        self.path.append(self.models.numpy().copy())
        return self.batches.at(active, step)

    def part(self, chosen: slice) -> _Watched:
        return _Watched(self.batches.part(chosen), self.models[chosen], self.path)


@dataclass(eq=False)
class Tracing:
    """An engine that runs the stacked local loop and keeps the local models before, between and after the steps.

    Of a method with two pieces of local work a round it keeps the first. ``forget`` it between rounds.
    """

    path: list[Array] = field(default_factory=list)

    def forget(self) -> None:
        self.path = []

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        batches = federation.draw(work.seed, work.state.round, work.clients, work.steps, setting.batch)
        ends, path = work.starts.clone(), list[Array]()
        first = descend(model, algorithm, setting, work, ends, _Watched(batches, ends, path))
        self.path = self.path or [*path, ends.numpy().copy()]
        return ends, first

    @property
    def models(self) -> Array:
        """The local models ``(rows, steps + 1, dim)`` of the last round."""
        return np.stack(self.path, axis=1)


@dataclass(frozen=True, eq=False)
class _GivenNoise(QuadraticFederation):
    """A federation whose noise ``(C, steps, d)`` is given."""

    given: Array | None = None

    def draw(self, seed: int, round_: int, clients: Array, steps: Array, batch: int) -> QuadraticBatches:
        assert self.given is not None
        return self.batches(clients, self.given[clients, : int(steps.max())])


@dataclass(frozen=True, eq=False)
class Player:
    """Plays single rounds of one algorithm on one problem under one setting, cohort and noise given."""

    problem: Quadratics
    algorithm: Algorithm
    setting: Setting

    def __post_init__(self) -> None:
        if self.algorithm.steps.needs_loss:
            raise NotAffineError(
                f"{self.algorithm} sets its steps by random losses; exact moments need them fixed in advance"
            )
        if self.algorithm.needs_labels:
            raise NotAffineError(f"{self.algorithm} looks at class numbers, which quadratics have not")
        self.setting.refuse_epochs("quadratics have no samples to pass over")

    @cached_property
    def model(self) -> QuadraticModel:
        return QuadraticModel(self.problem)

    @cached_property
    def layout(self) -> Layout:
        quiet = _GivenNoise(self.problem, given=self._quiet(self.plan(0)[0]))
        later = self._play(self._first(), self._all, quiet, Tracing())
        return Layout.of((self._first(), later), self.problem.clients)

    @cached_property
    def _all(self) -> Key:
        return tuple(range(self.problem.clients)), (1,) * self.problem.clients

    def _first(self) -> State:
        return self.algorithm.begin(self.model.start(0), self.problem.clients)

    def begin(self) -> Array:
        """The vector of the state before the first round."""
        return self.layout.vector(self._first(), np.tile(self.problem.start, (self.problem.clients, 1)))

    def plan(self, round_: int) -> tuple[int, float]:
        """Local steps and step size of a round, as the training loop plans them."""
        federation = QuadraticFederation(self.problem)
        state = self._first()._replace(round=round_)
        work = plan(self.model, federation, self.algorithm, self.setting, 0, state, _drawn(self._all))
        return int(work.steps.max()), float(work.step_size)

    def _play(self, state: State, key: Key, federation: QuadraticFederation, engine: Tracing) -> State:
        return play(self.model, federation, self.algorithm, self.setting, 0, engine, state, cohort=_drawn(key))

    def play(self, before: Array, round_: int, key: Key, noise: Array) -> Played:
        """One round from the vector ``before``, with the noise ``(C, steps, d)`` of all clients."""
        engine = Tracing()
        federation = _GivenNoise(self.problem, given=noise)
        after = self._play(self.layout.state(before, round_), key, federation, engine)
        last = before[self.layout.part("last")].reshape(self.problem.clients, -1).copy()
        last[self.working(key[0])] = engine.path[-1]
        return Played(self.layout.vector(after, last), engine.models)

    def working(self, clients: tuple[int, ...]) -> list[int]:
        """The clients that train in a round that draws ``clients``."""
        return list(range(self.problem.clients)) if self.algorithm.everyone else list(clients)

    # ---- the map ----

    def round_map(self, round_: int, key: Key) -> RoundMap:
        """The affine map of a round; refuses an algorithm whose round is none."""
        size, steps = self.layout.size, self.plan(round_)[0]
        quiet = self._quiet(steps)
        zero = self.play(np.zeros(size), round_, key, quiet)
        linear = [_less(self.play(unit, round_, key, quiet), zero) for unit in np.eye(size)]
        noisy = [_less(self.play(np.zeros(size), round_, key, n), zero) for n in self._unit_noises(steps, key[0])]
        found = RoundMap(
            zero.after,
            np.stack([one.after for one in linear], axis=1),
            np.stack([one.after for one in noisy], axis=1) if noisy else np.zeros((size, 0)),
            zero.path,
            np.stack([one.path for one in linear]),
            np.stack([one.path for one in noisy]) if noisy else np.zeros((0, *zero.path.shape)),
        )
        self._check(found, round_, key, steps)
        return found

    def _unit_noises(self, steps: int, clients: tuple[int, ...]) -> list[Array]:
        """Noises of all clients ``(C, steps, d)`` that are one column of one working client's root in one step."""
        units = []
        for client in self.working(clients):
            for direction in self.problem.noise_roots[client].T:
                if np.any(direction):
                    for step in range(steps):
                        unit = self._quiet(steps)
                        unit[client, step] = direction
                        units.append(unit)
        return units

    def probe(self, round_: int, key: Key, size: float = 1.0, number: int = 0) -> tuple[Array, Array, Played]:
        """A round played at a generic point at this distance from the optimum: state, whitened noise, outcome."""
        steps = self.plan(round_)[0]
        units = self._unit_noises(steps, key[0])
        draws = np.random.default_rng((2023, number))
        before = size * draws.standard_normal(self.layout.size)
        before[self.layout.part("model")] += self.problem.minimiser
        normals = size * draws.standard_normal(len(units))
        noise = np.tensordot(normals, np.stack(units), 1) if units else self._quiet(steps)
        return before, normals, self.play(before, round_, key, noise)

    def _quiet(self, steps: int) -> Array:
        return np.zeros((self.problem.clients, steps, self.problem.dim))

    def _check(self, found: RoundMap, round_: int, key: Key, steps: int) -> None:
        for number, size in enumerate(PROBES):
            before, normals, played = self.probe(round_, key, size, number)
            after = found.constant + found.linear @ before + found.noisy @ normals
            path = found.path + np.tensordot(before, found.path_linear, 1) + np.tensordot(normals, found.path_noisy, 1)
            off = max(np.abs(after - played.after).max(), np.abs(path - played.path).max())
            scale = 1 + max(np.abs(played.after).max(), np.abs(played.path).max(), np.abs(before).max())
            if not off <= AFFINE * scale:
                raise NotAffineError(
                    f"{self.algorithm} is no affine map of its state and noise: off by {off:.2g} at a random point of "
                    f"size {size:g}; exact moments cover affine methods only, sample it instead"
                )

    def fingerprint(self, round_: int, keys: tuple[Key, ...]) -> tuple[Any, ...]:
        """Tells rounds apart that play differently, by what they make of one generic point (bit for bit)."""
        seen = (self.probe(round_, key)[2] for key in keys)
        return (*self.plan(round_), *((p.after.tobytes(), p.path.tobytes()) for p in seen))


def _less(one: Played, other: Played) -> Played:
    return Played(one.after - other.after, one.path - other.path)


def _drawn(key: Key) -> tuple[Array, Array]:
    return np.array(key[0]), np.array(key[1], dtype=float)
