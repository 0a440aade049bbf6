"""Put the recommendations of bounds, schedules, the quadratic surrogate, exact worst cases and training together.

Recommended plans are evaluated by training if that was requested, else on the surrogate. The *regret* of a plan is its
value divided by the best one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from bounds.decaying_k.schedules import SCHEDULES
from empirics.progress import Progress

from .advice_table import MEASURED, Recommendation, SCHEDULE, SURROGATE, WORST
from .bound_advice import hardly_trains, Reasons
from .goal import Goal, not_fedavg, Plan, Point
from .rows import State

if TYPE_CHECKING:  # they load torch, which bounds and formulas do without
    from empirics.problems.problem import FederatedProblem

    from .seed_racing import Race
    from .surrogate import SurrogateAdvice

NEAR = 1.1
"""Plans of the surrogate within this factor of its best one count as equally good, given its accuracy."""
LARGEST = 1e300
"""Larger values count as infinite: the target is not reached, or the run diverges."""


def sorted_rows(rows: Sequence[Recommendation]) -> tuple[Recommendation, ...]:
    """The rows with a value by training or the surrogate, best first, then the others by their bounds."""

    def order(row: Recommendation) -> tuple[Any, ...]:
        value = row.measured.mean if row.measured is not None else row.surrogate
        own = row.kind in (SURROGATE, MEASURED)
        return (math.isnan(value), value if not math.isnan(value) else row.point.value, not own, row.name)

    return tuple(sorted(rows, key=order))


def worst_case_plan(
    goal: Goal, over: tuple[str, ...], seconds: float, no_advice: Reasons, bar: Progress
) -> list[Recommendation]:
    """A list with the plan of the smallest exact worst case, or empty if there is none."""
    from .worst_advice import best  # loads the solver

    bar.doing("exact worst cases")
    proved = not_fedavg(goal.scenario) or best(goal, over, seconds, bar)
    if isinstance(proved, str):
        no_advice.append(("exact worst case", proved))
        return []
    point = proved.point
    state = "" if goal.start == math.inf else State.INFORMATIVE if proved.value < goal.start else State.VACUOUS
    steps = (point.local_steps, point.local_steps)
    return [Recommendation("exact worst case", WORST, point, steps, state, hardly_trains(goal, point), worst=proved)]


def judge_plans(
    rows: list[Recommendation],
    no_advice: Reasons,
    problem: FederatedProblem,
    goal: Goal,
    over: tuple[str, ...],
    measure: int,
    schedules: bool,
    bar: Progress,
) -> tuple[list[Recommendation], Race | None]:
    """Add the rows of the surrogate, schedules and training, and the values of all plans; return also the training."""
    from threadpoolctl import threadpool_limits

    from empirics.errors import EmpiricsError

    from .seed_racing import race
    from .surrogate import surrogate_runs, SurrogateAdvice

    surrogate, why = None, not_fedavg(goal.scenario)
    full = goal.of_cohort(problem.clients) if "cohort" in over else goal  # moments exist for all clients
    with threadpool_limits(1, user_api="blas"):  # the matrices are too small for several threads
        try:
            if not why:
                runs = surrogate_runs(problem, full.cohort, goal.batch, goal.scenario.sampling)
                surrogate = SurrogateAdvice(full, runs)
        except EmpiricsError as error:
            why = str(error)
        if surrogate is None:
            no_advice.append(("quadratic surrogate", why))
        else:
            plans = [row.point.plan for row in rows]
            rows = rows + _of_surrogate(surrogate, over, plans, no_advice, bar, schedules)
            own = (SURROGATE, SCHEDULE)
            rows = [replace(row, surrogate=row.point.value if row.kind in own else surrogate.value(*row.point.plan[:3]))
                    for row in rows]  # fmt: skip
    if not measure:
        return rows, None
    if surrogate is not None and math.isinf(surrogate.near[0].value):
        no_advice.append(("measured", "by the surrogate no plan reaches the target, so nothing was trained"))
        return rows, None
    race_result = race(problem, goal, surrogate, rows, measure, bar, over)
    rows = [replace(row, measured=race_result.ends.get(row.point.plan)) for row in rows]
    fixed = race_result.fixed
    best = _fixed_plan("measured", MEASURED, fixed, race_result.near_fixed, measured=race_result.ends.get(fixed.plan))
    return [*rows, best], race_result


def _of_surrogate(
    surrogate: SurrogateAdvice,
    over: tuple[str, ...],
    plans: list[Plan],
    no_advice: Reasons,
    bar: Progress,
    schedules: bool,
) -> list[Recommendation]:
    """The surrogate's best fixed plan (also considering ``plans``), and the papers' schedules from their best starts.

    On a large surrogate, on which they take minutes, schedules are followed only if requested.
    """
    from .surrogate import EXPENSIVE, ScheduleAdvice, usable

    bar.doing("the quadratic surrogate")
    best = surrogate.best(over, plans)
    near = [point for point in surrogate.near if point.value <= min(NEAR * best.value, LARGEST)]
    rows = [_fixed_plan("quadratic surrogate", SURROGATE, best, near)]
    if not math.isfinite(best.value) or not {"local_steps", "step_size"} & set(over):
        return rows
    quadratics = surrogate.averaging.problem
    work = float(best.rounds) * quadratics.clients * quadratics.dim**3
    for schedule in usable():
        name = f"schedule {schedule.key}"
        if work > EXPENSIVE and not schedules:
            no_advice.append((name, f"it takes minutes for {quadratics.dim} parameters: pass --schedules"))
            continue
        bar.doing(f"following the {name}")
        point = ScheduleAdvice(schedule, surrogate.of_cohort(best.cohort)).best(over, best)
        steps = [k for k, _ in point.schedule]
        if len(set(point.schedule)) < 2:
            no_advice.append((name, "its best start is a fixed plan"))
            continue
        rows.append(Recommendation(name, SCHEDULE, point, (min(steps), max(steps)), "", False))
    no_advice += [(f"schedule {s.key}", "it needs a validation error") for s in SCHEDULES.values() if s.needs_plateau]
    return rows


def _fixed_plan(name: str, kind: str, best: Point, near: Sequence[Any], **more: Any) -> Recommendation:
    """A recommendation with the ranges of equally good plans."""
    steps = [each.local_steps for each in near or [best]]
    return Recommendation(name, kind, best, (min(steps), max(steps)), "", False, **more)
