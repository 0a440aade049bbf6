"""The bound of a rate after a number of rounds, proved in fractions, and values that federations attain.

No finite program covers all distributions of noise, so the bound comes from composing rounds: from
``V_next <= contraction V + (1 - contraction) (floor zeta^2 + noise_floor sigma^2)`` it follows that

    E|w_T - w*|^2 <= contraction^T V_0 + (1 - contraction^T) (floor zeta^2 + noise_floor sigma^2).

Lower bounds on the worst case are the exact worst case without noise and the exact expectation on quadratics.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from scipy.optimize import minimize_scalar

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.exact import exact_run
from empirics.exact.numbers import fraction
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from . import verify
from .exact import round_up
from .lyapunov import CostWeights, NotCertified
from .rate_problem import RateProblem
from .rate_search import make_bound, Rate, RateBound, sound_solution
from .solve import solve_seconds, worst_case

PATIENCE = 3.0
"""Limit on the estimated seconds of a worst case beside the bound."""
MAX_COLUMNS = 45
"""Limit on the gradients of all clients together for a worst case with drawn cohorts beside the bound."""
MAX_ROUNDS, MAX_CLIENTS = 2000, 200
"""Limits for the exact expectation on quadratics."""


@dataclass(frozen=True)
class Horizon:
    """A number of rounds, and upper limits on ``|w_0 - w*|^2``, ``zeta^2`` and ``sigma^2``."""

    rounds: int
    distance: float
    dissimilarity: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True, eq=False)
class RoundsBound:
    """The smallest certified ``bound`` after a number of rounds, rounded up.

    ``rate_bound`` is the rate that it follows from; its proof contains the bound. ``worst_case`` is the exact one
    without noise, and ``instance`` the expectation on quadratics. Both are at most the bound, and None if they would
    take too long.
    """

    bound: float
    rate_bound: RateBound
    worst_case: float | None
    instance: float | None

    @property
    def proved(self) -> bool:
        return self.rate_bound.proof is not None


def bound_after(rate: Rate, horizon: Horizon, report: Callable[[str], None] = lambda text: None) -> RoundsBound:
    """Return the smallest bound of the rate's bounds, and of one that is best for these rounds."""
    bounds = list(rate.bounds)
    report(f"the smallest bound after {horizon.rounds} rounds")
    with suppress(NotCertified):
        _, rho, weights = smallest_bound(rate, horizon)
        bounds.append(make_bound(rate.problem, rho, weights))
    proved = [rate_bound for rate_bound in bounds if rate_bound.proof is not None]
    best = min(proved or bounds, key=lambda rate_bound: _remaining(rate_bound, horizon))
    bound = round_up(_remaining(best, horizon))
    if best.proof is not None:
        after = {**_start(horizon), "bound": str(Fraction(repr(bound)))}
        best = replace(best, proof={**best.proof, "after": after})
    report("a worst case and quadratics for comparison")
    return RoundsBound(bound, best, worst_value(rate.problem, horizon), value_on_quadratics(rate.problem, horizon))


def smallest_bound(rate: Rate, horizon: Horizon) -> tuple[float, float, CostWeights]:
    """Return the smallest certified bound after a number of rounds, in floats, its contraction and its cost weights.

    It is the minimum of ``rho^T V_0 + (1 - rho^T) floors`` over certified contractions. The weight of the distance is
    kept above 0.
    """
    problem, zeta_sq = rate.problem, horizon.dissimilarity
    smallest = 1e-9 * max(horizon.distance, zeta_sq / problem.smoothness**2)

    def contraction(share: float) -> float:
        return 1 - share * (1 - rate.contraction)

    def in_bound(rho: float) -> CostWeights:
        decay = rho**horizon.rounds
        distance, noise = decay * horizon.distance, (1 - decay) * horizon.variance
        return CostWeights(distance, decay * zeta_sq, (1 - decay) * zeta_sq, noise)

    def positive(weights: CostWeights) -> CostWeights:
        return weights._replace(start_distance=max(weights.start_distance, smallest))

    def bound(share: float) -> float:
        weights = in_bound(contraction(share))
        solution = sound_solution(problem, contraction(share), positive(weights))
        return 1e300 if solution is None else weights.cost(solution)

    best = minimize_scalar(bound, bounds=(0.1, 1.0), method="bounded", options={"xatol": 1e-3})
    least, share = min((float(best.fun), float(best.x)), *((bound(share), share) for share in (1 - 1e-5, 1 - 1e-3)))
    return least, contraction(share), positive(in_bound(contraction(share)))


