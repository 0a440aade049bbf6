"""The exact constants of an instance's federation; all are rational except eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath

from empirics.exact import Clients, FRACTIONS
from empirics.exact.numbers import Array, Kind, solve

from ...runs.readings import condition, of_losses, of_plan, UNBIASED
from ..core import Instance
from ..kinds import counts, kinds, of_kinds
from .instance import curvature


def exact_clients(instance: Mapping[str, Any], kind: Kind = FRACTIONS) -> Clients:
    """Return the clients of an instance in an exact number type, translated so that the minimiser is 0."""
    dim, every = int(instance["dim"]), range(kinds(instance))
    table: Instance = {**{name: Fraction(value) for name, value in instance.items()}, "dim": dim}
    noises = [[[table[f"noise_{k}"] / dim * (i == j) for i in range(dim)] for j in range(dim)] for k in every]
    return Clients.of(
        kind, counts(instance), [table[f"weight_{k}"] for k in every], [curvature(table, k) for k in every],
        [[table[f"minimum_{k}_{i}"] for i in range(dim)] for k in every], noises,
        [table[f"start_{i}"] for i in range(dim)],
    )  # fmt: skip


def constants(instance: Mapping[str, Any], step_size: Any, step_offset: Any = None) -> dict[str, Any]:
    """Return all quantities that do not need a run, by name; step sizes are given, as they may be irrational."""
    c, give = exact_clients(instance), FRACTIONS.result
    every = range(kinds(instance))
    values = [Fraction(instance[f"curvature_{k}_{i}"]) for k in every for i in range(c.dim)]
    noise = [Fraction(instance[f"noise_{k}"]) for k in every]
    pulls = (c.curvature @ c.minima[..., None])[..., 0]
    gamma, at_minimiser = give(c.weights @ (c.minima * pulls).sum(1) / 2), [give(x) for x in (pulls**2).sum(1)]
    mean = give(c.weights @ (pulls**2).sum(1))
    optimal = Fraction(instance["floor"]) + gamma
    cohort, steps, rounds = (int(instance[name]) for name in ("cohort", "local_steps", "rounds"))
    quantities = {
        **of_kinds(c.sizes, [give(weight) for weight in c.weights]),
        "smoothness": max(values),
        "strong_convexity": min(values),
        "pl_constant": smallest_eigenvalue(FRACTIONS.results(c.hessian)),
        "gradient_variance": max(noise),
        "client_gradient_variance": noise,
        "heterogeneity": gamma,
        **of_losses(optimal + give(c.start @ c.hessian @ c.start / 2), optimal),
        "initial_distance_sq": give(c.start @ c.start),
        "condition_number": condition(max(values), min(values)),
        "optimum_dissimilarity": mean,
        "control_error": mean,  # controls start at zero
        "uniform_dissimilarity": max(at_minimiser) if (c.curvature == c.curvature[0]).all() else mpmath.inf,
        **UNBIASED,
        **of_plan(cohort, steps, rounds, step_size, Fraction(instance["relaxation"]), step_offset),
    }
    if "contraction" in instance:
        quantities["contraction"] = Fraction(instance["contraction"])
    if "dissimilarity_factor" in instance:
        factor = quantities["dissimilarity_factor"] = Fraction(instance["dissimilarity_factor"])
        quantities["dissimilarity_offset"] = give(offset(c, FRACTIONS.make(factor)))
    return quantities


def smallest_eigenvalue(matrix: Array) -> Any:
    """Return the smallest eigenvalue of a symmetric matrix of fractions with one or two rows."""
    if len(matrix) == 1:
        return matrix[0, 0]
    (a, b), (_, d) = matrix
    if b == 0:
        return min(a, d)
    square = (a - d) ** 2 + 4 * b * b
    return (mpmath.mpmathify(a + d) - mpmath.sqrt(mpmath.mpmathify(square))) / 2


def offset(c: Clients, factor: Any) -> Any:
    """Return the smallest G^2 with ``sum_k p_k |grad F_k|^2 <= G^2 + factor |grad F|^2`` everywhere, or infinity."""
    gradients = -(c.curvature @ c.minima[..., None])[..., 0]
    excess = factor * (c.hessian @ c.hessian) - (c.weights[:, None, None] * (c.curvature @ c.curvature)).sum(0)
    pulls, constant = c.weights @ (c.curvature @ gradients[..., None])[..., 0], c.weights @ (gradients**2).sum(1)
    if not excess.any() and not pulls.any():
        return constant
    minor = excess[0, 0] * excess[-1, -1] - excess[0, -1] * excess[-1, 0] if len(excess) > 1 else excess[0, 0]
    if excess[0, 0] <= 0 or minor <= 0:
        return mpmath.inf
    return constant + pulls @ solve(excess, pulls)
