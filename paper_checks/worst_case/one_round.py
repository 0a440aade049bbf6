"""One round of a method as a linear map, obtained by running the method's own hooks on unit vectors.

The state between rounds consists of the server model, the server's other vectors and every client's memory. With
identical clients a round is two independent maps: of the means over clients and of the deviations from them. The means
are reduced to the space that runs reach from their start (SCAFFOLD's server control, say, is always the mean of the
clients' controls).
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

from .methods import method_and_parameter, NoListing
from .packed import Array
from .symbolic_run import check_supported, LINEAR

OTHER_ROUNDS = ((1, 2), (2, 3), (5, 2))
"""Round indices and numbers of clients at which the map must be the same."""
MAX_STEPS = 60
"""Limit on the local steps of a round; programs grow with their square."""
MEMORY = {"scaffold": ("control",), "fedinit": ("last",)}
"""Methods with client memory for which rates with drawn cohorts are available, and their memory."""


@dataclass(frozen=True)
class Cohort:
    """The size of a cohort that is drawn without replacement in every round, and the number of clients."""

    cohort: int
    clients: int

    @property
    def spread(self) -> Fraction:
        """The variance of the mean over a cohort, relative to the mean squared deviation of a client."""
        if self.clients == 1:
            return Fraction(0)
        return (Fraction(1, self.cohort) - Fraction(1, self.clients)) * Fraction(self.clients, self.clients - 1)


@dataclass(frozen=True, eq=False)
class MemoryUpdate:
    """How a drawn client changes the means and its memory; the memory of other clients does not change.

    Attributes:
        share: The share of the clients that is drawn.
        ends: Rows ``(n, k + m)``: what a drawn client's deviations add to every mean.
        means: Rows ``(k, n + m)``: the mean change of a drawn client's memory.
        deviations: Rows ``(k, k + m)``: the deviations of this change.
    """

    share: Any
    ends: Array
    means: Array
    deviations: Array


@dataclass(frozen=True, eq=False)
class OneRound:
    """The maps of a round, as rows over the state and then the m gradients of a client.

    Attributes:
        means, deviations: Names of the state's n and k coordinates; the first mean is the server model.
        start: The means before the first round if the start is 1; the deviations are then 0.
        mean_next, deviation_next: The state after the round, ``(n, n + m)`` and ``(k, k + m)``.
        mean_points, deviation_points: The models at which gradients are taken, ``(m, n + m)`` and ``(m, k + m)``.
        memory: The vectors that clients store, including those on which nothing depends under full participation.
        memory_update: For a cohort of clients with memory; ``mean_next`` is then the mean over all draws.
    """

    means: tuple[str, ...]
    deviations: tuple[str, ...]
    start: Array
    mean_next: Array
    mean_points: Array
    deviation_next: Array
    deviation_points: Array
    memory: tuple[str, ...]
    memory_update: MemoryUpdate | None = None

    @property
    def gradients(self) -> int:
        return len(self.mean_points)

    @property
    def begins_at_server(self) -> bool:
        """Whether every client's first gradient is taken at the server model."""
        first, other = self.mean_points[0], self.deviation_points[0]
        return bool(abs(first[0] - 1) < LINEAR and np.abs(first[1:]).max(initial=0) < LINEAR
                    and np.abs(other).max(initial=0) < LINEAR)  # fmt: skip

    def without_unused(self) -> OneRound:
        """Return the round without coordinates that no model and no gradient ever depends on."""
        means = _used(self.mean_next, self.mean_points, [0])
        deviations = _used(self.deviation_next, self.deviation_points, [])
        n, k, m = len(self.means), len(self.deviations), self.gradients
        mean_columns, apart_columns = [*means, *range(n, n + m)], [*deviations, *range(k, k + m)]
        return OneRound(
            tuple(self.means[i] for i in means), tuple(self.deviations[i] for i in deviations), self.start[means],
            self.mean_next[np.ix_(means, mean_columns)], self.mean_points[:, mean_columns],
            self.deviation_next[np.ix_(deviations, apart_columns)], self.deviation_points[:, apart_columns],
            self.memory,
        )  # fmt: skip


