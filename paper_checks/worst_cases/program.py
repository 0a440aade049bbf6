"""The semidefinite program: linear in the inner products and function values, named constraints, solved by Clarabel.

maximise  objective . x + constant   over x = (packed blocks, function values),   blocks positive semidefinite,
subject to  row . x <= limit  (multiplier >= 0)   or   row . x = limit  (multiplier of any sign).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from bounds.errors import BoundsError

from .space import Array, unpack

INSTALL = "exact worst cases need the extra `exact`: python -m pip install 'fedbounds[exact]'"
GAP, FLOOR = 1e-6, 1e-2
"""Largest accepted difference between the primal and the dual value, relative to the larger of them and ``FLOOR``."""


class WorstCaseError(BoundsError):
    """A worst case that could not be computed: never a number."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """``row . x <= limit`` (or ``=``); ``name`` is the word of the assumption it belongs to."""

    name: str
    row: Array
    limit: float = 0.0
    equal: bool = False
    late: bool = False
    """Whether a large program may begin without it: it is added as soon as a solution breaks it."""


@dataclass(frozen=True, eq=False)
class Program:
    """What is maximised, under what; ``objectives`` are several where the smallest of them counts."""

    blocks: tuple[int, ...]
    values: int
    objectives: tuple[Array, ...]
    constraints: tuple[Constraint, ...]

    @property
    def packed(self) -> int:
        return sum(n * (n + 1) // 2 for n in self.blocks)

    @property
    def size(self) -> int:
        """Unknowns without the helper for the smallest objective."""
        return self.packed + self.values


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution: ``x``, one multiplier per constraint, weights of the objectives (summing to 1), both values."""

    value: float
    dual_value: float
    x: Array
    multipliers: Array
    weights: Array
    status: str
    seconds: float
    iterations: int
    blocks: tuple[int, ...] = field(default=())

    @property
    def gap(self) -> float:
        return abs(self.value - self.dual_value)

    def good(self, scale: float = 1.0) -> bool:
        """Whether it is an optimum of the program with its objective times ``scale``."""
        try:
            _check(self.status, self.value * scale, self.dual_value * scale)
        except WorstCaseError:
            return False
        return True

    @property
    def grams(self) -> list[Array]:
        found, begin = [], 0
        for size in self.blocks:
            length = size * (size + 1) // 2
            found.append(unpack(self.x[begin : begin + length], size))
            begin += length
        return found


def solver() -> Any:
    """Clarabel, or one line on how to get it."""
    try:
        import clarabel
    except ImportError:
        raise WorstCaseError(INSTALL) from None
    return clarabel


SMALL = 150
"""Constraints up to which a program is solved at once."""
BROKEN = 1e-7
"""How far a solution may break a constraint that it was not asked to keep, relative to the largest number in it."""
SMALL_VALUE, RESCALINGS, MOST_SCALED = 0.01, 3, 1e12
"""An objective below this is scaled up, this often, by at most so much."""
TOLERANCE, RECASTS = 1e-8, 4
"""What the solver is asked for, and how often a program may be recast until it is reached."""


def solve(program: Program) -> Solved:
    """The optimum, with a dual certificate; anything but an optimum within the tolerance is an error."""
    if len(program.constraints) <= SMALL:
        return _patient(program)
    return _growing(program)


def _growing(program: Program) -> Solved:
    """The optimum by adding constraints as solutions break them: that of all, once none is broken.

    Few of the inequalities between pairs of points matter, and a program's cost grows with the cube of their number.
    """
    rows = np.array([c.row for c in program.constraints])
    limits = np.array([c.limit for c in program.constraints])
    inside = np.array([not c.late for c in program.constraints])
    seconds = 0.0
    while True:
        chosen = np.flatnonzero(inside)
        found = _patient(replace(program, constraints=tuple(program.constraints[i] for i in chosen)))
        seconds += found.seconds
        broken = rows @ found.x - limits
        size = np.abs(rows * found.x).max(1)
        far = np.where(inside, 0.0, broken / np.maximum(size, np.abs(found.x).max()))
        if far.max() <= BROKEN:
            multipliers = np.zeros(len(program.constraints))
            multipliers[chosen] = found.multipliers
            return replace(found, multipliers=multipliers, seconds=seconds)
        worst = np.argsort(-far)[: sum(program.blocks)]
        inside[worst[far[worst] > BROKEN / 10]] = True


def _patient(program: Program) -> Solved:
    """The optimum, the objective scaled so that it is about 1: tolerances are absolute where values are small.

    Where the solver stops short, the program is solved again in the coordinates of what it has reached.
    """
    scale = 1.0
    for _ in range(RESCALINGS):
        rough = attempted(program, scale)
        if not 0 < rough.value < SMALL_VALUE / scale:
            break
        scale = min(1 / rough.value, MOST_SCALED)
    for _ in range(RECASTS):
        if rough.good(scale):
            return rough
        rough = _recast(program, rough, scale)
    _check(rough.status, rough.value * scale, rough.dual_value * scale)
    return rough


