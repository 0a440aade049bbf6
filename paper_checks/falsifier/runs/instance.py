"""A quadratic federation and its run written as a flat table of numbers, and what is built from such a table.

Client k's curvature has eigenvalues ``curvature_k_i`` along directions turned by the angle whose half has the tangent
``turn_k`` (so that rational tables give rational matrices); its minimum is ``minimum_k_i``, its gradient noise has the
variance ``noise_k`` spread over all directions, its weight is ``weight_k`` over the sum of weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.errors import EmpiricsError
from empirics.exact import Cohort, cohorts
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from ..core import Instance
from ..numbers import COUNT, Number, POSITIVE, SWITCH

Array = np.ndarray[Any, Any]
PER_CLIENT = ("curvature", "minimum", "noise", "weight", "turn")
SAMPLINGS = ("without_replacement", "with_replacement")
PLAN = (
    Number("clients", **COUNT), Number("cohort", **COUNT), Number("with_replacement", **SWITCH),
    Number("local_steps", **COUNT), Number("rounds", **COUNT), Number("step_size", **POSITIVE), Number("floor"),
    Number("relaxation", 0), Number("weight_{k}", **POSITIVE), Number("contraction", **POSITIVE, needed=False),
    Number("dissimilarity_factor", **POSITIVE, needed=False),
)  # fmt: skip
"""What the table of any run of local SGD holds."""
NUMBERS = (
    *PLAN, Number("dim", 1, 2, whole=True), Number("start_{i}"), Number("curvature_{k}_{i}", 0),
    Number("minimum_{k}_{i}"), Number("noise_{k}", 0), Number("turn_{k}", needed=False),
)  # fmt: skip


def turn(tangent: Any) -> list[list[Any]]:
    """The rotation whose half angle has this tangent: rational numbers for a rational one."""
    square = 1 + tangent * tangent
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
    """The federation of a table, with its exact constants."""
    clients, dim = instance["clients"], instance["dim"]
    matrices = np.array([np.array(curvature(instance, k), dtype=float) for k in range(clients)])
    noise = np.array([float(instance[f"noise_{k}"]) for k in range(clients)])
    weights = np.array([float(instance[f"weight_{k}"]) for k in range(clients)])
    if weights.min() <= 0:
        raise EmpiricsError("every client must have a positive weight")
    return Quadratics(
        matrices,
        np.array([[float(instance[f"minimum_{k}_{i}"]) for i in range(dim)] for k in range(clients)]),
        noise[:, None, None] / dim * np.eye(dim),
        weights=weights / weights.sum(),
        floors=np.full(clients, float(instance["floor"])),
        start=np.array([float(instance[f"start_{i}"]) for i in range(dim)]),
    )


def setting(instance: Instance) -> Setting:
    return Setting(
        rounds=instance["rounds"],
        cohort=instance["cohort"],
        local_steps=instance["local_steps"],
        step_size=float(instance["step_size"]),
        sampling=SAMPLINGS[int(instance["with_replacement"])],
        client_weight="samples" if weighted(instance) else "uniform",
    )


def weighted(instance: Instance) -> bool:
    """Whether weights other than equal ones enter the average: with all clients, or drawn by weight."""
    return len({instance[f"weight_{k}"] for k in range(instance["clients"])}) > 1


def misweighted(bound: Bound, instance: Instance) -> str:
    """Why weights other than equal ones have no place in this instance; empty if they have, or are equal.

    The average over clients drawn evenly would be of another loss than F; and a bound without weights means equal ones.
    """
    if not weighted(instance):
        return ""
    if "client_weight" not in {q.name for q in bound.quantities}:
        return "the bound knows no weights: all clients weigh the same"
    if instance["cohort"] < instance["clients"] and not instance["with_replacement"]:
        return "where clients are drawn evenly, all weigh the same"
    return ""


@lru_cache(maxsize=512)
def _drawn(clients: int, cohort: int, sampling: str, shares: tuple[float, ...]) -> tuple[Cohort, ...]:
    return cohorts(Setting(1, cohort, sampling=sampling), np.array(shares))


def drawn(instance: Instance, shares: Array) -> tuple[tuple[float, Array], ...]:
    """Every cohort of a round: its probability, and the weight of every client in the average (0: not drawn)."""
    found = []
    plan = setting(instance)
    for cohort in _drawn(len(shares), plan.cohort, plan.sampling, tuple(map(float, shares))):
        weights = np.zeros(len(shares))
        weights[list(cohort.clients)] = np.array(cohort.counts) / sum(cohort.counts)
        if plan.cohort == len(shares) and plan.sampling == "without_replacement":
            weights = np.asarray(shares, dtype=float)
        found.append((cohort.probability, weights))
    return tuple(found)


def simpler(instance: Instance) -> Iterator[Instance]:
    """The same table with less in it; shorter runs first, as they are quicker to look at."""
    clients, dim = instance["clients"], instance["dim"]
    for name in ("rounds", "local_steps"):
        for fewer in sorted({1, 2, instance[name] // 2, instance[name] * 3 // 4, instance[name] - 1}):
            if 1 <= fewer < instance[name]:
                yield {**instance, name: fewer}
    if clients > 1:
        for k in reversed(range(clients)):
            yield without(instance, k)
    if dim == 2:
        for axis in (1, 0):
            yield line(instance, axis)
        yield {**instance, **{f"turn_{k}": 0 for k in range(clients)}}
    for cohort in range(instance["cohort"] + 1, clients + 1):  # all clients are simpler than a draw of some
        yield {**instance, "cohort": cohort}
    yield from _alike(instance)


def line(instance: Instance, axis: int) -> Instance:
    """The table in one dimension, without the second coordinate or the first."""
    kept = {n: v for n, v in instance.items() if not n.startswith("turn_") and not n.endswith(f"_{axis}")}
    numbers = ("curvature_", "minimum_", "start_")
    per_client = {n: v for n, v in instance.items() if n.startswith(("noise_", "weight_"))}
    if axis == 0:
        kept = {(n[:-1] + "0" if n.startswith(numbers) else n): v for n, v in kept.items()}
    return {**kept, **per_client, "dim": 1}


def _alike(instance: Instance) -> Iterator[Instance]:
    """Tables in which a kind of number is the same for all clients, or nothing at all."""
    clients, dim = instance["clients"], instance["dim"]
    yield {**instance, **{f"noise_{k}": 0 for k in range(clients)}}
    yield {**instance, **{f"weight_{k}": 1 for k in range(clients)}}
    yield {**instance, **{f"curvature_{k}_{i}": 1 for k in range(clients) for i in range(dim)}}
    yield {**instance, "floor": 0}
    yield {**instance, "relaxation": 0}
    yield {**instance, "with_replacement": 0}
    for k in range(clients):
        yield {**instance, f"noise_{k}": 0}
    for i in range(dim):
        yield {**instance, f"start_{i}": 0}


def without(instance: Instance, client: int) -> Instance:
    """The table without one client; those after it move up."""
    clients = instance["clients"]
    fewer: Instance = {"clients": clients - 1, "cohort": min(instance["cohort"], clients - 1)}
    for name, value in instance.items():
        word, _, rest = name.partition("_")
        number, _, tail = rest.partition("_")
        if word not in PER_CLIENT or not number.isdigit():
            fewer.setdefault(name, value)
        elif int(number) != client:
            k = int(number) - (int(number) > client)
            fewer["_".join([word, str(k), *([tail] if tail else [])])] = value
    return fewer
