"""Programs solved by Clarabel: what it reaches, judged elsewhere."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from .coordinates import Array
from .program import Program, Solved, WorstCaseError

INSTALL = "exact worst cases need the extra `exact`: python -m pip install 'fedbounds[exact]'"


class NoLimitError(WorstCaseError):
    """The solver says that nothing bounds the metric, rightly or misled by sizes that are far apart."""


def solver() -> Any:
    """Clarabel, or one line on how to get it."""
    try:
        import clarabel
    except ImportError:
        raise WorstCaseError(INSTALL) from None
    return clarabel


TOLERANCE = 1e-8
"""The solver's settings."""


def attempted(program: Program, scale: float = 1.0, tolerance: float = TOLERANCE) -> Solved:
    """What the solver reaches with the objective times ``scale``, an optimum or not; an error where there is none."""
    clarabel = solver()
    cost, rows, limits = _stated(program, scale)
    sizes = np.maximum(np.abs(rows).max(1), 1e-300)
    width, places = len(cost), np.arange(program.packed)
    inner = sparse.csc_matrix((-np.ones(program.packed), (places, places)), shape=(program.packed, width))
    matrix = sparse.vstack([sparse.csc_matrix(rows / sizes[:, None]), inner], format="csc")
    right = np.concatenate([limits / sizes, np.zeros(program.packed)])
    cones = [clarabel.NonnegativeConeT(len(rows)), *(clarabel.PSDTriangleConeT(n) for n in program.blocks)]
    nothing = sparse.csc_matrix((width, width))
    program.check_time()
    settings = settings_of(clarabel, tolerance, tolerance, program.until - perf_counter())
    settings.static_regularization_constant, settings.static_regularization_proportional = 1e-7, 1e-16
    found = answered(clarabel.DefaultSolver(nothing, cost, matrix, right, cones, settings))
    status = str(found.status)
    program.check_time()
    _check(status)
    x, dual = np.array(found.x)[: program.size], np.array(found.z)[: len(rows)] / sizes
    count = len(program.constraints)
    weights = dual[count:] if len(program.objectives) > 1 else np.ones(1)
    value, beyond = -float(found.obj_val) / scale, -float(found.obj_val_dual) / scale
    multipliers = dual[:count] / scale
    return Solved(value, beyond, x, multipliers, weights, status, found.solve_time, found.iterations, program.blocks)


def _stated(program: Program, scale: float) -> tuple[Array, Array, Array]:
    """What is minimised, rows and limits of the constraints; a last unknown is below every of several objectives."""
    goals = scale * np.array(program.objectives)
    rows = np.array([c.row for c in program.constraints])
    limits = np.array([c.limit for c in program.constraints])
    if len(goals) == 1:
        return -goals[0], rows, limits
    below = np.concatenate([np.zeros(len(rows)), np.ones(len(goals))])
    cost = np.append(np.zeros(program.size), -1.0)
    return cost, np.column_stack([np.concatenate([rows, -goals]), below]), np.append(limits, np.zeros(len(goals)))


def settings_of(clarabel: Any, gap: float, feasible: float, seconds: float = inf) -> Any:
    """The solver's settings, by what it is asked for."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.time_limit, settings.max_iter, settings.max_threads = False, seconds, 200, 1
    settings.tol_gap_abs = settings.tol_gap_rel = gap
    settings.tol_feas = feasible
    return settings


def answered(problem: Any) -> Any:
    """What the solver found; where an eigenvalue does not converge it panics, with what is no ``Exception``."""
    try:
        return problem.solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise WorstCaseError(f"the solver broke down ({error}): no number is given") from None


def _check(status: str) -> None:
    """Refuse what has no optimum at all; a solver that only stopped short is judged by what it reached."""
    if status == "DualInfeasible":
        raise NoLimitError(
            "the worst case is infinite, or beyond what the solver reaches: where these assumptions do not bound the "
            "metric, bound the start (such as initial_distance_sq or initial_gap) and the clients' heterogeneity; else "
            "its numbers are too far apart, as with a step size far beyond 2/smoothness, or a tiny one"
        )
    if status == "PrimalInfeasible":
        raise WorstCaseError("no federation meets these assumptions together: they contradict each other")
    if "Infeasible" in status:
        kind = NoLimitError if "Dual" in status else WorstCaseError
        raise kind(f"the solver stopped without an optimum (status {status}): no number is given")


def lagrangian(program: Program, solved: Solved) -> float:
    """``sum of weights . objectives - multipliers . (rows x - limits)`` at the solution's x and multipliers.

    Its derivative in any number the program was made with is the derivative of the worst case (envelope theorem).
    """
    objective = sum(w * (o @ solved.x) for w, o in zip(solved.weights, program.objectives, strict=True))
    slack = [c.row @ solved.x - c.limit for c in program.constraints]
    return float(objective - solved.multipliers @ np.array(slack))
