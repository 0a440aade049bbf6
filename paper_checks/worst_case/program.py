"""The semidefinite program: linear in the inner products and function values, with named constraints.

maximise  objective . x   over x = (packed blocks, function values),   blocks positive semidefinite,
subject to  row . x <= limit  (multiplier >= 0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from bounds.errors import BoundsError

from .coordinates import Array, triangle, unpacked


class WorstCaseError(BoundsError):
    """A worst case that could not be computed: never a number."""


class TooLongError(BoundsError):
    """A worst case that took longer than the patience allows."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """``row . x <= limit``; ``name`` is the word of the assumption it belongs to."""

    name: str
    row: Array
    limit: Any = 0.0
    of: tuple[str, ...] = ()
    """The models that it contains, by the names of their evaluations."""


@dataclass(frozen=True, eq=False)
class Program:
    """What is maximised, under what; ``objectives`` are several where the smallest of them counts."""

    blocks: tuple[int, ...]
    values: int
    objectives: tuple[Array, ...]
    constraints: tuple[Constraint, ...]
    extents: Array | None = None
    """How large every unknown vector is, about, in the units the program is stated in (None: 1)."""
    value_unit: float = 1.0
    """The same of function values."""
    until: float = inf
    """When solvers give up, by ``perf_counter``."""

    def check_time(self) -> None:
        if perf_counter() > self.until:
            raise TooLongError("it took longer than the patience allows: take fewer rounds, clients or local steps")

    @property
    def packed(self) -> int:
        return sum(n * (n + 1) // 2 for n in self.blocks)

    @property
    def size(self) -> int:
        """Unknowns without the artificial variable for the smallest objective."""
        return self.packed + self.values


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution: ``x``, one multiplier per constraint, weights of the objectives (summing to 1), both values.

    Two more unknowns keep every inequality: ``inside`` keeps them best, ``near`` is the nearest to x.
    """

    value: float
    dual_value: float
    x: Array
    inside: Array
    near: Array
    multipliers: Array
    weights: Array
    iterations: int
    blocks: tuple[int, ...]
    doubt: float = 0.0
    """How far the optimum may be from the value, by what x and the multipliers break."""

    @property
    def gap(self) -> float:
        return abs(self.value - self.dual_value)

    @property
    def grams(self) -> list[Array]:
        return unpacked(self.x, self.blocks)


def trimmed(program: Program) -> Program:
    """The program without unknown vectors and values that no row contains."""
    columns, values = spoken(program)
    pairs = [alive[i] & alive[j] for alive in columns for i, j in [triangle(len(alive))]]
    chosen = np.concatenate([*pairs, values])
    return replace(
        program,
        blocks=tuple(int(alive.sum()) for alive in columns if alive.any()),
        values=int(values.sum()),
        objectives=tuple(o[chosen] for o in program.objectives),
        constraints=tuple(replace(c, row=c.row[chosen]) for c in program.constraints),
        extents=None if program.extents is None else program.extents[np.concatenate(columns)],
    )


def spoken(program: Program) -> tuple[list[Array], Array]:
    """Which vectors of every block, and which values, any row contains."""
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


def normalised(program: Program) -> tuple[Program, Array]:
    """The program in units in which its vectors and values are about 1, and the units of its unknowns."""
    extents = np.ones(sum(program.blocks)) if program.extents is None else program.extents
    each = np.split(extents, np.cumsum(program.blocks)[:-1])
    squares = [np.outer(own, own)[triangle(len(own))] for own in each]
    units = np.concatenate([*squares, np.full(program.values, program.value_unit)])
    goals = tuple(goal * units for goal in program.objectives)
    constraints = tuple(replace(c, row=c.row * units) for c in program.constraints)
    return replace(program, objectives=goals, constraints=constraints, extents=None, value_unit=1.0), units


def turned(rows: Array, turn: Array) -> Array:
    """``T^T A T`` of every packed matrix A; T may have fewer columns than rows."""
    n, m = turn.shape
    i, j = triangle(n)
    places = np.empty((n, n), dtype=np.intp)
    places[i, j] = places[j, i] = np.arange(len(i))
    matrices = np.take(rows / np.where(i == j, 1.0, 2**0.5), places.ravel(), axis=1)
    whole = turn.T @ (matrices.reshape(-1, n) @ turn).reshape(-1, n, m)
    i, j = triangle(m)
    found: Array = np.take(whole.reshape(-1, m * m), i * m + j, axis=1) * np.where(i == j, 1.0, 2**0.5)
    return found
