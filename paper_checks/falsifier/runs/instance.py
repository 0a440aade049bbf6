"""A quadratic federation and its run written as a flat table of numbers, and what is built from such a table.

Clients are of ``kinds`` kinds (each client is one of its own unless told), ``count_k`` of kind k. Its curvature has
eigenvalues ``curvature_k_i`` along directions turned by the angle whose half has the tangent
``turn_k`` (so that rational tables give rational matrices); its minimum is ``minimum_k_i``, its gradient noise has the
variance ``noise_k`` spread over all directions, its weight is ``weight_k`` over the sum of all clients' weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.errors import EmpiricsError
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from ...runs.methods import controlled
from ..core import Instance
from ..kinds import counts, kinds
from ..numbers import COUNT, Number, POSITIVE, SWITCH

Array = np.ndarray[Any, Any]
PER_KIND = ("curvature", "minimum", "noise", "weight", "turn", "count")
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
    if controlled(bound.about) and instance["with_replacement"]:
        return "where more than models is kept, nobody is drawn twice"
    if not weighted(instance):
        return ""
    if controlled(bound.about):
        return "what is kept beside models is averaged evenly: all clients weigh the same"
    if "client_weight" not in {q.name for q in bound.quantities}:
        return "the bound knows no weights: all clients weigh the same"
    if instance["cohort"] < instance["clients"] and not instance["with_replacement"]:
        return "where clients are drawn evenly, all weigh the same"
    return ""


def simpler(instance: Instance) -> Iterator[Instance]:
    """The same table with less in it; shorter runs first, as they are quicker to look at."""
    clients, dim, number = instance["clients"], instance["dim"], kinds(instance)
    for name in ("rounds", "local_steps"):
        powers = {1 << k for k in range(instance[name].bit_length())} if instance[name] > 50 else set()
        tens = {10**k for k in range(len(str(instance[name])))}
        for fewer in sorted({1, 2, instance[name] // 2, instance[name] * 3 // 4, instance[name] - 1} | powers | tens):
            if 1 <= fewer < instance[name]:
                yield {**instance, name: fewer}
    yield from _in_units(instance)
    yield from _fewer(instance)
    if number > 1:
        for k in reversed(range(number)):
            yield without(instance, k)
    if dim == 2:
        for axis in (1, 0):
            yield line(instance, axis)
        yield {**instance, **{f"turn_{k}": 0 for k in range(number)}}
    for cohort in sorted({1, *range(instance["cohort"] + 1, min(clients, instance["cohort"] + 9) + 1), clients}):
        yield {**instance, "cohort": cohort}  # all clients are simpler than a draw of some
    yield from _alike(instance)


def _in_units(instance: Instance) -> Iterator[Instance]:
    """The same federation in units in which its largest place, or its largest curvature, is 1."""
    places = [name for name in instance if name.startswith(("minimum_", "start_"))]
    curves = [name for name in instance if name.startswith("curvature_")]
    noises = [name for name in instance if name.startswith("noise_")]
    far, steep = max(abs(instance[name]) for name in places), max(instance[name] for name in curves)
    far, steep = (Fraction(x) if isinstance(x, int) else x for x in (far, steep))
    if far not in (0, 1):
        scaled = {name: instance[name] / far for name in places} | {name: instance[name] / far**2 for name in noises}
        yield {**instance, **scaled}
    if steep not in (0, 1):
        scaled = {name: instance[name] / steep for name in curves} | {n: instance[n] / steep**2 for n in noises}
        yield {**instance, **scaled, "step_size": instance["step_size"] * steep}


def _fewer(instance: Instance) -> Iterator[Instance]:
    """Fewer clients of a kind, the cohort as before or as large a share."""
    clients = instance["clients"]
    for k, count in enumerate(counts(instance)):
        for left in sorted({1, 2, 3, 5, 10, 30, 100, 1000, count // 2, count * 3 // 4, count - 1}):
            if 1 <= left < count:
                total = clients - count + left
                for cohort in sorted({min(instance["cohort"], total), max(1, instance["cohort"] * total // clients)}):
                    yield {**instance, "clients": total, f"count_{k}": left, "cohort": cohort}


def line(instance: Instance, axis: int) -> Instance:
    """The table in one dimension, without the second coordinate or the first."""
    kept = {n: v for n, v in instance.items() if not n.startswith("turn_") and not n.endswith(f"_{axis}")}
    numbers = ("curvature_", "minimum_", "start_")
    per_kind = {n: v for n, v in instance.items() if n.startswith(("noise_", "weight_", "count_"))}
    if axis == 0:
        kept = {(n[:-1] + "0" if n.startswith(numbers) else n): v for n, v in kept.items()}
    return {**kept, **per_kind, "dim": 1}


def _alike(instance: Instance) -> Iterator[Instance]:
    """Tables in which a kind of number is the same for all clients, or nothing at all."""
    number, dim = kinds(instance), instance["dim"]
    yield {**instance, **{f"noise_{k}": 0 for k in range(number)}}
    yield {**instance, **{f"weight_{k}": 1 for k in range(number)}}
    yield {**instance, **{f"curvature_{k}_{i}": 1 for k in range(number) for i in range(dim)}}
    yield {**instance, "floor": 0}
    yield {**instance, "relaxation": 0}
    yield {**instance, "with_replacement": 0}
    if "kinds" in instance and max(counts(instance)) == 1:
        yield {n: v for n, v in instance.items() if n != "kinds" and not n.startswith("count_")}
    for k in range(number):
        yield {**instance, f"noise_{k}": 0}
    for i in range(dim):
        yield {**instance, f"start_{i}": 0}


def without(instance: Instance, kind: int) -> Instance:
    """The table without one kind of clients; those after it move up."""
    clients = instance["clients"] - counts(instance)[kind]
    fewer: Instance = {"clients": clients, "cohort": min(instance["cohort"], clients)}
    fewer |= {"kinds": kinds(instance) - 1} if "kinds" in instance else {}
    for name, value in instance.items():
        word, _, rest = name.partition("_")
        number, _, tail = rest.partition("_")
        if word not in PER_KIND or not number.isdigit():
            fewer.setdefault(name, value)
        elif int(number) != kind:
            k = int(number) - (int(number) > kind)
            fewer["_".join([word, str(k), *([tail] if tail else [])])] = value
    return fewer
