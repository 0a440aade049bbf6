"""What to run: the plans that bounds, formulas, schedules and the quadratic surrogate recommend, side by side.

A recommendation is judged by training where that was measured, else by the surrogate; its *regret* is its value over
the best one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from bounds.catalog import with_own
from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError, unknown
from bounds.scenario import Scenario
from bounds.showing.loading import load
from empirics.progress import Progress, Silent

from .advice_table import (
    AdviceTable,
    BOUND,
    FORMULA,
    headline,
    MEASURED,
    Recommendation,
    REFUTED,
    SCHEDULE,
    SURROGATE,
    WORST,
)
from .bound_advice import BoundAdvice, by_formula, formulas, hardly_trains, other_ends, recommended_plans, row_at
from .goal import FREE, Goal, not_fedavg, OVER, Point
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


def advise(
    scenario: Scenario,
    minimize: str = "optimality_gap",
    over: Sequence[str] = OVER,
    within: Mapping[str, float] | None = None,
    to: tuple[str, float] | None = None,
    problem: FederatedProblem | None = None,
    batch: int = 32,
    measure: int = 0,
    own: Sequence[Bound | str] = (),
    bar: Progress | None = None,
    *,
    worst_case: float = 0.0,
    schedules: bool = False,
    report: Callable[[str], None] | None = None,
    typed: tuple[str, ...] = (),
) -> AdviceTable:
    """Local steps, step size and cohort for a federation; the arguments are those of ``api.advise``.

    ``problem`` is the federation with its data, ``typed`` the options of ``fedbounds train`` that stand for it;
    ``report`` gets the first line of the table before the rest is computed.

    Raises:
        BoundsError: where the goal cannot be computed or the problem is another federation.
    """
    bar = bar or Silent()
    if not over:
        raise BoundsError(f"over must name what is optimised: {', '.join(FREE)}")
    for word in over:
        if word not in FREE:
            raise unknown("quantity to optimise", word, FREE)
    for word in OVER:
        if word not in over and word not in scenario:
            raise MissingQuantityError(f"{word} is not optimised: give {word}=NUMBER, or add it to over")
    over = tuple(word for word in FREE if word in over)
    if problem is not None:
        from .run_evidence import completed

        scenario = completed(scenario, problem, batch)
    goal = Goal.of(scenario, minimize, to, batch, within)
    if "cohort" in over:
        goal.check_cohort()
    if measure and problem is None:
        raise MissingQuantityError("measuring trains the federation: give the problem")
    if measure and (why := not_fedavg(goal.scenario)):
        raise BoundsError(f"nothing is measured here: {why}")
    if report is not None:
        report(headline(goal, over))
    rows, no_advice = _bounds(goal, over, with_own(load(one) if isinstance(one, str) else one for one in own), bar)
    rows += _formulas(goal, over)
    if worst_case:
        _add_worst_case(rows, no_advice, goal, over, worst_case, bar)
    found = None
    if problem is not None:
        rows, found = _judged(rows, no_advice, problem, goal, over, measure, schedules, bar)
    seeds, limit = (0, math.inf) if found is None else (measure, found.limit)
    rows.sort(key=_order)
    return AdviceTable(goal, over, tuple(rows), tuple(no_advice), seeds, limit, problem is not None, typed)


def _order(row: Recommendation) -> tuple[Any, ...]:
    judged = row.measured.mean if row.measured is not None else row.surrogate
    return (math.isnan(judged), judged if not math.isnan(judged) else row.point.value, row.name)


# ---- bounds and formulas ----


def _bounds(
    goal: Goal, over: tuple[str, ...], book: Mapping[str, Bound], bar: Progress
) -> tuple[list[Recommendation], Reasons]:
    """What every applicable bound recommends, those with one plan and one value together; and those without a plan."""
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
            ends = (BoundAdvice(book[name], here.within(end)).best(rest) for end in other_ends(here.scenario))
            steps += [end.local_steps for end in ends if end is not None]
        state = row.state + "?" * (not row.conclusive)
        kind = REFUTED if row.refuted else BOUND
        found.append(Recommendation(name, kind, point, (min(steps), max(steps)), state, idle))
    return found, no_advice


def _same(one: Point, other: Point, value: bool = True) -> bool:
    pairs = [(one.step_size, other.step_size), *([(one.value, other.value)] if value else [])]
    return one.local_steps == other.local_steps and all(math.isclose(a, b, rel_tol=CLOSE) for a, b in pairs)


def _formulas(goal: Goal, over: tuple[str, ...]) -> list[Recommendation]:
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
        point, unrounded = made
        ends = [by_formula(bound, goal.within(end), *plan) for end in other_ends(goal.scenario)]
        numbers = [unrounded, *(one[1] for one in ends if one is not None)]
        span = (point.local_steps, point.local_steps)
        if is_k:
            span = (max(1, math.floor(min(numbers))), max(1, math.ceil(max(numbers))))
        idle = hardly_trains(goal, point)
        row = Recommendation(bound.name, FORMULA, point, span, "", idle, unrounded=unrounded)
        same = next((i for i, one in enumerate(found) if one.steps == span and _same(one.point, point, False)), None)
        if same is None:
            found.append(row)
        else:
            found[same] = replace(found[same], alias=(*found[same].alias, bound.name))
    return found


def _add_worst_case(
    rows: list[Recommendation], no_advice: Reasons, goal: Goal, over: tuple[str, ...], seconds: float, bar: Progress
) -> None:
    from .worst_advice import best  # loads the solver

    bar.doing("exact worst cases")
    found = not_fedavg(goal.scenario) or best(goal, over, seconds, bar)
    if isinstance(found, str):
        no_advice.append(("exact worst case", found))
        return
    point = found.point
    state = "" if goal.start == math.inf else INFORMATIVE if found.value < goal.start else VACUOUS
    steps = (point.local_steps, point.local_steps)
    idle = hardly_trains(goal, point)
    rows.append(Recommendation("exact worst case", WORST, point, steps, state, idle, worst=found))


# ---- the surrogate and training ----


def _judged(
    rows: list[Recommendation],
    no_advice: Reasons,
    problem: FederatedProblem,
    goal: Goal,
    over: tuple[str, ...],
    measure: int,
    schedules: bool,
    bar: Progress,
) -> tuple[list[Recommendation], Race | None]:
    """The rows with those of the surrogate, schedules and training, and what their plans give."""
    from threadpoolctl import threadpool_limits

    from .seed_racing import race

    with threadpool_limits(1, user_api="blas"):  # the matrices are too small for several threads
        surrogate = _surrogate(problem, goal, over, no_advice)
        if surrogate is not None:
            rows += _of_surrogate(surrogate, over, no_advice, bar, schedules)
            rows = [_with_surrogate(row, surrogate) for row in rows]
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
            no_advice.append((name, f"it takes minutes on a surrogate of {dim} parameters: pass --schedules"))
            continue
        bar.doing(f"following the {name}")
        point = ScheduleAdvice(schedule, surrogate.of_cohort(best.cohort)).best(over, best)
        steps = [k for k, _ in point.schedule]
        if len(set(point.schedule)) < 2:
            no_advice.append((name, "at its best start it changes nothing"))
            continue
        found.append(Recommendation(name, SCHEDULE, point, (min(steps), max(steps)), "", False))
    no_advice += [(f"schedule {key}", "it needs a validation error, which there is not here") for key in unusable()]
    return found


def _fixed_plan(name: str, kind: str, best: Point, near: Sequence[Any], **more: Any) -> Recommendation:
    """A recommendation with the ranges of the plans that are as good."""
    near = near or [best]
    spans = [(min(x), max(x)) for x in zip(*((p.local_steps, p.local_steps * p.step_size, p.cohort) for p in near),
                                           strict=True)]  # fmt: skip
    steps, products, cohorts = spans
    return Recommendation(name, kind, best, steps, "", False, products=products, cohorts=cohorts, **more)


def _with_surrogate(row: Recommendation, surrogate: SurrogateAdvice) -> Recommendation:
    point = row.point
    own = row.kind in (SURROGATE, SCHEDULE)
    return replace(
        row, surrogate=point.value if own else surrogate.value(point.local_steps, point.step_size, point.cohort)
    )


def with_measured(rows: Sequence[Recommendation], found: Race) -> list[Recommendation]:
    """The rows with what their plans gave in training, and the best fixed plan there."""
    judged = [replace(row, measured=found.ends.get(row.point.plan)) for row in rows]
    schedules = [row for row in judged if row.kind == SCHEDULE and row.point.plan != found.best]
    as_good = tuple(row.name for row in schedules if row.point.plan in found.near)
    fixed = found.fixed
    more = {"runs": found.runs, "as_good": as_good, "tied": fixed.plan in found.near}
    best = _fixed_plan("measured", MEASURED, fixed, found.near_fixed, measured=found.ends.get(fixed.plan), **more)
    return [*judged, best]
