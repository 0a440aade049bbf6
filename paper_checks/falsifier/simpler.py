"""Simpler variants of an instance: fewer clients, steps and rounds, equal or zero numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from .core import Instance
from .kinds import counts, kinds

PER_KIND = ("curvature", "minimum", "noise", "weight", "turn", "count", "share", "place", "tilt")
"""The numbers that every client group has."""
PLAINEST = {"noise": 0, "weight": 1, "curvature": 1, "tilt": 0, "start": 0, "turn": 0}
"""The simplest value of numbers of all client groups."""
LEAST = {"floor": 0, "relaxation": 0, "with_replacement": 0, "bowl": 0, "height": 1, "alike": 1, "start": 0}


def simpler(instance: Instance) -> Iterator[Instance]:
    """Yield simpler variants, shorter runs first, as these are faster to evaluate."""
    for name in ("rounds", "local_steps", "samples"):
        for fewer in _below(instance.get(name, 1)):
            yield {**instance, name: fewer}
    yield from _in_units(instance)
    yield from _fewer(instance)
    if kinds(instance) > 1:
        yield from (_without(instance, k) for k in reversed(range(kinds(instance))))
    if instance.get("dim") == 2:
        yield from (_line(instance, axis) for axis in (1, 0))
    if "samples" not in instance:  # in atoms, the cohort determines the data
        clients, cohort = instance["clients"], instance["cohort"]
        for more in sorted({1, *range(cohort + 1, min(clients, cohort + 9) + 1), clients}):
            yield {**instance, "cohort": more}  # full participation is simpler than a draw
    yield from _plainer(instance)


def _below(count: int) -> list[int]:
    """Return smaller positive integers, in steps of all magnitudes."""
    powers = {1 << k for k in range(count.bit_length())} if count > 50 else set()
    tens = {10**k for k in range(len(str(count)))}
    return sorted(x for x in {1, 2, 3, 5, 30, count // 2, count * 3 // 4, count - 1} | powers | tens if 1 <= x < count)


def _in_units(instance: Instance) -> Iterator[Instance]:
    """Yield the federation in units in which its largest position, or its largest curvature, is 1."""
    places, curves, noises = ([name for name in instance if name.startswith(words)]
                              for words in (("minimum_", "start_"), "curvature_", "noise_"))  # fmt: skip
    if not places:
        return
    far, steep = max(abs(instance[name]) for name in places), max(instance[name] for name in curves)
    far, steep = (Fraction(x) if isinstance(x, int) else x for x in (far, steep))
    if far not in (0, 1):
        scaled = {name: instance[name] / far for name in places} | {name: instance[name] / far**2 for name in noises}
        yield {**instance, **scaled}
    if steep not in (0, 1):
        scaled = {name: instance[name] / steep for name in curves} | {n: instance[n] / steep**2 for n in noises}
        yield {**instance, **scaled, "step_size": instance["step_size"] * steep}


def _fewer(instance: Instance) -> Iterator[Instance]:
    """Yield variants with fewer clients in a group and the same cohort, or the same share of clients in it."""
    clients = instance["clients"]
    for k, count in enumerate(counts(instance)):
        for left in _below(count):
            total = clients - count + left
            for cohort in sorted({min(instance["cohort"], total), max(1, instance["cohort"] * total // clients)}):
                yield {**instance, "clients": total, f"count_{k}": left, "cohort": cohort}


def _without(instance: Instance, kind: int) -> Instance:
    """Return the instance without a client group; the last group takes its number."""
    last, clients = kinds(instance) - 1, instance["clients"] - counts(instance)[kind]
    kept = dict(instance)
    for name in instance:
        word, *rest = name.split("_")
        if word in PER_KIND and rest[:1] == [str(last)]:
            value = kept.pop(name)
            if kind < last:
                kept["_".join([word, str(kind), *rest[1:]])] = value
    kept |= {"clients": clients, "cohort": min(instance["cohort"], clients)}
    return {**kept, "kinds": last} if "kinds" in instance else kept


def _line(instance: Instance, axis: int) -> Instance:
    """Return the instance in one dimension, without the coordinate ``axis``."""
    by_axis = ("curvature_", "minimum_", "start_")
    kept: Instance = {"dim": 1}
    for name, value in instance.items():
        if not name.startswith(by_axis):
            kept |= {} if name.startswith(("turn_", "dim")) else {name: value}
        elif not name.endswith(f"_{axis}"):
            kept[f"{name[:-1]}0"] = value
    return kept


def _plainer(instance: Instance) -> Iterator[Instance]:
    """Yield variants in which numbers are the same for all clients, or have their simplest value."""
    for word, value in PLAINEST.items():
        if names := [name for name in instance if name.startswith(f"{word}_")]:
            yield {**instance, **dict.fromkeys(names, value)}
            yield from ({**instance, name: value} for name in names if word in ("noise", "start"))
    yield from ({**instance, name: value} for name, value in LEAST.items() if name in instance)
    if "kinds" in instance and max(counts(instance)) == 1:
        yield {n: v for n, v in instance.items() if n != "kinds" and not n.startswith("count_")}
    for name in [name for name in instance if name.startswith("share_")]:
        one, other = name.replace("share", "place") + "_0", name.replace("share", "place") + "_1"
        yield {**instance, one: 1, other: -1}
        yield {**instance, other: instance[one]}
        yield {**instance, name: Fraction(1, 2)}
