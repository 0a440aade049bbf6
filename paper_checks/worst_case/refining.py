"""The optimum to a known accuracy: solved again and again in the coordinates of what was reached, until it is sure.

What a solver calls an optimum meets its tolerances in the numbers it was given. Where values are small beside those
numbers it may break constraints by more than the value, whatever the gap. So a solution counts by its doubt: how far
the optimum may be from its value, to first order, by what it and its multipliers break. In coordinates in which the
last solution is round the next one is nearly always sure; where none is the central path is followed, which takes
longer, and where that is not sure either there is no number. Of large programs the path comes first: its steps are
products of large matrices, and fewer than the solver takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .coordinates import Array, unpack
from .interior_point import followed
from .program import Frame, framed, normalised, Program, restored, Solved, WorstCaseError
from .solver import attempted, NoLimitError

SMALL = 150
"""Constraints up to which the solver answers first."""
DOUBT, AIM = 1e-4, 1e-6
"""Relative to the value: the doubt that is accepted, and at which work stops.

A worst case is known to ``DOUBT`` of itself: nothing closer than that is distinguished from it."""
NOTHING = 1e-9
"""A doubt below this share of the numbers that the value is the sum of is one about zero, and accepted."""
ROUNDS, FINE, STEEPEST = 6, 1e-11, 1e12
"""Solutions at most, the tolerance of all but the first (as far as the solver gets), the largest objective's scale."""
FLAT = 1e-5
"""Axes (and values) of which a first solution has less than this share of the largest count as having it."""
VANISHING = 1e-26
"""Coefficients of an objective that are nothing but rounding, relative to the largest of the constraints (squares, as
they are): the metric is 0 on every federation."""


def refined(program: Program) -> Solved:
    """The optimum, right to ``DOUBT``; ``WorstCaseError`` where there is none, or none that is sure."""
    largest = max((float(np.abs(c.row).max(initial=0.0)) for c in program.constraints), default=1.0)
    if max(np.abs(objective).max(initial=0.0) for objective in program.objectives) <= VANISHING * max(largest, 1.0):
        return _zero(program)
    stated, frame = normalised(program)
    return restored(_surest(stated), frame)


def _surest(program: Program) -> Solved:
    """The optimum of a program whose numbers are about 1."""
    large = len(program.constraints) > SMALL
    path = _along(program) if large else None
    if path is not None and _accepted(program, path):
        return path
    found = _sure(program)
    if _accepted(program, found):
        return found
    path = path if large else _along(program)
    if path is None or not _accepted(program, path):
        raise WorstCaseError(
            f"the solver's value {found.value:.6g} may be off by {found.doubt:.2g}: no number is given; take fewer "
            "steps, a smaller step size or units in which smoothness and start are about 1"
        )
    return replace(path, seconds=found.seconds + path.seconds)


def _accepted(program: Program, found: Solved) -> bool:
    return found.doubt <= max(DOUBT * abs(found.value), NOTHING * _size(program, found))


def _along(program: Program) -> Solved | None:
    """The optimum from along the central path, if that gets anywhere."""
    try:
        return _judged(program, followed(program, AIM / 10).solved)
    except WorstCaseError:
        return None


def _zero(program: Program) -> Solved:
    """What a metric that is 0 on every federation has as its worst case."""
    weights = np.full(len(program.objectives), 1 / len(program.objectives))
    nothing, none = np.zeros(program.size), np.zeros(len(program.constraints))
    return Solved(0.0, 0.0, nothing, none, weights, "Solved", 0.0, 0, program.blocks, doubt=0.0)


def _sure(program: Program) -> Solved:
    """The least doubtful of a few solutions."""
    best = last = _judged(program, _begun(program))
    seconds, large = last.seconds, len(program.constraints) > SMALL / 2
    for _ in range(ROUNDS - 1):
        if best.doubt <= AIM * abs(best.value):
            break
        try:
            last = _judged(program, _again(program, last))
        except WorstCaseError:  # the coordinates lost it: what there is must do
            break
        seconds += last.seconds
        stuck = large and best.doubt <= DOUBT * abs(best.value) and last.doubt > best.doubt / 3
        if last.doubt < best.doubt:
            best = last
        if stuck:  # good enough, and hardly getting better
            break
    return replace(best, seconds=seconds)


