"""What a rate is of: a method and its plan over a class of clients, with noise and cohorts where they are given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from bounds.errors import BoundsError
from empirics.algorithms.algorithm import Algorithm, Rows, ServerStart
from empirics.algorithms.relaxed import RelaxedStart

from .lyapunov import Lyapunov, Weights
from .one_round import Cohort, one_round, OneRound

UTMOST, SHORTEST = 1e12, 1e-6
"""Of L, of which the units are made; of a step size, and of it times L, that is distinguished from rounding."""


@dataclass(frozen=True)
class Case:
    """A method and its plan over L-smooth, mu-strongly convex clients; noise and cohorts where they are given."""

    algorithm: Algorithm
    local_steps: int
    step_size: float
    smoothness: float
    strong_convexity: float
    clients: int | None = None
    cohort: int | None = None
    noisy: bool = False

    def __post_init__(self) -> None:
        L, mu = self.smoothness, self.strong_convexity
        if not 0 < mu < L:
            raise BoundsError(
                f"a rate needs 0 < strong_convexity < smoothness; got strong_convexity={mu:g}, smoothness={L:g}"
            )
        if not 1 / UTMOST <= L <= UTMOST:
            raise BoundsError(f"smoothness must be from {1 / UTMOST:g} to {UTMOST:g}; got {L:g}: take other units")
        if not self.step_size >= SHORTEST / min(L, 1.0):
            raise BoundsError(
                f"step_size must be {SHORTEST:g} or more for a rate, and {SHORTEST:g}/smoothness or more; got "
                f"{self.step_size:g} (in other units both are other numbers)"
            )
        if self.local_steps < 1:
            raise BoundsError(f"local_steps must be a whole number >= 1; got {self.local_steps}")
        if self.clients is not None and self.clients < 1:
            raise BoundsError(f"clients must be a whole number >= 1; got {self.clients}")
        if self.cohort is not None and self.clients is None:
            raise BoundsError(f"cohort={self.cohort} needs clients=...: how many it is drawn from")
        if self.cohort is not None and self.clients is not None and not 1 <= self.cohort <= self.clients:
            raise BoundsError(f"cohort must be a whole number from 1 to clients; got cohort={self.cohort}, "
                              f"clients={self.clients}")  # fmt: skip
        if self.noisy and (self.clients is None or self.cohort not in (None, self.clients)):
            raise BoundsError("with gradient_variance a rate needs clients, all of them in every round")

    @property
    def played(self) -> Algorithm:
        """The algorithm without last models that nothing depends on: a start relaxed by 0 is the server model."""
        if not isinstance(self.algorithm.start, RelaxedStart) or self.algorithm.start.beta:
            return self.algorithm
        kept = tuple(keeper for keeper in self.algorithm.remember if keeper != Rows("last"))
        return replace(self.algorithm, start=ServerStart(), remember=kept)

    @cached_property
    def round(self) -> OneRound:
        some = self.drawn if self.cohort != self.clients else None
        return one_round(self.played, self.local_steps, self.step_size, some)

    @cached_property
    def program(self) -> Lyapunov:
        return Lyapunov(self.round, self.smoothness, self.strong_convexity, self.noise, self.drawn)

    @property
    def noise(self) -> int | None:
        """Of how many clients, where gradients are noisy."""
        return self.clients if self.noisy else None

    @property
    def drawn(self) -> Cohort | None:
        return Cohort(self.cohort, self.clients) if self.cohort and self.clients else None

    @property
    def plain(self) -> bool:
        """Whether all clients take part with full gradients: nothing is random then."""
        return self.noise is None and self.program.cohort is None

    @property
    def weights(self) -> Weights:
        """What start, floor and noise count for in units of the class: distances 1, gradients L."""
        unit = self.smoothness**2
        return 1.0, unit, unit, unit if self.noisy else 0.0
