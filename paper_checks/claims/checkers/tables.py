"""Checkers of reported numbers: printed numbers to the last digit, and orders of measured numbers beyond noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from bounds.errors import unknown

from ...reported import Reported
from ..claim import Book, ClaimError, Finding, Grade, Status

Wrong = tuple[str, ...] | Mapping[str, str]
Number = int | float | Fraction | Decimal | str
Entry = TypeVar("Entry")


ROUNDING = Fraction(1, 10**14)
"""Relative error of a computed float that floating-point arithmetic may have caused."""


def exact(number: Number) -> Fraction:
    """Convert a number to a fraction exactly; a float by its shortest decimal form."""
    try:
        return Fraction(number if isinstance(number, (int, Fraction)) else str(number))
    except ValueError:
        raise ClaimError(f"{number!r} is not a finite number") from None


def half_unit(printed: str) -> Fraction:
    """Return half a unit of the last printed digit: the largest change by rounding."""
    exact(printed)
    exponent = Decimal(printed).as_tuple().exponent
    return Fraction(10) ** int(exponent) / 2


def _entry(table: Mapping[str, Entry], key: str, what: str) -> Entry:
    if key not in table:
        raise unknown(f"{what} number", key, table)
    return table[key]


@dataclass(frozen=True)
class Prints:
    """States that each ``computed`` number rounds to the ``printed`` number of the same key.

    ``computed`` may be a function that is called when the check runs. ``slack`` (by key) is how far rounding of the
    inputs can move the result. ``wrong`` are the keys audited as wrong; as a mapping, with the numbers that should have
    been printed.
    """

    printed: Mapping[str, str]
    computed: Mapping[str, Number] | Callable[[], Mapping[str, Number]]
    slack: Mapping[str, Number] | Number = 0
    wrong: Wrong = ()

    def __call__(self, book: Book) -> Finding:
        computed = self.computed() if callable(self.computed) else self.computed
        if not self.printed:
            raise ClaimError("no printed numbers are given")
        off = {}
        for key, text in self.printed.items():
            if not self._agrees(key, text, _entry(computed, key, "computed")):
                off[key] = f"{key}: printed {text}, found {float(exact(computed[key])):.6g}"
        if not off:
            return Finding(Status.HOLDS, Grade.EXACT, f"{len(self.printed)} printed numbers agree to the last digit")
        evidence = f"{len(off)} of {len(self.printed)} disagree: {'; '.join(list(off.values())[:6])}"
        return Finding(Status.FAILS, Grade.EXACT, evidence, off, self._audited(set(off), computed))

    def _agrees(self, key: str, text: str, computed: Number) -> bool:
        slack = exact(self.slack.get(key, 0) if isinstance(self.slack, Mapping) else self.slack)
        if isinstance(computed, float):
            slack += abs(exact(computed)) * ROUNDING
        return abs(exact(computed) - exact(text)) <= half_unit(text) + slack

    def _audited(self, off: set[str], computed: Mapping[str, Number]) -> bool:
        """Whether the keys of disagreeing numbers, ``off``, are those audited as wrong."""
        if isinstance(self.wrong, Mapping):
            same = all(self._agrees(key, text, computed[key]) for key, text in self.wrong.items() if key in off)
            return same and off == set(self.wrong)
        return not self.wrong or off == set(self.wrong)


# ---- noise: one rule for the tables of all papers ----

LEVEL = 0.05
"""Significance level: the chance that two means of runs of the same method count as different."""


def noise(*deviations: Number, runs: int | None = None) -> float:
    """Return the largest difference of measured means that is within noise, from the deviations printed beside them.

    For means over ``runs`` runs the standard error is deviation / sqrt(runs), and the limit is the two-sided 5 % point
    of Student's t with Welch's degrees of freedom. If a paper does not state the number of runs (None), the deviation
    is used as the standard error with 1.96, which allows more noise than three or more runs would.
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
    """A measured mean, or a difference of means, with the deviations printed beside them (empty if not printed)."""

    value: Fraction
    deviations: tuple[Fraction, ...] = ()

    def less(self, other: Mean) -> Mean:
        """Return this mean minus another."""
        return Mean(self.value - other.value, self.deviations + other.deviations)


