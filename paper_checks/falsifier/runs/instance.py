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

import numpy as np

from bounds.core import Bound
from empirics.errors import EmpiricsError
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from ...runs.methods import keeps_state
from ..core import Instance
from ..kinds import counts, kinds
from ..numbers import COUNT, Number, POSITIVE, SWITCH

Array = np.ndarray[Any, Any]
SAMPLINGS = ("without_replacement", "with_replacement")
PLAN = (
    Number("clients", **COUNT), Number("cohort", **COUNT), Number("with_replacement", **SWITCH),
    Number("local_steps", **COUNT), Number("rounds", **COUNT), Number("step_size", **POSITIVE), Number("floor"),
    Number("relaxation", 0), Number("weight_{k}", **POSITIVE), Number("contraction", **POSITIVE, needed=False),
    Number("dissimilarity_factor", **POSITIVE, needed=False), Number("step_offset", **POSITIVE, needed=False),
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
