"""Compare plans by training: successive halving over seeds, then fresh seeds for the last plans.

The best step size depends on the length of a run, so all runs have all their rounds, and bad plans are dropped after
few seeds. Seeds are paired: all plans have the same cohorts and batches. Reported values come from fresh seeds.

With a target, the value of a run is its cost after the first round whose server model reaches the target. A run that
does not reach it within the limit counts with the limit, so the mean of its plan is a lower estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
import torch

from bounds.scenario_values import ROUNDING
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.errors import Diverged
from empirics.models.compiled import NotServed
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from .advice_table import Recommendation, Trained
from .goal import Goal, Plan, Point, ZERO
from .surrogate import MOST_ROUNDS, Replay, SurrogateAdvice

FIRST = 2
"""Seeds of every plan in the first round of halving; the number doubles as plans are halved."""
LEFT = 6
"""Plans that are trained with fresh seeds."""
FRESH = 1_000_000
"""The first fresh seed."""
NEAR = 1.6
"""Plans of the surrogate are trained if their value is at most this many times its best one ..."""
MOST_NEAR = 24
"""... and at most this many of them."""
ASIDE = 2**0.5
"""Step sizes are also multiplied and divided by this factor."""
FURTHER = 6
"""How often plans beyond the tried range are added while the best one lies at its end."""
UNIT = 0.1
"""The middle of the tried step sizes if L is unknown and no step size is given."""
ERROR = 0.05
"""Error rate of the test for a difference between two plans."""
LONGER = 4.0
"""A run to a target is stopped at this many times the cost of the surrogate's best plan ..."""
ROUNDS, STEPS = 200, 8
"""... or, without a surrogate, at the cost of this many rounds of this many steps."""
GIVEN_UP = 4
"""A plan is dropped if it reaches the target on none of this many fresh seeds."""
GRID = tuple(product((1, 4, 16, 64), (1 / 16, 1 / 4, 1.0, 4.0)))
"""Local steps, and step sizes times 1/L (or relative to the given one), that are tried without a surrogate."""


@dataclass(frozen=True)
class Race:
    """The values of every plan on fresh seeds, and the best fixed plan.

    ``near`` are the plans whose paired difference from the best one is not significant at five percent, ``near_fixed``
    the fixed plans for which the same holds with the best fixed one. ``limit`` is the maximum cost of a run to a
    target, ``seeds`` the number of fresh seeds.
    """

    ends: dict[Plan, Trained]
    fixed: Point
    near: tuple[Plan, ...]
    near_fixed: tuple[Plan, ...]
    runs: int
    limit: float = math.inf
    seeds: int = 0


