"""Exact moments of local SGD with a relaxed start on quadratics, fast: closed-form steps, one linear map a round.

The state is ``s = (1, w, last_1, .., last_C)`` with w measured from the minimiser of F; a round maps it linearly for a
given cohort and adds noise, so ``S = E s s^T`` follows a linear recursion, and every reading is a linear form in S.
The project's ``empirics.exact`` computes the same for any affine method, by playing its code; tests hold the two
against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from empirics.problems.quadratics import Quadratics

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Moments:
    """A run: ``cohorts`` are (probability, weights) pairs, ``reading`` is FedInit's; ``memory`` keeps last models.

    Without relaxation and without a reading of last models, ``memory=False`` leaves the state as small as the model.
    """

    problem: Quadratics
    cohorts: tuple[tuple[float, Array], ...]
    local_steps: int
    step_size: float
    number_of_rounds: int
    beta: float = 0.0
    reading: str = "intended"
    memory: bool = True

    # ---- the local steps ----

    @property
    def _size(self) -> int:
        p = self.problem
        return 1 + p.dim + (p.clients * p.dim if self.memory else 0)

    @cached_property
    def _model(self) -> Array:
        """Picks w out of the state ``(d, n)``."""
        pick = np.zeros((self.problem.dim, self._size))
        pick[:, 1 : 1 + self.problem.dim] = np.eye(self.problem.dim)
        return pick

    @cached_property
    def _lasts(self) -> Array:
        """Picks every client's last local model ``(C, d, n)``."""
        p = self.problem
        pick = np.zeros((p.clients, p.dim, self._size))
        for k in range(p.clients):
            begin = 1 + p.dim + k * p.dim
            pick[k, :, begin : begin + p.dim] = np.eye(p.dim)
        return pick

    @cached_property
    def _minima(self) -> Array:
        """The clients' minima, from the global minimiser, as maps of the state ``(C, d, n)``."""
        found = np.zeros((self.problem.clients, self.problem.dim, self._size))
        found[:, :, 0] = self.problem.minima - self.problem.minimiser
        return found

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.problem.curvatures)
        return values, vectors

    @cached_property
    def _starts(self) -> Array:
        """Where the clients start, as maps of the state ``(C, d, n)``."""
        if not self.memory:
            return np.broadcast_to(self._model, (self.problem.clients, *self._model.shape))
        return self._model + self.beta * (self._model - self._lasts)

    @cached_property
    def _shrinks(self) -> Array:
        """What j steps leave of a distance, per client, step and direction ``(C, K+1, d)``."""
        return (1 - self.step_size * self._axes[0])[:, None, :] ** np.arange(self.local_steps + 1)[None, :, None]

    @cached_property
    def path(self) -> Array:
        """The mean local models after 0..K steps, as maps of the state ``(C, K+1, d, n)``."""
        vectors = self._axes[1]
        away = np.einsum("ked,ken->kdn", vectors, self._starts - self._minima)
        moved = np.einsum("kde,kje,ken->kjdn", vectors, self._shrinks, away)
        return moved + self._minima[:, None]

    @cached_property
    def _unit_noise(self) -> Array:
        """Variance of one step's noise in one direction ``(C,)``, times the squared step size."""
        return self.step_size**2 * self.problem.client_gradient_variance / self.problem.dim

    @cached_property
    def noise(self) -> Array:
        """Variances of the local models after 0..K steps along the curvature's directions ``(C, K+1, d)``."""
        squares = self._shrinks[:, :-1] ** 2
        summed = np.concatenate([np.zeros_like(squares[:, :1]), np.cumsum(squares, axis=1)], axis=1)
        return self._unit_noise[:, None, None] * summed

    def _turned(self, variances: Array) -> Array:
        """Covariance matrices ``(C, d, d)`` from variances along the directions ``(C, d)``."""
        vectors = self._axes[1]
        return np.einsum("kde,ke,kfe->kdf", vectors, variances, vectors)

    # ---- a round ----

    def _round(self, weights: Array) -> tuple[Array, Array]:
        """The map ``(n, n)`` and the noise covariance ``(n, n)`` of a round with this cohort."""
        p, d, n = self.problem, self.problem.dim, self._size
        ends, spread = self.path[:, -1], self._turned(self.noise[:, -1])
        linear, covariance = np.zeros((n, n)), np.zeros((n, n))
        linear[0, 0] = 1
        moves = ends - self._starts if self.reading == "code" else ends
        linear[1 : 1 + d] = np.einsum("k,kdn->dn", weights, moves) + (self._model if self.reading == "code" else 0)
        covariance[1 : 1 + d, 1 : 1 + d] = np.einsum("k,kde->de", weights**2, spread)
        if not self.memory:
            return linear, covariance
        for k in range(p.clients):
            rows = slice(1 + d + k * d, 1 + d + (k + 1) * d)
            if weights[k] == 0 and self.reading != "proof":
                linear[rows] = self._lasts[k]
                continue
            linear[rows] = ends[k]
            covariance[rows, rows] = spread[k]
            covariance[rows, 1 : 1 + d] = covariance[1 : 1 + d, rows] = weights[k] * spread[k]
        return linear, covariance

    @cached_property
    def _rounds(self) -> list[tuple[float, Array, Array, Array]]:
        return [(chance, weights, *self._round(weights)) for chance, weights in self.cohorts]

    @cached_property
    def states(self) -> Array:
        """``E s s^T`` before the first round and after every one, flat ``(R+1, n n)``."""
        n = self._size
        away = self.problem.start - self.problem.minimiser
        first = np.concatenate([[1.0], *([away] * ((n - 1) // self.problem.dim))])
        states = np.empty((self.number_of_rounds + 1, n * n))
        states[0] = np.outer(first, first).ravel()
        whole = sum(chance * np.kron(linear, linear) for chance, _, linear, _ in self._rounds)
        added = sum(chance * covariance for chance, _, _, covariance in self._rounds)
        constant = np.asarray(added).ravel()
        for r in range(self.number_of_rounds):
            states[r + 1] = whole @ states[r] + constant
        return states

    def stationary(self) -> float:
        """The squared distance from the minimiser that rounds settle at, in expectation (without last models).

        A run that starts there stays there, which is where bounds that fall with the number of rounds are hardest
        pressed.
        """
        n = self._size
        whole = sum(chance * np.kron(linear, linear) for chance, _, linear, _ in self._rounds)
        added = np.asarray(sum(chance * covariance for chance, _, _, covariance in self._rounds)).ravel()
        one = np.zeros(n * n)
        one[0] = 1  # the constant's own square stays one
        settled, *_ = np.linalg.lstsq(np.vstack([np.eye(n * n) - whole, one]), np.append(added, 1.0), rcond=None)
        return float(np.trace(settled.reshape(n, n)[1:, 1:]))

    # ---- readings ----

    def square(self, maps: Array, added: Any = 0.0, states: Array | None = None) -> Array:
        """``E ||map s||^2`` of maps ``(..., d, n)`` plus what noise adds ``(...)``, for every state: ``(R, ...)``."""
        forms = np.einsum("...dn,...dm->...nm", maps, maps)
        flat = forms.reshape(*forms.shape[:-2], -1)
        known = self.states if states is None else states
        return np.maximum(np.tensordot(known, flat, axes=(1, -1)), 0.0) + added

    def product(self, left: Array, right: Array, states: Array) -> Array:
        """``E <left s, right s>`` for every state."""
        forms: Array = states @ np.einsum("dn,dm->nm", left, right).ravel()
        return forms