def _recast(program: Program, rough: Solved, scale: float) -> Solved:
    from .conditioning import recast, restored

    turned, axes = recast(program, rough)
    return restored(attempted(turned, scale), axes)


def attempted(program: Program, scale: float = 1.0, tolerance: float = TOLERANCE) -> Solved:
    """What the solver reaches with the objective times ``scale``, an optimum or not; an error where there is none."""
    clarabel = solver()
    several = len(program.objectives) > 1
    width = program.size + int(several)
    cost = np.zeros(width)
    if several:
        cost[-1] = -1.0
    else:
        cost[: program.size] = -scale * program.objectives[0]
    equal = [c for c in program.constraints if c.equal]
    below = [c for c in program.constraints if not c.equal]
    rows = [*(_wide(c.row, width) for c in equal), *(_wide(c.row, width) for c in below)]
    limits = [*(c.limit for c in equal), *(c.limit for c in below)]
    if several:  # t <= every objective
        helper = [_wide(-scale * o, width) for o in program.objectives]
        for row in helper:
            row[-1] = 1.0
        rows += helper
        limits += [0.0] * len(helper)
    scales = np.array([max(np.abs(row).max(), 1e-300) for row in rows])
    matrix = sparse.vstack(
        [
            sparse.csc_matrix(np.array(rows) / scales[:, None]),
            sparse.csc_matrix((-np.ones(program.packed), (np.arange(program.packed), np.arange(program.packed))),
                              shape=(program.packed, width)),
        ],
        format="csc",
    )  # fmt: skip
    right = np.concatenate([np.array(limits) / scales, np.zeros(program.packed)])
    cones = [
        *([clarabel.ZeroConeT(len(equal))] if equal else []),
        clarabel.NonnegativeConeT(len(rows) - len(equal)),
        *(clarabel.PSDTriangleConeT(n) for n in program.blocks if n),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_threads = 1
    settings.static_regularization_constant, settings.static_regularization_proportional = 1e-7, 1e-16
    problem = clarabel.DefaultSolver(sparse.csc_matrix((width, width)), cost, matrix, right, cones, settings)
    found = _answer(problem)
    status = str(found.status)
    value, dual = -float(found.obj_val), -float(found.obj_val_dual)
    if "Infeasible" in status:
        _check(status, value, dual)
    x, z = np.array(found.x), np.array(found.z)[: len(rows)] / scales / scale
    multipliers = np.zeros(len(program.constraints))
    multipliers[[i for i, c in enumerate(program.constraints) if c.equal]] = z[: len(equal)]
    multipliers[[i for i, c in enumerate(program.constraints) if not c.equal]] = z[len(equal) : len(equal) + len(below)]
    weights = z[len(equal) + len(below) :] * scale if several else np.ones(1)
    return Solved(
        value / scale,
        dual / scale,
        x[: program.size],
        multipliers,
        weights,
        status,
        found.solve_time,
        found.iterations,
        program.blocks,
    )


def _answer(problem: Any) -> Any:
    """What the solver found; where an eigenvalue does not converge it panics, with what is no ``Exception``."""
    try:
        return problem.solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise WorstCaseError(f"the solver broke down ({error}): no number is given") from None


def _wide(row: Array, width: int) -> Array:
    return np.concatenate([row, np.zeros(width - len(row))])


def _check(status: str, value: float, dual: float) -> None:
    if "DualInfeasible" in status:
        raise WorstCaseError(
            "the worst case is infinite: these assumptions do not bound the metric; bound the start (such as "
            "initial_distance_sq or initial_gap) and the clients' heterogeneity, or take a smaller step size"
        )
    if "PrimalInfeasible" in status:
        raise WorstCaseError("no federation meets these assumptions together: they contradict each other")
    if status != "Solved":
        raise WorstCaseError(f"the solver stopped without an optimum (status {status}): no number is given")
    gap, size = abs(value - dual), max(abs(value), abs(dual), FLOOR)
    if not gap <= GAP * size:
        raise WorstCaseError(f"the duality gap {gap:.2g} exceeds {GAP:g} of the value {value:.6g}: no number is given")


def lagrangian(program: Program, solved: Solved) -> float:
    """``sum of weights . objectives - multipliers . (rows x - limits)`` at the solution's x and multipliers.

    Its derivative in any number the program was made with is the derivative of the worst case (envelope theorem).
    """
    objective = sum(w * (o @ solved.x) for w, o in zip(solved.weights, program.objectives, strict=True))
    slack = [c.row @ solved.x - c.limit for c in program.constraints]
    return float(objective - solved.multipliers @ np.array(slack))
