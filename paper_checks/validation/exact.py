"""Compare a bound with exact expectations of runs on quadratics, over all cohorts and all noise.

The target and its statistic determine what is computed, the conditions determine the step size, and free constants of
the proof are chosen so that the bound is smallest.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from bounds.assumptions import SAMPLED_WITH_REPLACEMENT
from bounds.core import Bound
from bounds.errors import NoMinimumError, NoSolutionError, OutsideConditionsWarning
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.exact import exact_run
from empirics.measuring.estimates import Estimate
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.progress import Progress
from empirics.sizes import NUMBER, refuse_beyond_memory, ROW
from empirics.training.setting import Setting

from ..runs import readings, schedules
from ..runs.methods import demands, method
from ..runs.origins import free_constants, on_local_iterations
from ..runs.readings import setting_facts
from .comparison import Comparison, condition_status, Line, ROUNDED, Verdict
from .options import Options


@dataclass(frozen=True)
class Compared:
    """The values of a bound and of its target, one per round or a single one.

    ``formula`` is the bound's value even where its conditions fail; there ``bound`` is NaN. ``values`` are the
    quantities of the run.
    """

    bound: np.ndarray
    formula: np.ndarray
    exact: np.ndarray
    values: Mapping[str, Any]
    outside: bool
    """Whether the run violates an assumption, so that the bound does not apply to it."""

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of every value, up to rounding; undecided where the bound does not apply."""

        def verdict(bound: float, exact: float) -> Verdict:
            if self.outside or np.isnan(bound):
                return Verdict.UNDECIDED
            return Verdict.HOLDS_HERE if exact <= bound * (1 + ROUNDED) else Verdict.VIOLATED

        return list(map(verdict, self.bound, self.exact))