@dataclass(frozen=True, eq=False)
class Trials:
    """Runs of FedAvg on ``problem`` within a goal's budget or until its target; every run is made only once."""

    problem: FederatedProblem
    goal: Goal
    bar: Progress
    limit: float = math.inf
    known: dict[tuple[Plan, int], float] = field(default_factory=dict)

    def value(self, plan: Plan | tuple[int, float], seed: int) -> float:
        """The goal's target at the last model, or the cost until the target.

        Infinite if the run diverged or did not reach the target within the limit.
        """
        plan = Plan(*plan)
        plan = plan if plan.cohort else plan._replace(cohort=self.goal.cohort)
        if (plan, seed) not in self.known:
            self.bar.doing(f"training {plan.local_steps} steps of {plan.step_size:.3g}, seed {seed % FRESH}")
            self.known[plan, seed] = self._train(plan, seed)
            self.bar.step()
        return self.known[plan, seed]

    def values(self, plan: Plan, seeds: Sequence[int]) -> np.ndarray:
        """The values on seeds; a run that did not reach the target has the limit as its value."""
        return np.array([min(self.value(plan, seed), self.limit) for seed in seeds])

    def fresh(self, plan: Plan, seeds: int) -> np.ndarray:
        """The values on fresh seeds; only on the first few if the target is reached on none of them."""
        first = self.values(plan, range(FRESH, FRESH + min(seeds, GIVEN_UP)))
        if self.goal.to is not None and (first >= self.limit).all():
            return first
        return self.values(plan, range(FRESH, FRESH + seeds))

    def _train(self, plan: Plan, seed: int) -> float:
        problem, goal = self.problem, self.goal.of_cohort(plan.cohort)
        rounds_ = len(plan.schedule) or goal.rounds(plan.local_steps) if goal.to is None else 0
        if goal.to is not None:
            least = min((steps for steps, _ in plan.schedule), default=plan.local_steps)
            rounds_ = max(1, min(MOST_ROUNDS, int(self.limit / goal.cost(least) * (1 + ROUNDING))))
        setting = Setting(
            rounds=rounds_,
            cohort=plan.cohort,
            batch=goal.batch,
            local_steps=plan.local_steps,
            step_size=plan.step_size,
            sampling=goal.scenario.sampling,
            client_weight=problem.client_weight,
        )
        method = renamed(fedavg, "fedavg by a schedule", steps=Replay(plan)) if plan.schedule else fedavg
        spent, model = 0.0, None
        try:
            for state in rounds(problem.model, problem.federation, method, setting, seed):
                model = state.model
                if goal.to is None:
                    continue
                if state.round:
                    spent += float(goal.cost(plan.of_round(state.round - 1)[0]))
                if spent > self.limit:
                    return math.inf
                if self.target(model) <= goal.to[1]:
                    return spent
        except Diverged:
            return math.inf
        assert model is not None
        return self.target(model) if goal.to is None else math.inf

    def target(self, model: torch.Tensor) -> float:
        """The goal's target at a model, 0 if it is numerically zero.

        For a network the gap is the loss above the given minimum, or above its lower bound.
        """
        problem, goal, w = self.problem, self.goal, model.double()
        at = w if problem.convex else model
        if goal.target == "optimality_gap":
            value = problem.loss(at) - self._minimum
        elif goal.target == "grad_norm_sq":
            value = float((problem.gradients(at.unsqueeze(0)) ** 2).sum())
        else:
            value = float(((w - problem.minimiser) ** 2).sum())
        return 0.0 if problem.convex and math.isfinite(goal.start) and value <= ZERO * goal.start else value

    @cached_property
    def _minimum(self) -> float:
        if self.problem.convex:
            return self.problem.optimal_loss
        stated = self.goal.scenario.get("optimal_loss")
        return self.problem.lower_bound if stated is None else float(stated.value)


