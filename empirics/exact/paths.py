"""What the clients of one round do: their local models as affine maps of what server and client know, and the noise.

What a client knows is (1, the server's vectors, its own memory), of m numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .coefficients import Coefficients, LAST
from .draws import Draw
from .numbers import Array, Kind, solve
from .rounds import Round


@dataclass(frozen=True, eq=False)
class Clients:
    """G groups of identical clients with losses ``1/2 (x - b)^T A (x - b)``; F's minimiser is ``best (d,)``.

    In floats put it at the origin: otherwise a small loss gap is the difference of large moments.

    ``sizes (G,)`` count them, ``weights (G,)`` are the groups' shares of F, ``curvature (G, d, d)``, ``minimum
    (G, d)``, ``noise (G, d, d)`` the covariance of a stochastic gradient, ``start (d,)`` the first model. ``layers
    (d,)`` numbers the layer of every coordinate.
    """

    kind: Kind
    sizes: Sequence[int]
    weights: Array
    curvature: Array
    minimum: Array
    noise: Array
    start: Array
    best: Array
    layers: Sequence[int] = ()

    @classmethod
    def of(
        cls, kind: Kind, sizes: Sequence[int], weights: Any, curvature: Any, minimum: Any, noise: Any, start: Any,
        layers: Sequence[int] = (), centred: bool = True,
    ) -> Clients:  # fmt: skip
        """The same from places as they are given, and the ``weights`` of single clients up to a factor."""
        bends, places, noises, first = map(kind.array, (curvature, minimum, noise, start))
        whole = kind.array(weights) * kind.array(sizes)
        whole = whole / whole.sum()
        pull = (whole[:, None] * (bends @ places[..., None])[..., 0]).sum(0)
        best = solve((whole[:, None, None] * bends).sum(0), pull)
        moved = best if centred else 0 * best
        return cls(kind, sizes, whole, bends, places - moved, noises, first - moved, best - moved, layers)

    @property
    def dim(self) -> int:
        return len(self.start)

    @cached_property
    def number(self) -> Array:
        """The groups' sizes in this kind of number."""
        return self.kind.array(self.sizes)

    @cached_property
    def counted(self) -> Array:
        """Every group's share of the clients."""
        return self.number / self.number.sum()

    @cached_property
    def hessian(self) -> Array:
        """That of F."""
        found: Array = (self.weights[:, None, None] * self.curvature).sum(0)
        return found

    @cached_property
    def variance(self) -> Array:
        """Of every group's stochastic gradients ``(G,)``."""
        return np.trace(self.noise, axis1=1, axis2=2)


def layer_of(layers: Mapping[str, slice] | None, dim: int) -> list[int]:
    """The number of the layer that every coordinate belongs to; nothing where there is one layer."""
    if layers is None or len(layers) < 2:
        return []
    return [next(n for n, where in enumerate(layers.values()) if i in range(dim)[where]) for i in range(dim)]


