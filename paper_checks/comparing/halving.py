"""Plans tried by training: successive halving in seeds, never in rounds, then fresh seeds for those that are left.

Short runs elect other step sizes than long ones, so that every run has all its rounds, and bad plans are dropped after
few seeds. Seeds are paired: all plans face the same cohorts and batches. What is reported comes from fresh seeds.

On the way to a target a run's value is what it has spent when its server model is first there, after whole rounds.
A run that is not there when it has spent the limit counts with the limit, so that its plan's mean is at least that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
import torch

from bounds.errors import BoundsError
from bounds.stated import ROUNDING
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.errors import Diverged
from empirics.models.compiled import compiled, NotServed
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress, Silent
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from .advised import Adviser, Trained
from .goals import Goal, OVER, Plan, Point
from .schedules import Replayed
from .twin import MOST_ROUNDS, TwinAdvice

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
FURTHER = 6
"""How often plans beyond the end of what was tried are looked at, where the best one lies there."""
MOST_NEAR = 24
"""Of the twin's plans at most so many are tried."""
UNIT = 0.1
"""The middle of the step sizes that are tried where nobody knows L or states one."""
CERTAIN = 0.05

LONGER = 4.0
"""A run to a target is stopped where it has cost this many times what the twin's best plan costs."""
ROUNDS, STEPS = 200, 8
"""Where no twin says how much a target costs: what so many rounds of so many steps cost."""
GIVEN_UP = 4
"""A plan that reaches the target on none of so many fresh seeds is trained no further."""
GRID = tuple(product((1, 4, 16, 64), (1 / 16, 1 / 4, 1.0, 4.0)))
"""Local steps, and step sizes times 1/L (or over the stated one), that are tried where there is no twin."""


@dataclass(frozen=True)
class Measured:
    """What every plan gave on fresh seeds, the best of them and the best fixed one, and what is not told apart.

    ``near`` are the plans whose paired difference from the best is not sure at five percent, ``alike`` the fixed plans
    that are as near to the best fixed one; ``limit`` is what a run to a target may cost.
    """

    ends: dict[Plan, Trained]
    best: Plan
    fixed: Point
    near: tuple[Plan, ...]
    alike: tuple[Plan, ...]
    runs: int
    limit: float = math.inf

    def of(self, point: Point) -> Trained | None:
        return self.ends.get(point.plan)


@dataclass(frozen=True, eq=False)
class Trials:
    """Runs of FedAvg on ``problem`` within a goal's budget, or until its target; every run is made once."""

    problem: FederatedProblem
    goal: Goal
    bar: Progress
    limit: float = math.inf
    _known: dict[tuple[Plan, int], float] = field(default_factory=dict)

    def value(self, plan: Plan | tuple[int, float], seed: int) -> float:
        """The goal's target at the last model, or what was spent until the target.

        Infinite where the run diverged, or did not reach the target within the limit.
        """
        plan = Plan(*plan)
        plan = plan if plan.cohort else plan._replace(cohort=self.goal.cohort)
        if (plan, seed) not in self._known:
            self.bar.doing(f"training {plan.local_steps} steps of {plan.step_size:.3g}, seed {seed % FRESH}")
            self._known[plan, seed] = self._train(plan, seed)
            self.bar.step()
        return self._known[plan, seed]

    def values(self, plan: Plan, seeds: Sequence[int]) -> np.ndarray:
        """The values on seeds, those that failed to reach a target at the limit."""
        return np.array([min(self.value(plan, seed), self.limit) for seed in seeds])

    @property
    def runs(self) -> int:
        return len(self._known)

    def _train(self, plan: Plan, seed: int) -> float:
        problem, goal = self.problem, self.goal.of_cohort(plan.cohort)
        setting = Setting(
            rounds=self._rounds(plan, goal),
            cohort=plan.cohort,
            batch=goal.batch,
            local_steps=plan.local_steps,
            step_size=plan.step_size,
            sampling=goal.scenario.sampling,
            client_weight=problem.client_weight,
        )
        method = renamed(fedavg, "fedavg by a schedule", steps=Replayed(plan)) if plan.replayed else fedavg
        spent, model = 0.0, None
        try:
            for state in rounds(problem.model, problem.federation, method, setting, seed):
                model = state.model
                if goal.to is None:
                    continue
                if state.round:
                    spent += float(goal.cost(plan.of_round(state.round - 1)[0], 1))
                if spent > self.limit:
                    return math.inf
                if self.target(model) <= goal.to[1]:
                    return spent
        except Diverged:
            return math.inf
        assert model is not None
        return self.target(model) if goal.to is None else math.inf

    def _rounds(self, plan: Plan, goal: Goal) -> int:
        if goal.to is None:
            return len(plan.replayed) or goal.rounds(plan.local_steps)
        least = min((steps for steps, _ in plan.replayed), default=plan.local_steps)
        return max(1, min(MOST_ROUNDS, int(self.limit / goal.cost(least, 1) * (1 + ROUNDING))))

    def target(self, model: torch.Tensor) -> float:
        """The goal's target at a model; of a network the loss above the stated least one, or above 0."""
        problem, w = self.problem, model.double()
        if self.goal.target == "optimality_gap":
            return problem.loss(w if problem.convex else model) - self._least
        if self.goal.target == "grad_norm_sq":
            return float((problem.gradients((w if problem.convex else model).unsqueeze(0)) ** 2).sum())
        return float(((w - problem.minimiser) ** 2).sum())

    @cached_property
    def _least(self) -> float:
        if self.problem.convex:
            return self.problem.optimal_loss
        stated = self.goal.scenario.get("optimal_loss")
        return self.problem.lower_bound if stated is None else float(stated.value)


