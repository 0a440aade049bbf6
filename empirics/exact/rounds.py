"""One round of second moments of clients that are identical in groups: it costs the same at ten clients and at 10^9.

Who is drawn (``Draw``) takes part with a weight a_i and an indicator I_i. With x the numbers of the server (the first
is 1), u = (x, the groups' means of the memory y) and noise zeta,

    x'   = stays x + moves (sum of a_i or I_i times (sent (x, y_i) + zeta_i))
    y_i' = keeps (x, y_i) + noise for a client that works, y_i for one that does not

Exchanging clients of a group changes no reading that is symmetric there, so moments of two kinds are all there is: mean
and covariance of u, and per group V = E of the mean of ``dev dev^T`` over its clients, with dev the distance of y_i
from the group's mean. Keeping V instead of ``E y_i y_j^T`` subtracts nothing. With a mean of zero the covariance is the
raw second moment ``S = E u u^T``, and a round is an affine map of (S, V), which can be squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .draws import Draw
from .numbers import Array, Kind


class State(NamedTuple):
    """Mean of u ``(n,)``, its covariance ``(n, n)``, and V of every group ``(G, q, q)``."""

    mean: Array
    covariance: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class Round:
    """A round of G groups; the server has p numbers, a client q, of r numbers that are sent the weighted sum is taken.

    ``sizes (G,)`` are the numbers of clients. ``sent (G, r, p + q)`` and ``keeps (G, q, p + q)`` act on (x, y) of a
    participant; its noise enters both by ``reached (G, r + q, d)``, from the place where it ends, where noise has the
    covariance ``end_noise (G, d, d)``. ``which (r,)`` says what multiplies a number that is sent: 0 the weight, 1 the
    indicator. ``stays (p, p)`` and ``moves (p, r)``.
    """

    kind: Kind
    sizes: Array
    draw: Draw
    which: tuple[int, ...]
    sent: Array
    keeps: Array
    reached: Array
    end_noise: Array
    stays: Array
    moves: Array

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """Groups G, numbers of the server p, of a client q, and of u."""
        groups, memory, _ = self.keeps.shape
        return groups, len(self.stays), memory, len(self.stays) + groups * memory

    def whole(self, maps: Array) -> Array:
        """Maps of (x, y) of a group's mean client ``(G, ..., p + q)`` as maps of u ``(G, ..., n)``."""
        groups, server, memory, n = self.shape
        found = self.kind.zeros(*maps.shape[:-1], n)
        found[..., :server] = maps[..., :server]
        for g in range(groups if memory else 0):
            found[g, ..., server + g * memory : server + (g + 1) * memory] = maps[g, ..., server:]
        return found

    # ---- what clients add ----

    @cached_property
    def _where(self) -> list[int]:
        """What multiplies everything that a client adds: what it sends, then the changes of its memory ``(r + q,)``."""
        return [*self.which, *[1] * self.shape[2]]

    @cached_property
    def _adds(self) -> tuple[Array, Array]:
        """What a client adds, as maps of u and of dev ``(G, r + q, ...)``."""
        _, server, memory, _ = self.shape
        changes = self.keeps - self.kind.eye(memory, server + memory, server)
        adds = np.concatenate([self.sent, changes], axis=1)
        return self.whole(adds), adds[..., server:]

    @cached_property
    def _taken(self) -> Array:
        """The sum over each group of what multiplies it, in expectation over the draw ``(G, r + q, 1)``."""
        return (self.sizes[:, None] * self.draw.mean[:, self._where])[..., None]

    @cached_property
    def sent_mean(self) -> Array:
        """What the server gets, in expectation over the draw: a map of u ``(r, n)``."""
        return (self._taken * self._adds[0])[:, : len(self.which)].sum(0)

    @cached_property
    def sources(self) -> Array:
        """How what the groups send, and what changed in them, moves the next u ``(n, G, r + q)``."""
        groups, server, memory, n = self.shape
        sent = len(self.which)
        found = self.kind.zeros(n, groups, sent + memory)
        found[:server, :, :sent] = self.moves[:, None, :]
        for g in range(groups):
            rows = slice(server + g * memory, server + (g + 1) * memory)
            found[rows, g, sent:] = self.kind.eye(memory) / self.sizes[g]
        return found

    @cached_property
    def mean(self) -> Array:
        """The next u in expectation over draw and noise ``(n, n)``."""
        _, server, _, n = self.shape
        changes = self.draw.mean[:, 1, None, None] * self._adds[0][:, len(self.which) :]
        found = self.kind.eye(n).copy()
        found[:server, :server] = self.stays
        found[:server] += self.moves @ self.sent_mean
        found[server:] += changes.reshape(-1, n)
        return found

    # ---- what chance makes of it ----

    @cached_property
    def _pairs(self) -> tuple[Array, Array]:
        """What a client's own covariance has beyond that with another of its group, and the latter for all pairs.

        ``(G, r + q, r + q)`` and ``(G, r + q, G, r + q)``, both counted for all clients.
        """
        where = np.array(self._where, dtype=int)
        own, other = (x[..., where[:, None], where] for x in (self.draw.own, self.draw.other))
        groups = np.arange(len(own))
        many = other * (self.sizes[:, None] * self.sizes)[..., None, None]
        return self.sizes[:, None, None] * (own - other[groups, groups]), np.swapaxes(many, 1, 2)

    @cached_property
    def _centred(self) -> Array:
        """What clients add as maps of u; where weights sum to 1 what is sent by weight is counted from its mean.

        So what all send equally leaves no rounding.
        """
        by_u = self._adds[0].copy()
        if self.draw.whole:
            by_weight = [i for i, multiplier in enumerate(self.which) if multiplier == 0]
            by_u[:, by_weight] -= self.sent_mean[by_weight]
        return by_u

    def drawn(self, mean: Array, covariance: Array, spread: Array) -> Array:
        """The covariance of what every group sends and of what changed in it that the draw makes, without noise.

        ``(..., G, r + q, G, r + q)``; states may be stacked.
        """
        by_u, by_dev = self._centred, self._adds[1]
        alone, many = self._pairs
        flat = by_u.reshape(-1, by_u.shape[-1])
        seen = flat @ (covariance + mean[..., :, None] * mean[..., None, :]) @ flat.T
        seen = seen.reshape(*mean.shape[:-1], *many.shape)
        found = seen * many
        inside = by_dev @ spread @ np.swapaxes(by_dev, 1, 2)
        for g in range(len(alone)):
            found[..., g, :, g, :] += alone[g] * (seen[..., g, :, g, :] + inside[..., g, :, :])
        return found

    @cached_property
    def noise(self) -> Array:
        """The covariance of what a participant's noise adds to what it sends and keeps ``(G, r + q, r + q)``."""
        return self.reached @ self.end_noise @ np.swapaxes(self.reached, 1, 2)

    @cached_property
    def noisy(self) -> Array:
        """The same of the sums over each group ``(G, r + q, r + q)``."""
        where = np.array(self._where, dtype=int)
        mean, own = self.draw.mean[:, where], self.draw.own[..., where[:, None], where]
        squares = own + mean[:, :, None] * mean[:, None, :]
        sent = len(self.which)
        squares[:, sent:, sent:] = self.draw.mean[:, 1, None, None]  # an indicator is its own square
        return self.sizes[:, None, None] * squares * self.noise

    @cached_property
    def added(self) -> Array:
        """What noise adds to the covariance of u ``(n, n)``."""
        each = np.swapaxes(self.sources, 0, 1)
        found: Array = (each @ self.noisy @ np.swapaxes(each, 1, 2)).sum(0)
        return found

    @property
    def by_noise(self) -> Array:
        """How a shift of all ends of a group moves the next u, where all clients take part ``(G, n, d)``."""
        return np.swapaxes(self.sources, 0, 1) @ (self._taken * self.reached)

    def after(self, state: State, noise: bool = True) -> State:
        """The moments one round later, or what they would be without noise; states may be stacked."""
        mean, covariance, spread = state
        later = mean @ self.mean.T
        after = self.mean @ covariance @ self.mean.T + (self.added if noise else 0)
        if not self.draw.certain:
            flat = self.sources.reshape(len(self.sources), -1)
            drawn = self.drawn(mean, covariance, spread)
            after = after + flat @ drawn.reshape(*drawn.shape[:-4], *flat.shape[1:] * 2) @ flat.T
        if not self.shape[2]:
            return State(later, after, spread)
        return State(later, after, self._spread(mean, covariance, spread, noise))

    def _spread(self, mean: Array, covariance: Array, spread: Array, noise: bool) -> Array:
        """V one round later."""
        groups, _, memory, _ = self.shape
        sent, diagonal = len(self.which), np.arange(groups)
        change, by_dev = (x[:, sent:] for x in self._adds)
        joined, fewer = self.draw.mean[:, 1, None, None], (1 - 1 / self.sizes)[:, None, None]
        stays = self.kind.eye(memory) + joined * by_dev
        found = stays @ spread @ np.swapaxes(stays, 1, 2)
        if noise:
            found = found + fewer * joined * self.noise[:, sent:, sent:]
        if self.draw.certain:
            return found
        other = self.draw.other[diagonal, diagonal, 1, 1][:, None, None]
        chance = (self.draw.own[:, 1, 1, None, None] - other) * fewer
        seen = (covariance + mean[..., :, None] * mean[..., None, :])[..., None, :, :]
        return (
            found
            + chance * (change @ seen @ np.swapaxes(change, 1, 2))
            + (chance + other) * (by_dev @ spread @ np.swapaxes(by_dev, 1, 2))
        )

    # ---- as one affine map of raw moments ----

    @cached_property
    def _upper(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return np.triu_indices(self.shape[3]), np.triu_indices(self.shape[2])

    def flat(self, state: State) -> Array:
        """Raw moments as one vector: the upper triangle of S, then of every V."""
        groups, (means, spread) = self.shape[0], self._upper
        s = state.covariance + state.mean[..., :, None] * state.mean[..., None, :]
        mine = state.spread[..., spread[0], spread[1]]
        return np.concatenate(
            [s[..., means[0], means[1]], mine.reshape(*mine.shape[:-2], groups * len(spread[0]))], axis=-1
        )

    def unflat(self, states: Array) -> State:
        """The states with these raw moments, whose mean is zero."""
        groups, _, memory, n = self.shape
        means, spread = self._upper
        lead, cut = states.shape[:-1], len(means[0])
        s, v = self.kind.zeros(*lead, n, n), self.kind.zeros(*lead, groups, memory, memory)
        s[..., means[0], means[1]] = s[..., means[1], means[0]] = states[..., :cut]
        inside = states[..., cut:].reshape(*lead, groups, len(spread[0]))
        v[..., spread[0], spread[1]] = v[..., spread[1], spread[0]] = inside
        return State(self.kind.zeros(*lead, n), s, v)

    @cached_property
    def affine(self) -> tuple[Array, Array]:
        """The round of raw moments as ``state -> matrix @ state + constant``."""
        size = sum(len(rows) * count for (rows, _), count in zip(self._upper, (1, self.shape[0]), strict=True))
        constant = self.flat(self.after(self.unflat(self.kind.zeros(size))))
        return self.flat(self.after(self.unflat(self.kind.eye(size)), noise=False)).T, constant


def listed(matrix: Array, constant: Array, start: Array, rounds: int) -> Array:
    """The states before the first of ``rounds`` rounds and after every one ``(R+1, m)``, by doubling."""
    found = start[None]
    power, shift = matrix, constant
    while len(found) <= rounds:
        found = np.concatenate([found, found @ power.T + shift])
        power, shift = power @ power, power @ shift + shift
    return found[: rounds + 1]


def after(matrix: Array, constant: Array, start: Array, rounds: int) -> tuple[Array, Array]:
    """The state after any number of rounds, and the sum of those before each of them, by squaring."""
    now, total, done = start, 0 * start, 0
    power, shift = matrix, constant
    one = 0 * matrix + np.eye(len(start), dtype=int)
    summed, drift = one, 0 * constant  # the sum of 2^k states from s on is summed @ s + drift
    with np.errstate(all="ignore"):
        while rounds >> done:
            if rounds >> done & 1:
                now, total = power @ now + shift, total + summed @ now + drift
            done += 1
            if rounds >> done:
                drift = drift + summed @ shift + drift
                summed = summed + product(summed, power)
                power, shift = product(power, power), power @ shift + shift
    return now, total


def product(left: Array, right: Array) -> Array:
    """The matrix product; large ones of exact numbers by FLINT."""
    if left.dtype != object or len(left) < 8:
        found: Array = left @ right
        return found
    import flint

    made: Any = flint.arb_mat if any(isinstance(x, flint.arb) for x in (*left.flat, *right.flat)) else flint.fmpq_mat
    rows = made(left.tolist()) * made(right.tolist())
    return np.array(rows.tolist(), dtype=object)