def one_round(algorithm: Algorithm, local_steps: int, step_size: float, cohort: Cohort | None = None) -> OneRound:
    """Return the round of an algorithm with full participation or a drawn ``cohort``.

    With a cohort of clients that have memory, ``memory_update`` is None unless proofs cover the method. Raises
    ``EmpiricsError`` if a round is not a linear map that is the same in all rounds.
    """
    if local_steps > MAX_STEPS:
        raise EmpiricsError(f"too large: rates are computed up to local_steps={MAX_STEPS}; got {local_steps}")
    setting = Setting(rounds=9, cohort=2, local_steps=local_steps, step_size=step_size)
    check_supported(setting)
    if algorithm.also is not None or algorithm.personal:
        raise EmpiricsError(f"{algorithm} trains personal models: there is no rate for the server model")
    try:
        hooks = _Hooks(algorithm, setting)
        first, *later = [hooks.map(round_, clients, clients) for round_, clients in ((0, 2), *OTHER_ROUNDS)]
        hooks.check((0, 1, 2))
        memory_update = cohort if cohort is not None and _updates_memory(algorithm, hooks.memory) else None
        if memory_update is not None:
            hooks.check((0, 2))
        elif cohort is not None and not hooks.memory:
            hooks.check((0, 2))
            later.append(hooks.map(OTHER_ROUNDS[-1][0], 3, 2))
        map_ = hooks.map(OTHER_ROUNDS[-1][0], cohort.clients, cohort.cohort) if memory_update and cohort else later[0]
    except (NotAffineError, StopIteration):
        raise EmpiricsError(
            f"{algorithm} does not only add and scale gradients: rates are certified for fixed-step first-order methods"
        ) from None
    if not _same(*([rows @ hooks.start_columns() for rows in one.rows] for one in (first, later[0]))):
        raise EmpiricsError(f"{algorithm}: its first round differs from the others: no rate is certified")
    if not all(_same(later[0].means, x.means) and _same(later[0].deviation_rows, x.deviation_rows) for x in later):
        raise EmpiricsError(f"{algorithm}: its rounds differ, or depend on how many take part: no rate is certified")
    return _reduced(map_, hooks, memory_update)


def _updates_memory(algorithm: Algorithm, memory: Sequence[str]) -> bool:
    """Return whether rates with cohorts are proved for this method with this client memory."""
    try:
        proved_memory = MEMORY.get(method_and_parameter(algorithm)[0])
    except NoListing:
        return False
    return proved_memory == tuple(memory) and algorithm.combine == Average() and not algorithm.everyone


def _same(one: Sequence[Array], other: Sequence[Array]) -> bool:
    pairs = list(zip(one, other, strict=True))
    largest = max(np.abs(a).max(initial=1) for a, _ in pairs)
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0) < LINEAR * largest for a, b in pairs)


@dataclass(frozen=True, eq=False)
class _Map:
    """The output of the hooks on unit vectors: ``rows`` of the server's vectors, a client's memory and its models. The
    columns are the server's vectors, the memory and gradients of this client, and those of all others together."""

    rows: tuple[Array, Array, Array]
    server: int
    cohort: int

    @property
    def means(self) -> list[Array]:
        """The rows over the means."""
        S, w = self.server, (self.rows[0].shape[1] - self.server) // 2
        return [np.concatenate([rows[:, :S], rows[:, S : S + w] + rows[:, S + w :]], axis=1) for rows in self.rows]

    @property
    def deviation_rows(self) -> list[Array]:
        """The rows over a client's deviations; those of the server's vectors are a drawn client's contribution."""
        own, others = (np.split(rows[:, self.server :], 2, axis=1) for rows in self.rows), max(self.cohort - 1, 1)
        (ends, _), *rest = own
        return [self.cohort * ends, *(one - other / others for one, other in rest)]


