"""One round of a method as a linear map, from the coefficients that the method's own hooks give.

The state between rounds consists of the server model, the server's other vectors and every client's memory. With
identical clients a round is two independent maps: of the means over clients and of the deviations from them. The means
are reduced to the space that runs reach from their start (SCAFFOLD's server control, say, is always the mean of the
clients' controls).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import NotAffineError, Player
from empirics.exact.coefficients import Coefficients, Forms
from empirics.exact.numbers import FLOATS, vectors
from empirics.training.setting import Setting

from .linear_run import check_supported, LINEAR
from .methods import method_and_parameter, NoListing
from .program import Array
from .verify import CLIENT_VECTORS

ROUNDS = 4
"""The number of rounds that are compared; all but the first must be the same map."""
MAX_STEPS = 60
"""Limit on the local steps of a round; programs grow with their square."""


@dataclass(frozen=True)
class CohortSize:
    """The size of a cohort that is drawn without replacement in every round, and the number of clients."""

    cohort: int
    clients: int

    @property
    def variance(self) -> Fraction:
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
class LinearMap:
    """A round of the means, or of the deviations, as rows over n coordinates of the state and m gradients of a client.

    Attributes:
        names: The coordinates of the state.
        after: The state after the round, ``(n, n + m)``.
        points: The models at which gradients are taken, ``(m, n + m)``.
    """

    names: tuple[str, ...]
    after: Array
    points: Array

    def __len__(self) -> int:
        return len(self.names)

    def used(self, outputs: list[int]) -> list[int]:
        """Return the coordinates on which a point or one of the ``outputs`` depends, now or in a later round."""
        n = len(self)
        used = {*outputs, *(i for i in range(n) if np.abs(self.points[:, i]).max() > LINEAR)}
        while more := {j for i in used for j in range(n) if abs(self.after[i, j]) > LINEAR} - used:
            used |= more
        return sorted(used)

    def restricted(self, kept: list[int]) -> LinearMap:
        """Return the map of the kept coordinates, on which no other one may have an effect."""
        columns = [*kept, *range(len(self), self.after.shape[1])]
        names = tuple(self.names[i] for i in kept)
        return LinearMap(names, self.after[np.ix_(kept, columns)], self.points[:, columns])


@dataclass(frozen=True, eq=False)
class OneRound:
    """The two maps of a round; the first mean is the server model.

    Attributes:
        start: The means before the first round if the start is 1; the deviations are then 0.
        memory: The vectors that clients store, including those on which nothing depends under full participation.
        memory_update: For a cohort of clients with memory; ``means.after`` is then the mean over all draws.
    """

    means: LinearMap
    deviations: LinearMap
    start: Array
    memory: tuple[str, ...]
    memory_update: MemoryUpdate | None = None

    @property
    def gradients(self) -> int:
        return len(self.means.points)

    @property
    def begins_at_server(self) -> bool:
        """Whether every client's first gradient is taken at the server model."""
        first, other = self.means.points[0], self.deviations.points[0]
        return bool(abs(first[0] - 1) < LINEAR and np.abs([*first[1:], *other]).max(initial=0) < LINEAR)

    def without_unused(self) -> OneRound:
        """Return the round without coordinates that no model and no gradient ever depends on."""
        means, deviations = self.means.used([0]), self.deviations.used([])
        parts = self.means.restricted(means), self.deviations.restricted(deviations)
        return OneRound(*parts, self.start[means], self.memory, self.memory_update)