@dataclass(frozen=True, eq=False)
class Frame:
    """What rounds have in common that differ in their step sizes alone.

    ``coefficients`` has a table per group (one where all are equal), in each one per layer.
    """

    clients: Clients
    coefficients: Sequence[Sequence[Coefficients]]
    draw: Draw
    memory: Sequence[str]

    def by_coordinate(self, name: str) -> Array:
        """A coefficient of every coordinate ``(G or 1, d, ...)``."""
        where = self.clients.layers or [0] * self.clients.dim
        return np.array([[getattr(group[layer], name) for layer in where] for group in self.coefficients])

    def _matrices(self, tables: Array) -> Array:
        """Coefficients ``(G or 1, d, a, b)`` as matrices in which coordinates do not meet ``(G or 1, a d, b d)``."""
        count, d, rows, columns = tables.shape
        apart = np.swapaxes(tables, 1, 2)[..., None] * self.clients.kind.eye(d)[:, None, :]
        return apart.reshape(count, rows * d, columns * d)

    def _of_known(self, tables: Array) -> Array:
        """The same of (server vectors, memory) as maps of what a client knows ``(G or 1, a d, m)``."""
        maps = self._matrices(tables)
        return np.concatenate([self.clients.kind.zeros(*maps.shape[:2], 1), maps], axis=-1)

    def _of_ends(self, tables: Array) -> tuple[Array, Array]:
        """The same of (server vectors, memory, end) as maps of what was known and of the end ``(., a d, d)``."""
        return self._of_known(tables[..., :-1]), self._matrices(tables[..., -1:])

    @cached_property
    def start(self) -> Array:
        """Where clients start ``(G, d, m)``."""
        found = self._of_known(self.by_coordinate("start")[:, :, None])
        return np.broadcast_to(found, (len(self.clients.sizes), *found.shape[1:]))

    @cached_property
    def push(self) -> Array:
        """What is added to every step and does not change during the round ``(G or 1, J, d, m)``."""
        found = self._of_known(self.by_coordinate("push"))
        return found.reshape(len(found), -1, self.clients.dim, found.shape[-1])

    @cached_property
    def stays(self) -> Array:
        """What the server's numbers become by themselves ``(p, p)``."""
        table = self._matrices(self.by_coordinate("stays"))[0]
        found = self.clients.kind.zeros(1 + len(table), 1 + len(table))
        found[0, 0], found[1:, 1:] = self.clients.kind.make(1), table
        return found

    @cached_property
    def keeps(self) -> tuple[Array, Array]:
        """What a participant's memory becomes, of what it knew ``(G or 1, q, m)`` and of where it ended."""
        return self._of_ends(self.by_coordinate("keeps"))

    def sends(self, ends: int | None = None) -> tuple[tuple[int, ...], Array, Array, Array]:
        """What a participant sends: by which multiplier, of what it knew and of its end; the move of the server.

        ``ends`` adds the last models, by that multiplier.
        """
        kind, d, p = self.clients.kind, self.clients.dim, len(self.stays)
        which, tables, moves = list[int](), list[Array](), list[int]()
        for multiplier, name in enumerate(("weighed", "added")):
            whole = self.by_coordinate(name)
            for i in np.flatnonzero((whole != 0).any(axis=(0, 1, 3))).tolist():
                which.append(multiplier)
                tables.append(whole[:, :, i])
                moves += range(1 + i * d, 1 + (i + 1) * d)
        shift = kind.eye(p)[:, moves]
        if ends is not None:
            table = 0 * tables[0]
            table[..., -1] = 1 / self.clients.number.sum() if ends else kind.make(1)
            which.append(ends)
            tables.append(table)
            shift = np.concatenate([shift, kind.zeros(p, d)], axis=1)
        of_known, of_end = self._of_ends(np.stack(tables, axis=2))
        return tuple(multiplier for multiplier in which for _ in range(d)), of_known, of_end, shift

    @cached_property
    def sent(self) -> tuple[tuple[int, ...], Array, Array, Array]:
        """What a participant sends where its last model is not needed."""
        return self.sends()


Steps = Sequence[Array]
"""Affine steps of a local state in the groups, one after another: ``z -> turn z + shift``, and what noise adds.

``turn (G, K, L, L)``, ``shift (G, K, L, m)`` and the covariance of the noise ``(G, K, L, L)``.
"""


def _then(first: Steps, second: Steps) -> Steps:
    """Two steps as one, each of the first before its partner of the second."""
    (turn, shift, noise), (later, more, fresh) = first, second
    return later @ turn, later @ shift + more, later @ noise @ np.swapaxes(later, -1, -2) + fresh