class _Hooks:
    """Runs rounds of a method from any state with any gradients."""

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        self.algorithm, self.setting = algorithm, setting
        player = Player(algorithm, [lambda _: np.zeros(1)] * 2, setting)
        start = player.begin(1.0)
        after, _ = player.next(start, (0, 1))
        self.initial = 1 + len(start.server)
        """How many of the server's vectors exist before the first round."""
        self.server = ["model", *start.server, *(name for name in after.server if name not in start.server)]
        remembered = [name for keeper in algorithm.remember for name in keeper.begin(start.model, 1).rows]
        self.memory = [name for name in start.memory if name in remembered]
        server = {name: float(value[0]) for name, value in (*start.server.items(), ("model", start.model))}
        memory = [float(start.memory[name][0, 0]) for name in self.memory]
        self.start = np.array([*(server.get(name, 0.0) for name in self.server), *memory])

    def play(self, round_: int, server: Array, memory: Array, gradients: Array, chosen: Sequence[int]) -> list[Array]:
        """Run a round in which the ``chosen`` clients receive ``gradients (N, m, d)`` in order.

        Returns the server's vectors ``(S, d)``, all clients' memory ``(Q, N, d)`` and the models at which the chosen
        clients took gradients. ``server`` may lack vectors that only the first round creates.
        """
        streams = [iter(own) for own in gradients]

        def answers(client: int) -> Callable[[Array], Array]:
            return lambda model: next(streams[client])

        player = Player(self.algorithm, [answers(client) for client in range(len(streams))], self.setting)
        server_vectors = dict(zip(self.server, map(vectors, server), strict=False))
        client_vectors = dict(zip(self.memory, map(vectors, memory), strict=True))
        model, exchanges = server_vectors.pop("model"), player.begin(server[0]).exchanges
        after, played = player.next(State(round_, model, client_vectors, server_vectors, exchanges=exchanges), chosen)
        rows = [after.model, *(after.server[name] for name in self.server[1:])]
        return [np.array(rows), np.array([after.memory[n] for n in self.memory]).reshape(memory.shape),
                played.paths[:, :-1]]  # fmt: skip

    def map(self, round_: int, clients: int, cohort: int) -> _Map:
        """Return the map of a round from any state in which the first ``cohort`` of the clients take part."""
        S, Q, w = len(self.server), len(self.memory), len(self.memory) + self.setting.steps
        units = np.eye(S + 2 * w)
        each = units[[range(S, S + w), *[range(S + w, S + 2 * w)] * (clients - 1)]]
        before = units[: S if round_ else self.initial]
        server, memory, queries = self.play(round_, before, each[:, :Q].swapaxes(0, 1), each[:, Q:], range(cohort))
        return _Map((server, memory[:, 0], queries[0]), S, cohort)

    def start_columns(self) -> Array:
        """Return what the columns of a map are in the first round: rows over the start (first) and the gradients."""
        S, Q, w = len(self.server), len(self.memory), len(self.memory) + self.setting.steps
        columns, state = np.eye(S + 2 * w), [*range(S + Q), *range(S + w, S + w + Q)]
        columns[state] = 0
        columns[state, 0] = [*self.start, *self.start[S:]]
        return columns

    def check(self, chosen: Sequence[int]) -> None:
        """Raise ``EmpiricsError`` unless the map predicts a round of the ``chosen`` of three clients."""
        clients, random, map_ = 3, np.random.default_rng(31), self.map(5, 3, len(chosen))
        S, Q, m = len(self.server), len(self.memory), self.setting.steps
        server, each = random.standard_normal(S), random.standard_normal((clients, Q + m))
        played = self.play(5, server[:, None], each[:, :Q].T[..., None], each[:, Q:, None], chosen)
        mean, deviations = np.concatenate([server, each.mean(0)]), each - each.mean(0)
        pairs = zip(map_.means, map_.deviation_rows, strict=True)
        rows = [mean_rows @ mean + deviations @ deviation_rows.T for mean_rows, deviation_rows in pairs]
        rest = np.setdiff1d(range(clients), chosen)
        rows[1][rest] = each[rest, :Q]
        mapped = [rows[0][list(chosen)].mean(0), rows[1].T, rows[2][list(chosen)]]
        if not _same(mapped, [x[..., 0] for x in played]):
            raise EmpiricsError(
                f"{self.algorithm}: its round depends on how many clients take part, or does not only add and scale "
                "gradients: no rate is certified"
            )


