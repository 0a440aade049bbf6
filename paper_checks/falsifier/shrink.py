"""Simplifying a violation: fewer clients, steps and rounds, no unnecessary parts, and round numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from bounds.core import Bound

from .core import Instance, MARGIN
from .instances import Family
from .simpler import simpler

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
        if instance == self.instance or self.left <= 0:
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
