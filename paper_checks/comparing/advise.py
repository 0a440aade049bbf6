"""What to run, and how sure: the plans that bounds, formulas and the quadratic twin recommend, beside each other.

A recommendation is judged by what training gives where that was measured, else by the twin; its *regret* is that over
the best there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bounds.catalog import with_own
from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError, unknown
from bounds.scenario import Scenario
from bounds.showing.loading import load
from empirics.measuring.constants import as_json, constants
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress

from .advised import Advised, Adviser, BOUND, FORMULA, MEASURED, REFUTED, TWIN
from .bound_advice import BoundAdvice, by_formula, certified, formulas, other_ends, speaking, still
from .goals import Goal, OVER, Point
from .halving import Measured, measured
from .twin import runs, TwinAdvice

ALIKE = 1e-3
"""Relative difference below which two plans are one."""
NEAR = 1.1
"""Plans of the twin that are at most this many times its best one are not told apart: it is no better than that."""


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
) -> Advised:
    """Local steps and step size for a federation, by every adviser that has something to say.

    Args:
        scenario: the federation and its costs. ``step_size`` and ``local_steps`` in it are what the formulas for the
            other one are asked at, and what is held where ``over`` leaves them out.
        minimize: ``optimality_gap``, ``grad_norm_sq`` or ``distance_sq`` within a budget; ``rounds``, ``iterations``,
            ``seconds``, ``bytes`` or ``gradients`` with ``to``.
        over: what is free of ``local_steps`` and ``step_size``.
        within: the budget, such as ``{"runtime": 20}``, where the scenario does not state it.
        to: a target and its level, such as ``("optimality_gap", 0.001)``.
        problem: the federation itself, for the twin and for training; bounds and formulas need none.
        batch: samples of a minibatch.
        measure: fresh seeds with which the last candidates are trained (0: nothing is trained).
        own: bounds of your own beside the papers'.
        bar: hears what is trained.

    Raises:
        BoundsError: in one line, where the goal cannot be told or the problem is another federation.
    """
    _check_over(over, scenario)
    if problem is not None:
        scenario = _completed(scenario, problem)
    goal = Goal.of(scenario.at(**(within or {})), minimize, to, batch)
    over = tuple(word for word in OVER if word in over)
    twin = None
    if problem is not None:
        cohort = int(goal.scenario["cohort"].value)
        twin = TwinAdvice(goal, runs(problem, cohort, batch, goal.scenario.sampling))
    advisers, silent = _bounds(goal, over, [load(one) if isinstance(one, str) else one for one in own])
    advisers += _formulas(goal, over)
    if twin is not None:
        advisers.append(_twin(twin, over))
        advisers = [_by_twin(adviser, twin) for adviser in advisers]
    if measure:
        if problem is None or twin is None:
            raise MissingQuantityError("measuring trains the federation: give the problem")
        advisers = _with_measured(advisers, measured(problem, goal, twin, advisers, measure, bar))
    return Advised(goal, over, tuple(sorted(advisers, key=_place)), silent, measure)


def _check_over(over: Sequence[str], scenario: Scenario) -> None:
    if not over:
        raise BoundsError(f"over must name what is free: {' or '.join(OVER)}")
    for word in over:
        if word not in OVER:
            raise unknown("word to advise on", word, OVER)
    for word in OVER:
        if word not in over and word not in scenario:
            raise MissingQuantityError(f"{word} is not free here: give {word}=NUMBER, or add it to over")


def _completed(scenario: Scenario, problem: FederatedProblem) -> Scenario:
    """The scenario with the constants of the problem where it has none; refused where they are two federations."""
    clients = scenario.get("clients")
    if clients is not None and clients.value != problem.clients:
        raise BoundsError(
            f"the problem has {problem.clients} clients, the constants {clients.value:g}: they are two federations"
        )
    if "smoothness" in scenario or "initial_gap" in scenario:
        return scenario
    found = Scenario.of(as_json(constants(problem, min(problem.client_sizes))))
    known = {word: stated for word, stated in found.items() if stated.support == {word} and word not in scenario}
    return scenario.at(**known)


# ---- the advisers ----


def _bounds(
    goal: Goal, over: tuple[str, ...], own: Sequence[Bound]
) -> tuple[list[Adviser], tuple[tuple[str, str], ...]]:
    """What every applicable bound recommends, those with one plan and one value together; and who cannot advise."""
    asked, refused = speaking(goal, own)
    known = with_own(own)
    book = {name: known[name] for name in asked}
    ends = list(other_ends(goal.scenario))
    found: list[Adviser] = []
    silent = [(row.bound, next(f.words for f in row.failed if math.isnan(f.left))) for row in refused]
    for name, bound in book.items():
        point = BoundAdvice(bound, goal).best(over)
        row = None if point is None else certified(goal, name, point, own)
        if point is None or row is None:
            silent.append((name, "silent at every plan within reach"))
            continue
        if twin := next((a for a in found if _same(a.point, point)), None):
            found[found.index(twin)] = replace(twin, alias=(*twin.alias, name))
            continue
        kind, idle, steps = REFUTED if row.printed else BOUND, still(goal, point), [point.local_steps]
        for end in [] if idle else ends:  # of a plan that does not train nobody asks how certain it is
            other = BoundAdvice(bound, goal.within(end)).best(over)
            steps += [] if other is None else [other.local_steps]
        state = row.state if row.conclusive else f"{row.state}?"
        found.append(Adviser(name, kind, point, (min(steps), max(steps)), state, idle))
    return found, tuple(silent)


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


def _twin(twin: TwinAdvice, over: tuple[str, ...]) -> Adviser:
    best = twin.best(over)
    near = [point for point in twin.of_steps if point.value <= NEAR * best.value]
    steps = [point.local_steps for point in near]
    products = [point.local_steps * point.step_size for point in near]
    return Adviser(
        "quadratic twin", TWIN, best, (min(steps), max(steps)), "", False, travel=(min(products), max(products))
    )


def _by_twin(adviser: Adviser, twin: TwinAdvice) -> Adviser:
    point = adviser.point
    value = point.value if adviser.kind == TWIN else twin.value(point.local_steps, point.step_size)
    return replace(adviser, twin=value)


def _with_measured(advisers: Sequence[Adviser], found: Measured) -> list[Adviser]:
    """The advisers with what their plans gave in training, and the plan that was best there."""
    judged = [replace(a, measured=found.of(a.point)) for a in advisers]
    return [*judged, Adviser("measured", MEASURED, found.best, found.steps, "", False, measured=found.of(found.best),
                             travel=found.travel, runs=found.runs)]  # fmt: skip


def _place(adviser: Adviser) -> tuple[Any, ...]:
    judged = adviser.measured[0] if adviser.measured is not None else adviser.twin
    return (math.isnan(judged), judged if not math.isnan(judged) else adviser.point.value, adviser.name)
