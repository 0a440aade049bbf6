"""One-dimensional quadratic federations in rational numbers, with FedAvg as a reference implementation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb


@dataclass(frozen=True)
class Parabolas:
    """Clients with losses ``f_c(x) = h_c/2 (x - b_c)^2 + floor`` for minima b and curvatures h.

    ``weights`` are equal unless given. Runs have no gradient noise; ``variance``, of every client's gradient, enters
    bounds alone.
    """

    minima: tuple[Fraction, ...]
    curvatures: tuple[Fraction, ...]
    floor: Fraction = Fraction(0)
    weights: tuple[Fraction, ...] = ()
    variance: Fraction = Fraction(0)

    @classmethod
    def of(cls, minima: Sequence[int], curvatures: Sequence[int] = (), floor: int = 0) -> Parabolas:
        """Return the federation with these integers; all curvatures are 1 unless given."""
        fractions = tuple(map(Fraction, curvatures)) or (Fraction(1),) * len(minima)
        return cls(tuple(map(Fraction, minima)), fractions, Fraction(floor))

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
        """Return the global loss F(x)."""
        terms = (p * h * (x - b) ** 2 / 2 for p, h, b in zip(self.shares, self.curvatures, self.minima, strict=True))
        return sum(terms, self.floor)

    @property
    def optimal_loss(self) -> Fraction:
        return self.loss(self.minimiser)

    @property
    def heterogeneity(self) -> Fraction:
        """Gamma: the optimal loss minus the floor, which is the smallest loss of every client."""
        return self.optimal_loss - self.floor

    def gradient(self, client: int, x: Fraction) -> Fraction:
        """Return the derivative of one client's loss."""
        return self.curvatures[client] * (x - self.minima[client])

    def global_gradient(self, x: Fraction) -> Fraction:
        """Return the derivative of F."""
        return self.curvature * (x - self.minimiser)

    def local(self, client: int, start: Fraction, steps: int, step_size: Fraction) -> list[Fraction]:
        """Return the client's models after 0 to ``steps`` gradient steps."""
        path = [start]
        for _ in range(steps):
            path.append(path[-1] - step_size * self.gradient(client, path[-1]))
        return path

    def cohorts(self, size: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield all cohorts of a uniform draw without replacement as pairs (probability, clients)."""
        for chosen in combinations(range(self.clients), size):
            yield Fraction(1, comb(self.clients, size)), chosen

    def round_ends(
        self, start: Fraction, size: int, steps: int, step_size: Fraction
    ) -> list[tuple[Fraction, Fraction]]:
        """Return all server models with which a round can end, the cohorts' means, as pairs (probability, model)."""
        ends = [self.local(c, start, steps, step_size)[-1] for c in range(self.clients)]
        return [(chance, sum((ends[c] for c in chosen), Fraction(0)) / size) for chance, chosen in self.cohorts(size)]

    def average(self, start: Fraction, steps: int, step_size: Fraction) -> Fraction:
        """Return the weighted average of all clients' models after these local steps."""
        ends = (self.local(c, start, steps, step_size)[-1] for c in range(self.clients))
        return sum((p * end for p, end in zip(self.shares, ends, strict=True)), Fraction(0))

    def values(self) -> dict[str, int | Fraction | tuple[int | Fraction, ...]]:
        """Return the problem's constants by quantity name, as bounds take them."""
        return {
            "clients": self.clients, "client_weight": self.shares,
            "client_gradient_variance": (self.variance,) * self.clients, "smoothness": self.smoothness,
            "strong_convexity": self.strong_convexity, "heterogeneity": self.heterogeneity,
            "optimal_loss": self.optimal_loss,
        }  # fmt: skip
