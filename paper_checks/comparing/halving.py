"""Plans tried by training: successive halving in seeds, never in rounds, then fresh seeds for those that are left.

Short runs elect other step sizes than long ones, so that every run has all its rounds, and bad plans are dropped after
few seeds. Seeds are paired: all plans face the same cohorts and batches. What is reported comes from fresh seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bounds.errors import BoundsError
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged
from empirics.models.compiled import compiled, NotServed
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress, Silent
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from .advised import Adviser
from .goals import Goal, Point
from .twin import TwinAdvice

FIRST = 2
"""Seeds of the first look at a plan; they double as plans are halved."""
LEFT = 6
"""Plans that meet fresh seeds."""
FRESH = 1_000_000
"""Where the numbers of fresh seeds begin."""
NEAR = 1.6
"""Numbers of local steps are tried whose best plan, by the twin, is at most this many times its best one."""
ASIDE = 2**0.5
"""Step sizes tried beside the twin's: this many times as large and as small."""
CERTAIN = 0.05

Plan = tuple[int, float]


@dataclass(frozen=True)
class Measured:
    """Mean and standard error by plan on fresh seeds, the best plan of those tried, and what is not told apart.

    ``steps`` and ``travel`` are the ends of K and of K times step size over the plans whose paired difference from the
    best is not sure at five percent.
    """

    ends: dict[Plan, tuple[float, float]]
    best: Point
    steps: tuple[int, int]
    travel: tuple[float, float]
    runs: int

    def of(self, point: Point) -> tuple[float, float] | None:
        return self.ends.get((point.local_steps, point.step_size))


@dataclass(frozen=True, eq=False)
class Trials:
    """Runs of FedAvg on ``problem`` within a goal's budget; every run is made once."""

    problem: FederatedProblem
    goal: Goal
    bar: Progress
    _known: dict[tuple[Plan, int], float] = field(default_factory=dict)

    def value(self, plan: Plan, seed: int) -> float:
        """The goal's target at the last model, infinite where the run diverged."""
        if (plan, seed) not in self._known:
            self.bar.doing(f"training {plan[0]} steps of {plan[1]:.3g}, seed {seed % FRESH}")
            self._known[plan, seed] = self._train(plan, seed)
        return self._known[plan, seed]

    def values(self, plan: Plan, seeds: Sequence[int]) -> np.ndarray:
        return np.array([self.value(plan, seed) for seed in seeds])

    @property
    def runs(self) -> int:
        return len(self._known)

    def _train(self, plan: Plan, seed: int) -> float:
        problem, scenario = self.problem, self.goal.scenario
        setting = Setting(
            rounds=self.goal.rounds(plan[0]),
            cohort=int(scenario["cohort"].value),
            batch=self.goal.batch,
            local_steps=plan[0],
            step_size=plan[1],
            sampling=scenario.sampling,
            client_weight=problem.client_weight,
        )
        model = None
        try:
            for state in rounds(problem.model, problem.federation, fedavg, setting, seed):
                model = state.model
        except Diverged:
            return math.inf
        assert model is not None
        w = model.double()
        if self.goal.target == "optimality_gap":
            return problem.loss(w) - problem.optimal_loss
        if self.goal.target == "grad_norm_sq":
            return float((problem.gradients(w.unsqueeze(0)) ** 2).sum())
        return float(((w - problem.minimiser) ** 2).sum())


def measured(
    problem: FederatedProblem,
    goal: Goal,
    twin: TwinAdvice,
    advisers: Sequence[Adviser],
    seeds: int,
    bar: Progress | None = None,
) -> Measured:
    """Try plans around the twin's and those of the advisers that train, and measure what is left on fresh ``seeds``."""
    if goal.to is not None:
        raise BoundsError(
            "plans are measured within a budget: leave --to out, and give runtime=, rounds= or iterations="
        )
    if seeds < 2:
        raise BoundsError(f"a standard error needs at least 2 seeds to measure with; got {seeds}")
    trials = Trials(_fast(problem), goal, bar or Silent())
    advised = [_plan(adviser.point) for adviser in advisers]
    left = list(
        dict.fromkeys([*_around(twin), *(plan for plan, a in zip(advised, advisers, strict=True) if not a.still)])
    )
    count = FIRST
    while len(left) > LEFT:
        order = sorted(left, key=lambda plan: trials.values(plan, range(count)).mean())
        left = order[: max(LEFT, len(left) // 2)]
        count *= 2
    fresh = range(FRESH, FRESH + seeds)
    found = {plan: trials.values(plan, fresh) for plan in dict.fromkeys([*left, *advised])}
    ends = {plan: (float(x.mean()), float(x.std(ddof=1) / seeds**0.5)) for plan, x in found.items()}
    best = min(found, key=lambda plan: ends[plan][0])
    near = [plan for plan in found if not _apart(found[plan], found[best])]
    steps, products = [k for k, _ in near], [k * size for k, size in near]
    point = Point(*best, goal.rounds(best[0]), math.nan)
    return Measured(ends, point, (min(steps), max(steps)), (min(products), max(products)), trials.runs)


def _fast(problem: FederatedProblem) -> FederatedProblem:
    """The problem on compiled passes where its model is served: hundreds of runs are worth loading them."""
    try:
        return replace(problem, model=compiled(problem.model))
    except NotServed:
        return problem


def _plan(point: Point) -> Plan:
    return point.local_steps, point.step_size


def _around(twin: TwinAdvice) -> list[Plan]:
    """The twin's best plan for every number of steps that may be the best, and step sizes beside it."""
    best, *others = twin.of_steps
    near = [best, *(point for point in others if point.value <= NEAR * best.value)]
    return [(p.local_steps, p.step_size * aside) for p in near for aside in (1 / ASIDE, 1.0, ASIDE)]


def _apart(values: np.ndarray, best: np.ndarray) -> bool:
    """Whether paired values are surely worse than the best ones (Student's t, one-sided)."""
    from scipy.stats import t

    away = values - best
    if not np.isfinite(away).all():
        return True
    error = away.std(ddof=1) / len(away) ** 0.5
    return bool(error > 0 and away.mean() / error > t.ppf(1 - CERTAIN, len(away) - 1))
