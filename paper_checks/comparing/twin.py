"""The quadratic twin of a federation: every client's loss to second order around the minimiser of all.

Its runs have exact expectations for whole grids of plans, so it chooses step sizes and local steps without training.
It proves nothing: far from the minimiser its gradients are others, and it chooses well where runs end near it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from empirics.errors import EmpiricsError
from empirics.exact import Averaging, Passes
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem, MOST_COORDINATES
from empirics.problems.quadratics import Quadratics

from .goals import Goal, OVER, Point

Array = np.ndarray[Any, Any]
LARGEST, STEPS = 8.0, 48
"""The largest step size of a grid, times 1/L of the steepest client, and the quarters of an octave below it."""
WALKS = 1e7
"""Numbers in the clients' cubed dimensions above which a grid is not computed whole."""
BETWEEN = 6
"""Whole numbers looked at between the best of the grid and its neighbours."""
PATIENCE = 3
"""How many numbers of local steps in a row may be worse than the best before a search gives up."""
AT_FIRST, MOST_ROUNDS = 64, 4096
"""Rounds in which a level is sought, at first and at most."""
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

    def value(self, local_steps: int, step_size: float) -> float:
        """What is minimised at one plan."""
        return self._points(local_steps, np.array([step_size]))[0].value

    def best(self, over: tuple[str, ...] = OVER) -> Point:
        """The plan that it recommends: on a grid of step sizes, four to the octave.

        A large model is looked at along a path: to where the step size stops getting better, for more and more steps.
        """
        problem = self.averaging.problem
        if "step_size" not in over:
            self.sizes = np.array([float(self.goal.scenario["step_size"].value)])
        if "local_steps" not in over:
            numbers = [int(self.goal.scenario["local_steps"].value)]
        else:
            numbers = list(self.goal.steps())
        walks = problem.clients * problem.dim**3 > WALKS
        worse = 0
        for steps in numbers:
            self._look(steps, walks)
            worse = 0 if self._least(steps).value <= self.of_steps[0].value else worse + 1
            if worse >= (PATIENCE if walks else 2 * PATIENCE):
                break
        known = sorted({steps for steps, _ in self._known})
        place = known.index(self.of_steps[0].local_steps)
        for low, high in pairwise(known[max(place - 1, 0) : place + 2]):  # whole passes have less noise than their like
            for steps in sorted({int(n) for n in np.linspace(low, high, BETWEEN + 2).round()} - {low, high}):
                self._look(steps, walks)
        best = self.of_steps[0]
        ends = []
        if len(self.sizes) > 1 and best.step_size in self.sizes[[0, -1]]:
            ends.append("step_size")
        if len(numbers) > 1 and best.local_steps == numbers[-1]:
            ends.append("local_steps")
        return best._replace(open=tuple(ends))

    @property
    def of_steps(self) -> list[Point]:
        """For every number of local steps that was looked at the best plan, the best of all first."""
        numbers = {steps for steps, _ in self._known}
        return sorted((self._least(steps) for steps in numbers), key=lambda point: (point.value, point.local_steps))

    def _least(self, steps: int) -> Point:
        return min((point for (k, _), point in self._known.items() if k == steps), key=lambda point: point.value)

    def _look(self, steps: int, walks: bool) -> None:
        if not walks:
            found = self._points(steps, self.sizes)
            self._known |= {(steps, i): point for i, point in enumerate(found)}
            return
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
                    self._known[steps, i] = self._points(steps, self.sizes[i : i + 1])[0]
            nearest = min(around, key=lambda i: self._known[steps, i].value)
            if nearest == at:
                return
            at = nearest

    def _points(self, steps: int, sizes: Array) -> list[Point]:
        goal = self.goal
        if goal.to is None:
            rounds = goal.rounds(steps)
            values = self.averaging.readings(steps, sizes, rounds)[goal.target][-1]
            return [Point(steps, float(size), rounds, float(v)) for size, v in zip(sizes, values, strict=True)]
        found, left, most = np.full(len(sizes), np.inf), np.arange(len(sizes)), AT_FIRST
        while most <= MOST_ROUNDS and len(left):
            path = self.averaging.readings(steps, sizes[left], most)[goal.target]
            there = path <= goal.to[1]
            found[left] = np.where(there.any(0), there.argmax(0), np.inf)
            falls = path[-1] < STALLED * path[most // 2]  # the rest has diverged, or settled above the level
            left, most = left[~there.any(0) & falls], 4 * most
        cost = goal.cost(steps, found)
        least = [0 if np.isinf(r) else int(r) for r in found]
        return [Point(steps, float(s), r, float(c)) for s, r, c in zip(sizes, least, cost, strict=True)]