def _remaining(rate_bound: RateBound, horizon: Horizon) -> Fraction:
    """Return the bound of a rate after a number of rounds, from the fractions of its proof if it has one."""
    floats = {key: Fraction(getattr(rate_bound, key)) for key in verify.RATE_NUMBERS}
    return verify.remaining(rate_bound.proof["claim"] if rate_bound.proof else floats, _start(horizon))


def _start(horizon: Horizon) -> dict[str, int | str]:
    return {
        "rounds": horizon.rounds,
        "initial_distance_sq": str(fraction(horizon.distance)),
        "optimum_dissimilarity": str(fraction(horizon.dissimilarity)),
        "gradient_variance": str(fraction(horizon.variance)),
    }


# ---- lower bounds on the worst case ----


def worst_value(problem: RateProblem, horizon: Horizon) -> float | None:
    """Return the exact worst case with full gradients, averaged over cohorts; None if it is too large."""
    drawn, rounds, steps = problem.partial_cohort, horizon.rounds, problem.local_steps
    if drawn:
        models = sum(comb(drawn.clients, drawn.cohort) ** r for r in range(min(rounds, 9)))
        small = drawn.clients <= 5 and drawn.clients * models * steps <= MAX_COLUMNS
    else:
        small = rounds * steps <= MAX_COLUMNS and solve_seconds(rounds * steps + 1, rounds * steps) <= PATIENCE
    if not (rounds and small):
        return None
    given = {"smoothness": problem.smoothness, "strong_convexity": problem.strong_convexity}
    given |= {"initial_distance_sq": horizon.distance, "optimum_dissimilarity": horizon.dissimilarity}
    cohort = drawn.cohort if drawn else 1 if problem.clients == 1 else 2
    plan = Setting(rounds, cohort, local_steps=steps, step_size=problem.step_size)
    clients = drawn.clients if drawn else None
    try:
        return worst_case(problem.algorithm, plan, given, "distance_sq", clients=clients, patience=10 * PATIENCE).value
    except BoundsError:
        return None


def value_on_quadratics(problem: RateProblem, horizon: Horizon) -> float | None:
    """Return the largest exact expectation over one-dimensional quadratics of one or two curvatures, or None."""
    rounds, clients = horizon.rounds, problem.clients or 2
    if not rounds:
        return horizon.distance
    if rounds > MAX_ROUNDS or clients > MAX_CLIENTS:
        return None
    plan = Setting(rounds, problem.cohort or clients, local_steps=problem.local_steps, step_size=problem.step_size)
    # the gradients at the minimiser, 0, of one half of the clients are opposite to those of the other half
    half, distances = clients // 2, []
    pull = np.repeat([-1.0, half / (clients - half)], [half, clients - half])
    pull = pull * (horizon.dissimilarity / max((pull**2).mean(), 1e-300)) ** 0.5 if half else 0 * pull
    noise = np.full((clients, 1, 1), horizon.variance)
    start = np.array([horizon.distance**0.5])
    ends = (problem.strong_convexity, problem.smoothness)
    for one, other, sign in product(ends, ends, (1.0, -1.0)):
        curvature = np.repeat([one, other], [half, clients - half])
        minima = sign * pull / curvature
        instance = Quadratics(curvature[:, None, None], minima[:, None], noise, start=start)
        try:
            distances.append(float(exact_run(instance, problem.algorithm, plan).server["distance_sq"][-1]))
        except EmpiricsError:  # a method without exact expectations
            return None
    return max(distances)
