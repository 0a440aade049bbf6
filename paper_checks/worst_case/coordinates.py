"""Coordinates: every vector of a run as a row over a few unknown vectors, whose inner products are the unknowns.

With identical clients (same function class, same steps, equal weights) a worst case may be averaged over all
permutations of the clients, since the problem is convex. The inner products are then

    <u_i, v_i> = <mean u, mean v> + <deviation u_i, deviation v_i>,   the same for every client i,
    <u_i, v_j> = <mean u, mean v> - <deviation u_i, deviation v_i> / (N - 1),   the same for all i != j:

two blocks, one of means and one of deviations, whatever the number N of clients. A server model has no deviation, and
no constraint contains <u_i, v_j>; so the worst case for N = 2 is that for every N >= 2, and the size of the program
does not grow with N. Coordinates that are not symmetric have one block for all clients, and need no such argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from empirics.errors import EmpiricsError

from .symbolic_run import Array as Array, SAME as SAME, SymbolicRun


@dataclass
class Space:
    """The unknown vectors of a run and the rows over them. The columns of a row are the start, the clients' gradients
    along the run, and up to ``extra`` more vectors that constraints need. ``members`` clients represent all: a single
    one in symmetric coordinates, where each vector of a client has two columns, for its mean and its deviation.
    ``blocks`` are the sizes of the matrices of inner products."""

    run: SymbolicRun
    symmetric: bool = True
    extra: int = 0
    change: float = 1.0
    extra_points: list[int] = field(default_factory=list, init=False)
    """Which of the extra vectors are points; the others are gradients."""
    used: int = field(default=0, init=False)
    """How many of the extra vectors are in use."""

    def __post_init__(self) -> None:
        self.symmetric = self.symmetric and self.clients > 1  # a single client is its own mean: nothing deviates
        clients, m = self.clients, self.run.gradients
        for shift in range(1, clients) if self.symmetric else ():
            order = np.roll(np.arange(clients), shift)
            columns = np.concatenate([[0], *(1 + order[k] * m + np.arange(m) for k in range(clients))])
            if np.abs(self.run.queries[order][..., columns] - self.run.queries).max() > SAME:
                raise EmpiricsError("the clients of this method are not identical: symmetric coordinates do not apply")

    @property
    def clients(self) -> int:
        return self.run.clients

    @property
    def members(self) -> int:
        return 1 if self.symmetric else self.clients

    @property
    def per_client(self) -> int:
        """The number of unknown vectors of a client."""
        return self.run.gradients + self.extra

    @property
    def blocks(self) -> tuple[int, ...]:
        n = self.per_client
        return (1 + n, n) if self.symmetric else (1 + self.clients * n,)

    @property
    def size(self) -> int:
        return sum(self.blocks)

    # ---- rows ----

    def zero(self) -> Array:
        return np.zeros(self.size)

    def new_vectors(self, balanced: bool = False, point: bool = False, near: list[Array] | None = None) -> list[Array]:
        """Return the row of a new extra vector of every member, a gradient or a point. ``balanced`` vectors sum to zero
        over all clients. With ``near``, the new unknown is the scaled change from these rows."""
        if self.used == self.extra:
            raise EmpiricsError("the coordinates have no column left")
        rows = [self.unit(k, self.run.gradients + self.used) for k in range(self.members)]
        if point:
            self.extra_points.append(self.used)
        self.used += 1
        if near is not None:
            rows = [other + self.change * row for other, row in zip(near, rows, strict=True)]
        if balanced:
            mean = self.mean(rows)
            rows = [row - mean for row in rows]
        return rows

    def unit(self, member: int, number: int) -> Array:
        """Return the row of a member's gradient of this number; extra vectors are numbered after the gradients."""
        row = self.zero()
        if number < len(self._gradients):
            own = self._gradients[number]
        else:
            own = np.zeros(self.per_client)
            own[number] += 1
        for begin in [1, 1 + self.per_client] if self.symmetric else [1 + member * self.per_client]:
            row[begin : begin + self.per_client] = own
        return row

    @cached_property
    def _gradients(self) -> Array:
        """A client's gradients along the run ``(m, per_client)``: the first one plus scaled changes. Neighbouring
        gradients are nearly parallel. As separate unknowns they would have inner products that the solver cannot
        distinguish from singular ones."""
        m = self.run.gradients
        rows = np.zeros((m, self.per_client))
        for j in range(m):
            if (earlier := self.run.base_gradient(j)) < 0:
                rows[j, j] += 1
            else:
                rows[j] += rows[earlier]
                rows[j, j] += self.change
        return rows

    def member(self, rows: Array, member: int) -> Array:
        """Return the row of a member's vector, given over start and all clients' gradients (see ``SymbolicRun``)."""
        clients, n = self.clients, self.per_client
        own = rows[1:].reshape(clients, self.run.gradients) @ self._gradients
        row = self.zero()
        row[0] = rows[0]
        if not self.symmetric:
            row[1:] = own.ravel()
            return row
        other = own[(member + 1) % clients] if clients > 1 else 0 * own[member]
        row[1 : 1 + n] = own[member] + (clients - 1) * other
        row[1 + n :] = own[member] - other
        return row

    def mean(self, rows: list[Array]) -> Array:
        """Return the row of the average over all clients of a vector, from the rows of its members."""
        if not self.symmetric:
            return mean_row(rows)
        row = rows[0].copy()
        row[1 + self.per_client :] = 0
        return row

    def extents(self, length: float, steepness: float) -> Array:
        """Return the approximate size of every unknown vector: ``length`` for points, ``steepness`` for gradients."""
        own = np.full(self.per_client, steepness)
        own[[self.run.gradients + number for number in self.extra_points]] = length
        copies = 2 if self.symmetric else self.clients
        return np.concatenate([[length], *[own] * copies])

    # ---- quadratic forms ----

    def inner(self, u: Array, v: Array) -> Array:
        """Return the inner product of two rows as coefficients of the packed blocks. In symmetric coordinates it is the
        inner product of the member's vectors."""
        pieces, begin = [], 0
        for size in self.blocks:
            a, b = u[begin : begin + size], v[begin : begin + size]
            product = np.outer(a, b)
            pieces.append(pack((product + product.T) / 2))
            begin += size
        return np.concatenate(pieces)

    @property
    def packed(self) -> int:
        """The number of entries of all packed blocks."""
        return sum(n * (n + 1) // 2 for n in self.blocks)


def mean_row(rows: Sequence[Array]) -> Array:
    """Return the mean of rows, which may be of exact numbers."""
    total: Array = sum(rows[1:], rows[0])
    return total / len(rows)


def pack(matrix: Array) -> Array:
    """Return the upper triangle of a symmetric matrix, column by column, off-diagonal entries times sqrt(2). This is
    the solver's format: the dot product of two packed matrices is the trace inner product."""
    i, j = triangle(len(matrix))
    return np.asarray(matrix[i, j] * np.where(i == j, 1.0, 2**0.5))


def unpack(packed: Array, size: int) -> Array:
    """Return the symmetric matrix of a packed one."""
    i, j = triangle(size)
    matrix = np.zeros((size, size))
    matrix[i, j] = packed / np.where(i == j, 1.0, 2**0.5)
    matrix[j, i] = matrix[i, j]
    return matrix


def unpack_blocks(x: Array, blocks: Sequence[int]) -> list[Array]:
    """Return the symmetric matrices whose packed forms are the first entries of ``x``."""
    ends = np.cumsum([n * (n + 1) // 2 for n in blocks])
    return [unpack(piece, n) for piece, n in zip(np.split(x[: ends[-1]], ends[:-1]), blocks, strict=True)]


@cache
def triangle(size: int) -> tuple[Array, Array]:
    """Return rows and columns of the upper triangle's entries, column by column (cached: do not modify)."""
    j, i = np.tril_indices(size)
    return i, j
