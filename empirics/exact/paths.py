"""The local work of one round: local models as affine maps of each client's view, and the covariance of their noise.

A client's *view* is (1, the server's vectors, its own memory), m numbers.
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
from .rounds import MomentMap


@dataclass(frozen=True, eq=False)
class Clients:
    """G groups of identical clients with losses ``1/2 (x - b)^T A (x - b)``; the global loss F has ``minimiser (d,)``.

    In floats the minimiser should be the origin, since otherwise a small loss gap is a difference of large moments.

    ``sizes (G,)`` are the numbers of clients, ``weights (G,)`` the groups' shares of F, ``curvature (G, d, d)`` the A,
    ``minima (G, d)`` the b, ``noise (G, d, d)`` the covariances of a stochastic gradient, ``start (d,)`` the first
    model. ``layers (d,)`` has the index of the layer of every coordinate.
    """

    kind: Kind
    sizes: Sequence[int]
    weights: Array
    curvature: Array
    minima: Array
    noise: Array
    start: Array
    minimiser: Array
    layers: Sequence[int] = ()

    @classmethod
    def of(
        cls, kind: Kind, sizes: Sequence[int], weights: Any, curvature: Any, minima: Any, noise: Any, start: Any,
        layers: Sequence[int] = (), centred: bool = True,
    ) -> Clients:  # fmt: skip
        """Convert to ``kind`` and, if ``centred``, move the origin to F's minimiser.

        ``weights (G,)`` are those of single clients, up to a factor.
        """
        a, b, noises, first = map(kind.array, (curvature, minima, noise, start))
        shares = kind.array(weights) * kind.array(sizes)
        shares = shares / shares.sum()
        right = (shares[:, None] * (a @ b[..., None])[..., 0]).sum(0)
        minimiser = solve((shares[:, None, None] * a).sum(0), right)
        origin = minimiser if centred else 0 * minimiser
        return cls(kind, sizes, shares, a, b - origin, noises, first - origin, minimiser - origin, layers)

    @property
    def dim(self) -> int:
        return len(self.start)

    @cached_property
    def counts(self) -> Array:
        """The groups' sizes as numbers of this kind."""
        return self.kind.array(self.sizes)

    @cached_property
    def fractions(self) -> Array:
        """Every group's share of the clients."""
        return self.counts / self.counts.sum()

    @cached_property
    def hessian(self) -> Array:
        """The Hessian of F."""
        return np.asarray((self.weights[:, None, None] * self.curvature).sum(0))

    @cached_property
    def variance(self) -> Array:
        """The variance of every group's stochastic gradients ``(G,)``."""
        return np.trace(self.noise, axis1=1, axis2=2)


def layer_of(layers: Mapping[str, slice] | None, dim: int) -> list[int]:
    """The index of the layer of every coordinate; empty if there is only one layer."""
    if layers is None or len(layers) < 2:
        return []
    return [next(n for n, where in enumerate(layers.values()) if i in range(dim)[where]) for i in range(dim)]


