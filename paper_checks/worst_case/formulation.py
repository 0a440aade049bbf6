"""The semidefinite program of a worst-case problem, put together in the order of an example of PEPit.

The unknowns are the inner products and function values of ``gram.py``. The metric is maximised, subject to the
assumptions and to the inequalities of the function class between all points at which functions are evaluated.
"""

from __future__ import annotations

from . import constraints
from .gram import Gram
from .objectives import objectives
from .problem import WorstCaseProblem
from .program import Program, trim


def program_of(problem: WorstCaseProblem) -> Program:
    """Return the semidefinite program, without columns that no row contains."""
    return trim(formulate(problem)[1])


def formulate(problem: WorstCaseProblem) -> tuple[Gram, Program]:
    """Return the Gram matrix, and the program over all its columns."""
    symmetric = problem.symmetric and not problem.draws_cohort  # the program of a tree is made smaller afterwards
    args = (problem.run, problem.assumptions["smoothness"], problem.curvature, problem.convex, symmetric)
    enough = 2 * problem.run.gradients + len(problem.run.server) + 10
    probe = Gram(*args, vector_capacity=enough)  # counts the vectors and values that metric and assumptions need
    _program(problem, probe)
    gram = Gram(*args, vector_capacity=probe.used_vectors, value_capacity=probe.used_values)
    return gram, _program(problem, gram)


def _program(problem: WorstCaseProblem, gram: Gram) -> Program:
    """Return the program, adding the evaluations that it needs to the Gram matrix."""
    metric = objectives(gram, problem.metric, problem.statistic)
    limited = [name for name in problem.assumptions if name in constraints.LIMITS]
    rows = [row for name in limited for row in constraints.constraints_on(name, gram, problem.assumptions)]
    if problem.has_infimum:
        rows += constraints.lower_bounded(gram)
    if gram.value_capacity:
        rows = [*gram.interpolation(), *rows]
    size, L = constraints.length_sq(problem.assumptions), gram.smoothness
    extents = gram.extents(float(size) ** 0.5, float(L) * float(size) ** 0.5)
    return Program(gram.blocks, gram.value_capacity, metric, tuple(rows), extents, float(L * size))
