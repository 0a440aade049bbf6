"""The optimum to a known accuracy: solved again and again in the coordinates of what was reached, until it is sure.

What a solver calls an optimum meets its tolerances in the numbers it was given. Where values are small beside those
numbers it may break constraints by more than the value, whatever the gap. So a solution counts by its doubt: how far
the optimum may be from its value, to first order, by what it and its multipliers break. In coordinates in which the
last solution is round the next one is nearly always sure; where none is there is no number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .conditioning import recast, restored
from .program import attempted, BROKEN, Program, SMALL, Solved, WorstCaseError
from .space import Array, unpack

DOUBT, AIM = 1e-6, 3e-7
"""Largest accepted doubt relative to the value, and the one at which work stops."""
NOTHING = 1e-9
"""A doubt below this share of the numbers that the value is the sum of is one about zero, and accepted."""
ROUNDS, FINE, STEEPEST = 8, 1e-11, 1e12
"""Solutions at most, the tolerance of all but the first (as far as the solver gets), the largest objective's scale."""


def refined(program: Program) -> Solved:
    """The optimum, right to ``DOUBT``; constraints that are ``late`` join a large program when a solution breaks them.

    Raises ``WorstCaseError`` where there is no optimum, or none that is sure.
    """
    small = len(program.constraints) <= SMALL
    inside = np.array([small or not c.late for c in program.constraints])
    found, seconds = None, 0.0
    while True:
        part = replace(program, constraints=tuple(c for c, k in zip(program.constraints, inside, strict=True) if k))
        found = _sure(part, found)
        seconds += found.seconds
        broken = _broken(program, found.x, inside)
        if not broken.any():
            break
        inside |= broken
    multipliers = np.zeros(len(program.constraints))
    multipliers[inside] = found.multipliers
    return replace(found, multipliers=multipliers, seconds=seconds)


def _broken(program: Program, x: Array, inside: Array) -> Array:
    """The constraints outside that a solution breaks, the worst first and as many as there are vectors."""
    rows = np.array([c.row for c in program.constraints])
    beyond = rows @ x - np.array([c.limit for c in program.constraints])
    far = np.where(inside, 0.0, beyond / np.maximum(np.abs(rows * x).max(1), 1e-300))
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[np.argsort(-far)[: sum(program.blocks)]] = True
    found: Array = chosen & (far > BROKEN / 10)
    return found


def _sure(program: Program, start: Solved | None) -> Solved:
    """A solution without doubt, from the coordinates of ``start`` if there is one."""
    last = attempted(program) if start is None else _again(program, start)
    best, least, seconds = last, doubt(program, last), last.seconds
    for _ in range(ROUNDS - 1):
        if least <= AIM * abs(best.value):
            break
        try:
            last = _again(program, last)
        except WorstCaseError:  # the coordinates lost it: what there is must do
            break
        seconds += last.seconds
        now = doubt(program, last)
        if now < least:
            best, least = last, now
    if not least <= max(DOUBT * abs(best.value), NOTHING * _size(program, best)):
        raise WorstCaseError(
            f"the solver's value {best.value:.6g} may be off by {least:.2g}: no number is given; take fewer steps, a "
            "smaller step size or units in which smoothness and start are about 1"
        )
    return replace(best, seconds=seconds)


def _again(program: Program, found: Solved) -> Solved:
    """The solution in the coordinates of another, the objective scaled to be about 1."""
    turned, frame = recast(program, found)
    scale = min(1 / max(abs(found.value), 1e-300), STEEPEST)
    return restored(attempted(turned, scale, FINE), frame)


# ---- how sure a solution is ----


def doubt(program: Program, found: Solved) -> float:
    """By how much the gap, broken constraints, inner products and multipliers may have moved the value."""
    rows = np.array([c.row for c in program.constraints])
    beyond = rows @ found.x - np.array([c.limit for c in program.constraints])
    equal = np.array([c.equal for c in program.constraints])
    broken = np.where(equal, np.abs(beyond), np.maximum(beyond, 0.0))
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
