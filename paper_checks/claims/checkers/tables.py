"""Checkers of tables: printed numbers to the last digit, and measured ones against each other beyond noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from ...reported import Reported
from ..claim import Book, ClaimError, Finding, Grade, Status

Wrong = tuple[str, ...] | Mapping[str, str]
Number = int | float | Fraction | Decimal | str
Entry = TypeVar("Entry")


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


def _entry(table: Mapping[str, Entry], key: str, what: str) -> Entry:
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
                off[key] = f"{key}: printed {text}, found {float(exact(computed[key])):.6g}"
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


# ---- noise: one rule for the tables of all papers ----

LEVEL = 0.05
"""Chance that two means of runs of one method count as different."""


def noise(*deviations: Number, runs: int | None = None) -> float:
    """The largest difference of measured means that is within noise, given the deviations printed beside all of them.

    Over ``runs`` runs each a mean has the standard error deviation / sqrt(runs), and a difference exceeds noise beyond
    the two-sided 5 % point of Student's t, with Welch's degrees of freedom. Where a paper does not say of how many runs
    (None), a deviation counts as the standard error and 1.96 is the point: more than three runs or more would allow.
    """
    if runs is not None and runs < 2:
        raise ClaimError(f"noise needs two runs; got {runs}")
    squares = [float(exact(d)) ** 2 / (runs or 1) for d in deviations]
    if not any(squares):
        return 0.0
    if runs is None:
        return NormalDist().inv_cdf(1 - LEVEL / 2) * sqrt(sum(squares))
    from scipy.stats import t

    freedom = sum(squares) ** 2 * (runs - 1) / sum(q**2 for q in squares)
    return float(t.ppf(1 - LEVEL / 2, freedom)) * sqrt(sum(squares))


class Mean(NamedTuple):
    """A measured mean, or a difference of some, with the deviations printed beside them (none: not printed)."""

    value: Fraction
    deviations: tuple[Fraction, ...] = ()

    def less(self, other: Mean) -> Mean:
        return Mean(self.value - other.value, self.deviations + other.deviations)


Cell = Number | Reported | Mean


def mean(cell: Cell) -> Mean:
    """A cell of a table with its deviation, if one is printed."""
    if isinstance(cell, Mean):
        return cell
    if isinstance(cell, Reported):
        return Mean(exact(cell.value), (exact(cell.std),) if cell.std else ())
    return Mean(exact(cell))


def ahead(small: Cell, large: Cell, runs: int | None = None) -> tuple[Fraction, float]:
    """By how much the second is larger, and how much of that is within noise.

    Where one of two cells has a deviation, the other is taken to have the same; where neither has any, the printed
    digits decide, as if there were no noise.
    """
    one, two = mean(small), mean(large)
    known = one.deviations or two.deviations
    return two.value - one.value, noise(*(one.deviations or known), *(two.deviations or known), runs=runs)


@dataclass(frozen=True)
class Ordered:
    """Reported numbers have the order that a sentence states: ``pairs`` are rows ``smaller < larger`` of their keys.

    Noise is that of ``ahead``. The order FAILS where a pair is in reverse beyond noise. It HOLDS, of the printed means,
    where all pairs are in order and at least one beyond noise; the others are named as in order by the means only.
    Otherwise the table decides nothing, and it is OPEN. The deviations are taken to be those of ``runs`` runs.
    ``significant``: the sentence itself asks for more than noise, in every pair. ``wrong`` are the pairs audited as
    deciding against it.
    """

    numbers: Mapping[str, Cell]
    pairs: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    runs: int | None = None
    significant: bool = False

    def __call__(self, book: Book) -> Finding:
        if not self.pairs:
            raise ClaimError("no pairs are given: nothing is compared")
        cells = {row: [mean(_entry(self.numbers, key, "reported")) for key in row.split(" < ")] for row in self.pairs}
        found = {pair: ahead(small, large, self.runs) for pair, (small, large) in cells.items()}
        beyond = {pair for pair, (by, most) in found.items() if by > most}
        off = {pair for pair, (by, most) in found.items() if (by < -most if most else by <= 0)}
        off |= set(found) - beyond if self.significant else set()
        undecided = {pair for pair, (by, _) in found.items() if by <= 0} if beyond else set(found)
        noisy, rest = any(most for _, most in found.values()), [pair for pair in found if pair not in beyond]
        digits = sum(noisy and not found[pair][1] for pair in beyond)
        told = {}
        for pair in sorted(rest, key=lambda pair: pair not in off):
            told[pair] = " against ".join(f"{float(cell.value):.6g}" for cell in cells[pair])
            told[pair] += f", noise {found[pair][1]:.2g}" if found[pair][1] else ""
        how = f" beyond noise, {LEVEL:.0%} a pair" if noisy else "; no deviations printed"
        how += f", if the deviations are of {self.runs} runs" if noisy and self.runs else ""
        said = f"{len(found)} pairs, {len(beyond) - digits} in order{how}"
        said += f"; {digits} in order by the printed digits, without deviations" if digits else ""
        for pair, text in list(told.items())[:6]:
            means = "in order by the means only" if found[pair][0] > 0 else "not in order, within noise"
            said += f"; {'' if pair in off else f'{means}: '}{pair} ({text})"
        said += f" and {len(rest) - 6} more" if len(rest) > 6 else ""
        status = Status.FAILS if off else Status.OPEN if undecided else Status.HOLDS
        audited = not self.wrong or off == set(self.wrong)
        shown = {pair: text for pair, text in told.items() if pair in off}
        return Finding(status, Grade.SAMPLED if noisy else Grade.EXACT, said, shown, audited)