Cell = Number | Reported | Mean


def mean(cell: Cell) -> Mean:
    """Return the number of a table's cell with its deviation, if one is printed."""
    if isinstance(cell, Mean):
        return cell
    if isinstance(cell, Reported):
        return Mean(exact(cell.value), (exact(cell.std),) if cell.std else ())
    return Mean(exact(cell))


def ahead(small: Cell, large: Cell, runs: int | None = None) -> tuple[Fraction, float]:
    """Return by how much the second cell is larger, and the largest difference that is within noise.

    If only one cell has a deviation, the other is assumed to have the same; if neither has one, there is no noise.
    """
    one, two = mean(small), mean(large)
    printed = one.deviations or two.deviations
    return two.value - one.value, noise(*(one.deviations or printed), *(two.deviations or printed), runs=runs)


@dataclass(frozen=True)
class Ordered:
    """States that reported numbers have the order of ``pairs``, texts ``smaller < larger`` of their keys.

    FAILS if a pair is reversed beyond noise (see ``ahead``). HOLDS if the means of all pairs are in order and at least
    one pair is beyond noise; the evidence names the others. Otherwise the table does not decide, and it is OPEN. With
    ``significant`` the sentence states a difference beyond noise in every pair. ``wrong`` are the pairs audited as
    failing, ``runs`` is the number of runs behind each mean, if the paper states it.
    """

    numbers: Mapping[str, Cell]
    pairs: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    runs: int | None = None
    significant: bool = False

    def __call__(self, book: Book) -> Finding:
        if not self.pairs:
            raise ClaimError("no pairs are given")
        cells = {row: [mean(_entry(self.numbers, key, "reported")) for key in row.split(" < ")] for row in self.pairs}
        margins = {pair: ahead(small, large, self.runs) for pair, (small, large) in cells.items()}
        beyond = {pair for pair, (by, limit) in margins.items() if by > limit}
        failing = {pair for pair, (by, limit) in margins.items() if (by < -limit if limit else by <= 0)}
        if self.significant:
            failing |= set(margins) - beyond
        undecided = {pair for pair, (by, _) in margins.items() if by <= 0} if beyond else set(margins)
        noisy = any(limit for _, limit in margins.values())
        status = Status.FAILS if failing else Status.OPEN if undecided else Status.HOLDS
        rest = sorted((pair for pair in margins if pair not in beyond), key=lambda pair: pair not in failing)
        texts = {}
        for pair in rest:
            texts[pair] = " against ".join(f"{float(cell.value):.6g}" for cell in cells[pair])
            texts[pair] += f", noise {margins[pair][1]:.2g}" if margins[pair][1] else ""
        exact_ones = sum(noisy and not margins[pair][1] for pair in beyond)
        how = f" beyond noise, {LEVEL:.0%} a pair" if noisy else "; no deviations printed"
        how += f", if the deviations are of {self.runs} runs" if noisy and self.runs else ""
        evidence = f"{len(margins)} pairs, {len(beyond) - exact_ones} in order{how}"
        evidence += f"; {exact_ones} in order by the printed digits, without deviations" if exact_ones else ""
        for pair in rest[:6]:
            means = "in order by the means only" if margins[pair][0] > 0 else "not in order, within noise"
            evidence += f"; {'' if pair in failing else f'{means}: '}{pair} ({texts[pair]})"
        evidence += f" and {len(rest) - 6} more" if len(rest) > 6 else ""
        as_audited = not self.wrong or failing == set(self.wrong)
        witness = {pair: texts[pair] for pair in rest if pair in failing}
        return Finding(status, Grade.SAMPLED if noisy else Grade.EXACT, evidence, witness, as_audited)