def composed(steps: Steps, equal: bool) -> Steps:
    """The first 1, 2, ..., K steps, each as one: by doubling if all are ``equal``, else those of pairs first."""
    count = steps[0].shape[1]
    if count == 1:
        return steps
    if equal:
        known: Steps = [x[:, :1] for x in steps]
        while (done := known[0].shape[1]) < count:
            more = _then([x[:, -1:] for x in known], [x[:, : count - done] for x in known])
            known = [np.concatenate(pair, axis=1) for pair in zip(known, more, strict=True)]
        return known
    odd, even = [x[:, ::2] for x in steps], [x[:, 1::2] for x in steps]
    pairs = composed(_then([x[:, : count // 2] for x in odd], even), False)
    between = _then([x[:, : (count - 1) // 2] for x in pairs], [x[:, 1:] for x in odd])
    found = [np.empty_like(x) for x in steps]
    for to, step, by_two, rest in zip(found, steps, pairs, between, strict=True):
        to[:, :1], to[:, 1::2], to[:, 2::2] = step[:, :1], by_two, rest
    return found


@dataclass(frozen=True, eq=False)
class Played:
    """One round of step ``sizes (K,)`` as it acts on u = (1, server vectors, memory), and its local models."""

    frame: Frame
    sizes: Array
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0

    @property
    def clients(self) -> Clients:
        return self.frame.clients

    @property
    def steps(self) -> int:
        return len(self.sizes)

    # ---- local models ----

    @cached_property
    def _steps(self) -> Steps:
        """The local steps, of the model w or, with momentum v, of (w, v)."""
        kind, c = self.clients.kind, self.clients
        d, size = c.dim, self.sizes[None, :, None, None]
        steep = np.moveaxis(self.frame.by_coordinate("steepness"), 2, 1)[..., None]
        pull = np.moveaxis(self.frame.by_coordinate("pull"), 2, 1) + kind.make(self.weight_decay)
        slope = steep * c.curvature[:, None] + pull[..., None] * kind.eye(d)
        constant = np.repeat(self.frame.push, len(c.sizes) // len(self.frame.push), axis=0)
        constant[..., 0] -= (steep * (c.curvature @ c.minimum[..., None])[:, None])[..., 0]
        chance = steep * c.noise[:, None] * np.swapaxes(steep, -1, -2)
        lead = (len(c.sizes), self.steps)
        if self.momentum:
            m, one = kind.make(self.momentum), np.broadcast_to(kind.eye(d), (*lead, d, d))
            along, past = (1 + m, m * m) if self.nesterov else (1, m)
            slope = np.broadcast_to(slope, one.shape)
            turn = np.block([[one - size * along * slope, -size * past * one], [slope, m * one]])
            moved = np.concatenate([-size * along * one, one], axis=-2)
            found = turn, moved @ constant, moved @ chance @ np.swapaxes(moved, -1, -2)
        else:
            found = kind.eye(d) - size * slope, -size * constant, size * size * chance
        return [np.broadcast_to(x, (*lead, *x.shape[2:])) for x in found]

    @cached_property
    def _alike(self) -> bool:
        """Whether all steps of the round are the same; unknown of balls, which are not."""
        return len(self.frame.coefficients[0][0].pull) == 1 and bool((self.sizes == self.sizes[0]).all())

    @cached_property
    def _path(self) -> tuple[Array, Array]:
        d, start = self.clients.dim, self.frame.start[:, None]
        turn, shift, noise = composed(self._steps, self._alike)
        found = turn[:, :, :d, :d] @ start + shift[:, :, :d]
        still = self.clients.kind.zeros(len(noise), 1, d, d)
        return np.concatenate([start, found], axis=1), np.concatenate([still, noise[:, :, :d, :d]], axis=1)

    @property
    def path(self) -> Array:
        """Mean local models after 0 to K steps, as maps of what a client knows ``(G, K + 1, d, m)``."""
        return self._path[0]

    @property
    def path_noise(self) -> Array:
        """Covariances of the local models that the round's noise makes ``(G, K + 1, d, d)``."""
        return self._path[1]

    def summed_noise(self, shares: Sequence[Any]) -> tuple[Array, Array]:
        """Of the sum of local models before the steps, each times its share: the covariance with the end, and its own.

        ``(G, d, d)`` both.
        """
        kind, d = self.clients.kind, self.clients.dim
        turn, _, noise = self._steps
        groups, steps, size, _ = turn.shape
        wide, chance = kind.zeros(groups, steps, size + d, size + d), kind.zeros(groups, steps, size + d, size + d)
        wide[..., :size, :size], chance[..., :size, :size] = turn, noise
        wide[..., size:, :d] = kind.array(shares)[:, None, None] * kind.eye(d)
        wide[..., size:, size:] = kind.eye(d)
        equal = self._alike and all(share is shares[0] for share in shares)
        last = composed([wide, wide[..., :0], chance], equal)[2][:, -1]
        return last[:, :d, size:], last[:, size:, size:]

    @cached_property
    def walked_noise(self) -> tuple[Array, Array]:
        """The same of the plain sum."""
        return self.summed_noise([self.clients.kind.make(1)] * self.steps)

    # ---- the round ----

    @cached_property
    def round(self) -> Round:
        """What it does to moments."""
        return self._round(*self.frame.sent)

    @cached_property
    def with_ends(self) -> tuple[Round, int]:
        """The round that also sends the participants' last models, and which of its numbers is the first of them.

        They are averaged by weight, and evenly where all clients take part.
        """
        return self._round(*self.frame.sends(1 if self.frame.draw.certain else 0)), len(self.round.which)

    def _round(self, which: tuple[int, ...], sent: Array, reached: Array, moves: Array) -> Round:
        end, last = self.path[:, -1], self.path_noise[:, -1]
        keeps, kept = self.frame.keeps
        return Round(
            self.clients.kind, self.clients.number, self.frame.draw, which, sent + reached @ end, keeps + kept @ end,
            np.concatenate([reached, kept], 1), last, self.frame.stays, moves,
        )  # fmt: skip

    @property
    def last(self) -> Array | None:
        """Picks a client's last local model out of what it knows ``(d, m)``, if it is followed."""
        if LAST not in self.frame.memory:
            return None
        d = self.clients.dim
        begin = len(self.frame.stays) + d * list(self.frame.memory).index(LAST)
        return self.clients.kind.eye(d, self.path.shape[-1], begin)
