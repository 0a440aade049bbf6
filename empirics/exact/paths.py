"""What the clients of one round do: their local models as affine maps of what server and client know, and the noise."""

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

    def _spread(self, name: str, entry: Any = slice(None)) -> Array:
        """Coefficients ``(a, b)`` of every coordinate as a matrix ``(G or 1, a d, b d)``."""
        kind, d = self.clients.kind, self.clients.dim
        tables = [[np.asarray(getattr(layer, name)[entry]) for layer in group] for group in self.coefficients]
        rows, columns = tables[0][0].shape
        found = kind.zeros(len(tables), rows, d, columns, d)
        for g, group in enumerate(tables):
            for i in range(d):
                found[g, :, i, :, i] = group[self.clients.layers[i] if self.clients.layers else 0]
        return found.reshape(len(tables), rows * d, columns * d)

    def by_coordinate(self, name: str) -> Array:
        """A coefficient of the steps for every coordinate ``(J, G or 1, d)``."""
        where = self.clients.layers or [0] * self.clients.dim
        tables = [[getattr(group[layer], name) for layer in where] for group in self.coefficients]
        return np.moveaxis(np.array(tables), 2, 0)

    def view(self, of_parts: Array) -> Array:
        """Maps of server vectors and memory ``(G or 1, a, .)`` as maps of (1, server vectors, memory), one for each."""
        groups = len(self.clients.sizes)
        one = self.clients.kind.zeros(groups, of_parts.shape[1], 1)
        return np.concatenate([one, np.broadcast_to(of_parts, (groups, *of_parts.shape[1:]))], axis=-1)

    @cached_property
    def start(self) -> Array:
        """Where clients start ``(G, d, p + q)``."""
        return self.view(self._spread("start", np.s_[None]))

    @cached_property
    def push(self) -> Array:
        """What the parts that stay the same during the round add to the steps ``(J, G, d, p + q)``."""
        steps = len(self.coefficients[0][0].pull)
        return np.stack([self.view(self._spread("push", np.s_[j : j + 1])) for j in range(steps)])

    @cached_property
    def stays(self) -> Array:
        """What the server's numbers become by themselves ``(p, p)``."""
        kind, table = self.clients.kind, self._spread("stays")[0]
        found = kind.zeros(1 + len(table), 1 + len(table))
        found[0, 0], found[1:, 1:] = kind.make(1), table
        return found

    @cached_property
    def keeps(self) -> tuple[Array, Array]:
        """What a participant's memory becomes: of what it knew ``(G, q, p + q)``, and of where it ended."""
        return self._of_end(self._spread("keeps"))

    def sends(self, ends: int | None = None) -> tuple[tuple[int, ...], Array, Array, Array]:
        """What a participant sends: by which multiplier, of what it knew and of its end; the move of the server.

        ``ends`` adds the last models, by that multiplier.
        """
        kind, d, groups = self.clients.kind, self.clients.dim, len(self.clients.sizes)
        server = self.coefficients[0][0].stays.shape[0]
        maps, by_end, which, moves = [], [], list[int](), []
        for multiplier, name in enumerate(("weighed", "added")):
            used = [
                i
                for i in range(server)
                if any((getattr(layer, name)[i] != 0).any() for g in self.coefficients for layer in g)
            ]
            if used:
                of_parts, of_end = self._of_end(self._spread(name, np.s_[used]))
                maps.append(of_parts)
                by_end.append(of_end)
                which += [multiplier] * (len(used) * d)
                moves.append(kind.eye(server * d)[:, [i * d + axis for i in used for axis in range(d)]])
        if ends is not None:
            share = kind.eye(d) * (1 / self.clients.number.sum() if ends else kind.make(1))
            maps.append(kind.zeros(groups, d, self.start.shape[-1]))
            by_end.append(np.broadcast_to(share, (groups, d, d)))
            which += [ends] * d
            moves.append(kind.zeros(server * d, d))
        shift = np.concatenate(moves, 1)
        shift = np.concatenate([kind.zeros(1, shift.shape[1]), shift])
        return tuple(which), np.concatenate(maps, 1), np.concatenate(by_end, 1), shift

    @cached_property
    def sent(self) -> tuple[tuple[int, ...], Array, Array, Array]:
        """What a participant sends where its last model is not needed."""
        return self.sends()

    def _of_end(self, maps: Array) -> tuple[Array, Array]:
        """Maps of (server vectors, memory, end) as one of what was known and one of the end ``(G, ., d)``."""
        parts = self.start.shape[-1] - 1
        end = maps[:, :, parts:]
        return self.view(maps[:, :, :parts]), np.broadcast_to(end, (len(self.clients.sizes), *end.shape[1:]))


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

    @property
    def start(self) -> Array:
        """Where clients start ``(G, d, p + q)``."""
        return self.frame.start

    @cached_property
    def _steps(self) -> tuple[Array, Array, Array]:
        """Steps of the local state z = w, or (w, v) with momentum: ``z -> map z + shift + push noise``.

        ``(K, G, ...)`` all three, or one step where all are the same.
        """
        kind, c = self.clients.kind, self.clients
        d, size = c.dim, (self.sizes[:1] if self._alike else self.sizes)[:, None, None, None]
        steep = self.frame.by_coordinate("steepness")[..., None]
        pull = self.frame.by_coordinate("pull") + kind.make(self.weight_decay)
        slope = steep * c.curvature + pull[..., None] * kind.eye(d)
        constant = self.frame.push.copy()
        constant[..., 0] -= steep[..., 0] * (c.curvature @ c.minimum[..., None])[..., 0]
        noise = steep * np.broadcast_to(kind.eye(d), c.curvature.shape)
        if not self.momentum:
            return kind.eye(d) - size * slope, -size * constant, -size * noise
        m = kind.make(self.momentum)
        along, past = (1 + m, m * m) if self.nesterov else (1, m)
        identity = np.broadcast_to(kind.eye(d), slope.shape)

        def stacked(of_model: Array, of_momentum: Array) -> Array:
            return np.concatenate([of_model, np.broadcast_to(of_momentum, of_model.shape)], -2)

        upper = np.concatenate([identity - size * along * slope, -size * past * identity], -1)
        lower = np.concatenate([slope, m * identity], -1)
        return (
            stacked(upper, lower),
            stacked(-size * along * constant, constant),
            stacked(-size * along * noise, noise),
        )

    def _step(self, k: int) -> tuple[Array, Array, Array]:
        maps, shifts, pushes = self._steps
        at = k if len(maps) > 1 else 0
        return maps[at], shifts[at], pushes[at]

    @cached_property
    def _alike(self) -> bool:
        """Whether all steps of the round are the same."""
        sizes = self.sizes
        if len(self.frame.coefficients[0][0].pull) > 1:
            return False
        if not self.clients.kind.exact:
            return bool((sizes == sizes[0]).all())
        return all(size is sizes[0] or bool(size == sizes[0]) for size in sizes)

    @cached_property
    def _powers(self) -> Array:
        """What j steps make of a local state, all steps being the same ``(G, K + 1, L, L)``, by doubling."""
        one = self._step(0)[0]
        found = np.broadcast_to(self.clients.kind.eye(one.shape[-1]), one.shape)[:, None]
        power = one[:, None]
        while found.shape[1] <= self.steps:
            found = np.concatenate([found, found @ power], axis=1)
            power = power @ power
        return found[:, : self.steps + 1]

    @cached_property
    def _summed(self) -> Array:
        """The sums of the first j powers ``(G, K + 1, L, L)``."""
        none = self.clients.kind.zeros(*self._powers[:, :1].shape)
        return np.concatenate([none, np.cumsum(self._powers[:, :-1], axis=1)], axis=1)

    @cached_property
    def path(self) -> Array:
        """Mean local models after 0 to K steps, as maps of (1, server vectors, memory) ``(G, K + 1, d, p + q)``."""
        d, start = self.clients.dim, self.start
        if self._alike:
            shift = self._step(0)[1]
            return self._powers[:, :, :d, :d] @ start[:, None] + self._summed[:, :, :d] @ shift[:, None]
        still = self.clients.kind.zeros(*start.shape) if self.momentum else start[:, :0]
        now, found = np.concatenate([start, still], 1), [start]
        for k in range(self.steps):
            map_, shift, _ = self._step(k)
            now = map_ @ now + shift
            found.append(now[:, :d])
        return np.stack(found, axis=1)

    @cached_property
    def of_u(self) -> Array:
        """The same as maps of u ``(G, K + 1, d, n)``."""
        return self.round.whole(self.path)

    @cached_property
    def path_noise(self) -> Array:
        """Covariances of the local models that the round's noise makes ``(G, K + 1, d, d)``."""
        d = self.clients.dim
        if self._alike:
            push = self._step(0)[2]
            moved = (self._powers[:, :-1] @ push[:, None])[:, :, :d]
            each = moved @ self.clients.noise[:, None] @ np.swapaxes(moved, -1, -2)
            return np.concatenate([self.clients.kind.zeros(*each[:, :1].shape), np.cumsum(each, axis=1)], axis=1)
        covariance: Any = 0
        found = [self.clients.kind.zeros(*self.clients.noise.shape)]
        for k in range(self.steps):
            map_, _, push = self._step(k)
            covariance = map_ @ covariance @ np.swapaxes(map_, 1, 2) if k else 0 * map_
            covariance = covariance + push @ self.clients.noise @ np.swapaxes(push, 1, 2)
            found.append(covariance[:, :d, :d])
        return np.stack(found, axis=1)

    @cached_property
    def _summed_noise(self) -> tuple[Array, Array]:
        """The same of the plain sum, all steps being the same."""
        d, push = self.clients.dim, self._step(0)[2]
        ends, sums = ((x[:, :-1] @ push[:, None])[:, :, :d] for x in (self._powers, self._summed))
        by_sums = self.clients.noise[:, None] @ np.swapaxes(sums, -1, -2)
        return (ends @ by_sums).sum(1), (sums @ by_sums).sum(1)

    def weighed_noise(self, shares: Sequence[Any]) -> tuple[Array, Array]:
        """Of the sum of local models before the steps, each times its share: the covariance with the end, and its own.

        ``(G, d, d)`` both.
        """
        across: Any = 0
        own: Any = 0
        if self._alike and all(share is shares[0] for share in shares):
            across, own = self._summed_noise
            return shares[0] * across, shares[0] ** 2 * own
        kind, d = self.clients.kind, self.clients.dim
        size = self._step(0)[0].shape[-1]
        left = np.broadcast_to(kind.eye(d, size), (len(self.clients.sizes), d, size))
        summed = 0 * left
        for k in range(self.steps - 1, -1, -1):
            map_, _, push = self._step(k)
            end, before = left @ push, summed @ push
            across = across + end @ self.clients.noise @ np.swapaxes(before, 1, 2)
            own = own + before @ self.clients.noise @ np.swapaxes(before, 1, 2)
            left, summed = left @ map_, summed @ map_ + shares[k] * kind.eye(d, size)
        return across, own

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
        certain = self.frame.draw.certain
        return self._round(*self.frame.sends(1 if certain else 0)), self.round.shape[3]

    def _round(self, which: tuple[int, ...], sent: Array, reached: Array, moves: Array) -> Round:
        end, last = self.path[:, -1], self.path_noise[:, -1]
        keeps, kept = self.frame.keeps
        return Round(
            self.clients.kind, self.clients.number, self.frame.draw, which, sent + reached @ end, keeps + kept @ end,
            np.concatenate([reached, kept], 1), last, self.frame.stays, moves,
        )  # fmt: skip

    @property
    def last(self) -> Array | None:
        """Picks a client's last local model out of (1, server vectors, memory) ``(G, d, p + q)``, if it is followed."""
        if LAST not in self.frame.memory:
            return None
        kind, d = self.clients.kind, self.clients.dim
        begin = len(self.frame.stays) + d * list(self.frame.memory).index(LAST)
        return np.broadcast_to(kind.eye(d, self.start.shape[-1], begin), self.start.shape)
