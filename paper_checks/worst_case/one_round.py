"""One round of a method as a linear map: its own hooks, played on unit vectors instead of numbers.

What survives a round is the server model, the server's vectors and every client's memory. With clients that are alike a
round is two maps that do not meet: one of the means over clients, one of the deviations from them. The means move in
the space that a run reaches from its start (SCAFFOLD's server control is always the mean of the clients' controls), so
the state is reduced to that space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from empirics.algorithms.algorithm import Algorithm
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
from empirics.training.setting import Setting

from .symbolic_run import Array, counted, LINEAR, Members, Oracle, refuse

ROUNDS = (1, 2, 7)
"""Finished rounds before the rounds that must all be the same map."""
MOST_STEPS = 60
"""Local steps of a round: a program grows with their square."""


@dataclass(frozen=True)
class Cohort:
    """So many of all clients take part in a round, drawn without replacement."""

    cohort: int
    clients: int

    @property
    def spread(self) -> Fraction:
        """What the mean of a cohort adds to that of all, per mean squared deviation of a client."""
        if self.clients == 1:
            return Fraction(0)
        return (Fraction(1, self.cohort) - Fraction(1, self.clients)) * Fraction(self.clients, self.clients - 1)


@dataclass(frozen=True, eq=False)
class Renewed:
    """What a drawn client adds to the means, and by how much it moves what it keeps; a resting client keeps its own.

    ``ends (n, k + m)`` are deviations: what one drawn client adds to every mean, where ``share`` of them are drawn.
    ``means (k, n + m)`` and ``apart (k, k + m)`` are the changes of a drawn client's memory.
    """

    share: Any
    ends: Array
    means: Array
    apart: Array

    def arrays(self) -> tuple[Array, ...]:
        return self.ends, self.means, self.apart


@dataclass(frozen=True, eq=False)
class OneRound:
    """The maps of a round: rows over the state, then a client's gradients in the order asked.

    ``means`` and ``apart`` name the coordinates of the state (the first mean is the server model); ``mean_next`` and
    ``apart_next`` make the state after the round, ``mean_points (m, n)`` and ``apart_points`` the models at which
    gradients are asked. ``start`` is the state of means that a model of 1 begins with; deviations begin with 0.
    ``memory`` is what clients keep, also where nothing depends on it while all of them take part.
    """

    means: tuple[str, ...]
    apart: tuple[str, ...]
    start: Array
    mean_next: Array
    mean_points: Array
    apart_next: Array
    apart_points: Array
    memory: tuple[str, ...]
    renewed: Renewed | None = None
    """Of a cohort of clients that keep something: ``mean_next`` is then the mean over all draws."""

    @property
    def gradients(self) -> int:
        return len(self.mean_points)

    @property
    def begins_at_server(self) -> bool:
        """Whether every client's first gradient is asked at the server model."""
        first, other = self.mean_points[0], self.apart_points[0]
        return bool(abs(first[0] - 1) < LINEAR and np.abs(first[1:]).max(initial=0) < LINEAR
                    and np.abs(other).max(initial=0) < LINEAR)  # fmt: skip

    def needed(self) -> OneRound:
        """Without coordinates that no model and no gradient ever depends on."""
        means = _seen(self.mean_next, self.mean_points, [0])
        apart = _seen(self.apart_next, self.apart_points, [])
        n, k, m = len(self.means), len(self.apart), self.gradients
        mean_columns, apart_columns = [*means, *range(n, n + m)], [*apart, *range(k, k + m)]
        return OneRound(
            tuple(self.means[i] for i in means),
            tuple(self.apart[i] for i in apart),
            self.start[means],
            self.mean_next[np.ix_(means, mean_columns)],
            self.mean_points[:, mean_columns],
            self.apart_next[np.ix_(apart, apart_columns)],
            self.apart_points[:, apart_columns],
            self.memory,
        )

    def in_floats(self) -> OneRound:
        """The same round in floats."""
        r = self.renewed
        renewed = None if r is None else Renewed(float(r.share), *(a.astype(float) for a in r.arrays()))
        start, means, points, apart, away = (a.astype(float) for a in self.arrays())
        return OneRound(self.means, self.apart, start, means, points, apart, away, self.memory, renewed)

    def arrays(self) -> tuple[Array, ...]:
        return self.start, self.mean_next, self.mean_points, self.apart_next, self.apart_points


