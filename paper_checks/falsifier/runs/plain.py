"""The run of a table again, step by step, in rational or 60-digit arithmetic: means and covariances in plain loops.

Written apart from ``moments``, with other means (no powers of a step, products of two clients' models instead of
spreads around a mean), so that a slip in one does not pass in the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kinds import counts
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

    def product(self, form: Form, other: Form) -> Number:
        """The expected product of two forms."""
        return sum(
            (
                a * b * (self.mean[i] * self.mean[j] + self.spread[i][j])
                for i, a in form.items()
                for j, b in other.items()
            ),
            0 * self.mean[0],
        )

    def square(self, forms: Sequence[tuple[Form, Number]]) -> Number:
        """The expected sum of squares of forms plus constants."""
        return sum((self._one(form, constant) for form, constant in forms), 0 * self.mean[0])

    def _one(self, form: Form, constant: Number) -> Number:
        mean = sum((c * self.mean[i] for i, c in form.items()), constant)
        variance = sum((a * b * self.spread[i][j] for i, a in form.items() for j, b in form.items()), 0 * self.mean[0])
        return mean * mean + variance


class Pairs:
    """Who is drawn, by expected products of (weight in the average, 1 if it works else 0), in one kind of arithmetic.

    ``alone(k)`` is (E a, E I, E a^2) of a client of kind k, ``together(k, h)`` (E a a', E a I', E I I') of it and
    another one of kind h. Who has weight works, so that E a I = E a.
    """

    def __init__(self, raw: Mapping[str, Any], counts: Sequence[int], weights: Sequence[Number], one: Number) -> None:
        self.cohort, self.clients, self.one = int(raw["cohort"]), sum(counts), one
        self.again = bool(raw["with_replacement"])
        self.shares = [weight / count for weight, count in zip(weights, counts, strict=True)]
        self.everybody = self.cohort == self.clients and not self.again

    def alone(self, k: int) -> tuple[Number, Number, Number]:
        p, n = self.shares[k], self.cohort
        if self.everybody:
            return p, self.one, p * p
        if not self.again:
            return self.one / self.clients, self.one * n / self.clients, self.one / (n * self.clients)
        return p, 1 - (1 - p) ** n, (p * (1 - p) + n * p * p) / n

    def together(self, k: int, h: int) -> tuple[Number, Number, Number]:
        p, q, n = self.shares[k], self.shares[h], self.cohort
        if self.everybody:
            return p * q, p, self.one
        if not self.again:
            both = self.one * n * (n - 1) / (self.clients * (self.clients - 1))
            return both / (n * n), both / n, both
        apart = 1 - (1 - p) ** n - (1 - q) ** n + (1 - p - q) ** n
        return (n - 1) * p * q / n, p * (1 - (1 - q) ** (n - 1)), apart


class Table:
    """The numbers of an instance in one kind of arithmetic, with the federation's constants; weights of whole kinds."""

    def __init__(self, instance: Mapping[str, Any], kind: Any) -> None:
        self.raw = instance
        self.kind = kind
        self.counts, self.dim = counts(instance), int(instance["dim"])
        self.kinds, self.clients = len(self.counts), sum(self.counts)
        clients, axes = range(self.kinds), range(self.dim)
        table = {n: kind(v) for n, v in instance.items()}
        total = sum(table[f"weight_{k}"] * self.counts[k] for k in clients)
        self.weights = [table[f"weight_{k}"] * self.counts[k] / total for k in clients]
        self.curvatures = [curvature({**table, "dim": self.dim}, k) for k in clients]
        self.minima = [[table[f"minimum_{k}_{i}"] for i in axes] for k in clients]
        self.noise = [table[f"noise_{k}"] for k in clients]
        self.start = [table[f"start_{i}"] for i in axes]
        self.floor, self.step_size = table["floor"], table["step_size"]
        self.step_offset = table.get("step_offset")
        self.beta = table["relaxation"]
        self.curvature = [
            [sum(self.weights[k] * self.curvatures[k][i][j] for k in clients) for j in axes] for i in axes
        ]
        pull = [
            sum(self.weights[k] * self.curvatures[k][i][j] * self.minima[k][j] for k in clients for j in axes)
            for i in axes
        ]
        self.minimiser = solve(self.curvature, pull)
        self.pairs = Pairs(instance, self.counts, self.weights, kind(1))

    @property
    def straight(self) -> bool:
        """Whether every curvature lies along the axes, so that no axis meets another in a round."""
        return not any(row[j] for c in self.curvatures for i, row in enumerate(c) for j in range(self.dim) if j != i)

    def gradient(self, client: int, at: list[Number]) -> list[Number]:
        away = [x - b for x, b in zip(at, self.minima[client], strict=True)]
        return [sum(row[j] * away[j] for j in range(self.dim)) for row in self.curvatures[client]]

    def client_loss(self, client: int, at: list[Number]) -> Number:
        away = [x - b for x, b in zip(at, self.minima[client], strict=True)]
        return sum(a * g for a, g in zip(away, self.gradient(client, at), strict=True)) / 2 + self.floor

    def loss(self, at: list[Number]) -> Number:
        return sum(self.weights[k] * self.client_loss(k, at) for k in range(self.kinds))

    def centred(self) -> Table:
        """The same run with the minimiser of F at the origin."""
        moved = dict(self.raw)
        for i, place in enumerate(self.minimiser):
            moved |= {f"minimum_{k}_{i}": self.minima[k][i] - place for k in range(self.kinds)}
            moved[f"start_{i}"] = self.start[i] - place
        return Table(moved, lambda v: v if isinstance(v, type(self.step_size)) else self.kind(v))


def solve(matrix: list[list[Number]], right: list[Number]) -> list[Number]:
    """The solution of one or two linear equations."""
    if len(matrix) == 1:
        return [right[0] / matrix[0][0]]
    (a, b), (c, d) = matrix
    area = a * d - b * c
    return [(d * right[0] - b * right[1]) / area, (a * right[1] - c * right[0]) / area]
