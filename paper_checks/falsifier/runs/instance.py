"""A quadratic federation and its run written as a flat table of numbers, and what is built from such a table.

Clients are of ``kinds`` kinds (each client is one of its own by default), ``count_k`` of kind k. Its curvature has
eigenvalues ``curvature_k_i`` along directions turned by the angle whose half has the tangent
``turn_k`` (so that rational tables give rational matrices); its minimum is ``minimum_k_i``, its gradient noise has the
variance ``noise_k`` spread over all directions, its weight is ``weight_k`` over the sum of all clients' weights.
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
"""What the table of any run of local SGD holds."""
NUMBERS = (
    *PLAN, Number("dim", 1, 2, whole=True), Number("start_{i}"), Number("curvature_{k}_{i}", 0),
    Number("minimum_{k}_{i}"), Number("noise_{k}", 0), Number("turn_{k}", needed=False),
    Number("kinds", **COUNT, needed=False), Number("count_{k}", **COUNT, needed=False),
)  # fmt: skip


def turn(tangent: Any) -> list[list[Any]]:
    """The rotation whose half angle has this tangent: rational numbers for a rational one."""
    square = 1 + tangent * tangent
    square = Fraction(square) if isinstance(square, int) else square  # of whole numbers Python's ratio is a float
    cosine, sine = (1 - tangent * tangent) / square, 2 * tangent / square
    return [[cosine, -sine], [sine, cosine]]


def curvature(instance: Instance, client: int) -> list[list[Any]]:
    """The client's curvature matrix, in the kind of numbers that the table holds."""
    dim = instance["dim"]
    values = [instance[f"curvature_{client}_{i}"] for i in range(dim)]
    if dim == 1:
        return [[values[0]]]
    axes = turn(instance.get(f"turn_{client}", 0))
    return [[sum(axes[i][e] * values[e] * axes[j][e] for e in range(2)) for j in range(2)] for i in range(2)]


def problem(instance: Instance) -> Quadratics:
    """The federation of a table, with its exact constants: one client per kind, with all the weight of its kind."""
    number, dim = kinds(instance), instance["dim"]
    matrices = np.array([np.array(curvature(instance, k), dtype=float) for k in range(number)])
    noise = np.array([float(instance[f"noise_{k}"]) for k in range(number)])
    weights = np.array([float(instance[f"weight_{k}"]) for k in range(number)]) * counts(instance)
    if weights.min() <= 0:
        raise EmpiricsError("every client must have a positive weight")
    return Quadratics(
        matrices,
        np.array([[float(instance[f"minimum_{k}_{i}"]) for i in range(dim)] for k in range(number)]),
        noise[:, None, None] / dim * np.eye(dim),
        weights=weights / weights.sum(),
        floors=np.full(number, float(instance["floor"])),
        start=np.array([float(instance[f"start_{i}"]) for i in range(dim)]),
    )


def setting(instance: Mapping[str, Any]) -> Setting:
    """The plan of a table, in the kind of number that its step size is."""
    plan = (instance[name] for name in ("rounds", "cohort", "local_steps", "step_size"))
    return _setting(*plan, instance.get("step_offset"), bool(instance["with_replacement"]), weighted(instance))


@lru_cache(maxsize=16, typed=True)
def _setting(rounds: int, cohort: int, steps: int, step_size: Any, offset: Any, again: bool, weights: bool) -> Setting:
    return Setting(
        rounds=rounds,
        cohort=cohort,
        local_steps=steps,
        step_size=step_size,
        step_offset=offset,
        sampling=SAMPLINGS[again],
        client_weight="samples" if weights else "uniform",
    )


def weighted(instance: Mapping[str, Any]) -> bool:
    """Whether weights other than equal ones enter the average: with all clients, or drawn by weight."""
    return len({instance[f"weight_{k}"] for k in range(kinds(instance))}) > 1


def misweighted(bound: Bound, instance: Instance) -> str:
    """Why weights other than equal ones have no place in this instance; empty if they have, or are equal.

    The average over clients drawn evenly would be of another loss than F; and a bound without weights means equal ones.
    What else a method keeps is averaged evenly, over clients that take part once at most.
    """
    if keeps_state(bound.about) and instance["with_replacement"]:
        return "where more than models is kept, no client is drawn twice"
    if not weighted(instance):
        return ""
    if keeps_state(bound.about):
        return "what is kept beside models is averaged evenly: all clients weigh the same"
    if "client_weight" not in {q.name for q in bound.quantities}:
        return "the bound knows no weights: all clients weigh the same"
    if instance["cohort"] < instance["clients"] and not instance["with_replacement"]:
        return "where clients are drawn evenly, all weigh the same"
    return ""
