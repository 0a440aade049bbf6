"""Mean and covariance of everything an algorithm remembers, round by round, with no sampling anywhere.

A round maps the joint state affinely, given its cohort; the noise is independent of the state. So mean and covariance
after the round follow from those before it, and over cohorts by the laws of total mean and total covariance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.quadratics import QuadraticFederation, Quadratics
from ..sizes import NUMBER, refuse_beyond_memory
from ..training.rounds import shares
from ..training.setting import Setting
from .averages import average_gap
from .cohorts import Cohort, cohorts, LIMIT
from .limits import limit_of, period_of
from .maps import Key, Player, RoundMap
from .readings import along_round, at_server, of_round, over_steps
from .spread import root, Spread

Array = np.ndarray[Any, Any]


class Moments(NamedTuple):
    """Mean ``(n,)`` and covariance ``(n, n)`` of the joint state."""

    mean: Array
    covariance: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Exact expectations of a run; names are vocabulary words.

    ``server[name]`` has one entry per server model, before the first round and after every one; ``rounds[name]`` one
    per round; ``along[r]`` holds readings of round r after 0 to K local steps of all clients, at their weighted average
    (``consensus_distance`` by layer). Readings over "all clients" let the absent ones train as if they had been drawn.
    """

    server: dict[str, Array]
    rounds: dict[str, Array]
    along: list[dict[str, Any]]
    means: Array
    run: ExactRun | None = None

    def iterations(self, name: str) -> Array:
        """A reading at the virtual average of all clients, over all local iterations.

        Entry t is after t local steps counted over all rounds: when t opens a round, at the average of the clients'
        starts (the server model, where clients start there); the last entry is at the last server model.
        """
        if name == "consensus_distance":  # by layer; at the end all hold the server's model
            return np.concatenate([*(at[name]["model"][:-1] for at in self.along), np.zeros(1)])
        steps = [at[name][:-1] for at in self.along]
        return np.concatenate([*steps, self.server[name][-1:]])

    def average_gap(self, weights: Weights | None = None) -> float:
        """The loss gap at the mean of the virtual averages before every local step: found when it is asked for."""
        assert self.run is not None
        return average_gap(self.run, weights)


