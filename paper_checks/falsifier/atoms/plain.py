"""The same table again in fractions: plain loops over every single data set and cohort, laws of sums of clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from ..kinds import counts, of_kinds

Sample = tuple[Fraction, Fraction]
"""Curvature and place of a sample's loss."""


def _sum(one: dict[Fraction, Fraction], other: dict[Fraction, Fraction]) -> dict[Fraction, Fraction]:
    """The law of the sum of two independent numbers."""
    law: dict[Fraction, Fraction] = {}
    for x, p in one.items():
        for y, q in other.items():
            law[x + y] = law.get(x + y, Fraction(0)) + p * q
    return law


class Plain:
    """A table in fractions."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = {name: Fraction(value) for name, value in table.items()}
        self.counts, self.samples = counts(table), int(table["samples"])
        self.kinds, self.clients = len(self.counts), sum(self.counts)
        total = sum(self.table[f"weight_{k}"] * count for k, count in enumerate(self.counts))
        self.weights = [self.table[f"weight_{k}"] / total for k in range(self.kinds)]

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
        kinds = range(self.kinds)
        gap, out = Fraction(0), Fraction(0)
        apart, taking = [Fraction(0)] * self.kinds, [Fraction(0)] * self.kinds
        for chance, model in self.cohorts():
            for k in kinds:
                seen, whole, own = self._risks(model, k)
                taking[k] += chance * (model[k] > 0)
                gap += chance * self.counts[k] * (self.weights[k] * whole - model[k] * seen)
                out += chance * self.counts[k] * model[k] * (whole - seen)
                apart[k] += chance * (model[k] > 0) * (seen - own)
        return {
            **of_kinds(self.counts, [w * c for w, c in zip(self.weights, self.counts, strict=True)]),
            "generalization_gap": gap,
            "out_of_sample_gap": out,
            "participation_gap": gap - out,
            "non_iidness": [a / t for a, t in zip(apart, taking, strict=True)],
            **self._constants(),
        }

    def _risks(self, model: list[Fraction], k: int) -> tuple[Fraction, Fraction, Fraction]:
        """Expected risk of the average on a client's data and distribution, and that of its own model on its data."""
        seen, whole, own = Fraction(0), Fraction(0), Fraction(0)
        rest = self._rest(model, k)
        for chance, samples in self.data(k):
            mine = self.trained(samples)
            own += chance * self.risk(samples, mine)
            for others, likely in rest.items():
                w = model[k] * mine + others
                seen += chance * likely * self.risk(samples, w)
                whole += chance * likely * self.population(k, w)
        return seen, whole, own

    def _rest(self, model: list[Fraction], k: int) -> dict[Fraction, Fraction]:
        """Every value of the sum of all other clients' weighted models, with its chance."""
        law = {Fraction(0): Fraction(1)}
        for h, count in enumerate(self.counts):
            one: dict[Fraction, Fraction] = {}
            for chance, samples in self.data(h):
                value = model[h] * self.trained(samples)
                one[value] = one.get(value, Fraction(0)) + chance
            for _ in range(count - (h == k)):
                law = _sum(law, one)
        return law

    def _constants(self) -> dict[str, Any]:
        clients = range(self.kinds)
        curves = [a for k in clients for _, (a, _) in self.points(k)]
        means = [self._mean(k) for k in clients]
        centre = sum((c * p * m for c, p, m in zip(self.counts, self.weights, means, strict=True)), Fraction(0))
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
            "smoothness": max(curves),
            "strong_convexity": min(curves),
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