def one_round(algorithm: Algorithm, local_steps: int, step_size: float, cohort: CohortSize | None = None) -> OneRound:
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
        method = _Method(algorithm, setting)
        first, *later = method.rounds(1, 1)  # if all take part, their mean is that of a single client
        method.check((0, 1, 2))
        if cohort is not None and not method.memory:
            method.check((0, 2))
            later += method.rounds(3, 2)[1:]
        stateful_cohort = cohort if _updates_memory(algorithm, method.memory) else None
        if stateful_cohort is not None:
            method.check((0, 2))
    except (NotAffineError, StopIteration):
        raise EmpiricsError(
            f"{algorithm} does not only add and scale gradients: rates are certified for fixed-step first-order methods"
        ) from None
    if not _same(method.from_start(first), method.from_start(later[0])):
        raise EmpiricsError(f"{algorithm}: its first round differs from the others: no rate is certified")
    if not all(_same(later[0], other) for other in later):
        raise EmpiricsError(f"{algorithm}: its rounds differ, or depend on how many take part: no rate is certified")
    if stateful_cohort is not None:
        return _reduced(method.rounds(stateful_cohort.clients, stateful_cohort.cohort)[1], method, stateful_cohort)
    return _reduced(later[0], method, None)


def _updates_memory(algorithm: Algorithm, memory: Sequence[str]) -> bool:
    """Return whether rates with cohorts are proved for this method with this client memory."""
    try:
        proved_memory = CLIENT_VECTORS.get(method_and_parameter(algorithm)[0])
    except NoListing:
        return False
    return [proved_memory] == list(memory) and algorithm.combine == Average() and not algorithm.everyone


def _same(one: Sequence[Array], other: Sequence[Array]) -> bool:
    pairs = list(zip(one, other, strict=True))
    largest = max(np.abs(a).max(initial=1) for a, _ in pairs)
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0) < LINEAR * largest for a, b in pairs)


class _Rows(NamedTuple):
    """A round as rows over the server's vectors and the memory and gradients of one client that takes part.

    The server's vectors are the mean of ``server`` over the participants; ``contribution`` is the part that comes from
    the client. ``memory`` is the client's memory, ``points`` are the models at which it takes gradients.
    """

    server: Array
    memory: Array
    points: Array
    contribution: Array


class _Method:
    """A method as linear maps: ``server`` and ``memory`` are the names of its vectors, ``start`` their first values if
    the first model is 1."""

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        self.algorithm, self.setting = algorithm, setting
        forms = Forms(algorithm, setting, FLOATS, follow_last=False)
        self.server, self.memory, self.start = forms.server, forms.memory, forms.initial

    def rounds(self, clients: int, cohort: int) -> list[_Rows]:
        """Return the first rounds with a ``cohort`` of the clients."""
        forms = Forms(self.algorithm, self.setting, FLOATS, follow_last=False)
        return [self._rows(forms.plan()[1], forms.next(clients), cohort) for _ in range(ROUNDS)]

    def _rows(self, sizes: Array, c: Coefficients, cohort: int) -> _Rows:
        """Return a round with these step sizes and coefficients."""
        S, parts, m = len(self.server), len(self.server) + len(self.memory), len(sizes)
        units = np.eye(parts + m)
        model, points = np.append(c.start, np.zeros(m)), []
        for j, size in enumerate(sizes):
            points.append(model)
            i = min(j, len(c.pull) - 1)
            push = np.append(c.push[i], np.zeros(m))
            model = model - size * (c.steepness[i] * units[parts + j] + c.pull[i] * model + push)
        vectors = np.vstack([units[:parts], model])
        contribution = (c.by_weight + cohort * c.by_indicator) @ vectors
        return _Rows(c.server_map @ vectors[:S] + contribution, c.memory_map @ vectors, np.array(points), contribution)

    def from_start(self, rows: _Rows) -> list[Array]:
        """Return the rows of a first round, over the start and the gradients."""
        n = len(self.start)
        return [np.column_stack([matrix[:, :n] @ self.start, matrix[:, n:]]) for matrix in rows]

    def check(self, chosen: Sequence[int]) -> None:
        """Raise ``EmpiricsError`` unless the rows predict a round of the ``chosen`` of three clients."""
        clients, random = 3, np.random.default_rng(31)
        rows = self.rounds(*((1, 1) if len(chosen) == clients else (clients, len(chosen))))[1]
        S, Q, m = len(self.server), len(self.memory), self.setting.steps
        server, each = random.standard_normal(S), random.standard_normal((clients, Q + m))
        streams = [iter(own[Q:]) for own in each]
        answers = [partial(lambda stream, model: next(stream), stream) for stream in streams]
        player = Player(self.algorithm, answers, self.setting)
        memory = {name: vectors(each[:, i, None]) for i, name in enumerate(self.memory)}
        model, *others = (vectors([x]) for x in server)
        exchanges = player.begin(1.0).exchanges
        state = State(5, model, dict(memory), dict(zip(self.server[1:], others, strict=True)), exchanges=exchanges)
        after, played = player.next(state, chosen)
        inputs = np.column_stack([np.tile(server, (clients, 1)), each])[list(chosen)]
        expected_memory = each[:, :Q].copy()
        expected_memory[list(chosen)] = inputs @ rows.memory.T
        actual_server = [after.model, *(after.server[name] for name in self.server[1:])]
        actual_memory = [np.array(after.memory[name])[:, 0] for name in self.memory]
        pairs = [
            ((inputs @ rows.server.T).mean(0), np.array(actual_server)[:, 0]),
            (expected_memory, np.array(actual_memory).reshape(Q, clients).T),
            (inputs @ rows.points.T, played.paths[:, :-1, 0]),
        ]
        if not _same(*zip(*pairs, strict=True)):
            raise EmpiricsError(
                f"{self.algorithm}: its round depends on how many take part, or does not only add and scale "
                "gradients: no rate is certified"
            )


