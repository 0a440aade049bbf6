"""What to run, and how sure: the plans that bounds, formulas, schedules and the quadratic twin recommend, side by side.

A recommendation is judged by what training gives where that was measured, else by the twin; its *regret* is that over
the best there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError, unknown
from bounds.scenario import Scenario
from bounds.showing.loading import load
from empirics.errors import EmpiricsError
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress, Silent

from .advised import Advised, Adviser, BOUND, FORMULA, headline, MEASURED, REFUTED, SCHEDULE, TWIN, WORST
from .bound_advice import book, BoundAdvice, by_formula, certified, formulas, other_ends, recommended, still
from .evidence import no_fedavg
from .goals import FREE, Goal, OVER, Point
from .halving import Measured, measured
from .problem_options import completed
from .schedules import advised, REPLAYED, ScheduleAdvice, waiting, work
from .twin import runs, TwinAdvice

ALIKE = 1e-3
"""Relative difference below which two plans are one."""
NEAR = 1.1
"""Plans of the twin that are at most this many times its best one are not told apart: it is no better than that."""

LARGEST = 1e300
"""A value beyond this is none: a target that is not reached, a run that diverges."""
Silence = list[tuple[str, str]]
"""Who gives no advice, and why."""


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
    hear: Callable[[str], None] | None = None,
) -> Advised:
    """Local steps, step size and cohort for a federation, by every adviser that has something to say.

    Args:
        scenario: the federation and its costs. ``step_size``, ``local_steps`` and ``cohort`` in it are what the
            formulas for another one are asked at, and what is held where ``over`` leaves them out.
        minimize: ``optimality_gap``, ``grad_norm_sq`` or ``distance_sq`` within a budget; ``rounds``, ``iterations``,
            ``seconds``, ``bytes`` or ``gradients`` with ``to``. Bytes and gradients are those of all participants;
            of a gradient every sample of a minibatch counts.
        over: what is free of ``local_steps``, ``step_size`` and ``cohort``. The cohort is free where it has a price.
        within: the budget, where the scenario does not state it: ``runtime`` (seconds), ``rounds``, ``iterations``,
            ``communicated_bytes`` (of one participant), ``bytes`` or ``gradients`` (of all).
        to: a target and its level, such as ``("optimality_gap", 0.001)``.
        problem: the federation itself, for the twin and for training; bounds and formulas need none.
        batch: samples of a minibatch.
        measure: fresh seeds with which the last candidates are trained (0: nothing is trained).
        own: bounds of your own beside the papers'.
        bar: hears what is computed and trained.
        worst_case: seconds for exact worst cases of plans of at most 16 gradients (0: none is computed).
        schedules: replay the papers' schedules on a twin so large that this takes minutes, too.
        hear: is told the first line of the table before the rest is computed.

    Raises:
        BoundsError: in one line, where the goal cannot be told or the problem is another federation.
    """
    bar = bar or Silent()
    _check_over(over, scenario)
    over = tuple(word for word in FREE if word in over)
    if problem is not None:
        scenario = completed(scenario, problem, batch)
    goal = Goal.of(scenario, minimize, to, batch, within)
    if "cohort" in over:
        goal.check_cohort()
    if measure and (why := no_fedavg(goal.scenario)):
        raise BoundsError(f"nothing is measured here: {why}")
    if hear is not None:
        hear(headline(goal, over))
    with threadpool_limits(1, user_api="blas"):  # threads that wait for each other's pieces cost more than they bring
        twin, silent = _made(problem, goal, over)
    advisers, unheard = _bounds(goal, over, [load(one) if isinstance(one, str) else one for one in own], bar)
    silent += unheard
    advisers += _formulas(goal, over)
    if worst_case:
        _add_worst_case(advisers, silent, goal, over, worst_case, bar)
    if twin is not None:
        with threadpool_limits(1, user_api="blas"):
            advisers += _twin(twin, over, silent, bar, schedules)
            advisers = [_by_twin(adviser, twin) for adviser in advisers]
    seeds, limit = 0, math.inf
    if measure:
        if problem is None:
            raise MissingQuantityError("measuring trains the federation: give the problem")
        if twin is not None and math.isinf(twin.near[0].value):
            silent.append(("measured", "by the twin no plan reaches the target: nothing was trained"))
        else:
            found = measured(problem, goal, twin, advisers, measure, bar, over)
            advisers, seeds, limit = _with_measured(advisers, found), measure, found.limit
    rows = tuple(sorted(advisers, key=_place))
    return Advised(goal, over, rows, tuple(silent), seeds, limit, problem is not None)


def _check_over(over: Sequence[str], scenario: Scenario) -> None:
    if not over:
        raise BoundsError(f"over must name what is free: {', '.join(FREE)}")
    for word in over:
        if word not in FREE:
            raise unknown("word to advise on", word, FREE)
    for word in OVER:
        if word not in over and word not in scenario:
            raise MissingQuantityError(f"{word} is not free here: give {word}=NUMBER, or add it to over")


# ---- the advisers ----


def _made(problem: FederatedProblem | None, goal: Goal, over: tuple[str, ...]) -> tuple[TwinAdvice | None, Silence]:
    """The twin, if the problem has one."""
    if problem is None:
        return None, []
    if why := no_fedavg(goal.scenario):
        return None, [("quadratic twin", why)]
    free = "cohort" in over  # with all clients the moments are always known
    goal = goal.of_cohort(problem.clients) if free else goal
    try:
        return TwinAdvice(goal, runs(problem, goal.cohort, goal.batch, goal.scenario.sampling)), []
    except EmpiricsError as error:
        return None, [("quadratic twin", str(error))]


def _bounds(goal: Goal, over: tuple[str, ...], own: Sequence[Bound], bar: Progress) -> tuple[list[Adviser], Silence]:
    """What every applicable bound recommends, those with one plan and one value together; and who cannot advise."""
    points, refused = recommended(goal, over, own, lambda name: bar.doing(f"asking {name}"))
    known = book(own)
    found: list[Adviser] = []
    silent = [(row.bound, next(f.words for f in row.failed if math.isnan(f.left))) for row in refused]
    for name, point in points.items():
        row = None if point is None else certified(goal, known[name], point)
        if point is None or row is None:
            silent.append((name, "silent at every plan within reach"))
            continue
        if alike := next((a for a in found if _same(a.point, point)), None):
            found[found.index(alike)] = replace(alike, alias=(*alike.alias, name))
            continue
        here = goal.of_cohort(point.cohort)
        kind, idle = REFUTED if row.printed else BOUND, still(here, point)
        bar.doing(f"how certain {name} is")
        steps = [point.local_steps, *([] if idle else _at_other_ends(here, known[name], over))]
        state = row.state if row.conclusive else f"{row.state}?"
        found.append(Adviser(name, kind, point, (min(steps), max(steps)), state, idle))
    return found, silent


def _at_other_ends(goal: Goal, bound: Bound, over: tuple[str, ...]) -> list[int]:
    """The local steps that a bound recommends at the other ends of uncertain constants, with the same cohort."""
    rest = tuple(word for word in over if word != "cohort")
    found = []
    for end in other_ends(goal.scenario) if rest else ():
        point = BoundAdvice(bound, goal.within(end)).best(rest)
        found += [] if point is None else [point.local_steps]
    return found


def _same(one: Point, other: Point) -> bool:
    return one.local_steps == other.local_steps and all(
        math.isclose(a, b, rel_tol=ALIKE) for a, b in ((one.step_size, other.step_size), (one.value, other.value))
    )


def _formulas(goal: Goal, over: tuple[str, ...]) -> list[Adviser]:
    """K* and eta*, each at the other one as stated; nothing where it is not stated, or the goal is no budget."""
    if goal.to is not None:
        return []
    found: list[Adviser] = []
    for bound in formulas(goal, over):
        other = "step_size" if bound.target.name == "local_steps" else "local_steps"
        if other not in goal.scenario:
            continue
        stated = {word: goal.scenario[word].value if word in goal.scenario else 1.0 for word in OVER}
        plan = int(stated["local_steps"]), float(stated["step_size"])
        plan = (1, plan[1]) if other == "step_size" else plan
        made = by_formula(bound, goal, *plan)
        if made is None:
            continue
        ends = [by_formula(bound, goal.within(end), *plan) for end in other_ends(goal.scenario)]
        reals = [made[1], *(one[1] for one in ends if one is not None)]
        set_ = (made[0].local_steps, made[0].local_steps)
        if other == "step_size":
            set_ = (max(1, math.floor(min(reals))), max(1, math.ceil(max(reals))))
        adviser = Adviser(bound.name, FORMULA, made[0], set_, "", still(goal, made[0]), real=made[1])
        same = next((a for a in found if a.steps == set_ and _close(a.point, made[0])), None)
        if same is None:
            found.append(adviser)
        else:
            found[found.index(same)] = replace(same, alias=(*same.alias, bound.name))
    return found


def _close(one: Point, other: Point) -> bool:
    return one.local_steps == other.local_steps and math.isclose(one.step_size, other.step_size, rel_tol=ALIKE)


def _twin(twin: TwinAdvice, over: tuple[str, ...], silent: Silence, bar: Progress, patient: bool) -> list[Adviser]:
    """The twin's best fixed plan, and the papers' schedules from the starts that are best on it.

    A twin so large that replays take minutes is asked for them by the ``patient`` alone.
    """
    bar.doing("the quadratic twin")
    best = twin.best(over)
    near = [point for point in twin.near if point.value <= min(NEAR * best.value, LARGEST)]
    found = [_of_set("quadratic twin", TWIN, best, near)]
    if not math.isfinite(best.value) or not {"local_steps", "step_size"} & set(over):
        return found
    dear = not patient and work(twin, best) > REPLAYED
    minutes = f"its replays take minutes on a twin of {twin.averaging.problem.dim} parameters: ask for schedules"
    silent += [(f"schedule {schedule.key}", minutes) for schedule in advised() if dear]
    for schedule in () if dear else advised():
        bar.doing(f"replaying the schedule {schedule.key}")
        point = ScheduleAdvice(schedule, twin.of_cohort(best.cohort)).best(over, best)
        steps = [k for k, _ in point.replayed]
        if not steps or len(set(point.replayed)) == 1:
            silent.append((f"schedule {schedule.key}", "at its best start it changes nothing"))
            continue
        found.append(Adviser(f"schedule {schedule.key}", SCHEDULE, point, (min(steps), max(steps)), "", False))
    silent += [(f"schedule {key}", "it waits for a validation error to converge: there is none here")
               for key in waiting()]  # fmt: skip
    return found


def _of_set(name: str, kind: str, best: Point, near: Sequence[Any], **more: Any) -> Adviser:
    """An adviser with the ends of what is not told apart from its best plan."""
    near = near or [best]
    steps, travel = [p.local_steps for p in near], [p.local_steps * p.step_size for p in near]
    cohorts = [p.cohort for p in near]
    return Adviser(
        name, kind, best, (min(steps), max(steps)), "", False, travel=(min(travel), max(travel)),
        cohorts=(min(cohorts), max(cohorts)), **more,
    )  # fmt: skip


def _by_twin(adviser: Adviser, twin: TwinAdvice) -> Adviser:
    point = adviser.point
    own = adviser.kind in (TWIN, SCHEDULE)
    return replace(adviser, twin=point.value if own else twin.value(point.local_steps, point.step_size, point.cohort))


def _add_worst_case(
    advisers: list[Adviser], silent: Silence, goal: Goal, over: tuple[str, ...], seconds: float, bar: Progress
) -> None:
    from .worst_advice import best  # with the solver

    bar.doing("exact worst cases")
    found = no_fedavg(goal.scenario) or best(goal, over, seconds, bar)
    if isinstance(found, str):
        silent.append(("exact worst case", found))
        return
    point, here = found.point, goal.start
    state = "speaks" if found.value < here < math.inf else "vacuous" if here < math.inf else ""
    steps = (point.local_steps, point.local_steps)
    advisers.append(Adviser("exact worst case", WORST, point, steps, state, still(goal, point), worst=found))


def _with_measured(advisers: Sequence[Adviser], found: Measured) -> list[Adviser]:
    """The advisers with what their plans gave in training, and the fixed plan that was best there."""
    judged = [replace(a, measured=found.of(a.point)) for a in advisers]
    schedules = [a for a in judged if a.kind == SCHEDULE and a.point.plan != found.best]
    also = tuple(a.name for a in schedules if a.point.plan in found.near)
    ended, fixed = found.of(found.fixed), found.fixed
    more = {"runs": found.runs, "also": also, "tied": fixed.plan in found.near}
    row = _of_set("measured", MEASURED, fixed, found.alike, measured=ended, **more)
    return [*judged, row]


def _place(adviser: Adviser) -> tuple[Any, ...]:
    judged = adviser.measured.mean if adviser.measured is not None else adviser.twin
    return (math.isnan(judged), judged if not math.isnan(judged) else adviser.point.value, adviser.name)
