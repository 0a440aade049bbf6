"""One round of second moments, for groups of identical clients: ten clients cost as much as 10^9.

Client i takes part with weight a_i and indicator I_i, whose moments are a ``Draw``. With x the server's numbers (the
first is 1), y_i the client's memory and noise zeta_i,

    x'   = server_map x + receive_map (sum over i of a_i or I_i times (sent_map (x, y_i) + zeta_i))
    y_i' = memory_map (x, y_i) + noise for a client that works, y_i for one that does not

Quantities are symmetric in the clients of a group, so two kinds of moments are enough: mean and covariance of
u = (x, the groups' means of y), and per group V = E of the mean over its clients of ``dev dev^T``, where dev is the
difference of y_i and the group's mean. Storing V instead of ``E y_i y_j^T`` avoids cancellation. If mean and covariance
are stored as a mean of zero and the raw second moment ``S = E u u^T``, a round is an affine map of (S, V), which can be
squared to follow many rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .draws import Draw
from .numbers import Array, Kind


class State(NamedTuple):
    """Mean of u ``(n,)``, its covariance ``(n, n)``, and V of every group ``(G, q, q)``; or a stack of such states."""

    mean: Array
    covariance: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class MomentMap:
    """The action of a round on moments, for G groups; the server has p numbers, a client has q and sends r.

    ``sizes (G,)`` are the numbers of clients. ``sent_map (G, r, p + q)`` and ``memory_map (G, q, p + q)`` act on (x, y)
    of a participant; the noise of the model where it ends, with covariance ``end_noise (G, d, d)``, enters both by
    ``noise_map (G, r + q, d)``. ``multipliers (r,)`` is 0 for sent numbers that are multiplied by the client's weight
    and 1 for those multiplied by its indicator. ``server_map (p, p)`` and ``receive_map (p, r)`` give the server's
    next numbers.
    """

    kind: Kind
    sizes: Array
    draw: Draw
    multipliers: tuple[int, ...]
    sent_map: Array
    memory_map: Array
    noise_map: Array
    end_noise: Array
    server_map: Array
    receive_map: Array

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """The numbers of groups G, of the server's numbers p, of a client's numbers q, and of u's n = p + G q."""
        groups, memory, _ = self.memory_map.shape
        return groups, len(self.server_map), memory, len(self.server_map) + groups * memory

    def on_u(self, maps: Array) -> Array:
        """Convert maps of (x, y) of a group's mean client ``(G, ..., p + q)`` to maps of u ``(G, ..., n)``."""
        groups, server, memory, n = self.shape
        maps_of_u = self.kind.zeros(*maps.shape[:-1], n)
        maps_of_u[..., :server] = maps[..., :server]
        for g in range(groups if memory else 0):
            maps_of_u[g, ..., server + g * memory : server + (g + 1) * memory] = maps[g, ..., server:]
        return maps_of_u

    # ---- contributions of clients: the r numbers sent, then the q changes of memory ----

    @cached_property
    def _multipliers(self) -> list[int]:
        """``multipliers`` for sent numbers and changes of memory ``(r + q,)``; the latter need the indicator."""
        return [*self.multipliers, *[1] * self.shape[2]]

    @cached_property
    def _added_maps(self) -> tuple[Array, Array]:
        """A client's contributions, as maps of u and of dev ``(G, r + q, ...)``."""
        _, server, memory, _ = self.shape
        changes = self.memory_map - self.kind.eye(memory, server + memory, server)
        maps = np.concatenate([self.sent_map, changes], axis=1)
        return self.on_u(maps), maps[..., server:]

    @cached_property
    def _expected_multipliers(self) -> Array:
        """The expected sums of the multipliers over each group ``(G, r + q, 1)``."""
        return (self.sizes[:, None] * self.draw.mean[:, self._multipliers])[..., None]

    @cached_property
    def sent_mean(self) -> Array:
        """The sum that the server receives, in expectation over the draw, as a map of u ``(r, n)``."""
        return (self._expected_multipliers * self._added_maps[0])[:, : len(self.multipliers)].sum(0)

    @cached_property
    def next_from_groups(self) -> Array:
        """The map from the groups' sums of contributions to the next u ``(n, G, r + q)``."""
        groups, server, memory, n = self.shape
        sent = len(self.multipliers)
        sums_to_u = self.kind.zeros(n, groups, sent + memory)
        sums_to_u[:server, :, :sent] = self.receive_map[:, None, :]
        for g in range(groups):
            rows = slice(server + g * memory, server + (g + 1) * memory)
            sums_to_u[rows, g, sent:] = self.kind.eye(memory) / self.sizes[g]
        return sums_to_u

    @cached_property
    def mean_map(self) -> Array:
        """The next u in expectation over draw and noise, as a map of u ``(n, n)``."""
        _, server, _, n = self.shape
        changes = self.draw.mean[:, 1, None, None] * self._added_maps[0][:, len(self.multipliers) :]
        mean = self.kind.eye(n).copy()
        mean[:server, :server] = self.server_map
        mean[:server] += self.receive_map @ self.sent_mean
        mean[server:] += changes.reshape(-1, n)
        return mean

    # ---- covariances made by the draw and by noise ----

    @cached_property
    def _pairs(self) -> tuple[Array, Array]:
        """Covariances of the multipliers, summed over clients: a client's own less that of a pair, and all pairs.

        ``(G, r + q, r + q)`` and ``(G, r + q, G, r + q)``.
        """
        which = np.array(self._multipliers, dtype=int)
        own, other = (x[..., which[:, None], which] for x in (self.draw.own, self.draw.other))
        groups = np.arange(len(own))
        pairs = other * (self.sizes[:, None] * self.sizes)[..., None, None]
        return self.sizes[:, None, None] * (own - other[groups, groups]), np.swapaxes(pairs, 1, 2)

    @cached_property
    def _centred(self) -> Array:
        """Contributions as maps of u, less the mean if weights sum to 1, so that equal contributions round to zero."""
        by_u = self._added_maps[0].copy()
        if self.draw.sums_to_one:
            by_weight = [i for i, multiplier in enumerate(self.multipliers) if multiplier == 0]
            by_u[:, by_weight] -= self.sent_mean[by_weight]
        return by_u

    def draw_covariance(self, mean: Array, covariance: Array, spread: Array) -> Array:
        """Covariance of the groups' sums of contributions that the draw causes, without noise.

        ``(..., G, r + q, G, r + q)``; states may be stacked.
        """
        by_u, by_dev = self._centred, self._added_maps[1]
        own, pairs = self._pairs
        flat = by_u.reshape(-1, by_u.shape[-1])
        products = flat @ (covariance + mean[..., :, None] * mean[..., None, :]) @ flat.T
        products = products.reshape(*mean.shape[:-1], *pairs.shape)
        total = products * pairs
        within = by_dev @ spread @ np.swapaxes(by_dev, 1, 2)
        for g in range(len(own)):
            total[..., g, :, g, :] += own[g] * (products[..., g, :, g, :] + within[..., g, :, :])
        return total

    @cached_property
    def client_noise(self) -> Array:
        """Covariance that noise causes in a participant's contributions ``(G, r + q, r + q)``."""
        return self.noise_map @ self.end_noise @ np.swapaxes(self.noise_map, 1, 2)

    @cached_property
    def group_noise(self) -> Array:
        """Covariance that noise causes in each group's sum of contributions ``(G, r + q, r + q)``."""
        which = np.array(self._multipliers, dtype=int)
        mean, own = self.draw.mean[:, which], self.draw.own[..., which[:, None], which]
        squares = own + mean[:, :, None] * mean[:, None, :]
        sent = len(self.multipliers)
        squares[:, sent:, sent:] = self.draw.mean[:, 1, None, None]  # an indicator is its own square
        return self.sizes[:, None, None] * squares * self.client_noise

    @cached_property
    def noise_covariance(self) -> Array:
        """Covariance that noise causes in the next u ``(n, n)``."""
        maps = np.swapaxes(self.next_from_groups, 0, 1)
        return np.asarray((maps @ self.group_noise @ np.swapaxes(maps, 1, 2)).sum(0))

    @property
    def by_end_noise(self) -> Array:
        """The change of the next u when all last models of a group are shifted, if all take part ``(G, n, d)``."""
        return np.swapaxes(self.next_from_groups, 0, 1) @ (self._expected_multipliers * self.noise_map)

    def after(self, state: State, noise: bool = True) -> State:
        """Moments after the round, or what they would be without noise; states may be stacked."""
        mean, covariance, spread = state
        next_mean = mean @ self.mean_map.T
        next_covariance = self.mean_map @ covariance @ self.mean_map.T + (self.noise_covariance if noise else 0)
        if not self.draw.certain:
            flat = self.next_from_groups.reshape(len(self.next_from_groups), -1)
            by_draw = self.draw_covariance(mean, covariance, spread)
            by_draw = by_draw.reshape(*by_draw.shape[:-4], *flat.shape[1:] * 2)
            next_covariance = next_covariance + flat @ by_draw @ flat.T
        if self.shape[2]:
            spread = self._next_spread(mean, covariance, spread, noise)
        return State(next_mean, next_covariance, spread)

    def _next_spread(self, mean: Array, covariance: Array, spread: Array, noise: bool) -> Array:
        """V after the round."""
        groups, _, memory, _ = self.shape
        sent, diagonal = len(self.multipliers), np.arange(groups)
        by_u, by_dev = (x[:, sent:] for x in self._added_maps)
        works, fewer = self.draw.mean[:, 1, None, None], (1 - 1 / self.sizes)[:, None, None]
        expected = self.kind.eye(memory) + works * by_dev
        result = expected @ spread @ np.swapaxes(expected, 1, 2)
        if noise:
            result = result + fewer * works * self.client_noise[:, sent:, sent:]
        if self.draw.certain:
            return result
        other = self.draw.other[diagonal, diagonal, 1, 1][:, None, None]
        excess = (self.draw.own[:, 1, 1, None, None] - other) * fewer
        second_moment = (covariance + mean[..., :, None] * mean[..., None, :])[..., None, :, :]
        return (
            result
            + excess * (by_u @ second_moment @ np.swapaxes(by_u, 1, 2))
            + (excess + other) * (by_dev @ spread @ np.swapaxes(by_dev, 1, 2))
        )

    # ---- as one affine map of raw moments ----

    @cached_property
    def _upper(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return np.triu_indices(self.shape[3]), np.triu_indices(self.shape[2])

    def flatten(self, state: State) -> Array:
        """Raw moments as one vector ``(..., m)``: the upper triangle of S, then of every V."""
        groups, (of_s, of_v) = self.shape[0], self._upper
        s = state.covariance + state.mean[..., :, None] * state.mean[..., None, :]
        v = state.spread[..., of_v[0], of_v[1]]
        return np.concatenate([s[..., of_s[0], of_s[1]], v.reshape(*v.shape[:-2], groups * len(of_v[0]))], axis=-1)

    def unflatten(self, states: Array) -> State:
        """The states of zero mean with these raw moments."""
        groups, _, memory, n = self.shape
        of_s, of_v = self._upper
        lead, cut = states.shape[:-1], len(of_s[0])
        s, v = self.kind.zeros(*lead, n, n), self.kind.zeros(*lead, groups, memory, memory)
        s[..., of_s[0], of_s[1]] = s[..., of_s[1], of_s[0]] = states[..., :cut]
        v[..., of_v[0], of_v[1]] = v[..., of_v[1], of_v[0]] = states[..., cut:].reshape(*lead, groups, len(of_v[0]))
        return State(self.kind.zeros(*lead, n), s, v)

    @cached_property
    def affine(self) -> tuple[Array, Array]:
        """Matrix and constant with which the round maps flattened raw moments: ``matrix @ moments + constant``."""
        size = sum(len(rows) * count for (rows, _), count in zip(self._upper, (1, self.shape[0]), strict=True))
        constant = self.flatten(self.after(self.unflatten(self.kind.zeros(size))))
        return self.flatten(self.after(self.unflatten(self.kind.eye(size)), noise=False)).T, constant


def all_states(matrix: Array, constant: Array, start: Array, rounds: int) -> Array:
    """The states after 0 to R rounds of ``state -> matrix @ state + constant`` ``(R + 1, m)``, by doubling."""
    states = start[None]
    power, shift = matrix, constant
    while len(states) <= rounds:
        states = np.concatenate([states, states @ power.T + shift])
        power, shift = power @ power, power @ shift + shift
    return states[: rounds + 1]


def state_after(matrix: Array, constant: Array, start: Array, rounds: int) -> tuple[Array, Array]:
    """Return the state after any number of rounds, and the sum of the states before each of them, by squaring."""
    now, total, bit = start, 0 * start, 0
    power, shift = matrix, constant
    # The sum of 2^k states from s on is sum_map @ s + sum_shift.
    sum_map, sum_shift = 0 * matrix + np.eye(len(start), dtype=int), 0 * constant
    with np.errstate(all="ignore"):
        while rounds >> bit:
            if rounds >> bit & 1:
                now, total = power @ now + shift, total + sum_map @ now + sum_shift
            bit += 1
            if rounds >> bit:
                sum_shift = sum_shift + sum_map @ shift + sum_shift
                sum_map = sum_map + product(sum_map, power)
                power, shift = product(power, power), power @ shift + shift
    return now, total


def product(left: Array, right: Array) -> Array:
    """The matrix product, by FLINT for large matrices of exact numbers."""
    if left.dtype != object or len(left) < 8:
        return np.asarray(left @ right)
    import flint

    matrix: Any = flint.arb_mat if any(isinstance(x, flint.arb) for x in (*left.flat, *right.flat)) else flint.fmpq_mat
    rows = matrix(left.tolist()) * matrix(right.tolist())
    return np.array(rows.tolist(), dtype=object)
