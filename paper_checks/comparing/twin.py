"""The quadratic twin of a federation: every client's loss to second order around the minimiser of all.

Its runs have exact expectations for whole grids of plans, so it chooses step sizes and local steps without training.
It proves nothing: far from the minimiser its gradients are others, and it chooses well where runs end near it.
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

from .goals import Goal, OVER, Point
from .whole_numbers import PATIENCE, searched

Array = np.ndarray[Any, Any]
LARGEST, STEPS = 8.0, 48
"""The largest step size of a grid, times 1/L of the steepest client, and the quarters of an octave below it."""
WALKS = 1e7
"""Numbers in the clients' cubed dimensions above which a grid is not computed whole."""
AT_FIRST, MOST_ROUNDS = 64, 4096
"""Rounds in which a level is sought, at first and at most."""
DEARER = 2.0
"""Plans that cost more than this many times the cheapest one so far are followed no longer."""
STALLED = 0.99
"""A path that has not fallen below this share of its value in the second half of its rounds is followed no longer."""


def twin(problem: FederatedProblem) -> Quadratics:
    """Second-order Taylor models of the clients' losses at the federation's minimiser, in float64.

    ``noise`` are the covariances there of the gradient of a single sample, drawn at random from the client's.

    Raises:
        EmpiricsError: for a network, which has no single minimiser, for a linear model without a penalty, which may
            have none, and for models too large for dense Hessians.
    """
    if not isinstance(problem.model, Linear) or not problem.model.regularisation:
        raise EmpiricsError(
            f"the twin is taken at the minimiser of a linear model with a penalty; {problem} is another"
        )
    model = replace(problem.model, dtype=torch.float64)
    if model.dim > MOST_COORDINATES:
        raise EmpiricsError(
            f"the twin holds the clients' Hessians, for models of up to {MOST_COORDINATES} parameters; "
            f"{problem} has {model.dim}"
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
    batch = (x.unsqueeze(0), y.unsqueeze(0), None)
    eye = torch.eye(model.dim, dtype=torch.float64)
    hessian = model.hessian(at.unsqueeze(0), batch)(eye)
    each = model.gradient(at.expand(len(x), -1).contiguous(), (x.unsqueeze(1), y.unsqueeze(1), None))
    mean = each.mean(0)
    away = each - mean
    return ((hessian + hessian.T) / 2).numpy(), mean.numpy(), (away.T @ away / len(x)).numpy()


def runs(problem: FederatedProblem, cohort: int, batch: int, sampling: str = "without_replacement") -> Averaging:
    """FedAvg on the twin of ``problem``, with minibatches of shuffled passes as training draws them."""
    sizes = np.asarray(problem.federation.client_sizes)
    return Averaging(twin(problem), cohort, sampling, Passes(sizes, batch))


class TwinAdvice:
    """The twin as an adviser: what it says of the goal's target at the last model, and the plan where that is least."""

    def __init__(self, goal: Goal, averaging: Averaging) -> None:
        self.goal, self.averaging = goal, averaging
        top = np.linalg.eigvalsh(averaging.problem.curvatures)[:, -1].max()
        self.sizes = np.geomspace(LARGEST * 2.0 ** (-STEPS / 4), LARGEST, STEPS + 1) / top
        self._known: dict[tuple[int, int], Point] = {}
        self._others: dict[int, TwinAdvice] = {}
        self._cheapest = [math.inf]
        """What the cheapest plan to the target costs so far, at any cohort."""

    def of_cohort(self, cohort: int) -> TwinAdvice:
        """The same adviser with so many participants a round."""
        if cohort in (0, self.averaging.cohort):
            return self
        if cohort not in self._others:
            runs_ = replace(self.averaging, cohort=cohort)
            other = self._others[cohort] = TwinAdvice(self.goal.of_cohort(cohort), runs_)
            other._cheapest = self._cheapest
        return self._others[cohort]

    def value(self, local_steps: int, step_size: float, cohort: int = 0) -> float:
        """What is minimised at one plan; NaN for a cohort whose moments are not known."""
        try:
            return self.of_cohort(cohort)._points(local_steps, np.array([step_size]))[0].value
        except EmpiricsError:
            return math.nan

    def best(self, over: tuple[str, ...] = OVER) -> Point:
        """The plan that it recommends: on a grid of step sizes, four to the octave.

        A large model is looked at along a path: to where the step size stops getting better, for more and more steps.
        """
        if "cohort" in over:
            rest = tuple(word for word in over if word != "cohort")
            return self._of_best_cohort(rest)
        problem = self.averaging.problem
        if "step_size" not in over:
            self.sizes = np.array([float(self.goal.scenario["step_size"].value)])
        walks = problem.clients * problem.dim**3 > WALKS
        if "local_steps" not in over:
            best = self._look(int(self.goal.scenario["local_steps"].value), walks)
        else:
            patience = PATIENCE if walks else 2 * PATIENCE
            looked = searched(self.goal.steps(), lambda steps: self._look(steps, walks), patience)
            assert looked is not None
            best = looked.points[looked.best]
        ends = self.sizes[[0, -1]] if len(self.sizes) > 1 else ()
        return best._replace(open=("step_size", *best.open)) if best.step_size in ends else best

    def _of_best_cohort(self, over: tuple[str, ...]) -> Point:
        def look(number: int) -> Point | None:
            try:
                return self.of_cohort(number).best(over)
            except EmpiricsError:  # clients that weigh differently: of some of them the moments are not known
                return None

        found = searched(self.goal.cohorts(), look, word="cohort")
        if found is None:
            raise EmpiricsError("the twin knows the moments of no cohort here")
        return found.points[found.best]

    @property
    def near(self) -> list[Point]:
        """For every number of local steps and participants that was looked at the best plan, the best of all first."""
        points = [*self.of_steps, *(point for other in self._others.values() for point in other.of_steps)]
        return sorted(points, key=lambda point: (point.value, point.local_steps))

    @property
    def of_steps(self) -> list[Point]:
        """For every number of local steps that was looked at the best plan, the best of all first."""
        numbers = {steps for steps, _ in self._known}
        return sorted((self._least(steps) for steps in numbers), key=lambda point: (point.value, point.local_steps))

    def _least(self, steps: int) -> Point:
        return min((point for (k, _), point in self._known.items() if k == steps), key=lambda point: point.value)

    def _look(self, steps: int, walks: bool) -> Point:
        """The best plan of so many local steps."""
        if not walks:
            found = self._points(steps, self.sizes, DEARER * self._cheapest[0])
            self._known |= {(steps, i): point for i, point in enumerate(found)}
            return self._least(steps)
        if self._known:
            before = self.of_steps[0]
            guess = before.step_size * before.local_steps / steps
        else:
            guess = self.sizes[-1] / LARGEST
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
        """What is minimised at plans of so many steps; of costs those beyond the ``limit`` are infinite."""
        goal = self.goal
        if goal.to is None:
            rounds = goal.rounds(steps)
            values = self.averaging.readings(steps, sizes, rounds)[goal.target][-1]
            sized = zip(sizes, values, strict=True)
            return [Point(steps, float(size), rounds, float(v), cohort=goal.cohort) for size, v in sized]
        found, left, rounds = np.full(len(sizes), np.inf), np.arange(len(sizes)), AT_FIRST
        most = int(min(MOST_ROUNDS, max(limit / goal.cost(steps, 1), 1)))
        while len(left):
            rounds = min(rounds, most)
            path = self.averaging.readings(steps, sizes[left], rounds)[goal.target]
            there = path <= goal.to[1]
            found[left] = np.where(there.any(0), there.argmax(0), np.inf)
            falls = path[-1] < STALLED * path[rounds // 2]  # the rest has diverged, or settled above the level
            if rounds == most:
                break
            left, rounds = left[~there.any(0) & falls], 4 * rounds
        cost = goal.cost(steps, found)
        self._cheapest[0] = min(self._cheapest[0], float(cost.min()))
        least = [0 if np.isinf(r) else int(r) for r in found]
        told = zip(sizes, least, cost, strict=True)
        return [Point(steps, float(size), r, float(c), cohort=goal.cohort) for size, r, c in told]
