"""Moments of any affine method by its own hooks, at any number of clients that are alike in groups.

The numbers that one client's memory, noise or minimum puts into a round are the same for all clients of a group, so
that a few plays at the actual size tell them: of a participant of every group and of an absent client. No cohort is
listed, and a round of moments costs the same however many clients there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.quadratics import QuadraticFederation, Quadratics
from ..training.rounds import shares
from ..training.setting import Setting
from .alike import AlikeRound, Work
from .draws import draw
from .maps import AFFINE, Key, NotAffineError, Player, PROBES
from .readings import metric_of

Array = np.ndarray[Any, Any]


class Paths(NamedTuple):
    """Local models ``(G, K+1, d)`` of a participant: by the server's numbers, by its own memory, by noise."""

    by_x: Array
    by_y: Array
    by_noise: list[Array]


@dataclass(frozen=True, eq=False)
class GroupRun:
    """A run whose clients are alike in groups: those with the same losses, noise and weight.

    Cohorts are all clients or drawn without replacement; whoever rests neither reaches the server nor another client.
    """

    problem: Quadratics
    algorithm: Algorithm
    setting: Setting

    def __post_init__(self) -> None:
        if self.setting.sampling != "without_replacement":
            raise EmpiricsError(f"groups of clients are drawn without replacement; got {self.setting.sampling}")
        self.setting.check_cohort(self.problem.clients)

    @cached_property
    def player(self) -> Player:
        return Player(self.problem, self.algorithm, self.setting)

    @cached_property
    def members(self) -> list[Array]:
        """The clients of every group."""
        p = self.problem
        told = [
            (p.curvatures[k].tobytes(), p.minima[k].tobytes(), p.noise_roots[k].tobytes(), p.weights[k])
            for k in range(p.clients)
        ]
        kinds = list(dict.fromkeys(told))
        return [np.array([k for k, mine in enumerate(told) if mine == kind]) for kind in kinds]

    @cached_property
    def sizes(self) -> Array:
        return np.array([float(len(group)) for group in self.members])

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """Where the server's numbers lie in the flat vector, and every client's ``(C, q)``."""
        server, own, begin = [], [], 0
        for kind, _, shape in self.player.layout.parts:
            size = int(np.prod(shape))
            where = np.arange(begin, begin + size)
            if kind in ("last", "memory"):
                own.append(where.reshape(self.problem.clients, -1))
            else:
                server.append(where)
            begin += size
        return np.concatenate(server), np.concatenate(own, axis=1)

    # ---- the coefficients of a round ----

    def _cohort(self, first: Array) -> Key:
        """A cohort of those that are named first, as far as they go, and of the others in turn."""
        rest = [k for k in range(self.problem.clients) if k not in set(first.tolist())]
        chosen = sorted([*first.tolist(), *rest][: self.setting.cohort])
        return tuple(chosen), (1,) * len(chosen)

    @cached_property
    def keys(self) -> list[Key]:
        """For every group a cohort that has as many of it as there can be, and one that has as few."""
        groups = [np.roll(np.arange(self.problem.clients), -int(group[0])) for group in self.members]
        others = [every[~np.isin(every, g)] for g, every in zip(self.members, groups, strict=True)]
        most = [self._cohort(np.concatenate(pair)) for pair in zip(self.members, others, strict=True)]
        return [*most, *(self._cohort(other) for other in others)]

    def _pick(self, g: int, takes_part: bool) -> tuple[Key, int] | None:
        """A cohort and a client of the group that is in it, or is not."""
        for key in self.keys:
            for client in self.members[g]:
                if (int(client) in key[0]) == takes_part:
                    return key, int(client)
        return None

    def coefficients(self, round_: int) -> tuple[AlikeRound, Paths]:
        """A round as it maps moments, and the local models of its participants."""
        server, own = self.places
        p, q, groups = len(server) + 1, own.shape[1], len(self.members)
        steps, size = self.player.plan(round_)[0], self.player.layout.size
        quiet = np.zeros((self.problem.clients, steps, self.problem.dim))
        weight = shares(self.setting, QuadraticFederation(self.problem))
        everybody = self.setting.cohort == self.problem.clients

        def play(key: Key, unit: int | None = None, noise: Array | None = None) -> tuple[Array, Array]:
            before = np.zeros(size)
            if unit is not None:
                before[unit] = 1
            played = self.player.play(before, round_, key, quiet if noise is None else noise)
            return played.after, played.path

        zero = {key: play(key) for key in self.keys}
        units = {key: [play(key, int(i)) for i in server] for key in self.keys}

        def by_x(key: Key, of: Any) -> Array:
            """A part of what is played as a map of the server's numbers, the last axis."""
            base = of(zero[key])
            return np.stack([base, *(of(one) - base for one in units[key])], axis=-1)

        # What the server makes of (1, x) is a mean over the groups in the cohort: solve for every group's part.
        mixed = np.stack([[sum(weight[k] if everybody else 1 / len(key[0]) for k in key[0] if k in set(g.tolist()))
                           for g in self.members] for key in self.keys])  # fmt: skip
        seen = np.stack([by_x(key, lambda one: one[0][server]).ravel() for key in self.keys])
        solved, *_ = np.linalg.lstsq(mixed, seen, rcond=None)
        sent_x = solved.reshape(groups, p - 1, p)
        sent_y, here_x, here_y = np.zeros((groups, p - 1, q)), np.zeros((groups, q, p)), np.zeros((groups, q, q))
        gone_x, gone_y = np.zeros((groups, q, p)), np.tile(np.eye(q), (groups, 1, 1))
        noise, idle = np.zeros((groups, p - 1 + q, p - 1 + q)), np.zeros((groups, q, q))
        paths: list[Any] = []
        for g in range(groups):
            found = self._pick(g, True)
            assert found is not None
            key, client = found
            row, share = self.player.working(key[0]).index(client), weight[client] if everybody else 1 / len(key[0])
            here_x[g] = by_x(key, lambda one, c=client: one[0][own[c]])
            path_x = by_x(key, lambda one, r=row: one[1][r])
            moved = [self._moved(play(key, int(i)), zero[key], client, row, share) for i in own[client]]
            chance = [
                self._moved(play(key, None, n), zero[key], client, row, share) for n in self._noises(client, quiet)
            ]
            sent_y[g] = np.stack([m[0] for m in moved], axis=-1)
            here_y[g] = np.stack([m[1] for m in moved], axis=-1)
            columns = np.array([np.concatenate([m[0], m[1]]) for m in chance]).reshape(len(chance), p - 1 + q)
            noise[g] = columns.T @ columns
            paths.append((path_x, np.stack([m[2] for m in moved], axis=-1), [m[2] for m in chance]))
            if (absent := self._pick(g, False)) is not None:
                key, client = absent
                gone_x[g] = by_x(key, lambda one, c=client: one[0][own[c]])
                rests = [play(key, int(i))[0] - zero[key][0] for i in own[client]]
                gone_y[g] = np.stack([r[own[client]] for r in rests], axis=-1)
                if max(np.abs(r[server]).max() for r in rests) > AFFINE:
                    raise EmpiricsError(f"{self.algorithm}: what absent clients remember reaches the server")
                turned = [play(key, None, n)[0] - zero[key][0] for n in self._noises(client, quiet)]
                idle[g] = sum((np.outer(t[own[client]], t[own[client]]) for t in turned), np.zeros((q, q)))
        first = np.zeros((p, p))
        first[0, 0] = 1
        work = Work(sent_x, sent_y, here_x, here_y, gone_x, gone_y, noise, idle, first, np.eye(p, p - 1, -1))
        each = np.array([weight[group[0]] for group in self.members])
        played = AlikeRound(work, draw(self.setting, self.sizes, each), self.sizes)
        self._check(work, round_)
        by_noise = [np.array(path[2]).reshape(-1, steps + 1, self.problem.dim) for path in paths]
        return played, Paths(np.stack([x for x, _, _ in paths]), np.stack([y for _, y, _ in paths]), by_noise)

    def _moved(
        self, played: tuple[Array, Array], zero: tuple[Array, Array], client: int, row: int, share: float
    ) -> tuple[Array, Array, Array]:
        """What a participant's unit changes: of what it sends, of its memory, of its local models."""
        server, own = self.places
        change, path = played[0] - zero[0], played[1] - zero[1]
        others = np.delete(np.arange(self.problem.clients), client)
        if others.size and np.abs(change[own[others]]).max() > AFFINE:
            raise EmpiricsError(f"{self.algorithm}: what one client remembers reaches another in the same round")
        return change[server] / share, change[own[client]], path[row]

    def _noises(self, client: int, quiet: Array) -> list[Array]:
        """Noises of all clients that are one column of this client's root in one step."""
        found = []
        for direction in self.problem.noise_roots[client].T:
            for step in range(quiet.shape[1]) if np.any(direction) else ():
                unit = quiet.copy()
                unit[client, step] = direction
                found.append(unit)
        return found

    def _check(self, work: Work, round_: int) -> None:
        """Refuse a round that is another one at generic points than its coefficients say."""
        server, own = self.places
        group = np.empty(self.problem.clients, dtype=int)
        for g, members in enumerate(self.members):
            group[members] = g
        everybody = self.setting.cohort == self.problem.clients
        weight = shares(self.setting, QuadraticFederation(self.problem))
        quiet = np.zeros((self.problem.clients, self.player.plan(round_)[0], self.problem.dim))
        for key in self.keys[:1] + self.keys[-1:]:
            for number, size in enumerate(PROBES):
                draws = np.random.default_rng((7, number))
                before = size * draws.standard_normal(self.player.layout.size)
                played = self.player.play(before, round_, key, quiet).after
                x, wanted = np.concatenate([[1.0], before[server]]), np.zeros(len(server))
                for k in range(self.problem.clients):
                    g, y = group[k], before[own[k]]
                    here = k in key[0]
                    by_x, by_y = (work.here_x, work.here_y) if here else (work.gone_x, work.gone_y)
                    off = np.abs(by_x[g] @ x + by_y[g] @ y - played[own[k]]).max()
                    if here:
                        share = weight[k] if everybody else 1 / len(key[0])
                        wanted += share * (work.sent_x[g] @ x + work.sent_y[g] @ y)
                    if not off <= AFFINE * (1 + np.abs(before).max() + np.abs(played).max()):
                        raise NotAffineError(f"{self.algorithm} is no affine map of its state; sample it instead")
                if not np.abs(wanted - played[server]).max() <= AFFINE * (1 + np.abs(before).max()):
                    raise NotAffineError(f"{self.algorithm} is no affine map of its state; sample it instead")

    # ---- the run ----

    def run(self) -> GroupReadings:
        """All states and the rounds between them; rounds that play alike are extracted once."""
        server, own = self.places
        first = self.player.begin()
        u = np.concatenate([[1.0], first[server], *(first[own[group[0]]] for group in self.members)])
        q, groups = own.shape[1], len(self.members)
        known: dict[Any, tuple[AlikeRound, Paths]] = {}
        rounds: list[tuple[AlikeRound, Paths]] = []
        states: list[Array] = []
        for round_ in range(self.setting.rounds):
            kind = self.player.fingerprint(round_, tuple(self.keys))
            rounds.append(known[kind] if kind in known else known.setdefault(kind, self.coefficients(round_)))
            if not states:
                states.append(rounds[0][0].flat(np.outer(u, u), np.zeros((groups, q, q))))
            matrix, constant = rounds[-1][0].affine
            states.append(matrix @ states[-1] + constant)
        return GroupReadings(self, rounds, np.stack(states))