def measured(
    problem: FederatedProblem,
    goal: Goal,
    twin: TwinAdvice | None,
    advisers: Sequence[Adviser],
    seeds: int,
    bar: Progress | None = None,
    over: Sequence[str] = OVER,
) -> Measured:
    """Try plans around the twin's and those of the advisers that train, and measure what is left on fresh ``seeds``.

    Without a twin a coarse grid is tried.
    """
    if seeds < 2:
        raise BoundsError(f"a standard error needs at least 2 seeds to measure with; got {seeds}")
    bar = bar or Silent()
    trials = Trials(_fast(problem), goal, bar, _limit(goal, twin))
    advised = [adviser.point.plan for adviser in advisers]
    trained = [plan for plan, adviser in zip(advised, advisers, strict=True) if not adviser.still]
    tried = _around(twin, over) if twin is not None else _grid(goal, problem, over)
    left, count = list(dict.fromkeys([*tried, *trained])), FIRST
    bar.start(_planned(len(left), len(set(advised)), seeds))
    while len(left) > LEFT:
        order = sorted(left, key=lambda plan: trials.values(plan, range(count)).mean())
        left = order[: max(LEFT, len(left) // 2)]
        count *= 2
    known = {*tried, *trained}
    for _ in range(FURTHER):
        order = sorted(left, key=lambda plan: trials.values(plan, range(count)).mean())
        left = order[:LEFT]
        if not (beyond := [plan for _, plan in _beyond(left[0], known, goal, over)]):
            break
        known |= {*beyond}
        left += beyond
    found = {plan: _fresh(trials, plan, seeds) for plan in dict.fromkeys([*left, *advised])}
    ends = {plan: _trained(trials, values) for plan, values in found.items()}
    order = sorted(found, key=lambda plan: (ends[plan].mean, ends[plan].failed))
    best, fixed = order[0], next(plan for plan in order if not plan.replayed)
    near = tuple(plan for plan in found if not _apart(found[plan], found[best]))
    alike = tuple(plan for plan in found if not plan.replayed and not _apart(found[plan], found[fixed]))
    rounds_ = goal.of_cohort(fixed.cohort).rounds(fixed.local_steps) if goal.to is None else 0
    ends_ = tuple(dict.fromkeys(word for word, _ in _beyond(fixed, known, goal, over)))
    point = Point(fixed.local_steps, fixed.step_size, rounds_, math.nan, ends_, fixed.cohort)
    return Measured(ends, best, point, near, alike, trials.runs, trials.limit)


def _limit(goal: Goal, twin: TwinAdvice | None) -> float:
    """What a run to a target may cost at most."""
    if goal.to is None:
        return math.inf
    least = math.inf if twin is None else twin.near[0].value
    return LONGER * least if math.isfinite(least) else float(goal.cost(STEPS, ROUNDS))


def _planned(plans: int, advised: int, seeds: int) -> int:
    """About how many runs there will be."""
    total, count = 0, 0
    while plans > LEFT:
        before, count = count, max(FIRST, 2 * count)
        total += plans * (count - before)
        plans = max(LEFT, plans // 2)
    return total + (plans + advised) * seeds


def _fresh(trials: Trials, plan: Plan, seeds: int) -> np.ndarray:
    """The values of a plan on fresh seeds; on the first few alone where the target is reached on none of them."""
    if trials.goal.to is not None and seeds > GIVEN_UP:
        first = trials.values(plan, range(FRESH, FRESH + GIVEN_UP))
        if (first >= trials.limit).all():
            return first
    return trials.values(plan, range(FRESH, FRESH + seeds))


def _trained(trials: Trials, values: np.ndarray) -> Trained:
    failed = values >= trials.limit if trials.goal.to is not None else ~np.isfinite(values)
    with np.errstate(invalid="ignore"):
        error = float(values.std(ddof=1) / len(values) ** 0.5) if np.isfinite(values).all() else math.nan
    return Trained(float(values.mean()), error, int(failed.sum()), len(values))


def _fast(problem: FederatedProblem) -> FederatedProblem:
    """The problem on compiled passes where its model is served: hundreds of runs are worth loading them."""
    try:
        return replace(problem, model=compiled(problem.model))
    except NotServed:
        return problem


def _around(twin: TwinAdvice, over: Sequence[str]) -> list[Plan]:
    """The twin's best plan for every number of steps that may be the best, and step sizes beside it."""
    best, *others = twin.near
    near = [best, *(point for point in others if point.value <= NEAR * best.value)][:MOST_NEAR]
    beside = (1 / ASIDE, 1.0, ASIDE) if "step_size" in over else (1.0,)
    return [Plan(p.local_steps, p.step_size * aside, p.cohort) for p in near for aside in beside]


def _grid(goal: Goal, problem: FederatedProblem, over: Sequence[str]) -> list[Plan]:
    """Plans on a coarse grid, as far as the budget holds a round of them."""
    scenario = goal.scenario
    smoothness = problem.smoothness or (
        float(np.max(scenario["smoothness"].safe)) if "smoothness" in scenario else None)  # fmt: skip
    unit = 1 / smoothness if smoothness else float(scenario["step_size"].value) if "step_size" in scenario else UNIT
    found = []
    for cohort in goal.cohorts() if "cohort" in over else (goal.cohort,):
        for steps, share in GRID:
            steps = steps if "local_steps" in over else int(scenario["local_steps"].value)
            size = share * unit if "step_size" in over else float(scenario["step_size"].value)
            try:
                if goal.to is None:
                    goal.of_cohort(cohort).rounds(steps)
            except BoundsError:
                continue
            found.append(Plan(steps, size, cohort))
    return found


def _beyond(best: Plan, known: set[Plan], goal: Goal, over: Sequence[str]) -> Iterator[tuple[str, Plan]]:
    """Plans beyond an end of those that were tried, where the best one lies there, with the word whose end it is."""
    if best.replayed:
        return
    fixed = [plan for plan in known if plan.cohort == best.cohort and not plan.replayed]
    sizes = [plan.step_size for plan in fixed if plan.local_steps == best.local_steps]
    if "step_size" in over:
        for end, factor in ((max(sizes), ASIDE), (min(sizes), 1 / ASIDE)):
            if end == best.step_size:
                yield "step_size", best._replace(step_size=end * factor)
    numbers = [plan.local_steps for plan in fixed]
    if "local_steps" not in over:
        return
    for end, number in ((max(numbers), math.ceil(best.local_steps * 1.5)), (min(numbers), best.local_steps * 2 // 3)):
        if end != best.local_steps or number < 1 or number == end:
            continue
        try:
            if goal.to is None:
                goal.of_cohort(best.cohort).rounds(number)
        except BoundsError:
            continue
        yield "local_steps", best._replace(local_steps=number, step_size=best.step_size * end / number)


def _apart(values: np.ndarray, best: np.ndarray) -> bool:
    """Whether paired values are surely worse than the best ones (Student's t, one-sided)."""
    from scipy.stats import t

    shared = min(len(values), len(best))
    with np.errstate(invalid="ignore"):  # both diverged
        away = values[:shared] - best[:shared]
    if not np.isfinite(away).all():
        return True
    error = away.std(ddof=1) / shared**0.5
    if error == 0:  # costs are whole rounds: all seeds may differ by as many
        return bool(away.mean() > 0)
    return bool(away.mean() / error > t.ppf(1 - CERTAIN, shared - 1))
