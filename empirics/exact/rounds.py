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
        """Groups G, numbers q of a client, n of u, r of what is sent."""
        groups, sent, _ = self.sent.shape
        memory = self.keeps.shape[1]
        return groups, memory, len(self.stays) + groups * memory, sent

    def whole(self, maps: Array) -> Array:
        """Maps of (x, y) of a group's mean client ``(G, ..., p + q)`` as maps of u ``(G, ..., n)``."""
        groups, memory, n, _ = self.shape
        server = n - groups * memory
        found = self.kind.zeros(*maps.shape[:-1], n)
        found[..., :server] = maps[..., :server]
        for g in range(groups if memory else 0):
            found[g, ..., server + g * memory : server + (g + 1) * memory] = maps[g, ..., server:]
        return found

    @cached_property
    def _stay(self) -> Array:
        """Picks every group's mean memory out of u ``(G, q, n)``."""
        groups, memory, n, _ = self.shape
        return self.kind.eye(groups * memory, n, n - groups * memory).reshape(groups, memory, n)

    @cached_property
    def _of_means(self) -> tuple[Array, Array]:
        """What the mean client sends ``(G, r, n)``, and what working changes of its memory ``(G, q, n)``."""
        return self.whole(self.sent), self.whole(self.keeps) - self._stay

    @cached_property
    def sent_mean(self) -> Array:
        """What the server gets, in expectation over the draw: a map of u ``(r, n)``."""
        chances = self.draw.mean[:, list(self.which)] * self.sizes[:, None]
        return (chances[:, :, None] * self._of_means[0]).sum(0)

    @cached_property
    def mean(self) -> Array:
        """The next u in expectation over draw and noise ``(n, n)``."""
        groups, memory, n, _ = self.shape
        server = self.stays @ self.kind.eye(n - groups * memory, n) + self.moves @ self.sent_mean
        memories = self._stay + self.draw.mean[:, 1, None, None] * self._of_means[1]
        return np.concatenate([server, memories.reshape(groups * memory, n)])

    @cached_property
    def _of_clients(self) -> tuple[Array, Array]:
        """What a client's draw changes: (sent, difference) as maps of u and of dev, each ``(G, r + q, ...)``.

        Where weights sum to 1, what is sent by weight counts from its mean: what all send equally leaves no rounding.
        """
        groups, memory, n, _ = self.shape
        server = n - groups * memory
        sent, difference = self._of_means
        weighed = (np.array(self.which)[:, None] == 0) & self.draw.whole
        by_u = np.concatenate([np.where(weighed, sent - self.sent_mean, sent), difference], 1)
        change = self.keeps[..., server:] - self.kind.eye(memory)
        return by_u, np.concatenate([self.sent[..., server:], change], 1)

    @cached_property
    def _pairs(self) -> tuple[Array, Array, Array]:
        """Per client its own covariance and mean square of the pair, and per two clients theirs, number by number.

        ``(G, r + q, r + q)`` twice, and ``(G, r + q, G, r + q)``, the last counted for all clients.
        """
        where = np.array([*self.which, *[1] * self.shape[1]], dtype=int)
        own, other = (x[..., where[:, None], where] for x in (self.draw.own, self.draw.other))
        mean = self.draw.mean[:, where]
        alone = own - other[np.arange(len(own)), np.arange(len(own))]
        many = other * (self.sizes[:, None] * self.sizes[None, :])[..., None, None]
        return alone, own + mean[:, :, None] * mean[:, None, :], np.swapaxes(many, 1, 2)

    def drawn(self, mean: Array, covariance: Array, spread: Array) -> Array:
        """The covariance of what every group sends and of what changed in it that the draw makes, without noise.

        ``(..., G, r + q, G, r + q)``; states may be stacked.
        """
        groups, memory, n, sent = self.shape
        by_u, by_dev = self._of_clients
        alone, _, many = self._pairs
        s = covariance + mean[..., :, None] * mean[..., None, :]
        flat = by_u.reshape(-1, n)
        found = (flat @ s @ flat.T).reshape(*s.shape[:-2], groups, sent + memory, groups, sent + memory)
        within = [found[..., g, :, g, :] for g in range(groups)]
        inside = np.stack(within, -3)
        if memory:
            inside = inside + by_dev @ spread @ np.swapaxes(by_dev, 1, 2)
        inside = alone * self.sizes[:, None, None] * inside
        found = found * many
        for g in range(groups):
            found[..., g, :, g, :] += inside[..., g, :, :]
        return found

    @cached_property
    def noise(self) -> Array:
        """The covariance of what a participant's noise adds to what it sends and keeps ``(G, r + q, r + q)``."""
        return self.reached @ self.end_noise @ np.swapaxes(self.reached, 1, 2)

    @cached_property
    def noisy(self) -> Array:
        """The same covariance that noise makes, within each group ``(G, r + q, r + q)``."""
        sent = self.shape[3]
        scale = self._pairs[1].copy()
        scale[:, sent:, sent:] = self.draw.mean[:, 1, None, None]
        return self.sizes[:, None, None] * scale * self.noise

    @cached_property
    def sources(self) -> Array:
        """How what the groups send, and what changed in them, moves the next u ``(n, G, r + q)``."""
        groups, memory, n, sent = self.shape
        server = n - groups * memory
        found = self.kind.zeros(n, groups, sent + memory)
        found[:server, :, :sent] = self.moves[:, None, :]
        for g in range(groups):
            rows = slice(server + g * memory, server + (g + 1) * memory)
            found[rows, g, sent:] = self.kind.eye(memory) / self.sizes[g]
        return found

    @cached_property
    def _added(self) -> tuple[Array, Array]:
        """What noise adds to the covariance of u and to V."""
        sent = self.shape[3]
        each = np.swapaxes(self.sources, 0, 1)
        within = (1 - 1 / self.sizes)[:, None, None] * self.draw.mean[:, 1, None, None] * self.noise[:, sent:, sent:]
        return (each @ self.noisy @ np.swapaxes(each, 1, 2)).sum(0), within

    @property
    def added(self) -> Array:
        """What noise adds to the covariance of u ``(n, n)``."""
        return self._added[0]

    @property
    def by_noise(self) -> Array:
        """How a shift of all ends of a group moves the next u, where all clients take part ``(G, n, d)``."""
        where = [*self.which, *[1] * self.shape[1]]
        shares = (self.sizes[:, None] * self.draw.mean[:, where])[:, :, None]
        return np.swapaxes(self.sources, 0, 1) @ (shares * self.reached)

    def after(self, state: State, noise: bool = True) -> State:
        """The moments one round later, or what they would be without noise; states may be stacked."""
        groups, memory, n, sent = self.shape
        mean, covariance, spread = state
        added, within = self._added if noise else (0, 0)
        after = self.mean @ covariance @ self.mean.T + added
        if not self.draw.certain:
            flat = self.sources.reshape(n, -1)
            drawn = self.drawn(mean, covariance, spread)
            after = after + flat @ drawn.reshape(*drawn.shape[:-4], *flat.shape[1:] * 2) @ flat.T
        if not memory:
            return State(mean @ self.mean.T, after, spread)
        joined, own = self.draw.mean[:, 1], self.draw.own[:, 1, 1]
        other = self.draw.other[np.arange(groups), np.arange(groups), 1, 1]
        chance = ((own - other) * (1 - 1 / self.sizes))[:, None, None]
        by_dev = self._of_clients[1][:, sent:]
        stays = self.kind.eye(memory) + joined[:, None, None] * by_dev
        spread_after = stays @ spread @ np.swapaxes(stays, 1, 2) + within
        if not self.draw.certain:
            s = covariance + mean[..., :, None] * mean[..., None, :]
            change = self._of_means[1]
            spread_after = (
                spread_after
                + chance * (change @ s[..., None, :, :] @ np.swapaxes(change, 1, 2))
                + (chance + other[:, None, None]) * (by_dev @ spread @ np.swapaxes(by_dev, 1, 2))
            )
        return State(mean @ self.mean.T, after, spread_after)

    # ---- as one affine map of raw moments ----

    @cached_property
    def _upper(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return np.triu_indices(self.shape[2]), np.triu_indices(self.shape[1])

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
        groups, memory, n, _ = self.shape
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
