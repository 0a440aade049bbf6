"""Exact moments of local SGD with a relaxed start on quadratics, fast: closed-form steps, one affine map a round.

Clients are of a few kinds, any number of each. The server's numbers are ``(1, w)`` with w measured from the minimiser
of F, a client's its last local model; ``empirics.exact`` carries the second moments of clients that are alike. The same
package computes the same for any affine method, by playing its code; tests hold the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from empirics.exact import Draw
from empirics.exact.alike import after, AlikeRound, listed, Work
from empirics.problems.quadratics import Quadratics

Array = np.ndarray[Any, Any]
ALL, MEAN, ENDS, LAST = "all", "mean", "ends", "last"
"""Which states of a run are looked at: every one; their mean and the last; the first and the last two; the last two."""
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """A run: ``problem`` has a client per kind, ``sizes`` says how many there are of each, weights are whole kinds'.

    ``reading`` is FedInit's; without relaxation and without a reading of last models, ``memory=False`` leaves the state
    as small as the model. ``looked`` keeps a long run short where the statistic asks for no more.
    """

    problem: Quadratics
    sizes: Array
    draw: Draw
    local_steps: int
    step_size: float
    number_of_rounds: int
    beta: float = 0.0
    reading: str = "intended"
    memory: bool = True
    looked: str = ALL
    falling: Array | None = None
    """The step size of every local step of a round, where they differ."""
    begun: Array | None = None
    """The flat state that the run begins with, where it is not that of the problem's start."""
    averaging: bool = False
    """Whether the server's numbers hold the sum of the virtual averages before every local step so far, too."""
    shares: Array | None = None
    """How often each local step of a round is counted in that sum; once where nothing is said."""
    lasting: ClassVar[bool] = True
    """Whether what clients remember is their last local model."""

    # ---- the local steps ----

    @property
    def kinds(self) -> int:
        return self.problem.clients

    @cached_property
    def counted(self) -> Array:
        """Every kind's share of the clients."""
        return self.sizes / self.sizes.sum()

    @property
    def _size(self) -> int:
        p = self.problem
        return self._served + (p.clients * p.dim if self.memory else 0)

    @property
    def _served(self) -> int:
        """How many numbers the server has: 1, its model, the sum of averages."""
        return 1 + self.problem.dim * (1 + self.averaging)

    @cached_property
    def _model(self) -> Array:
        """Picks w out of the means ``(d, n)``."""
        pick = np.zeros((self.problem.dim, self._size))
        pick[:, 1 : 1 + self.problem.dim] = np.eye(self.problem.dim)
        return pick

    @cached_property
    def _lasts(self) -> Array:
        """Picks every kind's mean last local model ``(G, d, n)``."""
        p = self.problem
        pick = np.zeros((p.clients, p.dim, self._size))
        for k in range(p.clients):
            begin = self._served + k * p.dim
            pick[k, :, begin : begin + p.dim] = np.eye(p.dim)
        return pick

    @cached_property
    def _minima(self) -> Array:
        """The kinds' minima, from the global minimiser, as maps of the means ``(G, d, n)``."""
        found = np.zeros((self.problem.clients, self.problem.dim, self._size))
        found[:, :, 0] = self.problem.minima - self.problem.minimiser
        return found

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.problem.curvatures)
        return values, vectors

    @cached_property
    def _starts(self) -> Array:
        """Where the clients start, as maps of the means ``(G, d, n)``."""
        if not self.memory:
            return np.broadcast_to(self._model, (self.problem.clients, *self._model.shape))
        return self._model + self.beta * (self._model - self._lasts)

    @cached_property
    def _shrinks(self) -> Array:
        """What j steps leave of a distance, per kind, step and direction ``(G, K+1, d)``."""
        if self.falling is not None:
            kept = np.cumprod(self._factors, axis=1)
            return np.concatenate([np.ones_like(kept[:, :1]), kept], axis=1)
        return (1 - self.step_size * self._axes[0])[:, None, :] ** np.arange(self.local_steps + 1)[None, :, None]

    @cached_property
    def _sizes(self) -> Array:
        """The step size of every local step of a round ``(K,)``."""
        return np.full(self.local_steps, self.step_size) if self.falling is None else self.falling

    @cached_property
    def _factors(self) -> Array:
        """What each local step leaves of a distance ``(G, K, d)``."""
        return 1 - self._sizes[None, :, None] * self._axes[0][:, None, :]

    @cached_property
    def path(self) -> Array:
        """The mean local models after 0..K steps, as maps of the means ``(G, K+1, d, n)``."""
        vectors = self._axes[1]
        away = np.einsum("ked,ken->kdn", vectors, self._starts - self._minima)
        moved = np.einsum("kde,kje,ken->kjdn", vectors, self._shrinks, away)
        return moved + self._minima[:, None]

    @cached_property
    def dev(self) -> Array:
        """The same of a client's distance from its kind's mean, as maps of its last model's ``(G, K+1, d, d)``."""
        return -self.beta * self._turned(self._shrinks)

    @cached_property
    def _unit_noise(self) -> Array:
        """Variance of one step's noise in one direction ``(G,)``, times the squared step size."""
        return self.step_size**2 * self.problem.client_gradient_variance / self.problem.dim

    @cached_property
    def noise(self) -> Array:
        """Variances of the local models after 0..K steps along the curvature's directions ``(G, K+1, d)``."""
        if self.falling is not None:
            found = [np.zeros_like(self._axes[0])]
            for step, size in enumerate(self.falling):
                added = (size**2 * self.problem.client_gradient_variance / self.problem.dim)[:, None]
                found.append(self._factors[:, step] ** 2 * found[-1] + added)
            return np.stack(found, axis=1)
        squares = self._shrinks[:, :-1] ** 2
        summed = np.concatenate([np.zeros_like(squares[:, :1]), np.cumsum(squares, axis=1)], axis=1)
        return self._unit_noise[:, None, None] * summed

    def _turned(self, along: Array) -> Array:
        """Matrices ``(G, J, d, d)`` from their values along the directions ``(G, J, d)``."""
        vectors = self._axes[1]
        return np.einsum("kde,kje,kfe->kjdf", vectors, along, vectors)

    # ---- a round ----

    @cached_property
    def round(self) -> AlikeRound:
        """One round. What is sent is the model that the server averages, in the reading 'code' then the end as well."""
        if self.averaging:
            return self._averaging_round
        d, kinds = self.problem.dim, self.kinds
        ends, dev = self.path[:, -1], self.dev[:, -1]
        spread = self._turned(self.noise[:, -1:])[:, 0]
        code, q = self.reading == "code", d if self.memory else 0
        by_u = ends - self._starts + self._model if code else ends
        by_dev = dev + self.beta * np.eye(d) if code else dev
        if code and self.memory:
            by_u, by_dev = np.concatenate([by_u, ends], 1), np.concatenate([by_dev, dev], 1)
        sent = by_u.shape[1]
        pick = [slice(1 + d + k * d, 1 + d + (k + 1) * d) for k in range(kinds)]
        mine = np.stack([by_u[k][:, pick[k]] for k in range(kinds)]) if self.memory else np.zeros((kinds, sent, 0))
        keep = np.stack([ends[k][:, pick[k]] for k in range(kinds)]) if self.memory else np.zeros((kinds, 0, 0))
        here = ends[:, :q, : 1 + d]
        everyone = self.reading == "proof"
        parts = sent // d + q // d
        return AlikeRound(
            Work(
                by_u[:, :, : 1 + d], mine, here, keep,
                here if everyone else np.zeros_like(here),
                keep if everyone else np.tile(np.eye(q), (kinds, 1, 1)),
                np.tile(spread, (1, parts, parts)),
                spread[:, :q, :q] if everyone else np.zeros((kinds, q, q)),
                np.diag([1.0, *[0.0] * d]),
                np.eye(1 + d, sent, -1),
            ),
            self.draw,
            self.sizes,
        )  # fmt: skip

    @cached_property
    def _averaging_round(self) -> AlikeRound:
        """One round of all clients, without memory: each sends its end, and the sum of its models before its steps."""
        p, d, n = self.problem, self.problem.dim, self._served
        shares = np.ones(self.local_steps) if self.shares is None else self.shares
        before = np.einsum("j,kjdn->kdn", shares, self.path[:, :-1])
        sent = np.concatenate([self.path[:, -1], before], axis=1)
        left, summed = np.ones_like(self._axes[0]), np.zeros_like(self._axes[0])
        pairs = np.zeros((3, self.kinds, d))  # what noise puts into ends, into both, into sums, along the axes
        for step in range(self.local_steps - 1, -1, -1):
            noise = (self._sizes[step] ** 2 * p.client_gradient_variance / d)[:, None]
            pairs += noise * np.stack([left**2, left * summed, summed**2])
            left, summed = self._factors[:, step] * left, shares[step] + self._factors[:, step] * summed
        ends, both, sums = (self._turned(each[:, None])[:, 0] for each in pairs)
        noise = np.concatenate([np.concatenate([ends, both], 2), np.concatenate([both, sums], 2)], 1)
        none = np.zeros((self.kinds, 0, 0))
        stays = np.diag([1.0, *[0.0] * d, *[1.0] * d])
        work = Work(
            sent, np.zeros((self.kinds, 2 * d, 0)), np.zeros((self.kinds, 0, n)), none, np.zeros((self.kinds, 0, n)),
            none, noise, none, stays, np.eye(n, 2 * d, -1),
        )  # fmt: skip
        return AlikeRound(work, self.draw, self.sizes)

    @property
    def sum(self) -> Array:
        """Picks the sum of averages out of the means ``(d, n)``."""
        return np.eye(self.problem.dim, self._size, 1 + self.problem.dim)

    @cached_property
    def first(self) -> Array:
        """The flat state before the first round."""
        if self.begun is not None:
            return self.begun
        away = self.problem.start - self.problem.minimiser
        if self.averaging:
            u = np.concatenate([[1.0], away, 0 * away])
            return self.round.flat(np.outer(u, u), np.zeros((self.kinds, 0, 0)))
        u = np.concatenate([[1.0], *([away] * ((self._size - 1) // self.problem.dim))])
        q = self.problem.dim if self.memory else 0
        return self.round.flat(np.outer(u, u), np.zeros((self.kinds, q, q)))

    @cached_property
    def states(self) -> Array:
        """The flat states that are looked at, in order: the last is that after the last round."""
        matrix, constant = self.round.affine
        with np.errstate(all="ignore"):
            if self.looked == ALL:
                return listed(matrix, constant, self.first, self.number_of_rounds)
            if self.looked == MEAN:
                last, total = after(matrix, constant, self.first, self.number_of_rounds)
                return np.stack([total / self.number_of_rounds, last])
            before, _ = after(matrix, constant, self.first, self.number_of_rounds - 1)
            last = matrix @ before + constant
            return np.stack([self.first, before, last] if self.looked == ENDS else [before, last])

    @cached_property
    def settles(self) -> bool:
        """Whether every number of the state moves one way only, all squares the same: then the ends are extreme."""
        matrix, _ = self.round.affine
        linear = matrix[1:, 1:]  # the constant's own square stays one, and all may lean on it
        own = np.diag(linear)
        if (np.abs(linear - np.diag(own)) > ROUNDING * max(1.0, float(np.abs(own).max()))).any() or (own < 0).any():
            return False
        moved = np.diag(self.round.blocks(self.states[-1] - self.states[0])[0])[1:]
        return bool((moved >= 0).all() or (moved <= 0).all())

    def stationary(self) -> float:
        """The squared distance from the minimiser that rounds settle at, in expectation (without last models).

        A run that starts there stays there, which is where bounds that fall with the number of rounds are hardest
        pressed.
        """
        matrix, constant = self.round.affine
        size = len(constant)
        one = np.zeros(size)
        one[0] = 1  # the constant's own square stays one
        settled, *_ = np.linalg.lstsq(np.vstack([np.eye(size) - matrix, one]), np.append(constant, 1.0), rcond=None)
        return float(np.trace(self.round.blocks(settled)[0][1:, 1:]))

    @cached_property
    def radius(self) -> float:
        """The factor a round puts on whatever of the moments grows fastest: above 1 they grow for ever."""
        matrix, _ = self.round.affine
        return float(np.abs(np.linalg.eigvals(matrix[1:, 1:])).max()) if np.isfinite(matrix).all() else np.inf

    # ---- readings ----

    def form(self, maps: Array, dev: Array | None = None) -> Array:
        """``E ||map u||^2`` of maps ``(..., d, n)`` as linear forms of the states ``(..., m)``.

        With ``dev (G, ..., d, q)`` the maps are those of the kinds' clients, whose distance from the mean adds to it.
        """
        known = np.einsum("...dn,...dm->...nm", maps, maps)
        q = self.problem.dim if self.memory else 0
        spread = np.zeros((*maps.shape[:-2], self.kinds, q, q))
        if dev is not None and q:
            for k in range(self.kinds):
                spread[k, ..., k, :, :] = np.einsum("...dn,...dm->...nm", dev[k], dev[k])
        return self.round.form(known, spread)

    def read(self, forms: Array, added: Any = 0.0, states: Array | None = None) -> Array:
        """The values of nonnegative forms ``(..., m)`` at every state, plus what noise adds ``(...)``: ``(R, ...)``."""
        known = self.states if states is None else states
        return np.maximum(np.tensordot(known, forms, axes=(1, -1)), 0.0) + added

    def square(self, maps: Array, added: Any = 0.0, states: Array | None = None, dev: Array | None = None) -> Array:
        """``E ||map u||^2``, plus what noise adds, for every state: ``(R, ...)``."""
        return self.read(self.form(maps, dev), added, states)

    def product(self, left: Array, right: Array, states: Array) -> Array:
        """``E <left u, right u>`` for every state."""
        q = self.problem.dim if self.memory else 0
        both = np.einsum("dn,dm->nm", left, right)
        values: Array = states @ self.round.form((both + both.T) / 2, np.zeros((self.kinds, q, q)))
        return values