@dataclass(frozen=True, eq=False)
class GroupReadings:
    """What a run of groups says in the vocabulary's words."""

    of: GroupRun
    played: list[tuple[AlikeRound, Paths]]
    states: Array

    def _form(self, maps: Array, dev: Array | None = None) -> Array:
        """``E ||map||^2`` of maps of u ``(G or 1, ..., d, n)`` and, per group, of dev ``(G, ..., d, q)``."""
        round_ = self.played[0][0]
        groups, q, _, _ = round_.shape
        spread = np.zeros((*maps.shape[:-2], groups, q, q))
        if dev is not None:
            for g in range(groups):
                spread[g, ..., g, :, :] = np.einsum("...dn,...dm->...nm", dev[g], dev[g])
        return round_.form(np.einsum("...dn,...dm->...nm", maps, maps), spread)

    @cached_property
    def _model(self) -> Array:
        d, n = self.of.problem.dim, self.played[0][0].shape[2]
        return np.eye(d, n, 1)

    def _whole(self, by_x: Array, by_y: Array) -> Array:
        """Maps of x and of a group's memory as maps of u ``(G, ..., d, n)``."""
        round_ = self.played[0][0]
        groups, q, n, _ = round_.shape
        found = np.zeros((*by_x.shape[:-1], n))
        found[..., : n - groups * q] = by_x
        for g in range(groups):
            begin = n - (groups - g) * q
            found[g, ..., begin : begin + q] += by_y[g]
        return found

    @property
    def _representatives(self) -> tuple[Array, Array]:
        p = self.of.problem
        first = [int(group[0]) for group in self.of.members]
        return p.curvatures[first], p.minima[first]

    def _square(self, states: Array, maps: Array, added: Any = 0.0, dev: Array | None = None) -> Array:
        return np.maximum(np.tensordot(states, self._form(maps, dev), axes=(-1, -1)), 0.0) + added

    @cached_property
    def server(self) -> Mapping[str, Array]:
        """Before the first round and after every one."""
        p, model = self.of.problem, self._model
        away = model.copy()
        away[:, 0] -= p.minimiser
        curvatures, minima = self._representatives
        towards = np.repeat(model[None], len(minima), axis=0)
        towards[:, :, 0] -= minima
        d, (groups, q, _, _) = p.dim, self.played[0][0].shape
        last = np.tile(np.eye(d, q), (groups, 1, 1))
        apart = self._whole(np.zeros((groups, d, 1 + len(self.of.places[0]))), last) - model
        counted = self.of.sizes / self.of.sizes.sum()
        clients = self._square(self.states, np.einsum("gde,gen->gdn", curvatures, towards))
        weights = np.array([p.weights[group].sum() for group in self.of.members])
        root = np.linalg.cholesky(p.curvature).T
        return {
            "grad_norm_sq": self._square(self.states, p.curvature @ away),
            "optimality_gap": self._square(self.states, root @ away) / 2,
            "distance_sq": self._square(self.states, away),
            "mean_client_grad_sq": clients @ weights,
            "divergence": self._square(self.states, apart, dev=last) @ counted,
        }

    @cached_property
    def rounds(self) -> Mapping[str, Array]:
        """One entry per round."""
        counted = self.of.sizes / self.of.sizes.sum()
        drift, caps, moves = [], [], []
        curvatures, minima = self._representatives
        variance = np.array([self.of.problem.client_gradient_variance[group[0]] for group in self.of.members])
        for (round_, paths), state in zip(self.played, self.states[:-1], strict=True):
            whole = self._whole(paths.by_x, paths.by_y)
            noise = np.stack([(columns**2).sum((0, 2)) for columns in paths.by_noise])
            apart = self._square(state, whole - self._model, noise, paths.by_y)
            drift.append(counted @ apart[:, :-1].sum(1))
            whole = whole.copy()
            whole[..., 0] -= minima[:, None]
            slopes = [np.einsum("de,kje->kjd", h, c) for h, c in zip(curvatures, paths.by_noise, strict=True)]
            steep = np.stack([(columns**2).sum((0, 2)) for columns in slopes]) + variance[:, None]
            turned = [np.einsum("gde,gje...->gjd...", curvatures, x) for x in (whole, paths.by_y)]
            caps.append(self._square(state, turned[0], steep, turned[1])[:, :-1].max())
            s, v = round_.blocks(state)
            spread = (round_.chance(s, v) + round_.added)[: self.of.problem.dim, : self.of.problem.dim]
            moves.append(self._square(state, round_.sent[: self.of.problem.dim] - self._model) + np.trace(spread))
        return {name: np.array(x) for name, x in
                (("local_drift", drift), ("grad_cap_sq", caps), ("global_step", moves))}  # fmt: skip

    def average_gap(self, weights: Weights | None = None) -> Any:
        """Moments of groups are those of one time: the other engines know averages over times."""
        raise EmpiricsError("groups of clients keep no moments across times: follow the average of iterates by moments")

    def iterations(self, name: str) -> Array:
        """A reading at the average of all clients before every local step; the last is at the last server model."""
        p = self.of.problem
        metric = metric_of(p.curvature, name)
        weights = np.array([p.weights[group].sum() for group in self.of.members])
        along = []
        for (_, paths), state in zip(self.played, self.states[:-1], strict=True):
            average = np.einsum("g,gjdn->jdn", weights, self._whole(paths.by_x, paths.by_y))
            average[..., 0] -= p.minimiser
            spread = sum(
                (((c @ metric) ** 2).sum((0, 2)) * w**2 / size)
                for c, w, size in zip(paths.by_noise, weights, self.of.sizes, strict=True)
            )
            along.append((self._square(state, metric @ average) + spread)[:-1])
        return np.concatenate([*along, self.server[name][-1:]])


def groups(problem: Quadratics, method: Algorithm, setting: Setting) -> GroupReadings:
    """By second moments of groups of clients that are alike: however many they are, no cohort is listed."""
    return GroupRun(problem, method, setting).run()