@dataclass(frozen=True, eq=False)
class Frame:
    """The parts of rounds that do not depend on step sizes.

    ``coefficients`` has a list per group (a single one if all are equal) with the coefficients of every layer.
    ``memory`` names the vectors that a client remembers.
    """

    clients: Clients
    coefficients: Sequence[Sequence[Coefficients]]
    draw: Draw
    memory: Sequence[str]

    def by_coordinate(self, name: str) -> Array:
        """A coefficient for every coordinate ``(G or 1, d, ...)``."""
        layers = self.clients.layers or [0] * self.clients.dim
        return np.array([[getattr(group[layer], name) for layer in layers] for group in self.coefficients])

    def _matrices(self, tables: Array) -> Array:
        """Coefficients ``(G or 1, d, a, b)`` as matrices that act on every coordinate alone ``(G or 1, a d, b d)``."""
        count, d, rows, columns = tables.shape
        blocks = np.swapaxes(tables, 1, 2)[..., None] * self.clients.kind.eye(d)[:, None, :]
        return blocks.reshape(count, rows * d, columns * d)

    def _view_map(self, tables: Array) -> Array:
        """Coefficients of (server's vectors, memory) as maps of a client's view ``(G or 1, a d, m)``."""
        maps = self._matrices(tables)
        return np.concatenate([self.clients.kind.zeros(*maps.shape[:2], 1), maps], axis=-1)

    def _end_maps(self, tables: Array) -> tuple[Array, Array]:
        """Coefficients of (server's vectors, memory, last model) as maps of the view and of the last model."""
        return self._view_map(tables[..., :-1]), self._matrices(tables[..., -1:])

    @cached_property
    def start(self) -> Array:
        """The model at which a client starts, as a map of its view ``(G, d, m)``."""
        maps = self._view_map(self.by_coordinate("start")[:, :, None])
        return np.broadcast_to(maps, (len(self.clients.sizes), *maps.shape[1:]))

    @cached_property
    def push(self) -> Array:
        """The part of a step that depends on the view alone ``(G or 1, J, d, m)``."""
        maps = self._view_map(self.by_coordinate("push"))
        return maps.reshape(len(maps), -1, self.clients.dim, maps.shape[-1])

    @cached_property
    def server_map(self) -> Array:
        """The map of the server's numbers (the first is 1) in a round without clients ``(p, p)``."""
        table = self._matrices(self.by_coordinate("server_map"))[0]
        matrix = self.clients.kind.zeros(1 + len(table), 1 + len(table))
        matrix[0, 0], matrix[1:, 1:] = self.clients.kind.make(1), table
        return matrix

    @cached_property
    def memory_map(self) -> tuple[Array, Array]:
        """A participant's next memory, as maps of its view ``(G or 1, q, m)`` and of its last model."""
        return self._end_maps(self.by_coordinate("memory_map"))

    def sent_maps(self, ends: int | None = None) -> tuple[tuple[int, ...], Array, Array, Array]:
        """The numbers that a participant sends: their multipliers ``(r,)``, and three maps.

        The maps are from the client's view and from its last model to the sent numbers, and from their sum to the
        server's next numbers. With ``ends`` the last models are sent too, with that multiplier.
        """
        kind, d, p = self.clients.kind, self.clients.dim, len(self.server_map)
        multipliers, tables, received = list[int](), list[Array](), list[int]()
        for multiplier, name in enumerate(("by_weight", "by_indicator")):
            table = self.by_coordinate(name)
            for i in np.flatnonzero((table != 0).any(axis=(0, 1, 3))).tolist():
                multipliers.append(multiplier)
                tables.append(table[:, :, i])
                received += range(1 + i * d, 1 + (i + 1) * d)
        receive_map = kind.eye(p)[:, received]
        if ends is not None:
            table = 0 * tables[0]
            table[..., -1] = 1 / self.clients.counts.sum() if ends else kind.make(1)
            multipliers.append(ends)
            tables.append(table)
            receive_map = np.concatenate([receive_map, kind.zeros(p, d)], axis=1)
        of_view, of_end = self._end_maps(np.stack(tables, axis=2))
        return tuple(multiplier for multiplier in multipliers for _ in range(d)), of_view, of_end, receive_map

    @cached_property
    def sent_map(self) -> tuple[tuple[int, ...], Array, Array, Array]:
        """``sent_maps`` without the last models."""
        return self.sent_maps()


Steps = Sequence[Array]
"""K affine steps of the groups' local states, ``z -> turn z + shift + noise``: three arrays.

``turn (G, K, L, L)``, ``shift (G, K, L, m)`` and the covariance of the noise ``(G, K, L, L)``.
"""


def _compose(first: Steps, second: Steps) -> Steps:
    """Compose steps one by one: each of the first, then the one of the same index in the second."""
    (turn, shift, noise), (next_turn, next_shift, next_noise) = first, second
    spread = next_turn @ noise @ np.swapaxes(next_turn, -1, -2)
    return next_turn @ turn, next_turn @ shift + next_shift, spread + next_noise


