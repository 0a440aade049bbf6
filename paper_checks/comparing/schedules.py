"""The papers' schedules as advisers: local steps or step size that fall along the run, replayed on the quadratic twin.

A schedule of Decaying-K's Table 3 is a plan of rounds ``(K_r, eta_r)`` once its start (K_0, eta_0) is chosen. What it
reads of the run, the loss now over the loss at first, is here the twin's expected loss before the round, without the
window of 100 rounds that the paper averages over: few budgets hold so many. Training then follows the same plan.
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

from .goals import MOST_STEPS, Plan, Point
from .twin import MOST_ROUNDS, TwinAdvice

CONSTANT = ("dsgd", "k_eta_fixed")
"""Those that change nothing: plans like any other."""
OCTAVES = 8
"""How far K_0 and eta_0 are moved from the twin's best fixed plan, in octaves."""
MOST_LOCAL = 4 * MOST_STEPS
"""Local steps of a round beyond which a schedule is followed no longer."""
REPLAYED = 1e9
"""Multiplications of one replay beyond which the starts of all schedules take minutes."""
LONGER = 4
"""Times the rounds of the twin's best fixed plan in which a schedule must reach the target."""


@dataclass(frozen=True)
class Replayed:
    """Local steps and step size of every round as a plan has them."""

    plan: Plan
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.plan.of_round(state.round)


def advised() -> Iterator[Schedule]:
    """The schedules that are advisers; those that wait for a validation error to converge are not."""
    return (s for s in SCHEDULES.values() if s.key not in CONSTANT and not s.needs_plateau)


def waiting() -> list[str]:
    """The schedules that cannot be asked."""
    return [s.key for s in SCHEDULES.values() if s.needs_plateau]


def work(twin: TwinAdvice, fixed: Point) -> float:
    """Multiplications of the matrices of one replay that is as long as a ``fixed`` plan's run, roughly."""
    problem = twin.averaging.problem
    return float(fixed.rounds) * problem.clients * problem.dim**3


@dataclass(frozen=True, eq=False)
class ScheduleAdvice:
    """A schedule, at the start (K_0, eta_0) from which the twin ends best."""

    schedule: Schedule
    twin: TwinAdvice

    def best(self, over: tuple[str, ...], fixed: Point) -> Point:
        """From around the twin's best ``fixed`` plan, uphill over octaves of K_0 and halves of octaves of eta_0.

        What is not free starts as it is stated. The value is what the twin says of the plan.
        """
        known: dict[tuple[int, int], Point] = {}

        def at(i: int, j: int) -> Point:
            if (i, j) not in known:
                steps = max(1, round(fixed.local_steps * 2.0**i))
                known[i, j] = self.replayed(steps, fixed.step_size * 2 ** (j / 2))
            return known[i, j]

        i = j = 0
        while True:
            around = [(i, j)]
            around += [(i + d, j) for d in (-1, 1) if "local_steps" in over and abs(i + d) <= OCTAVES]
            around += [(i, j + d) for d in (-1, 1) if "step_size" in over and abs(j + d) <= 2 * OCTAVES]
            nearest = min(around, key=lambda place: at(*place).value)
            if nearest == (i, j) or at(*nearest).value == at(i, j).value:
                return at(i, j)
            i, j = nearest

    def replayed(self, local_steps: int, step_size: float) -> Point:
        """The plan of this start, as long as the budget lasts or until the target is reached, and what it leads to."""
        goal, averaging = self.twin.goal, self.twin.averaging
        word = ("optimality_gap", "grad_norm_sq", "distance_sq").index(goal.target)
        ends = averaging.problem.optimal_loss
        rule, walk, spent = ScheduledSteps(self.schedule.key, window=1), averaging.replay(), 0.0
        read = next(walk)
        plan: list[tuple[int, float]] = []
        losses: list[float] = []
        while len(plan) < MOST_ROUNDS:
            if goal.to is not None and read[word] <= goal.to[1]:
                break
            losses.append(max(float(ends + read[0]), 0.0))
            now: Any = SimpleNamespace(round=len(plan), losses=losses)
            following = rule(now, local_steps, step_size)
            if following[0] > MOST_LOCAL:  # the loss rises, and the rule by it
                return self._point(plan, math.inf, local_steps, step_size)
            try:
                spent += goal.spent(following[0])
            except BoundsError:
                break
            if spent > goal.budget * (1 + ROUNDING) or not np.isfinite(read).all():
                break
            plan.append(following)
            read = walk.send(following)
            if goal.to is not None and spent > LONGER * self._most:
                return self._point(plan, math.inf, local_steps, step_size)
        value = float(read[word]) if goal.to is None else spent
        return self._point(plan, value if math.isfinite(value) else math.inf, local_steps, step_size)

    def _point(self, plan: list[tuple[int, float]], value: float, local_steps: int, step_size: float) -> Point:
        value = value if plan else math.inf
        return Point(local_steps, step_size, len(plan), value, cohort=self.twin.averaging.cohort, replayed=tuple(plan))

    @property
    def _most(self) -> float:
        least = self.twin.near[0].value if self.twin.near else math.inf
        return least if math.isfinite(least) else 0.0
