"""One round of a method as a linear map: its own hooks, played on unit vectors.

What survives a round is the server model, the server's vectors and every client's memory. With identical clients a
round is two maps that do not meet: one of the means over clients, one of the deviations from them. The means move in
the space that a run reaches from its start (SCAFFOLD's server control is always the mean of the clients' controls), so
the state is reduced to that space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import NotAffineError, Player
from empirics.exact.numbers import vectors
from empirics.training.setting import Setting

from .methods import named, NoListing
from .symbolic_run import Array, LINEAR, refuse

ALIKE = ((1, 2), (2, 3), (5, 2))
"""Rounds, and numbers of clients, that must all be the same map."""
MOST_STEPS = 60
"""Local steps of a round: a program grows with their square."""
RENEWED = {"scaffold": ("control",), "fedinit": ("last",)}
"""Methods that have rates where some of the clients are drawn although they keep something, and what that is."""


@dataclass(frozen=True)
class Cohort:
    """``cohort`` of ``clients`` clients take part in a round, drawn without replacement."""

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


@dataclass(frozen=True, eq=False)
class OneRound:
    """The maps of a round: rows over the state, then a client's gradients in the order asked.

    ``means`` and ``apart`` name the coordinates of the state (the first mean is the server model); ``mean_next`` and
    ``apart_next`` make the state after the round, ``mean_points (m, n)`` and ``apart_points`` the models at which
    gradients are taken. ``start`` is the state of means that a model of 1 begins with; deviations begin with 0.
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
        """Whether every client's first gradient is taken at the server model."""
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


def one_round(algorithm: Algorithm, local_steps: int, step_size: float, cohort: Cohort | None = None) -> OneRound:
    """The round of ``algorithm``, all clients taking part or a ``cohort``; one line on what is no such map.

    Of a cohort of clients that keep something ``renewed`` is None where no proof is made of it.
    """
    if local_steps > MOST_STEPS:
        raise EmpiricsError(f"too large: rates are computed up to local_steps={MOST_STEPS}; got {local_steps}")
    setting = Setting(rounds=9, cohort=2, local_steps=local_steps, step_size=step_size)
    refuse(setting)
    if algorithm.also is not None or algorithm.personal:
        raise EmpiricsError(f"{algorithm} trains models of the clients' own: no rate of the server model's error")
    try:
        hooks = _Hooks(algorithm, setting)
        first, *later = [hooks.map(round_, clients, clients) for round_, clients in ((0, 2), *ALIKE)]
        hooks.check((0, 1, 2))
        renewed = cohort if cohort is not None and _renewed(algorithm, hooks.memory) else None
        if renewed is not None:
            hooks.check((0, 2))
        elif cohort is not None and not hooks.memory:
            hooks.check((0, 2))
            later.append(hooks.map(ALIKE[-1][0], 3, 2))
        of_cohort = hooks.map(ALIKE[-1][0], cohort.clients, cohort.cohort) if renewed and cohort else later[0]
    except (NotAffineError, StopIteration):
        raise EmpiricsError(
            f"{algorithm} does not add and scale its gradients only: a rate is certified for fixed-step first-order "
            "methods"
        ) from None
    if not _same(*([rows @ hooks.begin() for rows in found.rows] for found in (first, later[0]))):
        raise EmpiricsError(f"{algorithm}: its first round is unlike the others: no rate is certified")
    if not all(_same(later[0].means, other.means) and _same(later[0].aparts, other.aparts) for other in later):
        raise EmpiricsError(f"{algorithm}: its rounds differ, or depend on how many take part: no rate is certified")
    return _reduced(of_cohort, hooks, renewed)


def _renewed(algorithm: Algorithm, memory: Sequence[str]) -> bool:
    """Whether rates with cohorts are proved of clients that keep this."""
    try:
        kept = RENEWED.get(named(algorithm)[0])
    except NoListing:
        return False
    return kept == tuple(memory) and algorithm.combine == Average() and not algorithm.everyone


