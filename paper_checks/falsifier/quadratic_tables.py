"""Quadratic federations and their runs as flat tables of numbers, and the objects built from such a table.

There are ``kinds`` client groups (by default one per client) with ``count_k`` clients in group k. The curvature of
their losses has eigenvalues ``curvature_k_i`` along axes rotated by the angle whose half has the tangent ``turn_k`` (so
that rational tables give rational matrices). The minimum is at ``minimum_k_i``, the gradient noise has variance
``noise_k`` spread over all directions, and the weight is ``weight_k`` over the sum of all clients' weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from bounds.core import Bound
from empirics.errors import EmpiricsError
from empirics.exact import Clients, FRACTIONS
from empirics.exact.numbers import Array, Kind, solve
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from ..runs.methods import keeps_state
from ..runs.readings import condition, of_losses, of_plan, UNBIASED
from .client_groups import counts, kinds, of_groups
from .core import Instance
from .numbers import COUNT, Number, POSITIVE, SWITCH

SAMPLINGS = ("without_replacement", "with_replacement")
PLAN = (
    Number("clients", **COUNT), Number("cohort", **COUNT), Number("with_replacement", **SWITCH),
    Number("local_steps", **COUNT), Number("rounds", **COUNT), Number("step_size", **POSITIVE), Number("floor"),
    Number("relaxation", 0), Number("weight_{k}", **POSITIVE), Number("contraction", **POSITIVE, needed=False),
    Number("dissimilarity_factor", 1, needed=False), Number("step_offset", **POSITIVE, needed=False),
)  # fmt: skip
"""The numbers of any run of local SGD."""
NUMBERS = (
    *PLAN, Number("dim", 1, 2, whole=True), Number("start_{i}"), Number("curvature_{k}_{i}", 0),
    Number("minimum_{k}_{i}"), Number("noise_{k}", 0), Number("turn_{k}", needed=False),
    Number("kinds", **COUNT, needed=False), Number("count_{k}", **COUNT, needed=False),
)  # fmt: skip


def turn(tangent: Any) -> list[list[Any]]:
    """Return the rotation matrix whose half angle has this tangent; rational numbers for a rational tangent."""
    square = 1 + tangent * tangent
    square = Fraction(square) if isinstance(square, int) else square  # a ratio of integers would be a float
    cosine, sine = (1 - tangent * tangent) / square, 2 * tangent / square
    return [[cosine, -sine], [sine, cosine]]


def curvature(instance: Instance, client: int) -> list[list[Any]]:
    """Return the client's curvature matrix, in the number type of the table."""
    dim = instance["dim"]
    values = [instance[f"curvature_{client}_{i}"] for i in range(dim)]
    if dim == 1:
        return [[values[0]]]
    axes = turn(instance.get(f"turn_{client}", 0))
    return [[sum(axes[i][e] * values[e] * axes[j][e] for e in range(2)) for j in range(2)] for i in range(2)]


def problem(instance: Instance) -> Quadratics:
    """Return the federation of a table: one client per group, with the weight of the whole group."""
    number, dim = kinds(instance), instance["dim"]
    matrices = np.array([np.array(curvature(instance, k), dtype=float) for k in range(number)])
    noise = np.array([float(instance[f"noise_{k}"]) for k in range(number)])
    weights = np.array([float(instance[f"weight_{k}"]) for k in range(number)]) * counts(instance)
    if weights.min() <= 0:
        raise EmpiricsError("every client must have a positive weight")
    return Quadratics(
        matrices, np.array([[float(instance[f"minimum_{k}_{i}"]) for i in range(dim)] for k in range(number)]),
        noise[:, None, None] / dim * np.eye(dim), weights=weights / weights.sum(),
        floors=np.full(number, float(instance["floor"])),
        start=np.array([float(instance[f"start_{i}"]) for i in range(dim)]),
    )  # fmt: skip


