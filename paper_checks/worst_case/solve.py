"""The exact worst case of a deterministic federated method over a whole class of federations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

from bounds.core import Statistic
from empirics.algorithms import algorithm as parse_algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import duration, Progress, progress
from empirics.training.setting import Setting

from . import symmetry
from .constraints import LIMITS
from .formulation import formulate
from .interior_point import optimum
from .problem import WorstCaseProblem
from .program import Program, Solution, trim, used_unknowns, WorstCaseError

PATIENCE = 600.0
"""Default limit on the seconds for one worst case."""


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The solution of a problem; ``seconds`` is the time it took."""

    problem: WorstCaseProblem
    program: Program
    solution: Solution
    seconds: float

    @property
    def value(self) -> float:
        """The largest value of the metric."""
        return self.solution.value

    @property
    def gap(self) -> float:
        """The duality gap of the solution."""
        return self.solution.gap

    @property
    def exact(self) -> bool:
        """Whether this is the worst case, and not an upper estimate from relaxed assumptions."""
        return not self.problem.relaxations

    @cached_property
    def multipliers(self) -> dict[str, float]:
        """Derivatives of the worst case in the assumed limits, by quantity."""
        multipliers: dict[str, float] = {}
        for constraint, multiplier in zip(self.program.constraints, self.solution.multipliers, strict=True):
            if constraint.kind in LIMITS and LIMITS[constraint.kind].power is not None:
                multipliers[constraint.kind] = multipliers.get(constraint.kind, 0.0) + float(multiplier)
        return multipliers

    @property
    def contributions(self) -> dict[str, float]:
        """Multipliers times limits, by quantity; they add up to the value if every assumption is homogeneous."""
        return {name: x * self.problem.assumptions[name] for name, x in self.multipliers.items()}


def worst_case(
    algorithm: Algorithm | str,
    setting: Setting,
    assumptions: Mapping[str, float],
    metric: str,
    statistic: str | Statistic = "last",
    *,
    steps: Sequence[int] | None = None,
    step_sizes: Sequence[float] | None = None,
    symmetric: bool = True,
    clients: int | None = None,
    patience: float = PATIENCE,
) -> WorstCase:
    """Return the largest value of a metric over all federations that meet the assumptions, for one plan.

    Args:
        algorithm: A deterministic first-order method.
        setting: Its plan. All ``setting.cohort`` clients take part in every round with full gradients.
        assumptions: Numbers by quantity. ``smoothness``; ``strong_convexity`` for convex clients; any of
            ``initial_distance_sq``, ``initial_gap``, ``optimum_dissimilarity`` (mean squared client gradient at the
            minimiser), ``heterogeneity`` (Gamma), ``grad_cap_sq`` (G^2 along the run), ``dissimilarity_offset`` and
            ``dissimilarity_factor`` (G^2, B^2), ``pl_constant``; ``grad_norm_sq`` and ``divergence`` before the last
            round, ``distance_sq`` before the last iteration.
        metric: The quantity to maximise.
        statistic: Which value of the metric: "last", "min" or "mean" over rounds, or a ``Statistic``.
        steps: Local steps of every round, in place of the setting's.
        step_sizes: Step sizes of all local steps or of all rounds, in place of the setting's.
        symmetric: False keeps all clients apart, which gives the same value more slowly.
        clients: Number of clients from which each round draws ``setting.cohort`` without replacement; the metric is
            then its mean over all draws.
        patience: Limit on the time, in seconds.

    Raises:
        WorstCaseError: If the worst case is infinite, cannot be computed or would take too long.
    """
    method = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    at = Statistic(statistic, "rounds") if isinstance(statistic, str) else statistic
    local_steps = None if steps is None else tuple(steps)
    if local_steps is not None and len(local_steps) != setting.rounds:
        raise WorstCaseError(f"steps needs one number for each of the {setting.rounds} rounds; got {len(local_steps)}")
    sizes = None if step_sizes is None else tuple(float(x) for x in step_sizes)
    given = dict(assumptions)
    problem = WorstCaseProblem(method, setting, given, metric, at, local_steps, symmetric, sizes, clients=clients)
    return solve(problem, patience)


def solve(problem: WorstCaseProblem, patience: float = PATIENCE) -> WorstCase:
    """Return the worst case of a problem; raise ``WorstCaseError`` if it would take more than ``patience`` seconds."""
    begin, drawn = perf_counter(), f"a worst case with {problem.setting.cohort} of {problem.clients} clients drawn"
    with progress(drawn, brief=True) if problem.draws_cohort else nullcontext(Progress()) as bar:
        program, orbit, seconds = _prepare(problem, patience)
        bar.doing(f"which takes about {duration(seconds)}")
        solution = optimum(replace(orbit.program if orbit else program, deadline=perf_counter() + patience))
        solution = orbit.lifted(solution) if orbit else solution
    return WorstCase(problem, program, solution, perf_counter() - begin)


def _prepare(problem: WorstCaseProblem, patience: float) -> tuple[Program, symmetry.Orbits | None, float]:
    """Return the program, with drawn clients a smaller equivalent one, and about how many seconds it takes."""

    def check_seconds(seconds: float) -> None:
        if seconds > patience:
            raise WorstCaseError(
                f"too large: {problem.run.gradients} gradients per client would take about {seconds:.0f} s, "
                f"more than {patience:g} s; take fewer rounds or local steps, or raise the patience"
            )

    clients, orbit = problem.clients or 0, None
    reduced = problem.draws_cohort and problem.symmetric and clients <= symmetry.MAX_CLIENTS
    if problem.draws_cohort and not reduced:
        check_seconds(solve_seconds(1 + clients * (problem.run.gradients + problem.convex)))
    gram, whole = formulate(problem)
    program = trim(whole)
    if reduced:
        (columns,), values = used_unknowns(whole)
        orbit = symmetry.reduced(gram, program, columns, values)
    seconds = solve_seconds(*(orbit.program if orbit else program).blocks)
    check_seconds(seconds)
    return program, orbit, seconds


def solve_seconds(*blocks: int) -> float:
    """Return about how many seconds a program with blocks of these sizes takes on one core at 2 GHz.

    Fitted to pairs of blocks of 12, 22, 32 and 52 vectors, which took 0.1, 0.6, 4 and 50 s.
    """
    return sum((size / 40) ** 3 + (size / 27) ** 5 for size in blocks)
