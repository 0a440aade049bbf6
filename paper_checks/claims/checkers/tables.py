"""Checkers of tables: printed numbers against sums, formulas and counts, to the last printed digit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..claim import Book, ClaimError, Finding, Grade, Status

Wrong = tuple[str, ...] | Mapping[str, str]
Number = int | float | Fraction | Decimal | str


ROUNDING = Fraction(1, 10**14)
"""Share of a computed float that floating-point arithmetic may have added."""


def exact(number: Number) -> Fraction:
    """The number as it is written: a float by its shortest decimal form."""
    try:
        return Fraction(number if isinstance(number, (int, Fraction)) else str(number))
    except ValueError:
        raise ClaimError(f"{number!r} is not a finite number") from None


def half_unit(printed: str) -> Fraction:
    """Half a unit of the last printed digit: the most that rounding can move a number."""
    exact(printed)
    exponent = Decimal(printed).as_tuple().exponent
    return Fraction(10) ** int(exponent) / 2


def _entry(table: Mapping[str, Number], key: str, what: str) -> Number:
    if key not in table:
        raise ClaimError(f"there is no {what} number {key!r}; there are {', '.join(map(repr, table))}")
    return table[key]


@dataclass(frozen=True)
class Prints:
    """Each ``computed`` number rounds to the ``printed`` one of the same key, in its own digits.

    ``computed`` may be a function that is called when the check runs; inputs that are themselves rounded get a
    ``slack`` per key: how far rounding of the inputs can move the result. ``wrong`` are the keys audited as wrong, with
    what they should be (in the digits that are compared) where it is a mapping.
    """

    printed: Mapping[str, str]
    computed: Mapping[str, Number] | Callable[[], Mapping[str, Number]]
    slack: Mapping[str, Number] | Number = 0
    wrong: Wrong = ()

    def __call__(self, book: Book) -> Finding:
        computed = self.computed() if callable(self.computed) else self.computed
        if not self.printed:
            raise ClaimError("no printed numbers are given: nothing is compared")
        off = {}
        for key, text in self.printed.items():
            if not self._agrees(key, text, _entry(computed, key, "computed")):
                off[key] = f"{key}: printed {text}, computed {float(exact(computed[key])):.6g}"
        if not off:
            return Finding(Status.HOLDS, Grade.EXACT, f"{len(self.printed)} printed numbers agree to the last digit")
        said = f"{len(off)} of {len(self.printed)} disagree: {'; '.join(list(off.values())[:6])}"
        return Finding(Status.FAILS, Grade.EXACT, said, off, self._audited(set(off), computed))

    def _agrees(self, key: str, text: str, computed: Number) -> bool:
        slack = exact(self.slack.get(key, 0) if isinstance(self.slack, Mapping) else self.slack)
        if isinstance(computed, float):
            slack += abs(exact(computed)) * ROUNDING
        return abs(exact(computed) - exact(text)) <= half_unit(text) + slack

    def _audited(self, off: set[str], computed: Mapping[str, Number]) -> bool:
        if isinstance(self.wrong, Mapping):
            alike = all(self._agrees(key, text, computed[key]) for key, text in self.wrong.items() if key in off)
            return alike and off == set(self.wrong)
        return not self.wrong or off == set(self.wrong)


def _paired(parts: Mapping[str, Sequence[str]], printed: Mapping[str, str]) -> None:
    """Every printed number has parts, and all parts a printed number: a misspelt key would drop a comparison."""
    if odd := set(parts) ^ set(printed):
        raise ClaimError(f"parts and printed numbers must have the same keys; only one of them has {sorted(odd)}")
    if empty := [key for key, numbers in parts.items() if not numbers]:
        raise ClaimError(f"there are no parts for {', '.join(empty)}")


def sums_to(parts: Mapping[str, Sequence[str]], printed: Mapping[str, str], wrong: Wrong = ()) -> Prints:
    """Printed parts add up to the printed totals, up to their rounding."""
    _paired(parts, printed)
    sums = {key: sum(map(exact, numbers), Fraction(0)) for key, numbers in parts.items()}
    slack = {key: sum((half_unit(n) for n in numbers), Fraction(0)) for key, numbers in parts.items()}
    return Prints(printed, sums, slack, wrong)


def averages_to(parts: Mapping[str, Sequence[str]], printed: Mapping[str, str], wrong: Wrong = ()) -> Prints:
    """Printed parts have the printed means, up to their rounding."""
    _paired(parts, printed)
    means = {key: sum(map(exact, n), Fraction(0)) / len(n) for key, n in parts.items()}
    slack = {key: sum((half_unit(x) for x in n), Fraction(0)) / len(n) for key, n in parts.items()}
    return Prints(printed, means, slack, wrong)


def counts_to(counted: Callable[[], Mapping[str, int]], printed: Mapping[str, str], wrong: Wrong = ()) -> Prints:
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
        if not self.pairs:
            raise ClaimError("no pairs are given: nothing is compared")
        numbers = {key: exact(_entry(self.numbers, key, "reported")) for pair in self.pairs for key in pair}
        off = [(a, b) for a, b in self.pairs if not numbers[a] < numbers[b]]
        if not off:
            return Finding(Status.HOLDS, Grade.PROVED, f"all {len(self.pairs)} pairs of reported numbers are in order")
        told = {f"{a} < {b}": f"{self.numbers[a]} against {self.numbers[b]}" for a, b in off}
        said = f"{len(off)} of {len(self.pairs)} pairs are not: " + "; ".join(
            f"{k} ({v})" for k, v in list(told.items())[:4]
        )
        return Finding(Status.FAILS, Grade.EXACT, said, told, not self.wrong or set(told) == set(self.wrong))
