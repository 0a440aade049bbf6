"""The quadratic surrogate of a federation: every client's loss to second order around the minimiser of the mean loss.

Runs on the surrogate have exact expectations for whole grids of plans, so step sizes and local steps are chosen without
training. It proves nothing: its gradients are wrong far from the minimiser; its choices are good if runs end near it.

The papers' schedules, in which local steps or step sizes decrease along the run, are followed on the surrogate too. A
schedule of Decaying-K's Table 3 gives local steps and step size of every round once (K_0, eta_0) are chosen. The loss
it depends on is the surrogate's expected loss before the round, without the paper's average over 100 rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import torch

from bounds.decaying_k.schedules import Schedule, SCHEDULES
from bounds.errors import BoundsError
from bounds.scenario_values import ROUNDING
from empirics.algorithms.algorithm import State
from empirics.algorithms.scheduled import ScheduledSteps
from empirics.errors import EmpiricsError
from empirics.exact import Averaging, Passes
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem, MOST_COORDINATES
from empirics.problems.quadratics import Quadratics

from .goal import Goal, MOST_STEPS, OVER, PATIENCE, Plan, Point, search_integers, TARGETS, WINDOW, ZERO

Array = np.ndarray[Any, Any]
LARGEST, STEPS = 8.0, 48
"""The largest step size of the grid, times 1/L of the steepest client, and how many quarters of an octave go below."""
BELOW = STEPS
"""Further quarters of an octave below the grid, for a plan with many local steps that beats the grid."""
NEIGHBOURS = 4
"""Local steps up to this many times as many and as few are tried around a plan that beats the grid."""
LARGE = 1e7
"""Clients times cubed dimension beyond which the whole grid is not computed."""
AT_FIRST, MOST_ROUNDS = 64, 4096
"""Rounds of the first search for a level, and their maximum."""
DEARER = 2.0
"""A plan is dropped once it costs this many times the cheapest one so far."""
STALLED = 0.99
"""A plan is dropped if the second half of its rounds does not bring the value below this share."""
CONSTANT = ("dsgd", "k_eta_fixed")
"""Schedules that are fixed plans."""
OCTAVES = 8
"""How many octaves K_0 and eta_0 may move from the surrogate's best fixed plan."""
MOST_LOCAL = 4 * MOST_STEPS
"""A schedule is dropped once a round has more local steps than this."""
EXPENSIVE = 1e9
"""Multiplications in one run beyond which following all schedules takes minutes."""
AHEAD = 64
"""Rounds that are computed together if a schedule does not depend on the loss."""
LONGER = 4
"""A schedule must reach the target within this many times the cost of the surrogate's best fixed plan."""


def surrogate(problem: FederatedProblem) -> Quadratics:
    """Second-order Taylor models of the clients' losses at the federation's minimiser, in float64.

    ``noise`` has the covariance there of the gradient of a random sample of each client.

    Raises:
        EmpiricsError: for a network or a linear model without a penalty, which may have no single minimiser, and for
            models too large for dense Hessians.
    """
    if not isinstance(problem.model, Linear) or not problem.model.regularisation:
        raise EmpiricsError(f"the surrogate needs a linear model with a penalty, which has a minimiser; got {problem}")
    model = replace(problem.model, dtype=torch.float64)
    if model.dim > MOST_COORDINATES:
        raise EmpiricsError(
            f"the surrogate stores Hessians of models of up to {MOST_COORDINATES} parameters; {problem} has {model.dim}"
        )
    at = problem.minimiser
    parts = [_taylor(model, at, *problem.samples.of(k)) for k in range(problem.clients)]
    hessians, gradients, noise = (np.stack(part) for part in zip(*parts, strict=True))
    steps = np.linalg.solve(hessians, gradients[..., None])[..., 0]
    losses = problem.client_losses(at).double().numpy()
    return Quadratics(
        curvatures=hessians,
        minima=at.numpy() - steps,
        noise=noise,
        weights=problem.weights.numpy(),
        floors=losses - (gradients * steps).sum(-1) / 2,
        start=problem.model.start(0).double().numpy(),
    )


