"""Checkers of tables: printed numbers against sums, formulas and counts, to the last printed digit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..claims import Book, Finding, Grade, Status

Number = int | float | Fraction | Decimal | str


def exact(number: Number) -> Fraction:
    """The number as it is written: a float by its shortest decimal form."""
    return Fraction(str(number)) if isinstance(number, (float, str, Decimal)) else Fraction(number)


def half_unit(printed: str) -> Fraction:
    """Half a unit of the last printed digit: the most that rounding can move a number."""
    exponent = Decimal(printed).as_tuple().exponent
    return Fraction(10) ** int(exponent) / 2


@dataclass(frozen=True)
class Prints:
    """Each ``computed`` number rounds to the ``printed`` one of the same key, in its own digits.

    ``computed`` may be a function that is called when the check runs; inputs that are themselves rounded get a
    ``slack`` per key: how far rounding of the inputs can move the result. ``wrong`` are the keys audited as wrong.
    """

    printed: Mapping[str, str]
    computed: Mapping[str, Number] | Callable[[], Mapping[str, Number]]
    slack: Mapping[str, Number] | Number = 0
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        computed = self.computed() if callable(self.computed) else self.computed
        off = {}
        for key, text in self.printed.items():
            slack = self.slack.get(key, 0) if isinstance(self.slack, Mapping) else self.slack
            if abs(exact(computed[key]) - exact(text)) > half_unit(text) + exact(slack):
                off[key] = f"{key}: printed {text}, computed {float(exact(computed[key])):.6g}"
        if not off:
            return Finding(Status.HOLDS, Grade.EXACT, f"{len(self.printed)} printed numbers agree to the last digit")
        said = f"{len(off)} of {len(self.printed)} disagree: {'; '.join(list(off.values())[:6])}"
        return Finding(Status.FAILS, Grade.EXACT, said, off, not self.wrong or set(off) == set(self.wrong))


def sums_to(parts: Mapping[str, Sequence[str]], printed: Mapping[str, str], wrong: tuple[str, ...] = ()) -> Prints:
    """Printed parts add up to the printed totals, up to their rounding."""
    sums = {key: sum(map(exact, numbers), Fraction(0)) for key, numbers in parts.items()}
    slack = {key: sum((half_unit(n) for n in numbers), Fraction(0)) for key, numbers in parts.items()}
    return Prints(printed, sums, slack, wrong)


def averages_to(parts: Mapping[str, Sequence[str]], printed: Mapping[str, str], wrong: tuple[str, ...] = ()) -> Prints:
    """Printed parts have the printed means, up to their rounding."""
    means = {key: sum(map(exact, n), Fraction(0)) / len(n) for key, n in parts.items()}
    slack = {key: sum((half_unit(x) for x in n), Fraction(0)) / len(n) for key, n in parts.items()}
    return Prints(printed, means, slack, wrong)


def counts_to(
    counted: Callable[[], Mapping[str, int]], printed: Mapping[str, str], wrong: tuple[str, ...] = ()
) -> Prints:
    """Things counted when the check runs (parameters, samples) are as many as printed."""
    return Prints(printed, counted, wrong=wrong)


@dataclass(frozen=True)
class Ordered:
    """Reported numbers have the order a sentence speaks of: every pair (smaller, larger) of keys, strictly.

    ``wrong`` are the pairs audited as not in order, written ``smaller < larger``.
    """

    numbers: Mapping[str, Number]
    pairs: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        off = [(a, b) for a, b in self.pairs if not exact(self.numbers[a]) < exact(self.numbers[b])]
        if not off:
            return Finding(Status.HOLDS, Grade.PROVED, f"all {len(self.pairs)} pairs of reported numbers are in order")
        told = {f"{a} < {b}": f"{self.numbers[a]} against {self.numbers[b]}" for a, b in off}
        said = f"{len(off)} of {len(self.pairs)} pairs are not: " + "; ".join(
            f"{k} ({v})" for k, v in list(told.items())[:4]
        )
        return Finding(Status.FAILS, Grade.EXACT, said, told, not self.wrong or set(told) == set(self.wrong))