def race(
    problem: FederatedProblem,
    goal: Goal,
    surrogate: SurrogateAdvice | None,
    rows: Sequence[Recommendation],
    seeds: int,
    bar: Progress,
    over: Sequence[str],
) -> Race:
    """Train plans around those of the surrogate (without one, on a coarse grid) and the plans of ``rows``.

    Plans are halved over seeds; the last ones, and all of ``rows``, are trained with fresh ``seeds``.
    """
    with suppress(NotServed):  # compiling pays off over hundreds of runs
        problem = problem.compiled()
    limit = math.inf  # the most that a run to a target may cost
    if goal.to is not None:
        least = math.inf if surrogate is None else surrogate.near[0].value
        limit = LONGER * least if math.isfinite(least) else float(goal.cost(STEPS, ROUNDS))
    trials = Trials(problem, goal, bar, limit)
    recommended = [row.point.plan for row in rows]
    known = dict.fromkeys(_around(surrogate, over) if surrogate is not None else _grid(goal, problem, over))
    known |= {row.point.plan: None for row in rows if not row.no_training}
    left, count = list(known), FIRST
    halvings = max(0, math.ceil(math.log2(len(left) / LEFT)))
    trials.bar.start(FIRST * len(left) * max(1, halvings) + (min(LEFT, len(left)) + len(set(recommended))) * seeds)

    def rank_rows(plans: Sequence[Plan]) -> list[Plan]:
        return sorted(plans, key=lambda plan: trials.values(plan, range(count)).mean())

    while len(left) > LEFT:
        left = rank_rows(left)[: max(LEFT, len(left) // 2)]
        count *= 2
    for _ in range(FURTHER):
        left = rank_rows(left)[:LEFT]
        if not (beyond := _beyond(left[0], known, goal, over)):
            break
        known |= dict.fromkeys(beyond)
        left += beyond
    results = {plan: trials.fresh(plan, seeds) for plan in dict.fromkeys([*left, *recommended])}
    ends = {}
    for plan, values in results.items():
        failed = values >= limit if goal.to is not None else ~np.isfinite(values)
        error = float(values.std(ddof=1) / len(values) ** 0.5) if np.isfinite(values).all() else math.nan
        ends[plan] = Trained(float(values.mean()), error, int(failed.sum()), len(values))
    order = sorted(results, key=lambda plan: (ends[plan].mean, ends[plan].failed))
    best, fixed = order[0], next(plan for plan in order if not plan.schedule)
    near = tuple(plan for plan in results if not _differ(results[plan], results[best]))
    near_fixed = tuple(plan for plan in results if not plan.schedule and not _differ(results[plan], results[fixed]))
    rounds_ = goal.of_cohort(fixed.cohort).rounds(fixed.local_steps) if goal.to is None else 0
    open_ = tuple(dict.fromkeys(_beyond(fixed, known, goal, over).values()))
    point = Point(fixed.local_steps, fixed.step_size, rounds_, math.nan, open_, fixed.cohort)
    return Race(ends, point, near, near_fixed, len(trials.known), limit, seeds)


def _around(surrogate: SurrogateAdvice, over: Sequence[str]) -> list[Plan]:
    """The surrogate's best plan for every number of steps that may be the best, and neighbouring step sizes."""
    best, *others = surrogate.near
    near = [best, *(point for point in others if point.value <= NEAR * best.value)][:MOST_NEAR]
    beside = (1 / ASIDE, 1.0, ASIDE) if "step_size" in over else (1.0,)
    return [Plan(p.local_steps, p.step_size * aside, p.cohort) for p in near for aside in beside]


def _grid(goal: Goal, problem: FederatedProblem, over: Sequence[str]) -> list[Plan]:
    """Plans on a coarse grid, if the budget allows a round of them."""
    scenario = goal.scenario
    known = {word: float(np.max(scenario[word].safe)) for word in ("smoothness", "step_size") if word in scenario}
    smoothness = problem.smoothness or known.get("smoothness")
    unit = 1 / smoothness if smoothness else known.get("step_size", UNIT)
    plans = []
    for cohort in goal.cohorts() if "cohort" in over else (goal.cohort,):
        for steps, share in GRID:
            steps = steps if "local_steps" in over else int(scenario["local_steps"].value)
            size = share * unit if "step_size" in over else float(scenario["step_size"].value)
            if goal.of_cohort(cohort).affords(steps):
                plans.append(Plan(steps, size, cohort))
    return plans


def _beyond(best: Plan, known: Mapping[Plan, None], goal: Goal, over: Sequence[str]) -> dict[Plan, str]:
    """If the best plan lies at an end of those tried: plans beyond that end, with the quantity that is at its end."""
    fixed = [plan for plan in known if plan.cohort == best.cohort and not plan.schedule]
    sizes = [plan.step_size for plan in fixed if plan.local_steps == best.local_steps]
    numbers = [plan.local_steps for plan in fixed]
    beyond: dict[Plan, str] = {}
    if "step_size" in over and not best.schedule:
        for end, factor in ((max(sizes), ASIDE), (min(sizes), 1 / ASIDE)):
            if end == best.step_size:
                beyond[best._replace(step_size=end * factor)] = "step_size"
    if "local_steps" in over and not best.schedule:
        more, fewer = math.ceil(best.local_steps * 1.5), best.local_steps * 2 // 3
        for end, steps in ((max(numbers), more), (min(numbers), fewer)):
            if end == best.local_steps and 1 <= steps != end and goal.of_cohort(best.cohort).affords(steps):
                beyond[best._replace(local_steps=steps, step_size=best.step_size * end / steps)] = "local_steps"
    return beyond


def _differ(values: np.ndarray, best: np.ndarray) -> bool:
    """Whether paired values are significantly worse than the best ones (Student's t, one-sided)."""
    from scipy.stats import t

    shared = min(len(values), len(best))
    with np.errstate(invalid="ignore"):  # both diverged
        away = values[:shared] - best[:shared]
    if not np.isfinite(away).all():
        return True
    error = away.std(ddof=1) / shared**0.5
    if error == 0:  # costs are whole rounds, so all seeds may have the same difference
        return bool(away.mean() > 0)
    return bool(away.mean() / error > t.ppf(1 - ERROR, shared - 1))
