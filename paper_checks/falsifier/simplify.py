"""Simplifying a violation: fewer clients, steps and rounds, no unnecessary parts, and round numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from bounds.core import Bound

from .client_groups import counts, kinds
from .core import Instance, MARGIN
from .family import Family

KEPT = 0.25
"""Share of the score that a simpler instance must keep, up to the score ``ENOUGH``."""
ENOUGH = 0.02
PASSES = 4
COUNTS, FEW = 1000, 80
"""Evaluations for simplifying a violation, and for a short simplification."""


class Shrinker:
    """Simplifies one violation; numbers that are fixed by ``pins`` do not change."""

    def __init__(
        self, bound: Bound, family: Family, instance: Instance, pins: Mapping[str, float] | None = None
    ) -> None:
        self.bound, self.family = bound, family
        self.pins = {name: value for name, value in (pins or {}).items() if name in instance}
        self.instance = {n: v if isinstance(v, (int, Fraction)) else Fraction(v) for n, v in instance.items()}
        self.left = COUNTS
        self.needed = 10 * MARGIN
        self.needed = max(10 * MARGIN, min(KEPT * self.score(self.instance), ENOUGH))

    def score(self, instance: Instance) -> float:
        self.left -= 1
        try:
            return self.family.evaluate(self.bound, instance).score
        except (ValueError, ZeroDivisionError, OverflowError):
            return -float("inf")

    def keep(self, instance: Instance) -> bool:
        """Continue with an instance if it still violates the bound clearly; return whether it does."""
        if instance == self.instance or self.left <= 0 or self.family.misfit(self.bound, instance):
            return False
        if any(instance.get(name) != value for name, value in self.pins.items()):
            return False
        if self.score(instance) < self.needed:
            return False
        self.instance = instance
        return True

    def run(self) -> Instance:
        for _ in range(PASSES):
            before = dict(self.instance)
            self._simplify()
            self._round()
            if self.instance == before or self.left <= 0:
                break
        return self.instance

    def smaller(self) -> Instance:
        """Return the instance after a short simplification, so that exact arithmetic does not take long."""
        self.left = min(self.left, FEW)
        self._simplify()
        return self.instance

    def _simplify(self) -> None:
        """Try all simpler instances once, starting again from each one that is kept."""
        at = 0
        while self.left > 0 and at < len(options := list(simpler(self.instance))):
            at += not self.keep(options[at])

    def _round(self) -> None:
        for name in sorted(self.instance):
            value = self.instance[name]
            for rounder in rounder_than(value):
                if rounder != value and self.keep({**self.instance, name: rounder}):
                    break


def size(value: Any) -> int:
    """Return the number of digits of a rational number, trailing zeros counting a third."""
    number = Fraction(value)
    written = [(whole, whole.rstrip("0")) for whole in (str(abs(number.numerator)), str(number.denominator))]
    return sum(len(kept) + (len(whole) - len(kept)) // 3 for whole, kept in written)


def rounder_than(value: Any) -> Iterator[Any]:
    """Yield numbers close to a rational one that have fewer digits, the shortest first; none for integers."""
    if isinstance(value, int) or abs(value) in (0, 1):
        return
    near = {Fraction(0), Fraction(1), Fraction(-1), Fraction(round(value))}
    for digits in (1, 2, 3, 4):
        near |= set(significant(value, digits))
    if abs(value) < 1:
        inverse = 1 / value
        near |= {1 / f for digits in (1, 2) for f in significant(inverse, digits) if f}
    for denominator in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20):
        near.add(Fraction(round(value * denominator), denominator))
    if size(value) > 12:
        near |= {value.limit_denominator(10**d) for d in (3, 6)} | set(significant(value, 7))
    shorter = [n for n in near if size(n) < size(value)]
    yield from sorted(shorter, key=lambda n: (size(n), abs(n - value)))


def significant(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return the two decimal numbers with this many digits that enclose a value."""
    power = 0
    while abs(value) * Fraction(10) ** power < 10 ** (digits - 1):
        power += 1
    while abs(value) * Fraction(10) ** power >= 10**digits:
        power -= 1
    scale = Fraction(10) ** power
    low = (value * scale).__floor__()
    return Fraction(low) / scale, Fraction(low + 1) / scale


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