def _reduced(map_: _Map, hooks: _Hooks, cohort: Cohort | None) -> OneRound:
    """Return the maps of means and deviations, reduced to the states that a run reaches."""
    (server, memory_mean, points), (server_ends, memory_deviation, point_deviations) = map_.means, map_.deviation_rows
    S, own, m = len(hooks.server), len(hooks.memory), hooks.setting.steps
    n, share = S + own, cohort.cohort / cohort.clients if cohort else 1.0
    mean_change, deviation_change = memory_mean - np.eye(own, n + m, S), memory_deviation - np.eye(own, own + m)
    mean = np.concatenate([server, share * mean_change + np.eye(own, n + m, S)])
    ends = np.concatenate([server_ends, share * deviation_change])
    inputs = np.concatenate([mean[:, n:], ends], 1) if cohort else mean[:, n:]
    means, mean_basis = _reached(hooks.start, mean[:, :n], inputs)
    deviations, basis = _reached(0 * hooks.start[S:], memory_deviation[:, :own], memory_deviation[:, own:])
    memory_update = None
    if cohort:
        changes = _onto(mean_change[deviations], mean_basis, m), _onto(deviation_change[deviations], basis, m)
        memory_update = MemoryUpdate(share, _onto(ends[means], basis, m), *changes)
    names = [*hooks.server, *hooks.memory]
    round_ = OneRound(
        tuple(names[i] for i in means), tuple(hooks.memory[i] for i in deviations), hooks.start[means],
        _onto(mean[means], mean_basis, m), _onto(points, mean_basis, m), _onto(memory_deviation[deviations], basis, m),
        _onto(point_deviations, basis, m), tuple(hooks.memory), memory_update,
    )  # fmt: skip
    # where all gradients are 0, the state must stay at the start and every point be the start
    state_error = np.abs(round_.mean_next[:, : len(means)] @ round_.start - round_.start).max()
    point_error = np.abs(round_.mean_points[:, : len(means)] @ round_.start - 1).max()
    if max(state_error, point_error) > LINEAR:
        raise EmpiricsError(f"{hooks.algorithm} pulls to the origin: its error has no rate on all smooth functions")
    return round_ if cohort else round_.without_unused()


def _reached(start: Array, linear: Array, gradients: Array) -> tuple[list[int], Array]:
    """Return coordinates that determine all reachable states, and all coordinates in terms of them ``(all, kept)``."""
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


def _used(after: Array, points: Array, outputs: list[int]) -> list[int]:
    """Return the coordinates on which a point or one of the ``outputs`` depends, now or in a later round."""
    n = len(after)
    used = {*outputs, *(i for i in range(n) if np.abs(points[:, i]).max() > LINEAR)}
    while more := {j for i in used for j in range(n) if abs(after[i, j]) > LINEAR} - used:
        used |= more
    return sorted(used)


def _onto(rows: Array, basis: Array, gradients: int) -> Array:
    """Return rows over all coordinates and the gradients as rows over the kept coordinates and the gradients."""
    return np.column_stack([rows[:, : rows.shape[1] - gradients] @ basis, rows[:, rows.shape[1] - gradients :]])
