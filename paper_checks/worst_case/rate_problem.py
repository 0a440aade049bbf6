"""The setting of a rate: a method, its plan and a class of clients, optionally with noise or drawn cohorts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from bounds.errors import BoundsError
from empirics.algorithms.algorithm import Algorithm, Rows, ServerStart
from empirics.algorithms.relaxed import RelaxedStart

from .lyapunov import CostWeights, Lyapunov
from .one_round import CohortSize, one_round, OneRound

LARGEST_L, SMALLEST_STEP = 1e12, 1e-6
"""Limit of L and of 1/L; lower limit of the step size and of its product with L."""


@dataclass(frozen=True)
class RateProblem:
    """A method and its plan for L-smooth, mu-strongly convex clients.

    ``clients=None`` means any number. With ``noisy``, gradients have independent noise. With ``cohort``, each round
    draws that many clients without replacement.
    """

    algorithm: Algorithm
    local_steps: int
    step_size: float
    smoothness: float
    strong_convexity: float
    clients: int | None = None
    cohort: int | None = None
    noisy: bool = False

    def __post_init__(self) -> None:
        L, mu, clients, cohort = self.smoothness, self.strong_convexity, self.clients, self.cohort
        if not 0 < mu < L:
            raise BoundsError(f"a rate needs 0 < strong_convexity < smoothness; got {mu:g} and {L:g}")
        if not 1 / LARGEST_L <= L <= LARGEST_L:
            raise BoundsError(
                f"smoothness must be from {1 / LARGEST_L:g} to {LARGEST_L:g}; got {L:g}: take other units"
            )
        if not self.step_size >= SMALLEST_STEP / min(L, 1.0):
            least = f"{SMALLEST_STEP:g} for a rate, and >= {SMALLEST_STEP:g}/smoothness"
            raise BoundsError(f"step_size must be >= {least}; got {self.step_size:g} (take other units)")
        for name, x in (("local_steps", self.local_steps), ("clients", clients), ("cohort", cohort)):
            if x is not None and x < 1:
                raise BoundsError(f"{name} must be an integer >= 1; got {x}")
        if cohort is not None and clients is None:
            raise BoundsError(f"cohort={cohort} needs clients=...: how many it is drawn from")
        if cohort is not None and clients is not None and cohort > clients:
            raise BoundsError(f"cohort must be at most clients; got cohort={cohort}, clients={clients}")
        if self.noisy and (clients is None or cohort not in (None, clients)):
            raise BoundsError("with gradient_variance a rate needs clients, all of them in every round")

    @property
    def simplified(self) -> Algorithm:
        """The algorithm, without client memory if its relaxed start has beta = 0 and is thus the server model."""
        if not isinstance(self.algorithm.start, RelaxedStart) or self.algorithm.start.beta:
            return self.algorithm
        remember = tuple(keeper for keeper in self.algorithm.remember if keeper != Rows("last"))
        return replace(self.algorithm, start=ServerStart(), remember=remember)

    @cached_property
    def round(self) -> OneRound:
        return one_round(self.simplified, self.local_steps, self.step_size, self.partial_cohort)

    @cached_property
    def program(self) -> Lyapunov:
        noisy_clients = self.clients if self.noisy else None
        return Lyapunov(self.round, self.smoothness, self.strong_convexity, noisy_clients, self.partial_cohort)

    @property
    def partial_cohort(self) -> CohortSize | None:
        """The cohort if some clients do not take part in a round, else None."""
        if self.cohort and self.clients and self.cohort < self.clients:
            return CohortSize(self.cohort, self.clients)
        return None

    @property
    def weights(self) -> CostWeights:
        """Default weights, for distances of 1 and gradients of L."""
        unit = self.smoothness**2
        return CostWeights(1.0, unit, unit, unit if self.noisy else 0.0)
