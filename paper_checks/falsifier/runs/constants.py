"""An instance in one kind of exact numbers, and the constants of its federation: rational where they are rational."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

from empirics.exact.numbers import Array, solve

from ...runs.readings import condition, of_losses, of_plan, UNBIASED
from ..kinds import counts, of_kinds
from .instance import curvature

Number = Any


class Table:
    """The numbers of an instance in one kind of arithmetic, in arrays of objects by kinds of clients.

    ``weights`` are those of whole kinds.
    """

    def __init__(self, instance: Mapping[str, Any], number: Callable[[Any], Number]) -> None:
        self.raw, self.number = instance, number
        self.counts, self.dim = counts(instance), int(instance["dim"])
        clients, axes = range(len(self.counts)), range(self.dim)
        table = {n: number(v) for n, v in instance.items()}

        def array(values: Any) -> Array:
            return np.array(values, dtype=object)

        weights = array([table[f"weight_{k}"] * self.counts[k] for k in clients])
        self.weights = weights / weights.sum()
        self.curvatures = array([curvature({**table, "dim": self.dim}, k) for k in clients])
        self.minima = array([[table[f"minimum_{k}_{i}"] for i in axes] for k in clients])
        self.noise = array([table[f"noise_{k}"] for k in clients])
        self.start = array([table[f"start_{i}"] for i in axes])
        self.floor, self.step_size, self.step_offset = table["floor"], table["step_size"], table.get("step_offset")
        self.beta = table["relaxation"]
        self.curvature = (self.weights[:, None, None] * self.curvatures).sum(0)
        self.minimiser = solve(self.curvature, self.weights @ (self.curvatures @ self.minima[..., None])[..., 0])

    def gradients(self, at: Array) -> Array:
        """Of all kinds at a model ``(kinds, d)``."""
        found: Array = (self.curvatures @ (at - self.minima)[..., None])[..., 0]
        return found

    def loss(self, at: Array) -> Number:
        """F at a model."""
        return self.floor + self.weights @ ((at - self.minima) * self.gradients(at)).sum(1) / 2


def constants(table: Table) -> dict[str, Any]:
    """Every quantity that federation and plan tell, by word."""
    raw = table.raw
    values = [raw[f"curvature_{k}_{i}"] for k in range(len(table.counts)) for i in range(table.dim)]
    optimal, start = table.loss(table.minimiser), table.loss(table.start)
    at_best = (table.gradients(table.minimiser) ** 2).sum(1)
    alike = bool((table.curvatures == table.curvatures[0]).all())
    cohort, steps, rounds = (int(raw[name]) for name in ("cohort", "local_steps", "rounds"))
    known = {
        **of_kinds(table.counts, list(table.weights)),
        "smoothness": table.number(max(values)),
        "strong_convexity": table.number(min(values)),
        "pl_constant": smallest_eigenvalue(table.curvature),
        "gradient_variance": max(table.noise),
        "client_gradient_variance": list(table.noise),
        "heterogeneity": optimal - table.floor,
        **of_losses(start, optimal),
        "initial_distance_sq": ((table.start - table.minimiser) ** 2).sum(),
        "condition_number": condition(table.number(max(values)), table.number(min(values))),
        "optimum_dissimilarity": table.weights @ at_best,
        "control_error": table.weights @ at_best,  # they begin at zero
        "uniform_dissimilarity": max(at_best) if alike else mpmath.inf,
        **UNBIASED,
        **of_plan(cohort, steps, rounds, table.step_size, table.beta, table.step_offset),
    }
    if "contraction" in raw:
        known["contraction"] = table.number(raw["contraction"])
    if "dissimilarity_factor" in raw:
        factor = table.number(raw["dissimilarity_factor"])
        known |= {"dissimilarity_factor": factor, "dissimilarity_offset": offset(table, factor)}
    return known


def smallest_eigenvalue(matrix: Array) -> Number:
    """Of a symmetric matrix of one or two rows; irrational for two, as a rule."""
    if len(matrix) == 1:
        return matrix[0, 0]
    (a, b), (_, d) = matrix
    if b == 0:
        return min(a, d)
    root = mpmath.sqrt(_decimal((a - d) * (a - d) + 4 * b * b))
    return (_decimal(a + d) - root) / 2


def _decimal(value: Any) -> Any:
    return value if isinstance(value, mpmath.mpf) else mpmath.mpf(value.numerator) / value.denominator


def offset(table: Table, factor: Number) -> Number:
    """The smallest G^2 with ``sum_k p_k ||grad F_k||^2 <= G^2 + factor ||grad F||^2`` everywhere; infinite if none."""
    squares = (table.weights[:, None, None] * (table.curvatures @ table.curvatures)).sum(0)
    excess = factor * (table.curvature @ table.curvature) - squares
    gradients = table.gradients(table.minimiser)
    constant = table.weights @ (gradients**2).sum(1)
    pulls = table.weights @ (table.curvatures @ gradients[..., None])[..., 0]
    if not excess.any() and not pulls.any():
        return constant
    minor = excess[0, 0] * excess[-1, -1] - excess[0, -1] * excess[-1, 0] if len(excess) > 1 else excess[0, 0]
    if excess[0, 0] <= 0 or minor <= 0:
        return mpmath.inf
    return constant + pulls @ solve(excess, pulls)
