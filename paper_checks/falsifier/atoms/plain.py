"""The same table again in fractions: plain loops over every single data set, cohort and client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Sample = tuple[Fraction, Fraction]
"""Curvature and place of a sample's loss."""


class Plain:
    """A table in fractions."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = {name: Fraction(value) for name, value in table.items()}
        self.clients, self.samples = int(table["clients"]), int(table["samples"])
        total = sum(self.table[f"weight_{k}"] for k in range(self.clients))
        self.weights = [self.table[f"weight_{k}"] / total for k in range(self.clients)]

    def points(self, k: int) -> list[tuple[Fraction, Sample]]:
        whose = 0 if self.table["alike"] else k
        share = self.table[f"share_{whose}"]
        own = [(self.table[f"curvature_{whose}_{i}"], self.table[f"place_{whose}_{i}"]) for i in range(2)]
        return [(share, own[0]), (1 - share, own[1])]

    def data(self, k: int) -> Iterator[tuple[Fraction, list[Sample]]]:
        """Every sequence of samples with its chance."""
        for drawn in product(self.points(k), repeat=self.samples):
            chance = Fraction(1)
            for c, _ in drawn:
                chance *= c
            if chance:
                yield chance, [point for _, point in drawn]

    def best(self, samples: list[Sample]) -> Fraction:
        return sum((a * y for a, y in samples), Fraction(0)) / sum(a for a, _ in samples)

    def trained(self, samples: list[Sample]) -> Fraction:
        """The local model: the minimiser, or gradient descent on all samples."""
        steps = int(self.table["local_steps"])
        if not steps:
            return self.best(samples)
        w = self.table["start"]
        for _ in range(steps):
            w -= self.table["step_size"] * sum((a * (w - y) for a, y in samples), Fraction(0)) / len(samples)
        return w

    def risk(self, samples: list[Sample], w: Fraction) -> Fraction:
        return sum((a * (w - y) ** 2 / 2 for a, y in samples), Fraction(0)) / len(samples)

    def population(self, k: int, w: Fraction) -> Fraction:
        return sum((c * a * (w - y) ** 2 / 2 for c, (a, y) in self.points(k)), Fraction(0))

    def cohorts(self) -> Iterator[tuple[Fraction, list[Fraction]]]:
        cohort, clients = int(self.table["cohort"]), range(self.clients)
        if self.table["sampling"] == 0:
            yield Fraction(1), self.weights
        elif self.table["sampling"] == 1:
            for drawn in product(clients, repeat=cohort):
                chance = Fraction(1)
                for k in drawn:
                    chance *= self.weights[k]
                yield chance, [Fraction(drawn.count(k), cohort) for k in clients]
        else:
            subsets = list(combinations(clients, cohort))
            for subset in subsets:
                own = [self.weights[k] * self.clients / cohort if k in subset else Fraction(0) for k in clients]
                yield Fraction(1, len(subsets)), own

    def words(self) -> dict[str, Any]:
        clients = range(self.clients)
        gap, out = Fraction(0), Fraction(0)
        apart, taking = [Fraction(0)] * self.clients, [Fraction(0)] * self.clients
        for chance, model in self.cohorts():
            for k in clients:
                taking[k] += chance * (model[k] > 0)
            for likely, sets in self._joint():
                w = sum((m * self.trained(s) for m, s in zip(model, sets, strict=True)), Fraction(0))
                seen = sum((model[k] * self.risk(sets[k], w) for k in clients), Fraction(0))
                gap += chance * likely * (sum(self.weights[k] * self.population(k, w) for k in clients) - seen)
                out += chance * likely * (sum(model[k] * self.population(k, w) for k in clients) - seen)
                for k in clients:
                    own = self.trained(sets[k])
                    apart[k] += chance * likely * (model[k] > 0) * (self.risk(sets[k], w) - self.risk(sets[k], own))
        return {
            "generalization_gap": gap,
            "out_of_sample_gap": out,
            "participation_gap": gap - out,
            "non_iidness": [a / t for a, t in zip(apart, taking, strict=True)],
            **self._constants(),
        }

    def _joint(self) -> Iterator[tuple[Fraction, list[list[Sample]]]]:
        """Every combination of the clients' data sets with its chance."""
        for drawn in product(*(list(self.data(k)) for k in range(self.clients))):
            chance = Fraction(1)
            for c, _ in drawn:
                chance *= c
            yield chance, [samples for _, samples in drawn]

    def _constants(self) -> dict[str, Any]:
        clients = range(self.clients)
        curves = [a for k in clients for _, (a, _) in self.points(k)]
        means = [self._mean(k) for k in clients]
        centre = sum((p * m for p, m in zip(self.weights, means, strict=True)), Fraction(0))
        noise = [self._noise(k) for k in clients]
        return {
            "local_gap": [
                sum(c * (self.population(k, self.trained(s)) - self.risk(s, self.trained(s))) for c, s in self.data(k))
                for k in clients
            ],
            "local_suboptimality": [
                sum(c * (self.risk(s, self.trained(s)) - self.risk(s, self.best(s))) for c, s in self.data(k))
                for k in clients
            ],
            "client_weight": self.weights,
            "smoothness": max(curves),
            "strong_convexity": min(curves),
            "clients": self.clients,
            "cohort": int(self.table["cohort"]),
            "samples": self.samples,
            "client_distance_sq": [(m - centre) ** 2 for m in means],
            "client_gradient_variance": noise,
            "gradient_variance": max(noise),
        }

    def _mean(self, k: int) -> Fraction:
        points = self.points(k)
        return sum((c * a * y for c, (a, y) in points), Fraction(0)) / sum(c * a for c, (a, _) in points)

    def _noise(self, k: int) -> Fraction:
        (share, (_, one)), (_, (_, other)) = self.points(k)
        mean = sum((c * a for c, (a, _) in self.points(k)), Fraction(0))
        return share * (1 - share) * (mean * (one - other)) ** 2
