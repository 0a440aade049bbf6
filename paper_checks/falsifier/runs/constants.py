"""An instance in one kind of exact numbers, and the constants of its federation: rational where they are rational."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

from ...runs.readings import condition, of_losses, of_plan, UNBIASED
from ..kinds import counts, of_kinds
from .instance import curvature

Number = Any
Matrix = Sequence[Sequence[Number]]


class Table:
    """The numbers of an instance in one kind of arithmetic; ``weights`` are those of whole kinds of clients."""

    def __init__(self, instance: Mapping[str, Any], kind: Callable[[Any], Number]) -> None:
        self.raw, self.kind = instance, kind
        self.counts, self.dim = counts(instance), int(instance["dim"])
        self.kinds = len(self.counts)
        clients, axes = range(self.kinds), range(self.dim)
        table = {n: kind(v) for n, v in instance.items()}
        total = sum(table[f"weight_{k}"] * self.counts[k] for k in clients)
        self.weights = [table[f"weight_{k}"] * self.counts[k] / total for k in clients]
        self.curvatures = [curvature({**table, "dim": self.dim}, k) for k in clients]
        self.minima = [[table[f"minimum_{k}_{i}"] for i in axes] for k in clients]
        self.noise = [table[f"noise_{k}"] for k in clients]
        self.start = [table[f"start_{i}"] for i in axes]
        self.floor, self.step_size, self.step_offset = table["floor"], table["step_size"], table.get("step_offset")
        self.beta = table["relaxation"]
        self.curvature = [
            [sum(self.weights[k] * self.curvatures[k][i][j] for k in clients) for j in axes] for i in axes
        ]
        pull = [
            sum(self.weights[k] * self.curvatures[k][i][j] * self.minima[k][j] for k in clients for j in axes)
            for i in axes
        ]
        self.minimiser = solve(self.curvature, pull)

    def gradient(self, client: int, at: Sequence[Number]) -> list[Number]:
        away = [x - b for x, b in zip(at, self.minima[client], strict=True)]
        return [sum(row[j] * away[j] for j in range(self.dim)) for row in self.curvatures[client]]

    def loss(self, at: Sequence[Number]) -> Number:
        """F at a model."""
        return self.floor + sum(
            p * sum((x - b) * g for x, b, g in zip(at, minimum, self.gradient(k, at), strict=True)) / 2
            for k, (p, minimum) in enumerate(zip(self.weights, self.minima, strict=True))
        )


def solve(matrix: Matrix, right: Sequence[Number]) -> list[Number]:
    """The solution of one or two linear equations."""
    if len(matrix) == 1:
        return [right[0] / matrix[0][0]]
    (a, b), (c, d) = matrix
    area = a * d - b * c
    return [(d * right[0] - b * right[1]) / area, (a * right[1] - c * right[0]) / area]


def constants(table: Table) -> dict[str, Any]:
    """Every quantity that federation and plan tell, by word."""
    raw, clients = table.raw, range(table.kinds)
    values = [v for k in clients for v in (raw[f"curvature_{k}_{i}"] for i in range(table.dim))]
    optimal, start = table.loss(table.minimiser), table.loss(table.start)
    floors = [table.floor for _ in clients]
    best = sum(p * f for p, f in zip(table.weights, floors, strict=True))
    away = [x - y for x, y in zip(table.start, table.minimiser, strict=True)]
    at_best = [sum(g * g for g in table.gradient(k, table.minimiser)) for k in clients]
    alike = all(each == table.curvatures[0] for each in table.curvatures)
    cohort, steps, rounds = (int(raw[name]) for name in ("cohort", "local_steps", "rounds"))
    known = {
        **of_kinds(table.counts, table.weights),
        "smoothness": table.kind(max(values)),
        "strong_convexity": table.kind(min(values)),
        "pl_constant": smallest_eigenvalue(table.curvature),
        "gradient_variance": max(table.noise),
        "client_gradient_variance": table.noise,
        "heterogeneity": optimal - best,
        **of_losses(start, optimal),
        "initial_distance_sq": sum(a * a for a in away),
        "condition_number": condition(table.kind(max(values)), table.kind(min(values))),
        "optimum_dissimilarity": sum(p * g for p, g in zip(table.weights, at_best, strict=True)),
        "control_error": sum(p * g for p, g in zip(table.weights, at_best, strict=True)),  # they begin at zero
        "uniform_dissimilarity": max(at_best) if alike else mpmath.inf,
        **UNBIASED,
        **of_plan(cohort, steps, rounds, table.step_size, table.beta, table.step_offset),
    }
    if "contraction" in raw:
        known["contraction"] = table.kind(raw["contraction"])
    if "dissimilarity_factor" in raw:
        factor = table.kind(raw["dissimilarity_factor"])
        known |= {"dissimilarity_factor": factor, "dissimilarity_offset": offset(table, factor)}
    return known


def smallest_eigenvalue(matrix: Matrix) -> Number:
    """Of a symmetric matrix of one or two rows; irrational for two, as a rule."""
    if len(matrix) == 1:
        return matrix[0][0]
    (a, b), (_, d) = matrix
    if b == 0:
        return min(a, d)
    root = mpmath.sqrt(_decimal((a - d) * (a - d) + 4 * b * b))
    return (_decimal(a + d) - root) / 2


def _decimal(value: Any) -> Any:
    return value if isinstance(value, mpmath.mpf) else mpmath.mpf(value.numerator) / value.denominator


def offset(table: Table, factor: Number) -> Number:
    """The smallest G^2 with ``sum_k p_k ||grad F_k||^2 <= G^2 + factor ||grad F||^2`` everywhere; infinite if none."""
    axes, clients = range(table.dim), range(table.kinds)
    excess = [
        [
            factor * _product(table.curvature, table.curvature, i, j)
            - sum(table.weights[k] * _product(table.curvatures[k], table.curvatures[k], i, j) for k in clients)
            for j in axes
        ]
        for i in axes
    ]
    gradients = [table.gradient(k, table.minimiser) for k in clients]
    constant = sum(table.weights[k] * g * g for k in clients for g in gradients[k])
    pulls = [
        sum(table.weights[k] * table.curvatures[k][i][j] * gradients[k][j] for k in clients for j in axes) for i in axes
    ]
    if all(excess[i][j] == 0 for i in axes for j in axes) and not any(pulls):
        return constant
    minors = [excess[0][0], _determinant(excess)]
    if any(minor <= 0 for minor in minors):
        return mpmath.inf
    found = solve(excess, pulls)
    return constant + sum(v * x for v, x in zip(pulls, found, strict=True))


def _product(left: Matrix, right: Matrix, i: int, j: int) -> Number:
    return sum(left[i][e] * right[e][j] for e in range(len(left)))


def _determinant(matrix: Matrix) -> Number:
    if len(matrix) == 1:
        return matrix[0][0]
    return matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]
