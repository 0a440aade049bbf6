"""Coordinates: every vector of a run as a row over a few unknown vectors, whose inner products are the unknowns.

With identical clients (same function class, same steps, equal weights) a worst case may be averaged over all ways
of renaming them: the problem is convex, so nothing is lost. What is left of the inner products is then

    <u_i, v_i> = <mean u, mean v> + <deviation u_i, deviation v_i>,   the same for every client i,
    <u_i, v_j> = <mean u, mean v> - <deviation u_i, deviation v_i> / (N - 1),   the same for all i != j:

two blocks, one of means and one of deviations, whatever the number N of clients. A server model has no deviation, and
no constraint contains <u_i, v_j>; so the worst case of N = 2 is that of every N >= 2, and its size does not grow
with N. ``full`` coordinates, one block for all clients together, show the same without the argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from empirics.errors import EmpiricsError

from .symbolic_run import Array as Array, Recorded, SAME as SAME


@dataclass
class Space:
    """``members`` clients represent all; a row has a column for every unknown vector, ``blocks`` say which go together.

    Columns: the start, the clients' gradients along the run, then ``extra`` ones as constraints ask for them. Symmetric
    coordinates keep one member, with every own vector twice: its mean and its deviation.
    """

    recorded: Recorded
    symmetric: bool = True
    extra: int = 0
    change: float = 1.0
    places: list[int] = field(default_factory=list, init=False)
    """Which of the extra vectors are points; the others are gradients."""
    taken: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.symmetric = self.symmetric and self.clients > 1  # a single client is its own mean: nothing deviates
        clients, m = self.clients, self.recorded.gradients
        for shift in range(1, clients) if self.symmetric else ():
            order = np.roll(np.arange(clients), shift)
            columns = np.concatenate([[0], *(1 + order[k] * m + np.arange(m) for k in range(clients))])
            if np.abs(self.recorded.asked[order][..., columns] - self.recorded.asked).max() > SAME:
                raise EmpiricsError("the clients of this method are not identical: symmetric coordinates do not apply")

    @property
    def clients(self) -> int:
        return self.recorded.clients

    @property
    def members(self) -> int:
        return 1 if self.symmetric else self.clients

    @property
    def own(self) -> int:
        """Unknown vectors of a client."""
        return self.recorded.gradients + self.extra

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1 + self.own, self.own) if self.symmetric else (1 + self.clients * self.own,)

    @property
    def size(self) -> int:
        return sum(self.blocks)

    # ---- rows ----

    def zero(self) -> Array:
        return np.zeros(self.size)

    def fresh(self, balanced: bool = False, point: bool = False, near: list[Array] | None = None) -> list[Array]:
        """A new vector of every member, a gradient or a point; ``balanced`` ones sum to zero over all clients.

        Of one that is ``near`` another the unknown is the scaled change from there.
        """
        if self.taken == self.extra:
            raise EmpiricsError("the coordinates have no column left")
        rows = [self.unit(k, self.recorded.gradients + self.taken) for k in range(self.members)]
        if point:
            self.places.append(self.taken)
        self.taken += 1
        if near is not None:
            rows = [other + self.change * row for other, row in zip(near, rows, strict=True)]
        if balanced:
            mean = self.mean(rows)
            rows = [row - mean for row in rows]
        return rows

    def unit(self, member: int, number: int) -> Array:
        """The row of a member's own vector of this number."""
        row = self.zero()
        if number < len(self._along):
            own = self._along[number]
        else:
            own = np.zeros(self.own)
            own[number] += 1
        for begin in [1, 1 + self.own] if self.symmetric else [1 + member * self.own]:
            row[begin : begin + self.own] = own
        return row

    @cached_property
    def _along(self) -> Array:
        """The gradients of a run as sums of the first one and of scaled changes from earlier ones ``(m, own)``.

        Neighbouring gradients are nearly parallel; as unknowns of their own they would make inner products that the
        solver cannot tell from singular ones.
        """
        m = self.recorded.gradients
        rows = np.zeros((m, self.own))
        for j in range(m):
            if (earlier := self.recorded.before(j)) < 0:
                rows[j, j] += 1
            else:
                rows[j] += rows[earlier]
                rows[j, j] += self.change
        return rows

    def member(self, rows: Array, member: int) -> Array:
        """The row of one member's vector that the recorder wrote as ``rows``, over all clients' gradients."""
        clients = self.clients
        own = rows[1:].reshape(clients, self.recorded.gradients) @ self._along
        row = self.zero()
        row[0] = rows[0]
        if not self.symmetric:
            for k in range(clients):
                row[1 + k * self.own : 1 + (k + 1) * self.own] = own[k]
            return row
        other = own[(member + 1) % clients] if clients > 1 else 0 * own[member]
        row[1 : 1 + self.own] = own[member] + (clients - 1) * other
        row[1 + self.own :] = own[member] - other
        return row

    def mean(self, rows: list[Array]) -> Array:
        """The average over all clients of the vectors whose members' rows are given."""
        if not self.symmetric:
            return averaged(rows)
        row = rows[0].copy()
        row[1 + self.own :] = 0
        return row

    def extents(self, length: float, steepness: float) -> Array:
        """How large every unknown vector is, about: the start and points ``length``, gradients ``steepness``."""
        own = np.full(self.own, steepness)
        own[[self.recorded.gradients + place for place in self.places]] = length
        copies = 2 if self.symmetric else self.clients
        sized = [np.concatenate([[length], own]), *[own] * (copies - 1)]
        return np.concatenate(sized)

    # ---- quadratic forms ----

    def inner(self, u: Array, v: Array) -> Array:
        """The inner product of two vectors as coefficients of the packed blocks (upper triangles, column by column).

        In symmetric coordinates it is that of the member; a mean has no deviation.
        """
        pieces, begin = [], 0
        for size in self.blocks:
            a, b = u[begin : begin + size], v[begin : begin + size]
            product = np.outer(a, b)
            pieces.append(pack((product + product.T) / 2))
            begin += size
        return np.concatenate(pieces)

    @property
    def packed(self) -> int:
        return sum(n * (n + 1) // 2 for n in self.blocks)


def averaged(rows: Sequence[Array]) -> Array:
    """The mean of rows."""
    total: Array = sum(rows[1:], rows[0])
    return total / len(rows)


def pack(matrix: Array) -> Array:
    """The coefficients of ``<matrix, G>`` in the scaled upper triangle of G (the solver's order and scaling)."""
    i, j = triangle(len(matrix))
    scaled: Array = matrix[i, j] * np.where(i == j, 1.0, 2**0.5)
    return scaled


def unpack(packed: Array, size: int) -> Array:
    """The symmetric matrix whose scaled upper triangle is given."""
    i, j = triangle(size)
    matrix = np.zeros((size, size))
    matrix[i, j] = packed / np.where(i == j, 1.0, 2**0.5)
    matrix[j, i] = matrix[i, j]
    return matrix


def unpacked(x: Array, blocks: Sequence[int]) -> list[Array]:
    """The symmetric matrices whose scaled upper triangles begin ``x``."""
    ends = np.cumsum([n * (n + 1) // 2 for n in blocks])
    return [unpack(piece, n) for piece, n in zip(np.split(x[: ends[-1]], ends[:-1]), blocks, strict=True)]


@cache
def triangle(size: int) -> tuple[Array, Array]:
    """Row and column of every entry of the upper triangle, column by column; not to be written to."""
    j, i = np.tril_indices(size)
    return i, j