@dataclass(frozen=True, eq=False)
class ExactRun:
    """A run of ``algorithm`` on ``problem`` under ``setting``, to be followed exactly.

    Every cohort is enumerated, at most ``limit``. Algorithms must be affine in state and noise, with a step schedule
    fixed in advance; ``NotAffineError`` otherwise.
    """

    problem: Quadratics
    algorithm: Algorithm
    setting: Setting
    limit: int = LIMIT
    _maps: dict[Any, RoundMap] = field(default_factory=dict, repr=False)
    _kinds: dict[int, tuple[Any, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def player(self) -> Player:
        return Player(self.problem, self.algorithm, self.setting)

    @cached_property
    def cohorts(self) -> tuple[Cohort, ...]:
        weights = shares(self.setting, QuadraticFederation(self.problem))
        return cohorts(self.setting, weights, self.limit)

    @cached_property
    def _all(self) -> Key:
        return tuple(range(self.problem.clients)), (1,) * self.problem.clients

    def kind(self, round_: int) -> tuple[Any, ...]:
        """Rounds of the same kind have the same maps."""
        if round_ not in self._kinds:
            keys = dict.fromkeys((self._all, (self.cohorts[0].clients, self.cohorts[0].counts)))
            self._kinds[round_] = self.player.fingerprint(round_, tuple(keys))
        return self._kinds[round_]

    def round_map(self, round_: int, key: Key, kind: tuple[Any, ...]) -> RoundMap:
        if (kind, key) not in self._maps:
            self._maps[kind, key] = self.player.round_map(round_, key)
        return self._maps[kind, key]

    def _drawn(self, round_: int, kind: tuple[Any, ...]) -> list[tuple[Cohort, RoundMap]]:
        return [(c, self.round_map(round_, (c.clients, c.counts), kind)) for c in self.cohorts]

    # ---- the recursion ----

    def moments(self) -> Iterator[Moments]:
        """Mean and covariance of the joint state before the first round and after every round."""
        _ = self.cohorts  # too many are refused before anything is computed
        mean = self.player.begin()
        what = f"the covariance of {len(mean)} numbers that clients and server remember"
        refuse_beyond_memory(NUMBER * len(mean) ** 2, what, "take fewer clients or parameters")
        now = Moments(mean, np.zeros((len(mean), len(mean))))
        yield now
        for round_ in range(self.setting.rounds):
            now = _step(now, self._drawn(round_, self.kind(round_)))
            yield now

    def run(self) -> Trajectory:
        """All readings of all rounds."""
        server, rounds, along, means = [], [], [], []
        layout = self.player.layout
        for round_, now in enumerate(self.moments()):
            state = Spread(now.mean, root(now.covariance))
            model, last = (self._part(state, part) for part in ("model", "last"))
            server.append(at_server(self.problem, model, last))
            means.append(now.mean[layout.part("model")])
            if round_ < self.setting.rounds:
                kind = self.kind(round_)
                whole = self.round_map(round_, self._all, kind)
                path = _path(state, whole)
                steps, step_size = self.player.plan(round_)
                own = {"local_steps": steps, "step_size": step_size}
                moved = self._moved(state, self._drawn(round_, kind))
                rounds.append({**own, **of_round(self.problem, path, model.among(len(path.columns))), **moved})
                along.append(along_round(self.problem, path))
                rounds[-1] |= over_steps(along[-1])
        read = _columns(server)
        told = {**_columns(rounds), "loss_change": np.diff(read["optimality_gap"])}
        return Trajectory(read, told, along, np.stack(means), self)

    def _part(self, state: Spread, part: str) -> Spread:
        """The server model ``(d,)`` or the last local models ``(C, d)`` of a joint state."""
        where = self.player.layout.part(part)
        shape = (self.problem.dim,) if part == "model" else self.problem.minima.shape
        return state.map(lambda z: z[..., where].reshape(*z.shape[:-1], *shape))

    def _moved(self, state: Spread, drawn: list[tuple[Cohort, RoundMap]]) -> dict[str, Array]:
        """Readings that depend on who was drawn: the server's step, and the drawn clients' distance to its end."""
        before = self._part(state, "model")
        step, apart = np.zeros(()), np.zeros(())
        for cohort, found in drawn:
            after = _after(state, found)
            model, last = self._part(after, "model"), self._part(after, "last")
            old = before.among(len(model.columns))
            step = step + cohort.probability * Spread(model.mean - old.mean, model.columns - old.columns).square()
            away = Spread(last.mean - model.mean, last.columns - model.columns[:, None, :]).square()
            counts = np.array(cohort.counts) / sum(cohort.counts)
            apart = apart + cohort.probability * (counts @ away[list(cohort.clients)])
        return {"global_step": step, "active_divergence": apart}

    # ---- where the mean goes ----

    def limit_mean(self) -> Array:
        """The limit of the expected server model, if the rounds repeat: after the last round of a period.

        The period is read off the setting's rounds. Refuses schedules that do not repeat and means that do not settle.
        """
        kinds = [self.kind(r) for r in range(self.setting.rounds)]
        period = period_of(kinds)
        whole, constant = np.eye(self.player.layout.size), np.zeros(self.player.layout.size)
        for round_ in range(self.setting.rounds - period, self.setting.rounds):
            drawn = self._drawn(round_, kinds[round_])
            linear = sum(c.probability * found.linear for c, found in drawn)
            whole = linear @ whole
            constant = linear @ constant + sum(c.probability * found.constant for c, found in drawn)
        *_, last = self.moments()
        return limit_of(whole, constant, last.mean)[self.player.layout.part("model")]


def _step(now: Moments, drawn: list[tuple[Cohort, RoundMap]]) -> Moments:
    """Mean and covariance one round later, by total mean and total covariance over the cohorts."""
    ends = [found.constant + found.linear @ now.mean for _, found in drawn]
    mean = sum((c.probability * end for (c, _), end in zip(drawn, ends, strict=True)), np.zeros_like(now.mean))
    covariance = np.zeros_like(now.covariance)
    for (cohort, found), end in zip(drawn, ends, strict=True):
        inside = found.linear @ now.covariance @ found.linear.T + found.noisy @ found.noisy.T
        between = np.outer(end - mean, end - mean) if len(drawn) > 1 else 0.0
        covariance += cohort.probability * (inside + between)
    if not np.isfinite(covariance).all() or not np.isfinite(mean).all():
        raise EmpiricsError("the moments left the finite numbers: the step size is too large for these losses")
    return Moments(mean, (covariance + covariance.T) / 2)


def _after(state: Spread, found: RoundMap) -> Spread:
    """The next joint state given the cohort of a map: columns of the state, then of the round's noise."""
    columns = np.concatenate([state.columns @ found.linear.T, found.noisy.T])
    return Spread(found.constant + found.linear @ state.mean, columns)


def _path(state: Spread, found: RoundMap) -> Spread:
    """The local models of a round; the columns begin with those of the state, then come those of the noise."""
    mean = found.path + np.tensordot(state.mean, found.path_linear, 1)
    return Spread(mean, np.concatenate([np.tensordot(state.columns, found.path_linear, 1), found.path_noisy]))


def _columns(rows: list[dict[str, Any]]) -> dict[str, Array]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
