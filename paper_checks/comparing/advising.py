"""The plans that bounds, formulas, schedules, the quadratic surrogate and training recommend.

A recommendation is judged by training where that was measured, else by the surrogate; its *regret* is its value divided
by the best one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from bounds.core import Bound
from empirics.progress import Progress

from .advice_table import BOUND, FORMULA, MEASURED, Recommendation, REFUTED, SCHEDULE, SURROGATE, WORST
from .bound_advice import BoundAdvice, by_formula, formulas, hardly_trains, recommended_plans, row_at
from .goal import Goal, not_fedavg, Point
from .rows import INFORMATIVE, VACUOUS

if TYPE_CHECKING:  # they load torch, which bounds and formulas do without
    from empirics.problems.problem import FederatedProblem

    from .seed_racing import Race
    from .surrogate import SurrogateAdvice

CLOSE = 1e-3
"""Relative difference below which two plans are the same."""
NEAR = 1.1
"""Plans of the surrogate within this factor of its best one are as good: it is not more accurate than that."""
LARGEST = 1e300
"""Larger values are infinite: a target that is not reached, a run that diverges."""
Reasons = list[tuple[str, str]]
"""Advisers without a plan, and why."""


def sorted_rows(rows: Sequence[Recommendation]) -> tuple[Recommendation, ...]:
    """The rows that training or the surrogate judged, best first, then the others by their bounds."""

    def order(row: Recommendation) -> tuple[Any, ...]:
        value = row.measured.mean if row.measured is not None else row.surrogate
        return (math.isnan(value), value if not math.isnan(value) else row.point.value, row.name)

    return tuple(sorted(rows, key=order))


# ---- bounds and formulas ----


def of_bounds(
    goal: Goal, over: tuple[str, ...], book: Mapping[str, Bound], bar: Progress
) -> tuple[list[Recommendation], Reasons]:
    """The recommendations of all applicable bounds, equal ones merged; and the bounds without one."""
    points, refused = recommended_plans(goal, over, book, lambda name: bar.doing(f"minimising {name}"))
    found: list[Recommendation] = []
    no_advice = [(row.bound, next(f.condition for f in row.failed if math.isnan(f.left))) for row in refused]
    rest = tuple(word for word in over if word != "cohort")
    for name, point in points.items():
        row = None if point is None else row_at(goal, book[name], point)
        if point is None or row is None:
            no_advice.append((name, "its conditions fail at all plans within reach"))
            continue
        if (same := next((i for i, one in enumerate(found) if _same(one.point, point)), None)) is not None:
            found[same] = replace(found[same], alias=(*found[same].alias, name))
            continue
        here = goal.of_cohort(point.cohort)
        idle = hardly_trains(here, point)
        steps = [point.local_steps]
        if rest and not idle:
            bar.doing(f"how certain the plan of {name} is")
            ends = (BoundAdvice(book[name], end).best(rest) for end in here.ends)
            steps += [end.local_steps for end in ends if end is not None]
        state = row.state + "?" * (not row.conclusive)
        kind = REFUTED if row.refuted else BOUND
        found.append(Recommendation(name, kind, point, (min(steps), max(steps)), state, idle))
    return found, no_advice


def _same(one: Point, other: Point, value: bool = True) -> bool:
    pairs = [(one.step_size, other.step_size), *([(one.value, other.value)] if value else [])]
    return one.local_steps == other.local_steps and all(math.isclose(a, b, rel_tol=CLOSE) for a, b in pairs)


def of_formulas(goal: Goal, over: tuple[str, ...]) -> list[Recommendation]:
    """K* and eta*, each at the other one as given; nothing where it is not given, or with a target."""
    found: list[Recommendation] = []
    for bound in formulas(goal, over) if goal.to is None else ():
        is_k = bound.target.name == "local_steps"
        if ("step_size" if is_k else "local_steps") not in goal.scenario:
            continue
        steps = 1 if is_k else int(goal.scenario["local_steps"].value)
        plan = steps, float(goal.scenario["step_size"].value) if "step_size" in goal.scenario else 1.0
        if (made := by_formula(bound, goal, *plan)) is None:
            continue
        point, unrounded, ends = made
        low, high = (max(1, math.floor(ends[0])), max(1, math.ceil(ends[1]))) if is_k else (point.local_steps,) * 2
        row = Recommendation(
            bound.name, FORMULA, point, (low, high), "", hardly_trains(goal, point), unrounded=unrounded
        )
        same = next((i for i, one in enumerate(found) if one.steps == row.steps and _same(one.point, point, False)),
                    None)  # fmt: skip
        if same is None:
            found.append(row)
        else:
            found[same] = replace(found[same], alias=(*found[same].alias, bound.name))
    return found


def of_worst_case(
    goal: Goal, over: tuple[str, ...], seconds: float, no_advice: Reasons, bar: Progress
) -> list[Recommendation]:
    """The plan of the smallest exact worst case, in a list; empty where there is none."""
    from .worst_advice import best  # loads the solver

    bar.doing("exact worst cases")
    found = not_fedavg(goal.scenario) or best(goal, over, seconds, bar)
    if isinstance(found, str):
        no_advice.append(("exact worst case", found))
        return []
    point = found.point
    state = "" if goal.start == math.inf else INFORMATIVE if found.value < goal.start else VACUOUS
    steps = (point.local_steps, point.local_steps)
    return [Recommendation("exact worst case", WORST, point, steps, state, hardly_trains(goal, point), worst=found)]


# ---- the surrogate and training ----


def judged(
    rows: list[Recommendation],
    no_advice: Reasons,
    problem: FederatedProblem,
    goal: Goal,
    over: tuple[str, ...],
    measure: int,
    schedules: bool,
    bar: Progress,
) -> tuple[list[Recommendation], Race | None]:
    """The rows with those of the surrogate, schedules and training, and the values of all plans."""
    from threadpoolctl import threadpool_limits

    from .seed_racing import race

    with threadpool_limits(1, user_api="blas"):  # the matrices are too small for several threads
        surrogate = _surrogate(problem, goal, over, no_advice)
        if surrogate is not None:
            rows += _of_surrogate(surrogate, over, no_advice, bar, schedules)
            own = (SURROGATE, SCHEDULE)
            rows = [replace(row, surrogate=row.point.value if row.kind in own else surrogate.value(*row.point.plan[:3]))
                    for row in rows]  # fmt: skip
    if not measure:
        return rows, None
    if surrogate is not None and math.isinf(surrogate.near[0].value):
        no_advice.append(("measured", "by the surrogate no plan reaches the target, so nothing was trained"))
        return rows, None
    found = race(problem, goal, surrogate, rows, measure, bar, over)
    return with_measured(rows, found), found


def _surrogate(
    problem: FederatedProblem, goal: Goal, over: tuple[str, ...], no_advice: Reasons
) -> SurrogateAdvice | None:
    from empirics.errors import EmpiricsError

    from .surrogate import surrogate_runs, SurrogateAdvice

    goal = goal.of_cohort(problem.clients) if "cohort" in over else goal  # with all clients the moments are known
    why = not_fedavg(goal.scenario)
    try:
        runs = None if why else surrogate_runs(problem, goal.cohort, goal.batch, goal.scenario.sampling)
    except EmpiricsError as error:
        runs, why = None, str(error)
    if runs is None:
        no_advice.append(("quadratic surrogate", why))
        return None
    return SurrogateAdvice(goal, runs)


def _of_surrogate(
    surrogate: SurrogateAdvice, over: tuple[str, ...], no_advice: Reasons, bar: Progress, schedules: bool
) -> list[Recommendation]:
    """The surrogate's best fixed plan, and the papers' schedules from the starts that are best on it.

    On a large surrogate, where they take minutes, schedules are followed only if they were asked for.
    """
    from .schedules import EXPENSIVE, ScheduleAdvice, unusable, usable, work

    bar.doing("the quadratic surrogate")
    best = surrogate.best(over)
    near = [point for point in surrogate.near if point.value <= min(NEAR * best.value, LARGEST)]
    found = [_fixed_plan("quadratic surrogate", SURROGATE, best, near)]
    if not math.isfinite(best.value) or not {"local_steps", "step_size"} & set(over):
        return found
    expensive = not schedules and work(surrogate, best) > EXPENSIVE
    for schedule in usable():
        name = f"schedule {schedule.key}"
        if expensive:
            dim = surrogate.averaging.problem.dim
            no_advice.append((name, f"it takes minutes for {dim} parameters: pass --schedules"))
            continue
        bar.doing(f"following the {name}")
        point = ScheduleAdvice(schedule, surrogate.of_cohort(best.cohort)).best(over, best)
        steps = [k for k, _ in point.schedule]
        if len(set(point.schedule)) < 2:
            no_advice.append((name, "its best start is a fixed plan"))
            continue
        found.append(Recommendation(name, SCHEDULE, point, (min(steps), max(steps)), "", False))
    no_advice += [(f"schedule {key}", "it needs a validation error") for key in unusable()]
    return found


def _fixed_plan(name: str, kind: str, best: Point, near: Sequence[Any], **more: Any) -> Recommendation:
    """A recommendation with the ranges of the plans that are as good."""
    near = near or [best]
    spans = [(min(x), max(x)) for x in zip(*((p.local_steps, p.local_steps * p.step_size, p.cohort) for p in near),
                                           strict=True)]  # fmt: skip
    steps, products, cohorts = spans
    return Recommendation(name, kind, best, steps, "", False, products=products, cohorts=cohorts, **more)


def with_measured(rows: Sequence[Recommendation], found: Race) -> list[Recommendation]:
    """The rows with their values in training, and the best fixed plan there."""
    judged = [replace(row, measured=found.ends.get(row.point.plan)) for row in rows]
    fixed = found.fixed
    best = _fixed_plan("measured", MEASURED, fixed, found.near_fixed, measured=found.ends.get(fixed.plan))
    return [*judged, best]