def _same(one: Sequence[Array], other: Sequence[Array]) -> bool:
    pairs = list(zip(one, other, strict=True))
    largest = max(np.abs(a).max(initial=1) for a, _ in pairs)
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0) < LINEAR * largest for a, b in pairs)


@dataclass(frozen=True, eq=False)
class _Map:
    """What the hooks make of unit vectors, ``rows`` of the server's vectors, a client's memory and its models.

    Columns: the server's vectors, then the memory and the gradients of this client, then of all others together.
    """

    rows: tuple[Array, Array, Array]
    server: int
    cohort: int

    @property
    def means(self) -> list[Array]:
        """Rows over the means."""
        S, w = self.server, (self.rows[0].shape[1] - self.server) // 2
        return [np.concatenate([rows[:, :S], rows[:, S : S + w] + rows[:, S + w :]], axis=1) for rows in self.rows]

    @property
    def aparts(self) -> list[Array]:
        """Rows over a client's deviations: of the server's vectors, what a single client adds to that of all drawn."""
        own, others = (np.split(rows[:, self.server :], 2, axis=1) for rows in self.rows), max(self.cohort - 1, 1)
        (ends, _), *rest = own
        return [self.cohort * ends, *(one - other / others for one, other in rest)]


class _Hooks:
    """Rounds of a method from any state with any gradients."""

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        self.algorithm, self.setting = algorithm, setting
        player = Player(algorithm, [lambda _: np.zeros(1)] * 2, setting)
        begun = player.begin(1.0)
        after, _ = player.next(begun, (0, 1))
        self.begun = 1 + len(begun.server)
        self.server = ["model", *begun.server, *(name for name in after.server if name not in begun.server)]
        remembered = [name for keeper in algorithm.remember for name in keeper.begin(begun.model, 1).rows]
        self.memory = [name for name in begun.memory if name in remembered]
        at_first = {name: float(value[0]) for name, value in (*begun.server.items(), ("model", begun.model))}
        kept = [float(begun.memory[name][0, 0]) for name in self.memory]
        self.start = np.array([*(at_first.get(name, 0.0) for name in self.server), *kept])

    def play(self, round_: int, server: Array, memory: Array, gradients: Array, chosen: Sequence[int]) -> list[Array]:
        """The server's vectors ``(S, d)``, all clients' memory ``(Q, N, d)``, and where those chosen took gradients.

        ``gradients (N, m, d)`` are what they are told, in this order. Server vectors that the first round makes are not
        there before it.
        """
        told = [iter(own) for own in gradients]

        def answers(client: int) -> Callable[[Array], Array]:
            return lambda model: next(told[client])

        player = Player(self.algorithm, [answers(client) for client in range(len(told))], self.setting)
        named = dict(zip(self.server, map(vectors, server), strict=False))
        kept = dict(zip(self.memory, map(vectors, memory), strict=True))
        state = State(round_, named.pop("model"), kept, named, exchanges=player.begin(server[0]).exchanges)
        after, played = player.next(state, chosen)
        rows = [after.model, *(after.server[name] for name in self.server[1:])]
        return [np.array(rows), np.array([after.memory[n] for n in self.memory]).reshape(memory.shape),
                played.paths[:, :-1]]  # fmt: skip

    def map(self, round_: int, clients: int, cohort: int) -> _Map:
        """A round in which the first ``cohort`` of the clients take part, from any state."""
        S, Q, w = len(self.server), len(self.memory), len(self.memory) + self.setting.steps
        units = np.eye(S + 2 * w)
        each = units[[range(S, S + w), *[range(S + w, S + 2 * w)] * (clients - 1)]]
        known = units[: S if round_ else self.begun]
        server, kept, asked = self.play(round_, known, each[:, :Q].swapaxes(0, 1), each[:, Q:], range(cohort))
        return _Map((server, kept[:, 0], asked[0]), S, cohort)

    def begin(self) -> Array:
        """What the columns of a map are in the first round: rows over the start, which comes first, and gradients."""
        S, Q, w = len(self.server), len(self.memory), len(self.memory) + self.setting.steps
        into, known = np.eye(S + 2 * w), [*range(S + Q), *range(S + w, S + w + Q)]
        into[known] = 0
        into[known, 0] = [*self.start, *self.start[S:]]
        return into

    def check(self, chosen: Sequence[int]) -> None:
        """Compare with some of three clients in numbers: a round that is linear and treats all alike is its map."""
        clients, draws, found = 3, np.random.default_rng(31), self.map(5, 3, len(chosen))
        S, Q, m = len(self.server), len(self.memory), self.setting.steps
        server, each = draws.standard_normal(S), draws.standard_normal((clients, Q + m))
        seen = self.play(5, server[:, None], each[:, :Q].T[..., None], each[:, Q:, None], chosen)
        mean, apart = np.concatenate([server, each.mean(0)]), each - each.mean(0)
        rows = [
            of_mean @ mean + apart @ of_apart.T for of_mean, of_apart in zip(found.means, found.aparts, strict=True)
        ]
        rest = np.setdiff1d(range(clients), chosen)
        rows[1][rest] = each[rest, :Q]
        exact = [rows[0][list(chosen)].mean(0), rows[1].T, rows[2][list(chosen)]]
        if not _same(exact, [x[..., 0] for x in seen]):
            raise EmpiricsError(
                f"{self.algorithm}: its round depends on how many take part, or does not add and scale its gradients "
                "only: no rate is certified"
            )


