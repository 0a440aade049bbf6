"""Compare a bound on a run with exact expectations on quadratic clients, over all cohorts and all noise.

The target and its statistic determine what is computed, the conditions determine the step size, and constants that only
the proof uses are chosen so that the bound is smallest.
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
from ..runs.readings import facts
from ..runs.words import along, free
from .comparison import Comparison, Line, ROUNDED, standing, Verdict
from .options import Options


@dataclass(frozen=True)
class Compared:
    """Bound and exact value, one per round or a single one; NaN where the conditions fail."""

    bound: np.ndarray
    formula: np.ndarray
    exact: np.ndarray
    values: Mapping[str, Any]
    outside: bool
    """Whether the run violates an assumption, so that the statement does not apply to it."""

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of every value, up to rounding; undecided where the theorem does not apply."""
        pairs = zip(self.bound, self.exact, strict=True)
        return [Verdict.UNDECIDED if self.outside or np.isnan(bound)
                else Verdict.HOLDS_HERE if exact <= bound * (1 + ROUNDED) else Verdict.VIOLATED
                for bound, exact in pairs]  # fmt: skip


def compare(bound: Bound, problem: Quadratics, setting: Setting, beta: float) -> Compared:
    """Run the algorithm that the bound covers, and compare the exact value of its target with the bound."""
    made = method(bound.about, data=False, relaxation=beta)
    run = exact_run(problem, made, setting)
    values = {**readings.values(problem, setting, beta, run), **readings.iterated(bound, run)}
    for name in free(bound):  # constants of the proof: where the bound is smallest
        scalars = {q.name: values[q.name] for q in bound.quantities if q.name != name}
        worst = {k: np.max(v) if np.ndim(v) and k != "client_weight" else v for k, v in scalars.items()}
        values[name] = float(np.asarray(bound.minimize(name, **worst).at))
    first, offset = setting.step_size, setting.step_offset
    sizes: Any = first if offset is None else schedules.sizes(first, offset, setting.steps * setting.rounds)
    exact = np.atleast_1d(readings.target(bound, run, sizes, values))
    used = {q.name: values[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        at, formula = (np.broadcast_to(np.atleast_1d(f(**used)), exact.shape) for f in (bound, bound.formula))
    return Compared(at, formula, exact, values, breaks(bound, problem, made, setting))


def breaks(bound: Bound, problem: Quadratics, made: Algorithm, setting: Setting) -> bool:
    """Whether an assumption of the bound is violated."""
    return any(line.startswith("NOT met") for line in standing(bound, problem, made, facts(problem, setting)))


def found(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """The comparison on random quadratics where the bound's conditions hold; each instance has its own step size."""
    asked = demands(bound)
    offset = OFFSET if schedules.harmonic(bound) and plan.step_offset is None else plan.step_offset
    plan = replace(plan, noise=0.0 if asked.quiet else plan.noise, step_offset=offset, **asked.plan)
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
        same = asked.parallel or asked.identical
        problem = random_quadratics(seed, clients, dim, noise=plan.noise, same_curvature=same)
        if asked.identical:
            problem = replace(problem, minima=np.tile(problem.minima[:1], (clients, 1)))
        setting, compared = inside(bound, problem, plan)
        several = len(compared.exact) > 1
        numbers = zip(compared.exact, compared.bound, compared.formula, compared.verdicts, strict=True)
        for i, (exact, value, formula, verdict) in enumerate(numbers, 1):
            place, outside = (seed, f"{setting.step_size:.3g}", i if several else "all"), bool(np.isnan(value))
            ends = (float(formula),) * 3
            lines.append(Line(place, Estimate(exact, np.zeros(())), *ends, compared.outside or outside, verdict))
        bar.step()
    made = method(bound.about, data=False, relaxation=plan.relaxation)
    assumed = standing(bound, problem, made, facts(problem, setting))
    moment = "iteration" if along(bound) and len(lines) > plan.instances else "round"
    basis = ". Exact expectations without sampling, for these instances only."
    return Comparison(bound, tuple(lines), basis, standing=assumed, places=("instance", "step_size", moment),
                      read="exact", digits=(6, 4))  # fmt: skip


OFFSET = 10.0
"""The offset of a decreasing step size where the bound leaves it open."""


def inside(bound: Bound, problem: Quadratics, options: Options) -> tuple[Setting, Compared]:
    """The comparison at the largest step size of 1/L, 1/(2L), 1/(4L), ... at which no condition fails."""
    given, rounds = options.step_size is not None, options.rounds or 1
    step_size = 1 / problem.smoothness if options.step_size is None else options.step_size
    cohort = _cohort(bound, problem, options) if options.cohort is None else options.cohort
    offset = options.step_offset
    if not given and (fixed := schedules.pinned(bound)):
        told = readings.of_plan(cohort, options.local_steps, rounds, step_size, options.relaxation, offset)
        knobs = schedules.chosen(bound, readings.of_problem(problem) | told)
        step_size, offset = knobs[schedules.FIRST], knobs.get(schedules.OFFSET)
        given = bool({schedules.SCALE, schedules.FIRST} & set(fixed))
    plan = Setting(rounds, cohort, local_steps=options.local_steps, step_offset=offset, sampling=sampled(bound))
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


def sampled(bound: Bound) -> str:
    """How participants are drawn, as the bound assumes."""
    by_weight = any(c.assumption is SAMPLED_WITH_REPLACEMENT for c in bound.conditions)
    return "with_replacement" if by_weight else "without_replacement"


def _cohort(bound: Bound, problem: Quadratics, options: Options) -> int:
    """Half of the clients, or all of them where an assumption or a condition on their number asks for it."""
    half = max(1, options.clients // 2)
    told = {"cohort": half, "clients": options.clients}
    counted = {q: told[q.name] for q in bound.quantities if q.name in told}
    if any(r.free_symbols <= counted.keys() and r.subs(counted) == sp.false for r in bound.relations):
        return options.clients
    part = Setting(options.rounds or 1, half, local_steps=options.local_steps, step_offset=options.step_offset)
    part = replace(part, sampling=sampled(bound))
    return options.clients if breaks(bound, problem, method(bound.about, data=False, relaxation=0.0), part) else half
