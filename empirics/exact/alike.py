"""Second moments of federations whose clients are alike, in groups: a round costs the same at ten clients and at 10^9.

One round, given who is drawn (``Draw``) with weights a_i (of sum 1), x the numbers of the server (the first is 1) and
y_i those that client i remembers:

    z  = sum over the drawn of a_i (from_server x + from_memory y_i + zeta_i)       what the server averages
    x' = stays x + moves z
    y_i' = a map of (x, y_i) plus noise, one map for who works and one for who does not

Relabelling clients within a group changes no reading that is symmetric there, so two kinds of blocks are all there is:
``S = E u u^T`` of u = (x, the groups' means of y) and, per group, ``V = E`` of the mean of ``dev dev^T`` over its
clients, with dev the distance of y_i from the group's mean. Keeping V instead of ``E y_i y_j^T`` subtracts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .draws import Draw

Array = np.ndarray[Any, Any]


class Work(NamedTuple):
    """The maps of one round for G groups; r numbers are averaged, p are the server's, q every client's.

    ``sent_x (G, r, p)``, ``sent_y (G, r, q)``: what a participant sends; ``here_x (G, q, p)``, ``here_y (G, q, q)``:
    what it remembers then; ``gone_x``, ``gone_y``: what an absent client does. ``noise (G, r + q, r + q)`` is the
    covariance of what a participant's noise adds to what it sends and remembers, ``gone_noise (G, q, q)`` to an absent
    one's memory. ``stays (p, p)`` and ``moves (p, r)`` are the server's.
    """

    sent_x: Array
    sent_y: Array
    here_x: Array
    here_y: Array
    gone_x: Array
    gone_y: Array
    noise: Array
    gone_noise: Array
    stays: Array
    moves: Array


@dataclass(frozen=True, eq=False)
class AlikeRound:
    """A round as an affine map of the blocks (S, V), flat in one vector: the upper triangle of S, then of every V."""

    work: Work
    draw: Draw
    sizes: Array

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """Groups G, numbers q of a client, n of u, r of what is sent."""
        groups, sent, server = self.work.sent_x.shape
        memory = self.work.sent_y.shape[2]
        return groups, memory, server + groups * memory, sent

    @property
    def size(self) -> int:
        """Numbers in both blocks, one of each pair that is equal."""
        groups, memory, n, _ = self.shape
        return n * (n + 1) // 2 + groups * memory * (memory + 1) // 2

    def group(self, g: int) -> Array:
        """Picks the mean of a group's memory out of u ``(q, n)``."""
        groups, memory, n, _ = self.shape
        begin = n - (groups - g) * memory
        return np.eye(n)[begin : begin + memory]

    @cached_property
    def _of_means(self) -> tuple[Array, Array, Array]:
        """What the mean client sends ``(G, r, n)``, what it keeps if absent, and what working changes of that."""
        groups, memory, n, _ = self.shape
        x = np.eye(n)[: n - groups * memory]
        w, own = self.work, [self.group(g) for g in range(groups)]

        def whole(by_x: Array, by_y: Array) -> Array:
            return np.stack([by_x[g] @ x + by_y[g] @ own[g] for g in range(groups)])

        gone = whole(w.gone_x, w.gone_y)
        return whole(w.sent_x, w.sent_y), gone, whole(w.here_x, w.here_y) - gone

    @cached_property
    def sent(self) -> Array:
        """What the server averages, in expectation over the draw: a map of u ``(r, n)``."""
        return np.einsum("g,grn->rn", self.sizes * self.draw.mean[:, 0], self._of_means[0])

    @cached_property
    def mean(self) -> Array:
        """The next u in expectation over draw and noise ``(n, n)``."""
        groups, memory, n, _ = self.shape
        _, gone, difference = self._of_means
        server = self.work.stays @ np.eye(n)[: n - groups * memory] + self.work.moves @ self.sent
        memories = gone + self.draw.mean[:, 1, None, None] * difference
        return np.concatenate([server, *memories])

    @cached_property
    def _of_clients(self) -> tuple[Array, Array]:
        """What a draw changes by a client: (sent, difference) as maps of u and of dev, each ``(G, r + q, ...)``.

        Weights sum to 1, so that what is sent counts from its mean: what all send alike leaves no rounding.
        """
        w = self.work
        sent, _, difference = self._of_means
        return np.concatenate([sent - self.sent, difference], 1), np.concatenate([w.sent_y, w.here_y - w.gone_y], 1)

    @cached_property
    def _where(self) -> Array:
        """Which of the pair of a draw multiplies each of those r + q numbers."""
        _, memory, _, sent = self.shape
        return np.array([0] * sent + [1] * memory)

    def chance(self, s: Array, v: Array) -> Array:
        """The covariance of (z, sums over each group's clients of what changed) that the draw makes.

        ``s (..., n, n)``, ``v (..., G, q, q)``; found ``(..., r + G q, r + G q)``, without noise.
        """
        groups, memory, _, sent = self.shape
        by_u, by_dev = self._of_clients
        own, other = (x[..., self._where[:, None], self._where] for x in (self.draw.own, self.draw.other))
        found = np.zeros((*s.shape[:-2], sent + groups * memory, sent + groups * memory))
        rows = [np.r_[0:sent, sent + g * memory : sent + (g + 1) * memory] for g in range(groups)]
        for g in range(groups):
            left = by_u[g] @ s
            for h in range(groups):
                part = other[g, h] * self.sizes[g] * self.sizes[h] * (left @ by_u[h].T)
                if g == h:
                    both = left @ by_u[g].T + by_dev[g] @ v[..., g, :, :] @ by_dev[g].T
                    part = part + (own[g] - other[g, g]) * self.sizes[g] * both
                found[..., rows[g][:, None], rows[h]] += part
        return found

    @cached_property
    def added(self) -> Array:
        """The covariance of the same that noise makes, with the sums of what the clients remember after the round."""
        groups, memory, _, sent = self.shape
        found = np.zeros((sent + groups * memory, sent + groups * memory))
        pairs = self.draw.own + self.draw.mean[:, :, None] * self.draw.mean[:, None, :]
        for g in range(groups):
            rows = np.r_[0:sent, sent + g * memory : sent + (g + 1) * memory]
            scale = pairs[g][self._where[:, None], self._where].copy()
            scale[sent:, sent:] = self.draw.mean[g, 1]
            mine = scale * self.work.noise[g]
            mine[sent:, sent:] += (1 - self.draw.mean[g, 1]) * self.work.gone_noise[g]
            found[rows[:, None], rows] += self.sizes[g] * mine
        return found

    @cached_property
    def _sources(self) -> Array:
        """How (z, sums over the groups) moves the next u ``(n, r + G q)``."""
        groups, memory, n, sent = self.shape
        found = np.zeros((n, sent + groups * memory))
        found[: n - groups * memory, :sent] = self.work.moves
        found[n - groups * memory :, sent:] = np.diag(np.repeat(1 / self.sizes, memory))
        return found

    def step(self, s: Array, v: Array) -> tuple[Array, Array]:
        """Both blocks one round later."""
        groups, _, _, sent = self.shape
        _, _, difference = self._of_means
        by_dev = self._of_clients[1][:, sent:]
        turned = self._sources
        after = self.mean @ s @ self.mean.T + turned @ self.chance(s, v) @ turned.T
        joined, own = self.draw.mean[:, 1], self.draw.own[:, 1, 1]
        other = self.draw.other[np.arange(groups), np.arange(groups), 1, 1]
        inside = (own - other) * (1 - 1 / self.sizes)
        spread = np.zeros_like(v)
        for g in range(groups):
            stays = self.work.gone_y[g] + joined[g] * by_dev[g]
            mine = v[..., g, :, :]
            spread[..., g, :, :] = (
                stays @ mine @ stays.T
                + inside[g] * (difference[g] @ s @ difference[g].T)
                + (inside[g] + other[g]) * (by_dev[g] @ mine @ by_dev[g].T)
            )
        return after, spread

    @cached_property
    def _upper(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return np.triu_indices(self.shape[2]), np.triu_indices(self.shape[1])

    def flat(self, s: Array, v: Array) -> Array:
        """Symmetric blocks as flat states."""
        means, spread = self._upper
        mine = v[..., spread[0], spread[1]]
        return np.concatenate([s[..., means[0], means[1]], mine.reshape(*v.shape[:-3], -1)], axis=-1)

    def form(self, s: Array, v: Array) -> Array:
        """The sum of the products of both blocks with matrices, as a linear form of flat states."""
        return self.flat(*(x + np.swapaxes(x, -1, -2) - x * np.eye(x.shape[-1]) for x in (s, v)))

    def blocks(self, states: Array) -> tuple[Array, Array]:
        """S ``(..., n, n)`` and V ``(..., G, q, q)`` of flat states."""
        groups, memory, n, _ = self.shape
        means, spread = self._upper
        lead, cut = states.shape[:-1], len(means[0])
        s, v = np.empty((*lead, n, n)), np.empty((*lead, groups, memory, memory))
        s[..., means[0], means[1]] = s[..., means[1], means[0]] = states[..., :cut]
        inside = states[..., cut:].reshape(*lead, groups, -1) if memory else np.empty((*lead, groups, 0))
        v[..., spread[0], spread[1]] = v[..., spread[1], spread[0]] = inside
        return s, v

    @cached_property
    def affine(self) -> tuple[Array, Array]:
        """The round as ``state -> matrix @ state + constant``."""
        groups, memory, _, sent = self.shape
        matrix = self.flat(*self.step(*self.blocks(np.eye(self.size)))).T
        spread = np.zeros((groups, memory, memory))
        for g in range(groups):
            inside = self.work.noise[g][sent:, sent:] * self.draw.mean[g, 1]
            inside = inside + (1 - self.draw.mean[g, 1]) * self.work.gone_noise[g]
            spread[g] = (1 - 1 / self.sizes[g]) * inside
        return matrix, self.flat(self._sources @ self.added @ self._sources.T, spread)


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
    size, now, total, done = len(start), start, np.zeros(len(start)), 0
    power, shift = matrix, constant
    summed, drift = np.eye(size), np.zeros(size)  # the sum of 2^k states from s on is summed @ s + drift
    with np.errstate(all="ignore"):
        while rounds >> done:
            if rounds >> done & 1:
                now, total = power @ now + shift, total + summed @ now + drift
            done += 1
            if rounds >> done:
                drift = drift + summed @ shift + drift
                summed = summed + summed @ power
                power, shift = power @ power, power @ shift + shift
    return now, total
