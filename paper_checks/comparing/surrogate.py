"""The quadratic surrogate of a federation: every client's loss to second order around the minimiser of their mean.

Runs on it have exact expectations for whole grids of plans, so step sizes and local steps are chosen without training.
It proves nothing: far from the minimiser its gradients differ, and its choices are good where runs end near it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from empirics.errors import EmpiricsError
from empirics.exact import Averaging, Passes
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem, MOST_COORDINATES
from empirics.problems.quadratics import Quadratics

from .goal import Goal, OVER, Point
from .integer_search import PATIENCE, search_integers

Array = np.ndarray[Any, Any]
LARGEST, STEPS = 8.0, 48
"""The largest step size of the grid, times 1/L of the steepest client, and the quarters of an octave below it."""
LARGE = 1e7
"""Clients times cubed dimension from which a grid is not computed as a whole."""
AT_FIRST, MOST_ROUNDS = 64, 4096
"""Rounds in which a level is searched, at first and at most."""
DEARER = 2.0
"""Plans that cost more than this many times the cheapest one so far are not followed further."""
STALLED = 0.99
"""A path that does not fall below this share of its value in the second half of its rounds is not followed further."""


def surrogate(problem: FederatedProblem) -> Quadratics:
    """Second-order Taylor models of the clients' losses at the federation's minimiser, in float64.

    ``noise`` are the covariances there of the gradient of a single sample, drawn at random from the client's.

    Raises:
        EmpiricsError: for a network, which has no single minimiser, for a linear model without a penalty, which may
            have none, and for models too large for dense Hessians.
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
    """The plan at which the surrogate's target at the last model is smallest, or its cost to the target."""

    def __init__(self, goal: Goal, averaging: Averaging) -> None:
        self.goal, self.averaging = goal, averaging
        top = np.linalg.eigvalsh(averaging.problem.curvatures)[:, -1].max()
        self.sizes = np.geomspace(LARGEST * 2.0 ** (-STEPS / 4), LARGEST, STEPS + 1) / top
        self._known: dict[tuple[int, int], Point] = {}
        self._others: dict[int, SurrogateAdvice] = {}
        self._cheapest = [math.inf]
        """What the cheapest plan to the target costs so far, at any cohort."""

    def of_cohort(self, cohort: int) -> SurrogateAdvice:
        """The same with this number of participants."""
        if cohort in (0, self.averaging.cohort):
            return self
        if cohort not in self._others:
            other = SurrogateAdvice(self.goal.of_cohort(cohort), replace(self.averaging, cohort=cohort))
            other._cheapest = self._cheapest
            self._others[cohort] = other
        return self._others[cohort]

    def value(self, local_steps: int, step_size: float, cohort: int = 0) -> float:
        """The minimised quantity at one plan; NaN for a cohort whose moments cannot be computed."""
        try:
            return self.of_cohort(cohort)._points(local_steps, np.array([step_size]))[0].value
        except EmpiricsError:
            return math.nan

    def best(self, over: tuple[str, ...] = OVER) -> Point:
        """The best plan, on a grid of step sizes with four to the octave.

        Of a large model only step sizes along a path are tried: for each number of local steps until it gets worse.
        """
        if "cohort" in over:
            return self._of_best_cohort(tuple(word for word in over if word != "cohort"))
        if "step_size" not in over:
            self.sizes = np.array([float(self.goal.scenario["step_size"].value)])
        if "local_steps" not in over:
            best = self._of_steps(int(self.goal.scenario["local_steps"].value))
        else:
            found = search_integers(self.goal.steps(), self._of_steps, PATIENCE if self.large else 2 * PATIENCE)
            assert found is not None
            best = found.point
        ends = self.sizes[[0, -1]] if len(self.sizes) > 1 else ()
        return best._replace(open=("step_size", *best.open)) if best.step_size in ends else best

    @property
    def large(self) -> bool:
        return self.averaging.problem.clients * self.averaging.problem.dim**3 > LARGE

    def _of_best_cohort(self, over: tuple[str, ...]) -> Point:
        def of(cohort: int) -> Point | None:
            try:
                return self.of_cohort(cohort).best(over)
            except EmpiricsError:  # clients of different weights have moments only with full participation
                return None

        found = search_integers(self.goal.cohorts(), of, word="cohort")
        if found is None:
            raise EmpiricsError("the surrogate's moments cannot be computed for any cohort here")
        return found.point

    @property
    def near(self) -> list[Point]:
        """The best plan for every number of local steps and participants that was tried, the best of all first."""
        points = [*self._of_each(), *(point for other in self._others.values() for point in other._of_each())]
        return sorted(points, key=lambda point: (point.value, point.local_steps))

    def _of_each(self) -> list[Point]:
        return [self._least(steps) for steps in {steps for steps, _ in self._known}]

    def _least(self, steps: int) -> Point:
        return min((point for (k, _), point in self._known.items() if k == steps), key=lambda point: point.value)

    def _of_steps(self, steps: int) -> Point:
        """The best plan with these local steps."""
        if not self.large:
            found = self._points(steps, self.sizes, DEARER * self._cheapest[0])
            self._known |= {(steps, i): point for i, point in enumerate(found)}
            return self._least(steps)
        guess = self.sizes[-1] / LARGEST
        if self._known:
            before = min(self._of_each(), key=lambda point: (point.value, point.local_steps))
            guess = before.step_size * before.local_steps / steps
        at = int(np.abs(np.log(self.sizes / guess)).argmin())
        while True:
            around = [i for i in (at - 1, at, at + 1) if 0 <= i < len(self.sizes)]
            for i in around:
                if (steps, i) not in self._known:
                    limit = DEARER * self._cheapest[0]
                    self._known[steps, i] = self._points(steps, self.sizes[i : i + 1], limit)[0]
            nearest = min(around, key=lambda i: self._known[steps, i].value)
            if nearest == at:
                return self._least(steps)
            at = nearest

    def _points(self, steps: int, sizes: Array, limit: float = math.inf) -> list[Point]:
        """The points of plans with these local steps; costs beyond the ``limit`` are infinite."""
        goal = self.goal
        if goal.to is None:
            rounds = goal.rounds(steps)
            values = self.averaging.readings(steps, sizes, rounds)[goal.target][-1]
            each = zip(sizes, values, strict=True)
            return [Point(steps, float(size), rounds, float(value), cohort=goal.cohort) for size, value in each]
        found, left, rounds = np.full(len(sizes), np.inf), np.arange(len(sizes)), AT_FIRST
        most = int(min(MOST_ROUNDS, max(limit / goal.cost(steps, 1), 1)))
        while len(left):
            rounds = min(rounds, most)
            path = self.averaging.readings(steps, sizes[left], rounds)[goal.target]
            reached = path <= goal.to[1]
            found[left] = np.where(reached.any(0), reached.argmax(0), np.inf)
            falls = path[-1] < STALLED * path[rounds // 2]  # the others diverge, or settle above the level
            if rounds == most:
                break
            left, rounds = left[~reached.any(0) & falls], 4 * rounds
        costs = goal.cost(steps, found)
        self._cheapest[0] = min(self._cheapest[0], float(costs.min()))
        least = [0 if np.isinf(rounds_) else int(rounds_) for rounds_ in found]
        each_ = zip(sizes, least, costs, strict=True)
        return [Point(steps, float(size), r, float(cost), cohort=goal.cohort) for size, r, cost in each_]
