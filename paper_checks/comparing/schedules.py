"""The papers' schedules as advisers: local steps or step size that decrease along the run, on the quadratic surrogate.

A schedule of Decaying-K's Table 3 is a plan (K_r, eta_r) of rounds once its start (K_0, eta_0) is chosen. The loss that
it depends on is the surrogate's expected loss before the round, without the paper's average over 100 rounds. Training
then follows the same plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from bounds.decaying_k.schedules import Schedule, SCHEDULES
from bounds.errors import BoundsError
from bounds.stated import ROUNDING
from empirics.algorithms.algorithm import State
from empirics.algorithms.scheduled import ScheduledSteps

from .goal import MOST_STEPS, Plan, Point, TARGETS
from .surrogate import MOST_ROUNDS, SurrogateAdvice

CONSTANT = ("dsgd", "k_eta_fixed")
"""Schedules without changes: fixed plans."""
OCTAVES = 8
"""How far K_0 and eta_0 are moved from the surrogate's best fixed plan."""
MOST_LOCAL = 4 * MOST_STEPS
"""Local steps of a round beyond which a schedule is not followed further."""
EXPENSIVE = 1e9
"""Multiplications of one run beyond which the starts of all schedules take minutes."""
LONGER = 4
"""A schedule must reach the target within this many times the cost of the surrogate's best fixed plan."""


@dataclass(frozen=True)
class Replay:
    """Local steps and step size of every round as a plan has them, for training."""

    plan: Plan
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.plan.of_round(state.round)


def usable() -> Iterator[Schedule]:
    """The schedules that can be followed; those that need a validation error cannot."""
    return (s for s in SCHEDULES.values() if s.key not in CONSTANT and not s.needs_plateau)


def unusable() -> list[str]:
    return [s.key for s in SCHEDULES.values() if s.needs_plateau]


def work(surrogate: SurrogateAdvice, fixed: Point) -> float:
    """Multiplications of matrix entries in one run that is as long as that of a ``fixed`` plan, roughly."""
    problem = surrogate.averaging.problem
    return float(fixed.rounds) * problem.clients * problem.dim**3


@dataclass(frozen=True, eq=False)
class ScheduleAdvice:
    """A schedule, from the start (K_0, eta_0) that is best on the surrogate."""

    schedule: Schedule
    surrogate: SurrogateAdvice

    def best(self, over: tuple[str, ...], fixed: Point) -> Point:
        """From around the surrogate's best ``fixed`` plan, downhill over octaves of K_0 and half octaves of eta_0.

        What is not optimised starts as given. The value is that of the plan on the surrogate.
        """
        known: dict[tuple[int, int], Point] = {}

        def value(i: int, j: int) -> float:
            if (i, j) not in known:
                steps = max(1, round(fixed.local_steps * 2.0**i))
                known[i, j] = self.followed(steps, fixed.step_size * 2 ** (j / 2))
            return known[i, j].value

        i = j = 0
        while True:
            around = [(i, j)]
            around += [(i + d, j) for d in (-1, 1) if "local_steps" in over and abs(i + d) <= OCTAVES]
            around += [(i, j + d) for d in (-1, 1) if "step_size" in over and abs(j + d) <= 2 * OCTAVES]
            best = min(around, key=lambda at: value(*at))
            if value(*best) == value(i, j):
                return known[i, j]
            i, j = best

    def followed(self, local_steps: int, step_size: float) -> Point:
        """The plan from this start until the budget is spent or the target reached, with its value."""
        goal, averaging = self.surrogate.goal, self.surrogate.averaging
        reading = TARGETS.index(goal.target)
        near = self.surrogate.near if goal.to is not None else []
        limit = LONGER * near[0].value if near and math.isfinite(near[0].value) else 0.0
        rule, run, spent = ScheduledSteps(self.schedule.key, window=1), averaging.replay(), 0.0
        read = next(run)
        plan: list[tuple[int, float]] = []
        losses: list[float] = []

        def point(value: float) -> Point:
            value = value if plan and math.isfinite(value) else math.inf
            return Point(local_steps, step_size, len(plan), value, cohort=averaging.cohort, schedule=tuple(plan))

        while len(plan) < MOST_ROUNDS:
            if goal.to is not None and read[reading] <= goal.to[1]:
                break
            losses.append(max(float(averaging.problem.optimal_loss + read[0]), 0.0))
            now: Any = SimpleNamespace(round=len(plan), losses=losses)
            following = rule(now, local_steps, step_size)
            if following[0] > MOST_LOCAL:  # the loss increases, and with it the local steps
                return point(math.inf)
            try:
                spent += goal.spent(following[0])
            except BoundsError:
                break
            if spent > goal.budget * (1 + ROUNDING) or not np.isfinite(read).all():
                break
            plan.append(following)
            read = run.send(following)
            if goal.to is not None and spent > limit:
                return point(math.inf)
        return point(float(read[reading]) if goal.to is None else spent)
