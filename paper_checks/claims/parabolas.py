"""One-dimensional quadratic federations in rational numbers, by the reference implementation of Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb


@dataclass(frozen=True)
class Scalars:
    """Clients ``f_c(x) = h_c/2 (x - b_c)^2 + floor`` with equal weights unless given; runs have no gradient noise.

    ``variance`` is that of every client's gradient, for bounds alone.
    """

    minima: tuple[Fraction, ...]
    curvatures: tuple[Fraction, ...]
    floor: Fraction = Fraction(0)
    weights: tuple[Fraction, ...] = ()
    variance: Fraction = Fraction(0)

    @classmethod
    def of(cls, minima: Sequence[int], curvatures: Sequence[int] = (), floor: int = 0) -> Scalars:
        bends = tuple(map(Fraction, curvatures)) or (Fraction(1),) * len(minima)
        return cls(tuple(map(Fraction, minima)), bends, Fraction(floor))

    @property
    def clients(self) -> int:
        return len(self.minima)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        return self.weights or (Fraction(1, self.clients),) * self.clients

    @property
    def smoothness(self) -> Fraction:
        return max(self.curvatures)

    @property
    def strong_convexity(self) -> Fraction:
        return min(self.curvatures)

    @property
    def curvature(self) -> Fraction:
        return sum((p * h for p, h in zip(self.shares, self.curvatures, strict=True)), Fraction(0))

    @property
    def minimiser(self) -> Fraction:
        pulls = (p * h * b for p, h, b in zip(self.shares, self.curvatures, self.minima, strict=True))
        return sum(pulls, Fraction(0)) / self.curvature

    def loss(self, x: Fraction) -> Fraction:
        """F(x)."""
        terms = (p * h * (x - b) ** 2 / 2 for p, h, b in zip(self.shares, self.curvatures, self.minima, strict=True))
        return sum(terms, self.floor)

    @property
    def optimal_loss(self) -> Fraction:
        return self.loss(self.minimiser)

    @property
    def heterogeneity(self) -> Fraction:
        """Gamma: every client's smallest loss is the floor."""
        return self.optimal_loss - self.floor

    def gradient(self, client: int, x: Fraction) -> Fraction:
        """The derivative of one client's loss."""
        return self.curvatures[client] * (x - self.minima[client])

    def global_gradient(self, x: Fraction) -> Fraction:
        """The derivative of F."""
        return self.curvature * (x - self.minimiser)

    def local(self, client: int, start: Fraction, steps: int, step_size: Fraction) -> list[Fraction]:
        """The client's models after 0 to ``steps`` steps, each from the model before it."""
        path = [start]
        for _ in range(steps):
            path.append(path[-1] - step_size * self.gradient(client, path[-1]))
        return path

    def cohorts(self, size: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """All cohorts of a uniform draw without replacement, each with its probability."""
        for chosen in combinations(range(self.clients), size):
            yield Fraction(1, comb(self.clients, size)), chosen

    def round_ends(
        self, start: Fraction, size: int, steps: int, step_size: Fraction
    ) -> list[tuple[Fraction, Fraction]]:
        """The server models a round can end with, each with its probability: means of a cohort's models."""
        ends = [self.local(c, start, steps, step_size)[-1] for c in range(self.clients)]
        return [(chance, sum((ends[c] for c in chosen), Fraction(0)) / size) for chance, chosen in self.cohorts(size)]

    def average(self, start: Fraction, steps: int, step_size: Fraction) -> Fraction:
        """The virtual average of all clients after these steps."""
        ends = (self.local(c, start, steps, step_size)[-1] for c in range(self.clients))
        return sum((p * end for p, end in zip(self.shares, ends, strict=True)), Fraction(0))

    def values(self) -> dict[str, int | Fraction | tuple[int | Fraction, ...]]:
        """The problem's constants by quantity name."""
        return {
            "clients": self.clients,
            "client_weight": self.shares,
            "client_gradient_variance": (self.variance,) * self.clients,
            "smoothness": self.smoothness,
            "strong_convexity": self.strong_convexity,
            "heterogeneity": self.heterogeneity,
            "optimal_loss": self.optimal_loss,
        }