def cumulative(steps: Steps, equal: bool) -> Steps:
    """The compositions of the first 1, 2, ..., K steps: by doubling if all steps are ``equal``, else from pairs."""
    count = steps[0].shape[1]
    if count == 1:
        return steps
    if equal:
        result: Steps = [x[:, :1] for x in steps]
        while (done := result[0].shape[1]) < count:
            more = _compose([x[:, -1:] for x in result], [x[:, : count - done] for x in result])
            result = [np.concatenate(pair, axis=1) for pair in zip(result, more, strict=True)]
        return result
    odd, even = [x[:, ::2] for x in steps], [x[:, 1::2] for x in steps]
    pairs = cumulative(_compose([x[:, : count // 2] for x in odd], even), False)
    between = _compose([x[:, : (count - 1) // 2] for x in pairs], [x[:, 1:] for x in odd])
    result = [np.empty_like(x) for x in steps]
    for to, step, pair, rest in zip(result, steps, pairs, between, strict=True):
        to[:, :1], to[:, 1::2], to[:, 2::2] = step[:, :1], pair, rest
    return result


@dataclass(frozen=True, eq=False)
class ClientRound:
    """The local models of one round with step ``sizes (K,)``, and the round's action on moments (``moment_map``)."""

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
        """The local steps of the model w or, with momentum v, of (w, v)."""
        kind, c = self.clients.kind, self.clients
        d, size = c.dim, self.sizes[None, :, None, None]
        steep = np.moveaxis(self.frame.by_coordinate("steepness"), 2, 1)[..., None]
        pull = np.moveaxis(self.frame.by_coordinate("pull"), 2, 1) + kind.make(self.weight_decay)
        slope = steep * c.curvature[:, None] + pull[..., None] * kind.eye(d)
        constant = np.repeat(self.frame.push, len(c.sizes) // len(self.frame.push), axis=0)
        constant[..., 0] -= (steep * (c.curvature @ c.minima[..., None])[:, None])[..., 0]
        noise = steep * c.noise[:, None] * np.swapaxes(steep, -1, -2)
        lead = (len(c.sizes), self.steps)
        if self.momentum:
            m, one = kind.make(self.momentum), np.broadcast_to(kind.eye(d), (*lead, d, d))
            along, past = (1 + m, m * m) if self.nesterov else (1, m)
            slope = np.broadcast_to(slope, one.shape)
            turn = np.block([[one - size * along * slope, -size * past * one], [slope, m * one]])
            by_gradient = np.concatenate([-size * along * one, one], axis=-2)
            steps = turn, by_gradient @ constant, by_gradient @ noise @ np.swapaxes(by_gradient, -1, -2)
        else:
            steps = kind.eye(d) - size * slope, -size * constant, size * size * noise
        return [np.broadcast_to(x, (*lead, *x.shape[2:])) for x in steps]

    @cached_property
    def _equal_steps(self) -> bool:
        """Whether all steps of the round are the same; false for balls of positive radius, as they do not compare."""
        return len(self.frame.coefficients[0][0].pull) == 1 and bool((self.sizes == self.sizes[0]).all())

    @cached_property
    def _path(self) -> tuple[Array, Array]:
        d, start = self.clients.dim, self.frame.start[:, None]
        turn, shift, noise = cumulative(self._steps, self._equal_steps)
        models = turn[:, :, :d, :d] @ start + shift[:, :, :d]
        none = self.clients.kind.zeros(len(noise), 1, d, d)
        return np.concatenate([start, models], axis=1), np.concatenate([none, noise[:, :, :d, :d]], axis=1)

    @property
    def path(self) -> Array:
        """Mean local models after 0 to K steps, as maps of a client's view ``(G, K + 1, d, m)``."""
        return self._path[0]

    @property
    def path_noise(self) -> Array:
        """Covariances of the local models caused by the round's noise ``(G, K + 1, d, d)``."""
        return self._path[1]

    def weighted_sum_noise(self, shares: Sequence[Any]) -> tuple[Array, Array]:
        """Noise of the sum over steps of share times local model before the step: two covariances ``(G, d, d)``.

        The first is the sum's covariance with the last model, the second its own.
        """
        kind, d = self.clients.kind, self.clients.dim
        turn, _, noise = self._steps
        groups, steps, size, _ = turn.shape
        # The local state is extended by the sum so far.
        extended = kind.zeros(groups, steps, size + d, size + d)
        extended_noise = extended.copy()
        extended[..., :size, :size], extended_noise[..., :size, :size] = turn, noise
        extended[..., size:, :d] = kind.array(shares)[:, None, None] * kind.eye(d)
        extended[..., size:, size:] = kind.eye(d)
        equal = self._equal_steps and all(share is shares[0] for share in shares)
        last = cumulative([extended, extended[..., :0], extended_noise], equal)[2][:, -1]
        return last[:, :d, size:], last[:, size:, size:]

    @cached_property
    def sum_noise(self) -> tuple[Array, Array]:
        """``weighted_sum_noise`` with all shares 1."""
        return self.weighted_sum_noise([self.clients.kind.make(1)] * self.steps)

    # ---- the action on moments ----

    @cached_property
    def moment_map(self) -> MomentMap:
        return self._moment_map(*self.frame.sent_map)

    @cached_property
    def with_ends(self) -> tuple[MomentMap, int]:
        """The action on moments if participants also send their last models, and the index of these among the sent.

        They are averaged by weight, and evenly if all clients take part.
        """
        maps = self.frame.sent_maps(1 if self.frame.draw.certain else 0)
        return self._moment_map(*maps), len(self.moment_map.multipliers)

    def _moment_map(self, multipliers: tuple[int, ...], of_view: Array, of_end: Array, receive_map: Array) -> MomentMap:
        end, end_noise = self.path[:, -1], self.path_noise[:, -1]
        memory_of_view, memory_of_end = self.frame.memory_map
        return MomentMap(
            self.clients.kind, self.clients.counts, self.frame.draw, multipliers, of_view + of_end @ end,
            memory_of_view + memory_of_end @ end, np.concatenate([of_end, memory_of_end], 1), end_noise,
            self.frame.server_map, receive_map,
        )  # fmt: skip

    @property
    def last_model(self) -> Array | None:
        """The map from a client's view to its last local model ``(d, m)``, or None if that is not followed."""
        if LAST not in self.frame.memory:
            return None
        d = self.clients.dim
        begin = len(self.frame.server_map) + d * list(self.frame.memory).index(LAST)
        return self.clients.kind.eye(d, self.path.shape[-1], begin)