def _begun(program: Program) -> Solved:
    """A first solution; where the solver says that nothing bounds it the central path has the last word.

    Sizes that are far apart, as where steps are tiny, look to the solver like a worst case without an end.
    """
    try:
        return attempted(program, _unit(program))
    except NoLimitError as error:
        try:
            return followed(program, AIM / 10).solved
        except WorstCaseError:
            raise error from None


def _unit(program: Program) -> float:
    """The scale of a first objective: its own, unless that is so far from 1 that the solver would stop short."""
    largest = max(float(np.abs(objective).max()) for objective in program.objectives)
    return 1.0 if 1e-3 <= largest <= 1e3 else 1 / largest


def _judged(program: Program, found: Solved) -> Solved:
    return replace(found, doubt=doubt(program, found))


def _again(program: Program, found: Solved) -> Solved:
    """The solution in the coordinates of another, the objective scaled to be about 1."""
    turned, frame = recast(program, found)
    scale = min(1 / max(abs(found.value), 1e-300), STEEPEST)
    return restored(attempted(turned, scale, FINE), frame)


def recast(program: Program, found: Solved) -> tuple[Program, Frame]:
    """The program in the axes of ``found``, and the frame that leads back."""
    values = np.abs(found.x[program.packed :])
    frame = Frame(tuple(_axes(gram) for gram in found.grams), np.maximum(values, FLAT * max([*values, 1e-300])))
    return framed(program, frame), frame


def _axes(gram: Array) -> Array:
    """``T`` with ``T T^T`` about the Gram matrix, its small axes filled up."""
    extents, directions = np.linalg.eigh(gram)
    filled: Array = directions * np.sqrt(np.maximum(extents, FLAT * max(extents[-1], 1e-300)))
    return filled


# ---- how sure a solution is ----


def doubt(program: Program, found: Solved) -> float:
    """By how much the gap, broken constraints, inner products and multipliers may have moved the value."""
    rows = np.array([c.row for c in program.constraints])
    beyond = rows @ found.x - np.array([c.limit for c in program.constraints])
    broken = np.maximum(beyond, 0.0)
    goal = np.array(program.objectives).T @ found.weights
    slack = found.multipliers @ rows - goal
    total = found.gap + float(np.abs(found.multipliers) @ broken) + _crossed(program, found, slack)
    total += abs(float(np.sum(found.weights)) - 1) * abs(found.value)
    total += float(np.abs(slack[program.packed :]).sum()) * _largest_value(program, found, rows)
    return total if np.isfinite(total) else float("inf")


def _crossed(program: Program, found: Solved, slack: Array) -> float:
    """Negative eigenvalues of inner products and of their multipliers, each times the other's trace."""
    total, begin = 0.0, 0
    for size, gram in zip(program.blocks, found.grams, strict=True):
        length = size * (size + 1) // 2
        dual = unpack(slack[begin : begin + length], size)
        begin += length
        for one, other in ((gram, dual), (dual, gram)):
            total += max(-float(np.linalg.eigvalsh(one)[0]), 0.0) * max(float(np.trace(other)), 0.0)
    return total


def _largest_value(program: Program, found: Solved, rows: Array) -> float:
    """How large function values are: the found ones, and what inner products make of them in the class."""
    if not program.values:
        return 0.0
    with_values = np.abs(rows[:, program.packed :]).max(1) > 0
    made: Any = np.abs(rows[with_values, : program.packed] * found.x[: program.packed]).max(initial=0.0)
    return max(float(made), float(np.abs(found.x[program.packed :]).max()))


def _size(program: Program, found: Solved) -> float:
    """The numbers that the value is the sum of."""
    return float((np.abs(np.array(program.objectives)) @ np.abs(found.x)).max())
