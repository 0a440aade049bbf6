"""Units as exponents of four base dimensions.

Counts, weights and ratios are pure numbers. The model space has its own length, ``parameter``, so that a smoothness
constant is ``loss/parameter^2`` and a step size ``parameter^2/loss``. This is enough to detect a missing factor or a
wrong root.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

BASES = ("loss", "parameter", "second", "megabit")


@dataclass(frozen=True)
class Unit:
    """A product of powers of the base dimensions, with exponents in the order of ``BASES``."""

    exponents: tuple[Fraction, ...] = (Fraction(0),) * len(BASES)

    def __mul__(self, other: Unit) -> Unit:
        return Unit(tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, power: int | Fraction) -> Unit:
        return Unit(tuple(a * Fraction(power) for a in self.exponents))

    def __str__(self) -> str:
        def show(pairs: list[tuple[str, Fraction]]) -> str:
            return " ".join(base if e == 1 else f"{base}^{e}" for base, e in pairs)

        above = [(b, e) for b, e in zip(BASES, self.exponents, strict=True) if e > 0]
        below = [(b, -e) for b, e in zip(BASES, self.exponents, strict=True) if e < 0]
        if not below:
            return show(above) or "1"
        under = show(below)
        return f"{show(above) or '1'}/{f'({under})' if len(below) > 1 else under}"


def _base(name: str) -> Unit:
    return Unit(tuple(Fraction(int(b == name)) for b in BASES))


ONE = Unit()
LOSS, PARAMETER, SECOND, MEGABIT = (_base(name) for name in BASES)