def _reduced(rows: _Rows, method: _Method, cohort: CohortSize | None) -> OneRound:
    """Return the maps of means and deviations, reduced to the states that a run reaches.

    The server's vectors have no deviations, so that the deviations are the columns of memory and gradients.
    """
    S, own, m = len(method.server), len(method.memory), method.setting.steps
    n, share = S + own, cohort.cohort / cohort.clients if cohort else 1.0
    mean_change = rows.memory - np.eye(own, n + m, S)
    memory_deviation, deviation_change = rows.memory[:, S:], mean_change[:, S:]
    mean = np.concatenate([rows.server, share * mean_change + np.eye(own, n + m, S)])
    ends = np.concatenate([rows.contribution[:, S:], share * deviation_change])
    inputs = np.concatenate([mean[:, n:], ends], 1) if cohort else mean[:, n:]
    means, mean_basis = _reached(method.start, mean[:, :n], inputs)
    deviations, basis = _reached(0 * method.start[S:], memory_deviation[:, :own], memory_deviation[:, own:])
    memory_update = None
    if cohort:
        changes = _onto(mean_change[deviations], mean_basis, m), _onto(deviation_change[deviations], basis, m)
        memory_update = MemoryUpdate(share, _onto(ends[means], basis, m), *changes)
    names = [*method.server, *method.memory]
    after, points = _onto(mean[means], mean_basis, m), _onto(rows.points, mean_basis, m)
    of_means = LinearMap(tuple(names[i] for i in means), after, points)
    after, points = _onto(memory_deviation[deviations], basis, m), _onto(rows.points[:, S:], basis, m)
    of_deviations = LinearMap(tuple(method.memory[i] for i in deviations), after, points)
    round_ = OneRound(of_means, of_deviations, method.start[means], tuple(method.memory), memory_update)
    # where all gradients are 0, the state must stay at the start and every point be the start
    state_error = np.abs(of_means.after[:, : len(means)] @ round_.start - round_.start).max()
    point_error = np.abs(of_means.points[:, : len(means)] @ round_.start - 1).max()
    if max(state_error, point_error) > LINEAR:
        raise EmpiricsError(f"{method.algorithm} pulls to the origin: its error has no rate on all smooth functions")
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


def _onto(rows: Array, basis: Array, gradients: int) -> Array:
    """Return rows over all coordinates and the gradients as rows over the kept coordinates and the gradients."""
    return np.column_stack([rows[:, : rows.shape[1] - gradients] @ basis, rows[:, rows.shape[1] - gradients :]])