def setting(instance: Mapping[str, Any]) -> Setting:
    """Return the plan of a table, in the number type of its step size."""
    plan = (instance[name] for name in ("rounds", "cohort", "local_steps", "step_size"))
    return _setting(*plan, instance.get("step_offset"), bool(instance["with_replacement"]), weighted(instance))


@lru_cache(maxsize=16, typed=True)
def _setting(rounds: int, cohort: int, steps: int, step_size: Any, offset: Any, again: bool, weights: bool) -> Setting:
    return Setting(
        rounds=rounds, cohort=cohort, local_steps=steps, step_size=step_size, step_offset=offset,
        sampling=SAMPLINGS[again], client_weight="samples" if weights else "uniform",
    )  # fmt: skip


def weighted(instance: Mapping[str, Any]) -> bool:
    """Return whether the clients have different weights."""
    return len({instance[f"weight_{k}"] for k in range(kinds(instance))}) > 1


def misweighted(bound: Bound, instance: Instance) -> str:
    """Return why the weights or the sampling of this instance are not covered by the bound; empty if they are. A
    uniformly drawn cohort minimises another loss than a weighted F, bounds without weights assume equal ones, and state
    other than models is averaged with equal weights over clients that take part at most once."""
    if keeps_state(bound.about) and instance["with_replacement"]:
        return "a method that may store more than models draws no client twice"
    if not weighted(instance):
        return ""
    if keeps_state(bound.about):
        return "state other than models is averaged with equal weights: all clients must have the same weight"
    if "client_weight" not in {q.name for q in bound.quantities}:
        return "the bound contains no weights: all clients must have the same weight"
    if instance["cohort"] < instance["clients"] and not instance["with_replacement"]:
        return "clients are drawn uniformly: all must have the same weight"
    return ""


def exact_clients(instance: Mapping[str, Any], kind: Kind = FRACTIONS) -> Clients:
    """Return the clients of an instance in an exact number type, translated so that the minimiser is 0."""
    dim, every = int(instance["dim"]), range(kinds(instance))
    of_clients = ("weight_", "curvature_", "turn_", "minimum_", "noise_", "start_")
    table: Instance = {name: Fraction(value) for name, value in instance.items() if name.startswith(of_clients)}
    table["dim"] = dim
    noises = [[[table[f"noise_{k}"] / dim * (i == j) for i in range(dim)] for j in range(dim)] for k in every]
    return Clients.of(
        kind, counts(instance), [table[f"weight_{k}"] for k in every], [curvature(table, k) for k in every],
        [[table[f"minimum_{k}_{i}"] for i in range(dim)] for k in every], noises,
        [table[f"start_{i}"] for i in range(dim)],
    )  # fmt: skip


def planned(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quantities that the numbers of an instance are or that its plan determines."""
    names = ("cohort", "local_steps", "rounds", "step_size", "relaxation")
    plan = of_plan(**{name: instance[name] for name in names}, step_offset=instance.get("step_offset"))
    free = {name: instance[name] for name in ("contraction", "dissimilarity_factor") if name in instance}
    return {**plan, **free}


def constants(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return all quantities that do not need a run, by name, for an instance in fractions; its step size may be an
    irrational number of 60 digits."""
    c, give = exact_clients(instance), FRACTIONS.result
    every = range(kinds(instance))
    values = [Fraction(instance[f"curvature_{k}_{i}"]) for k in every for i in range(c.dim)]
    noise = [Fraction(instance[f"noise_{k}"]) for k in every]
    pulls = (c.curvature @ c.minima[..., None])[..., 0]
    gamma, at_minimiser = give(c.weights @ (c.minima * pulls).sum(1) / 2), [give(x) for x in (pulls**2).sum(1)]
    mean = give(c.weights @ (pulls**2).sum(1))
    optimal = Fraction(instance["floor"]) + gamma
    quantities = {
        **of_groups(c.sizes, [give(weight) for weight in c.weights]),
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
        **planned(instance),
    }
    if "dissimilarity_factor" in instance:
        factor = FRACTIONS.make(instance["dissimilarity_factor"])
        quantities["dissimilarity_offset"] = give(offset(c, factor))
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
