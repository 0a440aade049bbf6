"""A semidefinite program and its solution: linear in the inner products and function values, with named constraints.

    maximise    objective . x   over x = (packed Gram matrices, function values),   Gram matrices positive semidefinite,
    subject to  row . x <= limit   (multiplier >= 0).

Symmetric matrices are packed as vectors: the upper triangle column by column, off-diagonal entries times sqrt(2). The
dot product of two packed matrices is then the trace inner product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from bounds.errors import BoundsError

Array = np.ndarray[Any, Any]


class WorstCaseError(BoundsError):
    """A worst case, rate or certificate that could not be computed."""


class TooLongError(BoundsError):
    """A computation that took longer than the patience allows."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """``row . x <= limit``; ``kind`` is that of the verifier: the assumption it comes from, ``class`` or ``lower``."""

    kind: str
    row: Array
    limit: Any = 0.0
    points: tuple[str, ...] = ()
    """The names of the evaluations that it is about."""


@dataclass(frozen=True, eq=False)
class Program:
    """Objective, constraints and sizes; with several ``objectives`` the smallest of them is maximised."""

    blocks: tuple[int, ...]
    value_count: int
    objectives: tuple[Array, ...]
    constraints: tuple[Constraint, ...]
    extents: Array | None = None
    """The approximate size of every unknown vector (None: 1)."""
    value_unit: float = 1.0
    """The approximate size of function values."""
    deadline: float = inf
    """When solvers give up, as a value of ``perf_counter``."""

    def check_time(self) -> None:
        if perf_counter() > self.deadline:
            raise TooLongError("it took longer than the patience allows: take fewer rounds, clients or local steps")

    @property
    def packed(self) -> int:
        """The number of entries of all packed blocks."""
        return sum(n * (n + 1) // 2 for n in self.blocks)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return self.packed + self.value_count


@dataclass(frozen=True, eq=False)
class Solution:
    """A primal and dual solution.

    ``value`` and ``dual_value`` belong to the unknowns ``x`` and to ``multipliers`` (one per constraint) with
    ``weights`` of the objectives (summing to 1). Two other vectors of unknowns satisfy every inequality: ``interior``
    with the largest slack, ``last_interior`` is the last such point of the path.
    """

    value: float
    dual_value: float
    x: Array
    interior: Array
    last_interior: Array
    multipliers: Array
    weights: Array
    iterations: int
    blocks: tuple[int, ...]
    doubt: float = 0.0
    """How far the optimum may be from the value, by the gap and the constraints that x and the multipliers violate."""

    @property
    def gap(self) -> float:
        return abs(self.value - self.dual_value)

    @property
    def grams(self) -> list[Array]:
        return unpack_blocks(self.x, self.blocks)


def trim(program: Program) -> Program:
    """Return the program without the unknown vectors and values that no row contains."""
    columns, values = used_unknowns(program)
    pairs = [alive[i] & alive[j] for alive in columns for i, j in [triangle(len(alive))]]
    chosen = np.concatenate([*pairs, values])
    return replace(
        program,
        blocks=tuple(int(alive.sum()) for alive in columns if alive.any()),
        value_count=int(values.sum()),
        objectives=tuple(o[chosen] for o in program.objectives),
        constraints=tuple(replace(c, row=c.row[chosen]) for c in program.constraints),
        extents=None if program.extents is None else program.extents[np.concatenate(columns)],
    )


def used_unknowns(program: Program) -> tuple[list[Array], Array]:
    """Return, as masks, the vectors of every block and the values that some row contains."""
    rows = [*program.objectives, *(c.row for c in program.constraints)]
    used = np.any(np.array(rows) != 0, axis=0)
    columns, begin = [], 0
    for size in program.blocks:
        i, j = triangle(size)
        here = used[begin : begin + len(i)]
        alive = np.zeros(size, dtype=bool)
        alive[i[here]] = alive[j[here]] = True
        columns.append(alive)
        begin += len(i)
    return columns, used[begin:]


def normalise(program: Program) -> tuple[Program, Array]:
    """Return the program in units in which vectors and values are about 1, and the units of its unknowns."""
    extents = np.ones(sum(program.blocks)) if program.extents is None else program.extents
    each = np.split(extents, np.cumsum(program.blocks)[:-1])
    squares = [np.outer(own, own)[triangle(len(own))] for own in each]
    units = np.concatenate([*squares, np.full(program.value_count, program.value_unit)])
    goals = tuple(goal * units for goal in program.objectives)
    constraints = tuple(replace(c, row=c.row * units) for c in program.constraints)
    return replace(program, objectives=goals, constraints=constraints, extents=None, value_unit=1.0), units


def change_basis(rows: Array, turn: Array) -> Array:
    """Return ``T^T A T``, packed, for every packed matrix A of ``rows``; T may have fewer columns than rows."""
    n, m = turn.shape
    i, j = triangle(n)
    places = np.empty((n, n), dtype=np.intp)
    places[i, j] = places[j, i] = np.arange(len(i))
    matrices = np.take(rows / np.where(i == j, 1.0, 2**0.5), places.ravel(), axis=1)
    whole = turn.T @ (matrices.reshape(-1, n) @ turn).reshape(-1, n, m)
    i, j = triangle(m)
    return np.asarray(np.take(whole.reshape(-1, m * m), i * m + j, axis=1) * np.where(i == j, 1.0, 2**0.5))


# ---- packed matrices ----


def pack(matrix: Array) -> Array:
    """Return the vector of a symmetric matrix."""
    i, j = triangle(len(matrix))
    return np.asarray(matrix[i, j] * np.where(i == j, 1.0, 2**0.5))


def unpack(packed: Array, size: int) -> Array:
    """Return the symmetric matrix of a vector."""
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
