"""What a rate says after a number of rounds, in fractions, and beside it what some federation does reach.

Of noise there is no finite program over all distributions. What is proved is the composition of rounds: from
``V_next <= contraction V + (1 - contraction) (floor zeta^2 + noise_floor sigma^2)`` it follows that

    E|w_T - w*|^2 <= contraction^T V_0 + (1 - contraction^T) (floor zeta^2 + noise_floor sigma^2).

Below it are the exact worst case without noise, which is one of all noises, and the exact moments of quadratics.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.exact import exact_run
from empirics.exact.numbers import fraction
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from . import verify
from .lyapunov import NotCertified
from .rate_case import Case
from .rate_search import above, Begun, Rate, sharpest, Statement
from .solve import taking, worst_case

PATIENCE = 3.0
"""Seconds that a worst case beside the bound may take, about."""
COLUMNS = 45
"""Gradients of all clients together in the worst case of a tree of cohorts that is still solved beside a bound."""
FOLLOWED = 2000
"""Rounds up to which moments are followed."""
MANY_CLIENTS = 200
"""Clients up to which they are."""


@dataclass(frozen=True, eq=False)
class After:
    """The least ``bound`` after some rounds, rounded up; ``statement`` it follows from, whose proof states it too.

    ``worst_case`` is the exact one without noise, ``instance`` what quadratics reach in the mean: both are below it,
    and None where they would take too long.
    """

    bound: float
    statement: Statement
    worst_case: float | None
    instance: float | None

    @property
    def proved(self) -> bool:
        return self.statement.proof is not None


def after(rate: Rate, begun: Begun, step: Callable[[str], None] = lambda words: None) -> After:
    """The least of what the rate's statements, and one that is sought for these rounds, say."""
    said = list(rate.statements)
    step(f"the least after {begun.rounds} rounds")
    with suppress(NotCertified):  # the others say something
        said.append(sharpest(rate, begun))
    least = min([s for s in said if s.proof is not None] or said, key=lambda s: _left(s, begun))
    bound = above(_left(least, begun))
    if least.proof is not None:  # it states the bound as well
        told = {**_words(begun), "bound": str(Fraction(repr(bound)))}
        least = replace(least, proof={**least.proof, "after": told})
    step("a worst case and quadratics beside it")
    return After(bound, least, worst(rate.case, begun), quadratics(rate.case, begun))


def _left(said: Statement, begun: Begun) -> Fraction:
    """What a statement leaves after a number of rounds, of its fractions where it is proved."""
    floats = {word: Fraction(getattr(said, word)) for word in verify.RATE_NUMBERS}
    return verify.remaining(floats if said.proof is None else said.proof["claim"], _words(begun))


def _words(begun: Begun) -> dict[str, int | str]:
    return {
        "rounds": begun.rounds,
        "initial_distance_sq": str(fraction(begun.distance)),
        "optimum_dissimilarity": str(fraction(begun.dissimilarity)),
        "gradient_variance": str(fraction(begun.variance)),
    }


# ---- below it ----


def worst(case: Case, begun: Begun) -> float | None:
    """The exact worst case of full gradients, of cohorts in the mean; None where it is too large."""
    steps, clients, cohort = case.local_steps, case.clients, case.cohort
    given = {
        "smoothness": case.smoothness, "strong_convexity": case.strong_convexity,
        "initial_distance_sq": begun.distance, "optimum_dissimilarity": begun.dissimilarity,
    }  # fmt: skip
    if cohort is None or clients is None or cohort == clients:
        clients, cohort, gradients = None, 1 if clients == 1 else 2, begun.rounds * steps
        few = gradients <= COLUMNS and taking(gradients + 1, gradients) <= PATIENCE
    else:
        branches = comb(clients, cohort)
        models = (branches ** min(begun.rounds, 9) - 1) // (branches - 1)
        few = clients <= 5 and clients * models * steps <= COLUMNS
    if not (begun.rounds and few):
        return None
    plan = Setting(begun.rounds, cohort, local_steps=steps, step_size=case.step_size)
    try:
        return worst_case(case.algorithm, plan, given, "distance_sq", clients=clients, patience=10 * PATIENCE).value
    except BoundsError:
        return None


def quadratics(case: Case, begun: Begun) -> float | None:
    """The largest exact mean over clients on a line with quadratics of one curvature or two."""
    if not begun.rounds:
        return begun.distance
    clients = case.clients or 2
    if begun.rounds > FOLLOWED or clients > MANY_CLIENTS:
        return None
    plan = Setting(begun.rounds, case.cohort or clients, local_steps=case.local_steps, step_size=case.step_size)
    # half of the clients, or the larger half, are pulled one way and the others the other way; the minimiser is 0
    many, found = clients // 2, []
    pull = np.repeat([-1.0, many / (clients - many)], [many, clients - many])
    pull = pull * (begun.dissimilarity / max((pull**2).mean(), 1e-300)) ** 0.5 if many else 0 * pull
    noise = np.full((clients, 1, 1), begun.variance)
    ends = (case.strong_convexity, case.smoothness)
    for (one, other), way in product(product(ends, ends), (1.0, -1.0)):
        curvature = np.repeat([one, other], [many, clients - many])
        minima = way * pull / curvature
        start = np.array([begun.distance**0.5])
        problem = Quadratics(curvature[:, None, None], minima[:, None], noise, start=start)
        try:
            found.append(float(exact_run(problem, case.algorithm, plan).server["distance_sq"][-1]))
        except EmpiricsError:  # a method that it does not follow
            return None
    return max(found)
