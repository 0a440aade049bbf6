"""A program in other coordinates: those in which an approximate solution is round.

The vectors of a run are nearly parallel when steps are small, so that the inner products of a solution are all but
singular and the solver stops short. Written in the principal axes of a first solution, scaled by what it has along
them, the same program is solved to the end; multipliers are the same in all coordinates.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .program import Program, Solved
from .space import Array, pack, triangle

FLAT = 1e-4
"""Axes along which a first solution has less than this share of its largest extent count as having it."""


def recast(program: Program, found: Solved) -> tuple[Program, list[Array]]:
    """The program in the axes of ``found``, and per block the matrix that leads back."""
    axes = [_axes(gram) for gram in found.grams]
    rows = np.array([*program.objectives, *(c.row for c in program.constraints)])
    begin = 0
    for turn in axes:
        length = len(turn) * (len(turn) + 1) // 2
        rows[:, begin : begin + length] = _turned(rows[:, begin : begin + length], turn)
        begin += length
    goals = len(program.objectives)
    constraints = tuple(replace(c, row=row) for c, row in zip(program.constraints, rows[goals:], strict=True))
    return replace(program, objectives=tuple(rows[:goals]), constraints=constraints), axes


def restored(found: Solved, axes: list[Array]) -> Solved:
    """A solution of the recast program as one of the program it was made from."""
    x, begin = found.x.copy(), 0
    for turn, gram in zip(axes, found.grams, strict=True):
        length = len(turn) * (len(turn) + 1) // 2
        x[begin : begin + length] = pack(turn @ gram @ turn.T)
        begin += length
    return replace(found, x=x)


def _axes(gram: Array) -> Array:
    """``T`` with ``T T^T`` about the Gram matrix, its small axes filled up."""
    extents, directions = np.linalg.eigh(gram)
    filled: Array = directions * np.sqrt(np.maximum(extents, FLAT * max(extents[-1], 1e-300)))
    return filled


def _turned(rows: Array, turn: Array) -> Array:
    """``T^T A T`` of every packed matrix A."""
    i, j = triangle(len(turn))
    weight = np.where(i == j, 1.0, 2**0.5)
    matrices = np.zeros((len(rows), len(turn), len(turn)))
    matrices[:, i, j] = matrices[:, j, i] = rows / weight
    turned: Array = (turn.T @ matrices @ turn)[:, i, j] * weight
    return turned