def compare(bound: Bound, problem: Quadratics, setting: Setting, beta: float) -> Compared:
    """Run the algorithm that the bound covers, and compute the bound and the exact value of its target."""
    algorithm = method(bound.about, data=False, relaxation=beta)
    run = exact_run(problem, algorithm, setting)
    values = {**readings.values(problem, setting, beta, run), **readings.iterated(bound, run)}
    for name in free_constants(bound):  # chosen where the bound is smallest
        scalars = {q.name: values[q.name] for q in bound.quantities if q.name != name}
        worst = {k: np.max(v) if np.ndim(v) and k != "client_weight" else v for k, v in scalars.items()}
        values[name] = float(np.asarray(bound.minimize(name, **worst).at))
    first, offset = setting.step_size, setting.step_offset
    sizes: Any = first if offset is None else schedules.step_sizes(first, offset, setting.steps * setting.rounds)
    exact = np.atleast_1d(readings.target(bound, run, sizes, values))
    used = {q.name: values[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        inside, formula = (np.broadcast_to(np.atleast_1d(f(**used)), exact.shape) for f in (bound, bound.formula))
    return Compared(inside, formula, exact, values, violates_assumption(bound, problem, algorithm, setting))


def violates_assumption(bound: Bound, problem: Quadratics, algorithm: Algorithm, setting: Setting) -> bool:
    """Whether a run violates an assumption of the bound."""
    status = condition_status(bound, problem, algorithm, setting_facts(problem, setting))
    return any(line.startswith("NOT met") for line in status)


def make_comparison(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """Compare a bound on random quadratics; the step size of each instance meets the bound's conditions."""
    required = demands(bound)
    offset = OFFSET if schedules.harmonic(bound) and plan.step_offset is None else plan.step_offset
    plan = replace(plan, noise=0.0 if required.quiet else plan.noise, step_offset=offset, **required.plan)
    clients, dim, rounds = plan.clients, plan.dim, plan.rounds or 1
    for size, what, option in (
        (3 * NUMBER * clients * dim**2, f"quadratics of {clients} clients with {dim} parameters", "--clients or --dim"),
        (NUMBER * rounds * (dim + 20), f"following {rounds} rounds", "--rounds"),
        (ROW * plan.instances, f"{plan.instances} instances", "--instances"),
    ):
        refuse_beyond_memory(size, what, f"take smaller {option}")
    lines: list[Line] = []
    bar.start(plan.instances)
    for seed in range(plan.instances):
        bar.doing(f"instance {seed}")
        same = required.parallel or required.identical
        problem = random_quadratics(seed, clients, dim, noise=plan.noise, same_curvature=same)
        if required.identical:
            problem = replace(problem, minima=np.tile(problem.minima[:1], (clients, 1)))
        setting, compared = compare_inside(bound, problem, plan)
        several = len(compared.exact) > 1
        numbers = zip(compared.exact, compared.bound, compared.formula, compared.verdicts, strict=True)
        for i, (exact, value, formula, verdict) in enumerate(numbers, 1):
            place = (seed, f"{setting.step_size:.3g}", i if several else "all")
            outside = compared.outside or bool(np.isnan(value))
            ends = (float(formula),) * 3
            lines.append(Line(place, Estimate(exact, np.zeros(())), *ends, outside, verdict))
        bar.step()
    algorithm = method(bound.about, data=False, relaxation=plan.relaxation)
    status = condition_status(bound, problem, algorithm, setting_facts(problem, setting))
    moment = "iteration" if on_local_iterations(bound) and len(lines) > plan.instances else "round"
    basis = ". Exact expectations without sampling, for these instances only."
    noise = f"gradient noise {plan.noise:g}" if plan.noise else "without gradient noise"
    about = f"{setting.described(clients)}; {noise}; quadratics of {dim} parameters"
    return Comparison(bound, tuple(lines), basis, (about,), status, places=("instance", "step_size", moment),
                      read="exact", digits=(6, 4))  # fmt: skip


OFFSET = 10.0
"""The offset of a decreasing step size if the bound leaves it open."""


def compare_inside(bound: Bound, problem: Quadratics, options: Options) -> tuple[Setting, Compared]:
    """Compare at the given step size, or at the largest of 1/L, 1/(2L), 1/(4L), ... at which all conditions hold."""
    given, rounds = options.step_size is not None, options.rounds or 1
    step_size = 1 / problem.smoothness if options.step_size is None else options.step_size
    cohort = _cohort(bound, problem, options) if options.cohort is None else options.cohort
    offset = options.step_offset
    if not given and (fixed := schedules.prescribed(bound)):
        planned = readings.of_plan(cohort, options.local_steps, rounds, step_size, options.relaxation, offset)
        knobs = schedules.step_plan(bound, readings.of_problem(problem) | planned)
        step_size, offset = knobs[schedules.FIRST], knobs.get(schedules.OFFSET)
        given = bool({schedules.SCALE, schedules.FIRST} & set(fixed))
    plan = Setting(
        rounds, cohort, local_steps=options.local_steps, step_offset=offset, sampling=assumed_sampling(bound)
    )
    while True:
        setting = replace(plan, step_size=step_size)
        try:
            compared = compare(bound, problem, setting, options.relaxation)
        except (NoSolutionError, NoMinimumError):
            compared = None
        if compared is not None and (given or not np.isnan(compared.bound).any()):
            return setting, compared
        if given or step_size < 1e-9 / problem.smoothness:
            raise EmpiricsError(f"the conditions of {bound.name} fail at step size {step_size:g}")
        step_size /= 2


def assumed_sampling(bound: Bound) -> str:
    """How the bound assumes that participants are sampled."""
    by_weight = any(c.assumption is SAMPLED_WITH_REPLACEMENT for c in bound.conditions)
    return "with_replacement" if by_weight else "without_replacement"


def _cohort(bound: Bound, problem: Quadratics, options: Options) -> int:
    """Half of the clients, or all of them if an assumption or a condition on their number requires it."""
    half = max(1, options.clients // 2)
    numbers = {"cohort": half, "clients": options.clients}
    counts = {q: numbers[q.name] for q in bound.quantities if q.name in numbers}
    if any(r.free_symbols <= counts.keys() and r.subs(counts) == sp.false for r in bound.relations):
        return options.clients
    part = Setting(options.rounds or 1, half, local_steps=options.local_steps, step_offset=options.step_offset)
    part = replace(part, sampling=assumed_sampling(bound))
    algorithm = method(bound.about, data=False, relaxation=0.0)
    return options.clients if violates_assumption(bound, problem, algorithm, part) else half
