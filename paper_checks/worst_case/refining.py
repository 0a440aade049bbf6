"""The optimum to a known accuracy, by the solver or along the central path.

What a solver calls an optimum meets its tolerances in the numbers it was given. Where values are small beside those
numbers it may break constraints by more than the value, whatever the gap. So a solution counts by its doubt: how far
the optimum may be from its value, to first order, by what it and its multipliers break. Where the solver is not sure
the central path is followed, which takes longer, and where that is not sure either there is no number. Of large
programs the path comes first: its steps are products of large matrices, and fewer than the solver takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .coordinates import Array, unpack
from .interior_point import followed
from .program import normalised, Program, restored, Solved, WorstCaseError
from .solver import attempted

SMALL = 150
"""Constraints up to which the solver answers first."""
DOUBT, AIM = 1e-4, 1e-6
"""Relative to the value: the doubt that is accepted, and at which no second way is tried.

A worst case is known to ``DOUBT`` of itself: nothing closer than that is told from it."""
NOTHING = 1e-9
"""A doubt below this share of the numbers that the value is the sum of is one about zero, and accepted."""
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
    found: list[Solved] = []
    refused: WorstCaseError | None = None
    for solve in (_along, _solved) if large else (_solved, _along):
        try:
            solved = solve(program)
        except WorstCaseError as error:
            refused = error if solve is _solved else refused  # it says why: nothing bounds the metric, as a rule
            continue
        found.append(replace(solved, doubt=doubt(program, solved)))
        if found[-1].doubt <= _accepted(program, found[-1], DOUBT if large else AIM):
            break
    best = min(found, key=lambda one: one.doubt, default=None)
    if best is None or best.doubt > _accepted(program, best, DOUBT):
        raise refused or WorstCaseError(
            f"the solver's value {found[0].value:.6g} may be off by {found[0].doubt:.2g}: no number is given; take "
            "fewer steps, a smaller step size or units in which smoothness and start are about 1"
        )
    return replace(best, seconds=sum(one.seconds for one in found))


def _accepted(program: Program, found: Solved, share: float) -> float:
    """The doubt that is accepted of a value: this share, or what is nothing beside the numbers it is the sum of."""
    size = float((np.abs(np.array(program.objectives)) @ np.abs(found.x)).max())
    return max(share * abs(found.value), NOTHING * size)


def _solved(program: Program) -> Solved:
    """By the solver, the objective in a unit of its own where it is so far from 1 that it would stop short."""
    largest = max(float(np.abs(objective).max()) for objective in program.objectives)
    return attempted(program, 1.0 if 1e-3 <= largest <= 1e3 else 1 / largest)


def _along(program: Program) -> Solved:
    return followed(program, AIM / 100).solved


def _zero(program: Program) -> Solved:
    """What a metric that is 0 on every federation has as its worst case."""
    weights = np.full(len(program.objectives), 1 / len(program.objectives))
    nothing, none = np.zeros(program.size), np.zeros(len(program.constraints))
    return Solved(0.0, 0.0, nothing, none, weights, "Solved", 0.0, 0, program.blocks, doubt=0.0)


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