def _reduced(found: _Map, hooks: _Hooks, cohort: Cohort | None) -> OneRound:
    """The two maps, on the states that a run reaches."""
    (server, kept_mean, asked), (server_ends, kept_apart, away_asked) = found.means, found.aparts
    S, own, m = len(hooks.server), len(hooks.memory), hooks.setting.steps
    n, share = S + own, cohort.cohort / cohort.clients if cohort else 1.0
    moved, away = kept_mean - np.eye(own, n + m, S), kept_apart - np.eye(own, own + m)
    mean = np.concatenate([server, share * moved + np.eye(own, n + m, S)])
    ends = np.concatenate([server_ends, share * away])
    pushed = np.concatenate([mean[:, n:], ends], 1) if cohort else mean[:, n:]
    kept, into = _reached(hooks.start, mean[:, :n], pushed)
    held, onto = _reached(0 * hooks.start[S:], kept_apart[:, :own], kept_apart[:, own:])
    renewed = None
    if cohort:
        of_means = _onto(moved[held], into, m), _onto(away[held], onto, m)
        renewed = Renewed(share, _onto(ends[kept], onto, m), *of_means)
    names = [*hooks.server, *hooks.memory]
    round_ = OneRound(
        tuple(names[i] for i in kept), tuple(hooks.memory[i] for i in held), hooks.start[kept],
        _onto(mean[kept], into, m), _onto(asked, into, m), _onto(kept_apart[held], onto, m),
        _onto(away_asked, onto, m), tuple(hooks.memory), renewed,
    )  # fmt: skip
    stays = np.abs(round_.mean_next[:, : len(kept)] @ round_.start - round_.start).max()
    asks = np.abs(round_.mean_points[:, : len(kept)] @ round_.start - 1).max()
    if max(stays, asks) > LINEAR:
        raise EmpiricsError(f"{hooks.algorithm} pulls to the origin: its error has no rate on all smooth functions")
    return round_ if cohort else round_.needed()


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
    whole = np.abs(into - np.rint(into)) < LINEAR
    into[whole] = np.rint(into)[whole]
    return kept, into


def _seen(after: Array, points: Array, looked_at: list[int]) -> list[int]:
    """The coordinates that sooner or later reach a point, or one of those observed."""
    n = len(after)
    seen = {*looked_at, *(i for i in range(n) if np.abs(points[:, i]).max() > LINEAR)}
    while more := {j for i in seen for j in range(n) if abs(after[i, j]) > LINEAR} - seen:
        seen |= more
    return sorted(seen)


def _onto(rows: Array, into: Array, gradients: int) -> Array:
    """Rows over all coordinates and the gradients as rows over the kept coordinates and the gradients."""
    return np.column_stack([rows[:, : rows.shape[1] - gradients] @ into, rows[:, rows.shape[1] - gradients :]])
