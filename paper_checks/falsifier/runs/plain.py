"""The run of a table again, step by step, in rational or 60-digit arithmetic: means and covariances in plain loops.

Written apart from ``moments``, with other means (no matrix powers, no linear map of a round), so that a slip in one
does not pass in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from .instance import curvature

Number = Any
Form = Mapping[int, Number]
"""A linear form in the variables, by their positions."""


@dataclass
class Law:
    """Mean and covariance of a list of variables."""

    mean: list[Number]
    spread: list[list[Number]]

    def copy(self) -> Law:
        return Law(list(self.mean), [list(row) for row in self.spread])

    def replace(self, forms: Mapping[int, tuple[Form, Number]], noise: Mapping[int, Number]) -> None:
        """Every variable in ``forms`` becomes its form plus a constant, plus independent noise of a variance."""
        size = len(self.mean)
        means = {i: sum((c * self.mean[j] for j, c in form.items()), constant) for i, (form, constant) in forms.items()}
        rows = {
            i: [sum((c * self.spread[j][x] for j, c in form.items()), 0 * self.mean[0]) for x in range(size)]
            for i, (form, _) in forms.items()
        }
        among = {
            (i, h): sum((c * rows[i][j] for j, c in forms[h][0].items()), 0 * self.mean[0])
            for i in forms
            for h in forms
        }
        for i, row in rows.items():
            for x in range(size):
                value = among[i, x] if x in forms else row[x]
                self.spread[i][x] = self.spread[x][i] = value
            self.mean[i] = means[i]
        for i, variance in noise.items():
            self.spread[i][i] += variance

    def square(self, forms: Sequence[tuple[Form, Number]]) -> Number:
        """The expected sum of squares of forms plus constants."""
        return sum((self._one(form, constant) for form, constant in forms), 0 * self.mean[0])

    def _one(self, form: Form, constant: Number) -> Number:
        mean = sum((c * self.mean[i] for i, c in form.items()), constant)
        variance = sum((a * b * self.spread[i][j] for i, a in form.items() for j, b in form.items()), 0 * self.mean[0])
        return mean * mean + variance


def mixed(parts: list[tuple[Number, Law]]) -> Law:
    """The law of a variable drawn from one of several laws with given probabilities."""
    size = len(parts[0][1].mean)
    mean = [sum(chance * law.mean[i] for chance, law in parts) for i in range(size)]
    spread = [
        [
            sum(c * (law.spread[i][j] + (law.mean[i] - mean[i]) * (law.mean[j] - mean[j])) for c, law in parts)
            for j in range(size)
        ]
        for i in range(size)
    ]
    return Law(mean, spread)


class Table:
    """The numbers of an instance in one kind of arithmetic, with the federation's constants."""

    def __init__(self, instance: Mapping[str, Any], kind: Any) -> None:
        self.raw = instance
        self.kind = kind
        self.clients, self.dim = int(instance["clients"]), int(instance["dim"])
        clients, axes = range(self.clients), range(self.dim)
        table = {n: kind(v) for n, v in instance.items()}
        total = sum(table[f"weight_{k}"] for k in clients)
        self.weights = [table[f"weight_{k}"] / total for k in clients]
        self.curvatures = [curvature({**table, "dim": self.dim}, k) for k in clients]
        self.minima = [[table[f"minimum_{k}_{i}"] for i in axes] for k in clients]
        self.noise = [table[f"noise_{k}"] for k in clients]
        self.start = [table[f"start_{i}"] for i in axes]
        self.floor, self.step_size = table["floor"], table["step_size"]
        self.beta = table["relaxation"]
        self.curvature = [
            [sum(self.weights[k] * self.curvatures[k][i][j] for k in clients) for j in axes] for i in axes
        ]
        pull = [
            sum(self.weights[k] * self.curvatures[k][i][j] * self.minima[k][j] for k in clients for j in axes)
            for i in axes
        ]
        self.minimiser = solve(self.curvature, pull)

    def gradient(self, client: int, at: list[Number]) -> list[Number]:
        away = [x - b for x, b in zip(at, self.minima[client], strict=True)]
        return [sum(row[j] * away[j] for j in range(self.dim)) for row in self.curvatures[client]]

    def client_loss(self, client: int, at: list[Number]) -> Number:
        away = [x - b for x, b in zip(at, self.minima[client], strict=True)]
        return sum(a * g for a, g in zip(away, self.gradient(client, at), strict=True)) / 2 + self.floor

    def loss(self, at: list[Number]) -> Number:
        return sum(self.weights[k] * self.client_loss(k, at) for k in range(self.clients))

    def cohorts(self) -> Iterator[tuple[Number, list[Number]]]:
        """Every cohort in order of drawing, with its probability and the clients' weights in the average."""
        cohort, one = int(self.raw["cohort"]), self.kind(1)
        if self.raw["with_replacement"]:
            for listed in product(range(self.clients), repeat=cohort):
                chance = one
                for k in listed:
                    chance = chance * self.weights[k]
                yield chance, [one * listed.count(k) / cohort for k in range(self.clients)]
            return
        if cohort == self.clients:
            yield one, self.weights
            return
        subsets = list(combinations(range(self.clients), cohort))
        for subset in subsets:
            yield one / len(subsets), [one / cohort if k in subset else 0 * one for k in range(self.clients)]


def solve(matrix: list[list[Number]], right: list[Number]) -> list[Number]:
    """The solution of one or two linear equations."""
    if len(matrix) == 1:
        return [right[0] / matrix[0][0]]
    (a, b), (c, d) = matrix
    area = a * d - b * c
    return [(d * right[0] - b * right[1]) / area, (a * right[1] - c * right[0]) / area]