def one_round(algorithm: Algorithm, local_steps: int, step_size: float) -> OneRound:
    """The round of ``algorithm``, all clients taking part; one line on what is no such map."""
    if local_steps > MOST_STEPS:
        raise EmpiricsError(f"too large: rates are computed up to local_steps={MOST_STEPS}; got {local_steps}")
    found = [_Played(algorithm, clients, local_steps, step_size).reduced() for clients in (2, 3)]
    if not _same(*found):
        raise EmpiricsError(f"{algorithm}: its round depends on the number of clients: no rate is certified")
    return found[0]


def _same(one: OneRound, other: OneRound) -> bool:
    pairs = list(zip(one.arrays(), other.arrays(), strict=True))
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0) < LINEAR * (1 + np.abs(a).max(initial=0))
               for a, b in pairs)  # fmt: skip


class _Played:
    """A round of so many clients, over the columns of means (model, server vectors, memories, gradients), then those of
    deviations (memories, gradients).

    The first client deviates by 1 and the others by what makes the sum 0, so that its rows are both maps at once.
    """

    def __init__(self, algorithm: Algorithm, clients: int, local_steps: int, step_size: float) -> None:
        self.algorithm, self.clients = algorithm, clients
        self.deviations = torch.tensor([1.0, *[-1 / (clients - 1)] * (clients - 1)], dtype=torch.float64)[:, None]
        self.setting = Setting(rounds=9, cohort=clients, local_steps=local_steps, step_size=step_size)
        refuse(algorithm, self.setting)
        if algorithm.also is not None or algorithm.personal:
            raise EmpiricsError(f"{algorithm} trains models of the clients' own: no rate of the server model's error")
        begun = algorithm.begin(torch.zeros(1, dtype=torch.float64), clients)
        after, oracle = self._round(torch.zeros(1, 1, dtype=torch.float64), begun, 0)
        self.gradients = counted(oracle, algorithm)
        self.shared, self.own = tuple(after.server), tuple(after.memory)
        self.means = 1 + len(self.shared) + len(self.own)
        self.size = self.means + len(self.own) + 2 * self.gradients

    def _round(self, vectors: Tensor, state: State, gradients: int) -> tuple[State, Oracle]:
        oracle, members = Oracle(self.clients, vectors, gradients), Members(self.clients)
        everyone = np.arange(self.clients), np.ones(self.clients)
        model, federation = cast(Any, oracle), cast(Any, members)  # whose batches are questions
        after = play(model, federation, self.algorithm, self.setting, 0, Tracing(), state, cohort=everyone)
        return after, oracle

    def _state(self, columns: Tensor, round_: int) -> State:
        """Any state: the vectors ``(size, d)`` of all columns."""
        server = {name: columns[1 + i].clone() for i, name in enumerate(self.shared)}
        first, apart = 1 + len(self.shared), self.means + self.gradients
        memory = {name: columns[first + i] + self.deviations * columns[apart + i] for i, name in enumerate(self.own)}
        return State(round_, columns[0].clone(), memory, server)

    def _rows(self, columns: Tensor, state: State) -> dict[str, Array]:
        """What a round makes of a state: ``(clients, d)`` by name, and the models asked at ``(clients, m, d)``."""
        m = self.gradients
        mean, apart = columns[self.means : self.means + m], columns[self.size - m :]
        each = [mean + deviation * apart for deviation in self.deviations]
        after, oracle = self._round(torch.cat([columns[:1], *each]), state, m)
        server = {"model": after.model} | {f"server {k}": after.server[k] for k in self.shared}
        rows = {name: np.repeat(vector.numpy()[None], self.clients, 0) for name, vector in server.items()}
        rows |= {f"client {k}": after.memory[k].numpy().copy() for k in self.own}
        return rows | {"asked": oracle.questions}

    def reduced(self) -> OneRound:
        """The two maps, on the states that a run reaches."""
        unit = torch.eye(self.size, dtype=torch.float64)
        rows = self._rows(unit, self._state(unit, ROUNDS[0]))
        for round_ in ROUNDS[1:]:
            self._compare(rows, self._rows(unit, self._state(unit, round_)), "its rounds are not all alike")
        self._check_linear(rows)
        start = self._started(unit, rows)
        cut, m = self.means + self.gradients, self.gradients
        names = [name for name in rows if name != "asked"]
        held = names[1 + len(self.shared) :]
        mean, asked = np.array([rows[name][0][:cut] for name in names]), rows["asked"][0][:, :cut]
        other = np.array([rows[name][0][cut:] for name in held]).reshape(len(held), self.size - cut)
        kept, into = _reached(start, mean[:, :-m], mean[:, -m:])
        away, onto = _reached(np.zeros(len(held)), other[:, : len(held)], other[:, len(held) :])
        found = OneRound(
            tuple(names[i].removeprefix("client ").removeprefix("server ") for i in kept),
            tuple(held[i].removeprefix("client ") for i in away),
            start[kept],
            _onto(mean[kept], into, m),
            _onto(asked, into, m),
            _onto(other[away], onto, m),
            _onto(rows["asked"][0][:, cut:], onto, m),
            self.own,
        )
        self._check_moved(found, start[kept])
        return found.needed()

    def _started(self, unit: Tensor, rows: Mapping[str, Array]) -> Array:
        """What a run begins with per unit of the first model, in means; a first round like the others is checked."""
        begun = self.algorithm.begin(unit[0].clone(), self.clients)
        named = {"model": begun.model} | {f"server {k}": begun.server.get(k) for k in self.shared}
        start = [0.0 if x is None else float(x[0]) for x in named.values()]
        start += [float(begun.memory[k][0][0]) for k in self.own]
        first = self._rows(unit, begun._replace(memory={k: v.clone() for k, v in begun.memory.items()}))
        filled, m = np.eye(self.size), self.gradients
        filled[: self.means], filled[self.means + m : self.size - m] = 0.0, 0.0
        filled[: self.means, 0] = start
        self._compare({k: v @ filled for k, v in rows.items()}, first, "its first round is unlike the others")
        return np.array(start)

    def _compare(self, one: Mapping[str, Array], other: Mapping[str, Array], why: str) -> None:
        off = max(np.abs(one[k] - other[k]).max(initial=0) for k in one)
        if not off <= LINEAR * max(1.0, *(np.abs(x).max(initial=0) for x in one.values())):
            raise EmpiricsError(f"{self.algorithm}: {why} (off by {off:.2g}): no rate is certified")

    def _check_linear(self, rows: Mapping[str, Array]) -> None:
        draws = np.random.default_rng(2025)
        for scale in (1e-2, 1e3):
            vectors = torch.from_numpy(scale * draws.standard_normal((self.size, 3)))
            seen = self._rows(vectors, self._state(vectors, ROUNDS[0]))
            off = max(np.abs(seen[k] - rows[k] @ vectors.numpy()).max(initial=0) for k in rows)
            if not off <= LINEAR * scale * (1 + max(np.abs(x).max(initial=0) for x in rows.values())):
                raise EmpiricsError(
                    f"{self.algorithm} does not add and scale its gradients only (off by {off:.2g} at size {scale:g}): "
                    "a rate is certified for fixed-step first-order methods"
                )

    def _check_moved(self, found: OneRound, start: Array) -> None:
        """Refuse a round that knows where the origin is (weight decay)."""
        n = len(start)
        stays = np.abs(found.mean_next[:, :n] @ start - start).max()
        asks = np.abs(found.mean_points[:, :n] @ start - 1).max()
        if max(stays, asks) > LINEAR:
            raise EmpiricsError(f"{self.algorithm} pulls to the origin: its error has no rate on all smooth functions")


