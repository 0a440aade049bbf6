"""One round of a method as a linear map, its own hooks, played on unknown vectors.

What survives a round is the server model, the server's vectors and every client's memory. With identical clients a
round is
two maps that do not meet: one of the means over clients, one of the deviations from them. The means move in
the space that a run reaches from its start (SCAFFOLD's server control is always the mean of the clients' controls), so
the state is reduced to that space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import Player
from empirics.exact.coefficients import Coefficients, Forms, NotAffineError
from empirics.exact.numbers import FLOATS, vectors
from empirics.training.setting import Setting

from .methods import check_same, named, next_round, NoListing, play_round, Vector
from .program import WorstCaseError
from .symbolic_run import Array, LINEAR, refuse

CLIENTS = (2, 2, 3, 2)
"""How many there are in the rounds, from the first, that must all be the same map."""
MOST_STEPS = 60
"""Local steps of a round: a program grows with their square."""
RENEWED = {"scaffold": ("control",), "fedinit": ("last",)}
"""Methods that have rates where some of the clients are drawn although they keep something, and what that is."""


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
        forms = Forms(algorithm, setting, FLOATS, last=False)
        sizes = forms.plan()[1]
        first, *later = [next_round(forms, count, count) for count in CLIENTS]
        of_cohort = next_round(forms, cohort.clients, cohort.cohort) if cohort else later[0]
        renewed = cohort if cohort is not None and _renewed(algorithm, forms.memory) else None
        drawn = renewed is not None or (cohort is not None and not forms.memory)
        checked = [(next_round(forms, 3, len(chosen)), chosen) for chosen in ([0, 1, 2], [0, 2])[: 1 + drawn]]
    except NotAffineError:
        raise EmpiricsError(
            f"{algorithm} does not add and scale its gradients only: a rate is certified for fixed-step first-order "
            "methods"
        ) from None
    start = forms.first
    if not _same(_from(first, start), _from(later[0], start)):
        raise EmpiricsError(f"{algorithm}: its first round is unlike the others: no rate is certified")
    if not all(_same(later[0], other) for other in later):
        raise EmpiricsError(f"{algorithm}: its rounds differ, or depend on how many take part: no rate is certified")
    for c, chosen in checked:
        _Maps(c, sizes).check(algorithm, setting, forms, chosen)
    return _reduced(_Maps(of_cohort if renewed else later[0], sizes), forms, start, renewed)


def _renewed(algorithm: Algorithm, memory: Sequence[str]) -> bool:
    """Whether rates with cohorts are proved of clients that keep this."""
    try:
        kept = RENEWED.get(named(algorithm)[0])
    except NoListing:
        return False
    return kept == tuple(memory) and algorithm.combine == Average() and not algorithm.everyone


def _from(c: Coefficients, start: Array) -> list[Array]:
    """The round from the first state: rows over the model alone, and over where a client ended."""
    known = [part for table in (c.weighed, c.keeps) for part in (table[:, :-1] @ start, table[:, -1])]
    return [c.start @ start, c.steepness, c.pull, c.push @ start, c.stays @ start[: len(c.stays)], *known]


def _same(one: Sequence[Array], other: Sequence[Array]) -> bool:
    pairs = list(zip(one, other, strict=True))
    largest = max(np.abs(a).max(initial=1) for a, _ in pairs)
    return all(a.shape == b.shape and np.abs(a - b).max(initial=0) < LINEAR * largest for a, b in pairs)


class _Maps:
    """A round over the means of (server vectors, memory, gradients) and over the deviations of the last two."""

    def __init__(self, c: Coefficients, sizes: Array) -> None:
        self.shared, self.own, self.gradients = len(c.stays), len(c.keeps), len(sizes)
        self.size, m = self.shared + self.own, len(sizes)
        mean, apart = np.eye(self.size + m), np.eye(self.own + m)
        self.asked: list[Vector] = []

        def ask(x: Vector) -> Vector:
            self.asked.append(x)
            j = len(self.asked) - 1
            return Vector(mean[self.size + j], apart[self.own + j])

        server = [Vector(row, 0 * apart[0]) for row in mean[: self.shared]]
        memory = [Vector(row, own) for row, own in zip(mean[self.shared : self.size], apart, strict=False)]
        _, self.server, kept = play_round(c, sizes, server, memory, ask)
        self.moved = [new - old for new, old in zip(kept, memory, strict=True)]
        self.memory = memory

    def rows(self, vectors: Sequence[Vector]) -> tuple[Array, Array]:
        """Rows over the means, and over the deviations."""
        m = self.gradients
        mean = np.array([x.mean for x in vectors]).reshape(len(vectors), self.size + m)
        return mean, np.array([x.apart for x in vectors]).reshape(len(vectors), self.own + m)

    def check(self, algorithm: Algorithm, setting: Setting, forms: Forms, chosen: Sequence[int]) -> None:
        """Compare with the hooks: one round of some of three clients, from any state, with any gradients."""
        clients, draws = 3, np.random.default_rng(31)
        server, own = draws.standard_normal(self.shared), draws.standard_normal((clients, self.own))
        gradients = draws.standard_normal((clients, self.gradients))
        given = iter(gradients[chosen].T.ravel())  # step by step, whatever the models are
        named = {name: vectors(server[i : i + 1]) for i, name in enumerate(forms.server)}
        kept = {name: vectors(own[:, i : i + 1]) for i, name in enumerate(forms.memory)}
        player = Player(algorithm, [lambda _: next(given)] * clients, setting)
        try:
            after, played = player.next(State(5, named.pop("model"), kept, named), chosen)
        except StopIteration:
            raise _not_alike(algorithm) from None
        mean = np.concatenate([server, own.mean(0), gradients.mean(0)])
        apart = np.concatenate([own - own.mean(0), gradients - gradients.mean(0)], axis=1)

        def each(vectors: Sequence[Vector]) -> Array:
            of_mean, of_apart = self.rows(vectors)
            found: Array = of_mean @ mean + apart @ of_apart.T
            return found

        memory = own + np.isin(np.arange(clients), chosen)[:, None] * each(self.moved)
        found = [*each(self.server)[chosen].mean(0), *memory.ravel(), *each(self.asked)[chosen].ravel()]
        seen = [float(x[0]) for x in (after.model, *(after.server[name] for name in forms.server[1:]))]
        seen += [*np.array([after.memory[n][:, 0] for n in forms.memory]).T.ravel(), *played.paths[:, :-1].ravel()]
        try:
            check_same(algorithm, [(np.array(found), np.array(seen))], "rate")
        except WorstCaseError:
            raise _not_alike(algorithm) from None


def _not_alike(algorithm: Algorithm) -> EmpiricsError:
    return EmpiricsError(
        f"{algorithm}: its round depends on how many take part, or does not add and scale its gradients only: "
        "no rate is certified"
    )


def _reduced(maps: _Maps, forms: Forms, start: Array, cohort: Cohort | None) -> OneRound:
    """The two maps, on the states that a run reaches."""
    n, own, m = maps.size, maps.own, maps.gradients
    share = cohort.cohort / cohort.clients if cohort else 1.0
    mean, ends = maps.rows([*maps.server, *(share * x for x in maps.moved)])
    mean[maps.shared :, maps.shared : n] += np.eye(own)
    (asked, away_asked), (moved, away) = maps.rows(maps.asked), maps.rows(maps.moved)
    pushed = np.concatenate([mean[:, n:], ends], 1) if cohort else mean[:, n:]
    kept, into = _reached(start, mean[:, :n], pushed)
    after = away.copy()
    after[:, :own] += np.eye(own)
    held, onto = _reached(0 * start[maps.shared :], after[:, :own], after[:, own:])
    renewed = None
    if cohort:
        of_means = _onto(moved[held], into, m), _onto(away[held], onto, m)
        renewed = Renewed(share, _onto(ends[kept], onto, m), *of_means)
    names = [*forms.server, *forms.memory]
    found = OneRound(
        tuple(names[i] for i in kept), tuple(forms.memory[i] for i in held), start[kept], _onto(mean[kept], into, m),
        _onto(asked, into, m), _onto(after[held], onto, m), _onto(away_asked, onto, m), tuple(forms.memory), renewed,
    )  # fmt: skip
    stays = np.abs(found.mean_next[:, : len(kept)] @ found.start - found.start).max()
    asks = np.abs(found.mean_points[:, : len(kept)] @ found.start - 1).max()
    if max(stays, asks) > LINEAR:
        raise EmpiricsError(f"{forms.algorithm} pulls to the origin: its error has no rate on all smooth functions")
    return found if cohort else found.needed()


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
