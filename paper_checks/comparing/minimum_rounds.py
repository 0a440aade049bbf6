"""The minimum number of rounds at which any local steps and step size make a bound informative.

The plan is that of ``BoundAdvice`` with the value before training as the target; the comparison's own row confirms it.
"""

from __future__ import annotations

import math

from bounds.anyway import trivial
from bounds.core import Bound
from bounds.scenario import Scenario
from bounds.ties import evaluated

from .bound_advice import BoundAdvice, movable, numbers, with_derived
from .bound_rows import federated_rows, rows_of
from .goal import BUDGETS, given, Goal
from .rows import INFORMATIVE, MinimumRounds

PLAN = ("local_steps", "step_size", *BUDGETS, "cohort", "participation")
APART = 1.1
"""Neighbours on the grid of rounds, at most this factor apart,"""
HALVED = 4
"""whose distance is halved so often."""
RAISES = 12
"""How often the result is raised by five percent until the comparison confirms it."""


def minimum_rounds(bound: Bound, scenario: Scenario, target: str) -> MinimumRounds | None:
    """The fewest rounds, with the cohort as given or else all clients; None for a bound without a level here."""
    cohort, clients = (float(scenario[w].value) if w in scenario else math.nan for w in ("cohort", "clients"))
    found = _with_cohort(bound, scenario, target, cohort)
    if (found is None or not math.isfinite(found.rounds)) and clients != cohort:
        found = _with_cohort(bound, scenario, target, clients) or found
    return found


def _with_cohort(bound: Bound, scenario: Scenario, target: str, cohort: float) -> MinimumRounds | None:
    words = {word: scenario[word] for word in scenario if given(scenario, word) and word not in PLAN}
    base = Scenario.of(words, **scenario.said, also=bound.quantities)
    base = base if math.isnan(cohort) else base.at(cohort=cohort)
    level = trivial(target, base)[1]
    if not math.isfinite(level) or "smoothness" not in base:
        return None
    goal = Goal(base, "rounds", (target, level))
    if not any(movable(row) for row in federated_rows(bound, goal.plan(1), target)[:1]):
        return None
    advice = BoundAdvice(bound, goal)
    point = advice.best()
    if point is None:
        return MinimumRounds(math.inf)

    def step_size(rounds: int) -> float:
        plan = {**numbers(base), "local_steps": float(point.local_steps), "rounds": float(rounds)}
        fixed = advice.fixed_step_size
        return point.step_size if fixed is None else float(evaluated(fixed, with_derived(plan)))

    def informative(rounds: float) -> bool:
        plan = {"local_steps": point.local_steps, "rounds": math.ceil(rounds)}
        there = base.at(step_size=step_size(plan["rounds"]), **plan)
        return any(row.state == INFORMATIVE for row in rows_of(bound, there, target))

    enough = (point.rounds * 1.05**i for i in range(RAISES))
    most = next((rounds for rounds in enough if informative(rounds)), math.inf)
    if not math.isfinite(most):
        return MinimumRounds(most)
    least = max(most / APART, 1.0)
    for _ in range(HALVED):
        middle = math.sqrt(least * most)
        least, most = (least, middle) if informative(middle) else (middle, most)
    rounds = math.ceil(most)
    return MinimumRounds(float(rounds), point.local_steps, step_size(rounds), cohort)