def _taylor(model: Linear, at: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[Array, Array, Array]:
    """Hessian and gradient of a client's loss, and the covariance of its samples' gradients."""
    x = x.double()
    hessian = model.hessian(at.unsqueeze(0), (x.unsqueeze(0), y.unsqueeze(0), None))(
        torch.eye(model.dim, dtype=torch.float64)
    )
    each = model.gradient(at.expand(len(x), -1).contiguous(), (x.unsqueeze(1), y.unsqueeze(1), None))
    mean = each.mean(0)
    centred = each - mean
    return ((hessian + hessian.T) / 2).numpy(), mean.numpy(), (centred.T @ centred / len(x)).numpy()


def surrogate_runs(
    problem: FederatedProblem, cohort: int, batch: int, sampling: str = "without_replacement"
) -> Averaging:
    """FedAvg on the surrogate of ``problem``, with minibatches of shuffled passes as training draws them."""
    sizes = np.asarray(problem.federation.client_sizes)
    return Averaging(surrogate(problem), cohort, sampling, Passes(sizes, batch))


class SurrogateAdvice:
    """Search for the plan whose target at the last model (or cost to the target) is smallest on the surrogate."""

    def __init__(self, goal: Goal, averaging: Averaging) -> None:
        self.goal, self.averaging = goal, averaging
        top = np.linalg.eigvalsh(averaging.problem.curvatures)[:, -1].max()
        self._top = LARGEST / top
        self.sizes, self._below = self._sizes(range(STEPS + 1)), 0
        self._known: dict[tuple[int, float], Point] = {}
        """By local steps and index in the grid of step sizes; a plan off the grid has a fractional index."""
        self._others: dict[int, SurrogateAdvice] = {}
        self._cheapest = [math.inf]
        """The cost of the cheapest plan to the target so far, in a list that all cohorts share."""

    def of_cohort(self, cohort: int) -> SurrogateAdvice:
        """The same search with this cohort."""
        if cohort in (0, self.averaging.cohort):
            return self
        if cohort not in self._others:
            other = SurrogateAdvice(self.goal.of_cohort(cohort), replace(self.averaging, cohort=cohort))
            other._cheapest = self._cheapest
            self._others[cohort] = other
        return self._others[cohort]

    def value(self, local_steps: int, step_size: float, cohort: int = 0) -> float:
        """The minimised quantity at one plan; NaN if the moments of its cohort cannot be computed."""
        try:
            return self.of_cohort(cohort)._points(local_steps, np.array([step_size]))[0].value
        except EmpiricsError:
            return math.nan

    def _sizes(self, places: Iterable[int]) -> Array:
        return self._top * 2.0 ** ((np.array(places) - STEPS) / 4)

    def best(self, over: tuple[str, ...] = OVER, others: Iterable[Plan] = ()) -> Point:
        """The best plan on a grid of step sizes, four per octave, or around a plan of ``others`` that beats the grid.

        For a large model only a path of step sizes is tried: for each number of local steps until it gets worse.
        """
        point, plans = self._on_grid(over), list(others)
        while True:  # the surrogate may have several local minima
            points = [point._replace(local_steps=p.local_steps, step_size=p.step_size, cohort=p.cohort or point.cohort,
                                     value=self.value(*p[:3])) for p in plans]  # fmt: skip
            start = min((p for p in points if p.value < point.value), key=lambda p: p.value, default=None)
            if start is None:
                return point
            point = self.of_cohort(start.cohort)._around(start.local_steps, start.step_size, over)

    def _around(self, steps: int, size: float, over: tuple[str, ...]) -> Point:
        """The best plan around this one, itself included."""
        self._fix_step_size(over)
        place, self._below = STEPS + 4 * math.log2(size / self._top), BELOW
        self._known[steps, place] = self._points(steps, np.array([size]))[0]
        if "local_steps" not in over:
            return self._of_steps(steps)
        near = sorted({steps, *(n for n in self.goal.steps() if steps / NEIGHBOURS <= n <= steps * NEIGHBOURS)})
        point = search_integers(near, self._of_steps, len(near))
        assert point is not None
        again = point.local_steps in (near[0], near[-1]) and point.local_steps != steps
        return self._around(point.local_steps, point.step_size, over) if again else point

    def _fix_step_size(self, over: tuple[str, ...]) -> None:
        if "step_size" not in over:
            self.sizes = np.array([float(self.goal.scenario["step_size"].value)])

    def _on_grid(self, over: tuple[str, ...]) -> Point:
        self._fix_step_size(over)

        def of(cohort: int) -> Point | None:
            try:
                return self.of_cohort(cohort)._on_grid(tuple(word for word in over if word != "cohort"))
            except EmpiricsError:  # with unequal weights moments are known only for full participation
                return None

        if "cohort" in over:
            point = search_integers(self.goal.cohorts(), of, word="cohort")
        elif "local_steps" in over:
            point = search_integers(self.goal.steps(), self._of_steps, PATIENCE if self.large else 2 * PATIENCE)
        else:
            point = self._of_steps(int(self.goal.scenario["local_steps"].value))
        if point is None:
            raise EmpiricsError("the surrogate's moments cannot be computed for any cohort here")
        return point

    @property
    def large(self) -> bool:
        return self.averaging.problem.clients * self.averaging.problem.dim**3 > LARGE

    @property
    def near(self) -> list[Point]:
        """The best plan for every number of local steps and every cohort that was tried, the best of all first."""
        points = [*self._of_each(), *(point for other in self._others.values() for point in other._of_each())]
        return sorted(points, key=lambda point: (point.value, point.local_steps))

    def _of_each(self) -> list[Point]:
        return [self._least(steps) for steps in {steps for steps, _ in self._known}]

    def _least(self, steps: int) -> Point:
        place, point = min(((i, p) for (k, i), p in self._known.items() if k == steps), key=lambda of: of[1].value)
        at_end = len(self.sizes) > 1 and place in (-self._below, STEPS)
        return point._replace(open=("step_size",)) if at_end else point

    def _of_steps(self, steps: int) -> Point:
        """The best plan with these local steps, on the grid or, for a large model, on a path until it gets worse."""
        first, last = (-self._below, STEPS) if len(self.sizes) > 1 else (0, 0)
        width, at = (1, last) if self.large else (STEPS // 2, last // 2)
        if self.large:
            guess = self.sizes[-1] / LARGEST
            if self._known:
                before = min(self._of_each(), key=lambda point: (point.value, point.local_steps))
                guess = before.step_size * before.local_steps / steps
            at = min(max(round(STEPS + 4 * math.log2(guess / self._top)), first), last)
        while True:
            low, high = max(at - width, first), min(at + width, last)
            if new := [i for i in range(low, high + 1) if (steps, i) not in self._known]:
                sizes = self._sizes(new) if last else self.sizes
                points = self._points(steps, sizes, DEARER * self._cheapest[0])
                self._known |= {(steps, i): point for i, point in zip(new, points, strict=True)}
            nearest = min(range(low, high + 1), key=lambda i: self._known[steps, i].value)
            lost = math.isinf(self._known[steps, nearest].value) and not self.large
            if low < nearest < high or nearest in (first, last) or lost:
                return self._least(steps)
            at = nearest

    def _points(self, steps: int, sizes: Array, limit: float = math.inf) -> list[Point]:
        """Evaluate plans with these local steps; costs beyond the ``limit`` are infinite."""
        goal = self.goal
        if goal.to is None:
            rounds = goal.rounds(steps)
            path = self.averaging.readings(steps, sizes, rounds)[goal.target]
            values = np.where(path[-1] <= ZERO * path[0], 0.0, path[-1])
            each = zip(sizes, values, strict=True)
            return [Point(steps, float(size), rounds, float(value), cohort=goal.cohort) for size, value in each]
        reached_in, left, rounds = np.full(len(sizes), np.inf), np.arange(len(sizes)), AT_FIRST
        most = int(min(MOST_ROUNDS, max(limit / goal.cost(steps), 1)))
        while len(left):
            rounds = min(rounds, most)
            path = self.averaging.readings(steps, sizes[left], rounds)[goal.target]
            reached = path <= goal.to[1]
            reached_in[left] = np.where(reached.any(0), reached.argmax(0), np.inf)
            falls = path[-1] < STALLED * path[rounds // 2]  # the others diverge, or settle above the level
            if rounds == most:
                break
            left, rounds = left[~reached.any(0) & falls], 4 * rounds
        costs = goal.cost(steps, reached_in)
        self._cheapest[0] = min(self._cheapest[0], float(costs.min()))
        least = [0 if np.isinf(rounds_) else int(rounds_) for rounds_ in reached_in]
        each_ = zip(sizes, least, costs, strict=True)
        return [Point(steps, float(size), r, float(cost), cohort=goal.cohort) for size, r, cost in each_]


@dataclass(frozen=True)
class Replay:
    """A hook for training that follows the local steps and step sizes of a plan."""

    plan: Plan
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.plan.of_round(state.round)


def usable() -> list[Schedule]:
    """The schedules that can be followed on the surrogate: not constant, and without a validation error."""
    return [s for s in SCHEDULES.values() if s.key not in CONSTANT and not s.needs_plateau]


@dataclass(frozen=True, eq=False)
class ScheduleAdvice:
    """Search for the start (K_0, eta_0) at which a schedule is best on the surrogate."""

    schedule: Schedule
    surrogate: SurrogateAdvice

    def best(self, over: tuple[str, ...], fixed: Point) -> Point:
        """Search downhill from the surrogate's best ``fixed`` plan, over octaves of K_0 and half octaves of eta_0.

        Quantities that are not optimised start at their given values.
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
        """Follow the schedule from this start until the budget is spent or the target reached."""
        goal, averaging = self.surrogate.goal, self.surrogate.averaging
        reading = TARGETS.index(goal.target)
        near = self.surrogate.near if goal.to is not None else []
        limit = LONGER * near[0].value if near and math.isfinite(near[0].value) else 0.0
        cost = cache(lambda steps: float(goal.cost(steps)))
        plan: list[tuple[int, float]] = []
        spent, zero, value = 0.0, math.nan, math.nan

        def point(value: float) -> Point:
            value = value if plan and math.isfinite(value) else math.inf
            return Point(local_steps, step_size, len(plan), value, cohort=averaging.cohort, schedule=tuple(plan))

        for read, following in self._rounds(local_steps, step_size):
            value = float(read[reading])
            zero = zero if plan else ZERO * value
            if len(plan) == MOST_ROUNDS or (goal.to is not None and value <= goal.to[1]):
                break
            if following[0] > MOST_LOCAL:  # the loss increases, and with it the local steps
                return point(math.inf)
            try:
                spent += cost(following[0])
            except BoundsError:
                break
            if spent > goal.budget * (1 + ROUNDING) or not np.isfinite(read).all():
                break
            plan.append(following)
            if goal.to is not None and spent > limit:
                return point(math.inf)
        return point(spent if goal.to is not None else value if value > zero else 0.0)

    def _rounds(self, local_steps: int, step_size: float) -> Iterator[tuple[Array, tuple[int, float]]]:
        """Yield the quantities before every round, and its local steps and step size."""
        rule, averaging = ScheduledSteps(self.schedule.key, window=WINDOW), self.surrogate.averaging
        ahead = 1 if rule.needs_losses else min(AHEAD, averaging.together(local_steps))
        run, losses, begin = averaging.replay(), list[float](), 0
        read = next(run)[0]
        while True:
            losses.append(max(float(averaging.problem.optimal_loss + read[0]), 0.0))
            plans = rule.of_rounds(np.arange(begin, begin + ahead), losses, local_steps, step_size)
            yield read, plans[0]
            *reads, last = run.send(plans)
            yield from zip(reads, plans[1:], strict=True)
            read, begin = last, begin + ahead
