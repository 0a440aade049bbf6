"""A program in other coordinates: those in which an approximate solution is round.

The vectors of a run are nearly parallel when steps are small, so that the inner products of a solution are all but
singular and the solver stops short. Written in the principal axes of a first solution, scaled by what it has along
them, and with function values in units of their own, the same program is solved to the end; multipliers are the same
in all coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .coordinates import Array, pack, triangle
from .program import Program, Solved

FLAT = 1e-5
"""Axes (and values) of which a first solution has less than this share of the largest count as having it."""


@dataclass(frozen=True, eq=False)
class Frame:
    """How a solution in new coordinates leads back: a matrix per block, a unit per function value."""

    axes: tuple[Array, ...]
    units: Array


def recast(program: Program, found: Solved) -> tuple[Program, Frame]:
    """The program in the axes of ``found``, and the frame that leads back."""
    values = np.abs(found.x[program.packed :])
    frame = Frame(tuple(_axes(gram) for gram in found.grams), np.maximum(values, FLAT * max([*values, 1e-300])))
    return framed(program, frame), frame


def normalised(program: Program) -> tuple[Program, Frame]:
    """The program in units in which its vectors and values are about 1."""
    extents = np.ones(sum(program.blocks)) if program.extents is None else program.extents
    cuts = np.cumsum(program.blocks)[:-1]
    frame = Frame(tuple(np.diag(e) for e in np.split(extents, cuts)), np.full(program.values, program.value_unit))
    return framed(program, frame), frame


def framed(program: Program, frame: Frame) -> Program:
    """The program in the coordinates of a frame."""
    rows = np.array([*program.objectives, *(c.row for c in program.constraints)])
    begin = 0
    for turn in frame.axes:
        length = len(turn) * (len(turn) + 1) // 2
        rows[:, begin : begin + length] = turned(rows[:, begin : begin + length], turn)
        begin += length
    rows[:, begin:] *= frame.units
    goals = len(program.objectives)
    constraints = tuple(replace(c, row=row) for c, row in zip(program.constraints, rows[goals:], strict=True))
    return replace(program, objectives=tuple(rows[:goals]), constraints=constraints, extents=None, value_unit=1.0)


def restored(found: Solved, frame: Frame) -> Solved:
    """A solution of the recast program as one of the program it was made from."""
    pieces = [pack(turn @ gram @ turn.T) for turn, gram in zip(frame.axes, found.grams, strict=True)]
    begin = sum(len(piece) for piece in pieces)
    return replace(found, x=np.concatenate([*pieces, found.x[begin:] * frame.units]))


def _axes(gram: Array) -> Array:
    """``T`` with ``T T^T`` about the Gram matrix, its small axes filled up."""
    extents, directions = np.linalg.eigh(gram)
    filled: Array = directions * np.sqrt(np.maximum(extents, FLAT * max(extents[-1], 1e-300)))
    return filled


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