def _reached(start: Array, linear: Array, gradients: Array) -> tuple[list[int], Array]:
    """The coordinates that describe all states a run reaches, and all coordinates as sums of those ``(all, kept)``."""
    spanned = np.column_stack([start, gradients]) if len(start) else np.zeros((0, 1))
    for _ in range(len(start)):
        spanned = np.column_stack([spanned, linear @ spanned])
        spanned = spanned / np.maximum(np.abs(spanned).max(0), 1e-300)
    kept: list[int] = []
    for i in range(len(start)):
        if np.linalg.matrix_rank(spanned[[*kept, i]], tol=1e-8) > len(kept):
            kept.append(i)
    if not kept:
        return [], np.zeros((len(start), 0))
    into = np.linalg.lstsq(spanned[kept].T, spanned.T, rcond=None)[0].T
    into[np.abs(into - np.rint(into)) < LINEAR] = np.rint(into)[np.abs(into - np.rint(into)) < LINEAR]
    return kept, into


def _seen(after: Array, points: Array, looked_at: list[int]) -> list[int]:
    """The coordinates that sooner or later reach a point, or one of those looked at."""
    n = len(after)
    seen = {*looked_at, *(i for i in range(n) if np.abs(points[:, i]).max() > LINEAR)}
    while more := {j for i in seen for j in range(n) if abs(after[i, j]) > LINEAR} - seen:
        seen |= more
    return sorted(seen)


def _onto(rows: Array, into: Array, gradients: int) -> Array:
    """Rows over all coordinates and the gradients as rows over the kept coordinates and the gradients."""
    return np.column_stack([rows[:, : rows.shape[1] - gradients] @ into, rows[:, rows.shape[1] - gradients :]])
