"""What a paper reports beside what we measure: rank agreement, and whether its conclusion is seen here.

A conclusion is a list of pairs "this is above that". Each pair is compared seed by seed (runs of one seed share data,
start and batches), the variance of the differences is pooled over the pairs, and the intervals hold simultaneously with
95 %. Wrong with 5 % where differences are normal with equal variance; a pair that varies more than that counts with its
own spread. With few seeds most conclusions stay undecided, unless all that is not surely in order differs surely by
little: two one-sided tests for each such pair, each at 5 %. Undecided stay a pair with a seed in which a side left the
finite numbers, and what rests on two or three differences that agree although the values vary: accuracies are
counts, and counts coincide. A conclusion may need a regime; where our runs did not reach it, nothing is judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from .regimes import Regime
from .run_description import Ran
from .runs import LEVEL, quantile, standard_error

FEW = 2
"""Degrees of freedom below which equal differences are taken for chance."""
ALIKE = 1e-9
"""Of the largest value: no more than rounding."""
SEEN = ". Seen: "
"""Between the guards that a finding misses and what its comparisons show all the same."""
DRAWS = 400
"""Resampled tables behind the interval of a rank correlation."""


class Reproduction(StrEnum):
    """Of a paper's conclusion, at the scale of our runs."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    EQUAL = "equal within delta"
    UNDECIDED = "undecided"
    REGIME = "not judged: regime"


@dataclass(frozen=True)
class Judged:
    """A conclusion in words, the verdict, the comparisons behind it, and the guards that were checked before.

    ``counted``: of numbers that no run and no seed changes, such as costs.
    """

    words: str
    verdict: Reproduction
    why: str
    counted: bool = False
    regimes: tuple[Regime, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau between a reported column and ours; ``low`` and ``high`` enclose 90 % of it under both noises."""

    column: str
    tau: float
    low: float
    high: float
    items: int

    def __str__(self) -> str:
        return f"{self.tau:+.2f} [{self.low:+.2f}, {self.high:+.2f}] over {self.items}"


@dataclass(frozen=True)
class Entry:
    """One place of a table: what the paper prints (NaN: nothing), and ours.

    ``ours`` has one value per seed, NaN for a seed that is missing, so that seeds stay paired; empty: not run. ``ran``
    is what it comes from.
    """

    row: str
    column: str
    reported: float
    reported_std: float
    ours: tuple[float, ...]
    note: str = ""
    ran: Ran | None = None

    @property
    def known(self) -> tuple[float, ...]:
        """Ours, of the seeds that are there."""
        return tuple(value for value in self.ours if not math.isnan(value))

    @property
    def mean(self) -> float:
        """Over seeds; NaN where there is none."""
        return float(np.mean(self.known)) if self.known else math.nan

    @property
    def error(self) -> float:
        """Standard error of the mean over seeds."""
        return standard_error(self.known)


@dataclass(frozen=True)
class Pair:
    """The claim that ``higher`` lies above ``lower``, by at least ``margin``; one value per seed each, paired."""

    words: str
    higher: Sequence[float]
    lower: Sequence[float]
    margin: float = 0.0

    @property
    def differences(self) -> np.ndarray:
        """Seed by seed, without seeds that miss either value; infinite where one side is."""
        with np.errstate(invalid="ignore"):  # infinite on both sides is not a difference
            apart = self.sides[0] - self.sides[1] - self.margin
        return apart[~np.isnan(apart)]

    @property
    def still(self) -> bool:
        """Whether neither side varies over seeds: a count, not a measurement."""
        return all(len({*side[np.isfinite(side)].tolist()}) < 2 for side in self.sides)

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Both sides as far as both go."""
        shared = min(len(self.higher), len(self.lower))
        return np.asarray(self.higher[:shared], float), np.asarray(self.lower[:shared], float)


def counted(words: str, so: bool, why: str, against: bool | None = None) -> Judged:
    """A conclusion on what is counted or computed, whose numbers are sure; open where neither ``so`` nor ``against``.

    ``against``: that it is surely not so (None: unless it is so).
    """
    surely_not = not so if against is None else against
    verdict = Reproduction.CONTRADICTED if surely_not else Reproduction.REPRODUCED if so else Reproduction.UNDECIDED
    return Judged(words, verdict, why)


def judge(words: str, pairs: Iterable[Pair], delta: float = 0.0, regimes: Iterable[Regime] = ()) -> Judged:
    """Reproduced if every pair is surely in the order claimed, contradicted if one is surely in the other.

    Else equal if every other pair differs surely by less than ``delta`` (0: never), whatever its margin. Not judged
    where one of the ``regimes`` is missed, whatever was seen.
    """
    return guarded(_compared(words, list(pairs), delta), regimes)


def guarded(judged: Judged, regimes: Iterable[Regime]) -> Judged:
    """The same with these guards; not judged where one of them is missed."""
    guards = tuple(regimes)
    judged = replace(judged, regimes=guards)
    missed = "; ".join(str(regime) for regime in guards if regime.missed)
    return replace(judged, verdict=Reproduction.REGIME, why=f"{missed}{SEEN}{judged.why}") if missed else judged


def _compared(words: str, claimed: Sequence[Pair], delta: float) -> Judged:
    """The verdict of the comparisons alone."""
    found = [pair.differences for pair in claimed]
    if not claimed or any(not len(d) for d in found):
        missing = next((p.words for p, d in zip(claimed, found, strict=True) if not len(d)), "everything")
        return Judged(words, Reproduction.UNDECIDED, f"not measured: {missing}")
    half = _halves(found)
    if half is None:
        return Judged(words, Reproduction.UNDECIDED, "one seed has no spread")
    if _coincide(claimed, found):
        return Judged(words, Reproduction.UNDECIDED, "differences that agree by chance have no spread")
    means = np.array([float(d.mean()) if np.isfinite(d).all() else d[~np.isfinite(d)].min() for d in found])
    sure, against = means > half, means < -half
    equal = _equal(claimed, found, delta)
    tied = equal & ~sure
    verdict = (
        Reproduction.REPRODUCED
        if sure.all()
        else Reproduction.CONTRADICTED
        if against.any()
        else Reproduction.EQUAL
        if (equal | sure).all()
        else Reproduction.UNDECIDED
    )
    worst = int(np.argmin(means))
    so, otherwise, small = (f"{int(mask.sum())} of {len(mask)}" for mask in (sure, against, tied))
    why = f"{so} comparisons surely so, {otherwise} surely the other way; least: {claimed[worst].words} "
    within = f"; {small} surely differ by less than {delta:g}" if verdict is Reproduction.EQUAL else ""
    counted = all(pair.still for pair in claimed)
    return Judged(words, verdict, f"{why}{means[worst]:+.3g} ± {half[worst]:.2g}{within}", counted)


def _equal(claimed: Sequence[Pair], found: Sequence[np.ndarray], delta: float) -> np.ndarray:
    """Which pairs surely differ by less than ``delta``, by two one-sided tests each.

    Each keeps its own level: all pairs that are not surely in order must be of these (intersection-union).
    """
    half = _halves(found, 2 * LEVEL, shared=False)
    if not delta or half is None:
        return np.zeros(len(found), bool)
    means = np.array([float(d.mean()) + pair.margin for pair, d in zip(claimed, found, strict=True)])
    return np.abs(means) + half < delta


def _coincide(claimed: Sequence[Pair], found: Sequence[np.ndarray]) -> bool:
    """Whether a few differences have no spread, of values that have one."""
    if sum(len(d) - 1 for d in found) >= FEW or all(pair.still for pair in claimed):
        return False
    largest = max(
        float(np.max(np.abs(side), initial=0.0, where=np.isfinite(side))) for p in claimed for side in p.sides
    )
    return all(float(np.ptp(d)) <= ALIKE * largest for d in found if np.isfinite(d).all())


def _halves(found: Sequence[np.ndarray], level: float = LEVEL, shared: bool = True) -> np.ndarray | None:
    """Half the interval of every mean, all together (``shared``) or each by itself.

    From the spread of all pairs together, or a pair's own where that is wider.
    An infinite difference is left out of the spread, and its pair has no interval. None: nothing has a spread.
    """
    finite = [d[np.isfinite(d)] for d in found]
    squares = [float(np.sum((d - d.mean()) ** 2)) if len(d) else 0.0 for d in finite]
    freedom = sum(max(len(d) - 1, 0) for d in finite)
    if not freedom:
        return None
    own = [square / (len(d) - 1) if len(d) > 1 else 0.0 for square, d in zip(squares, finite, strict=True)]
    wide = np.sqrt(np.maximum(own, sum(squares) / freedom)) * quantile(freedom, level / len(found) if shared else level)
    known = [math.sqrt(len(d)) if len(d) == len(f) else 0.0 for d, f in zip(found, finite, strict=True)]
    return np.array([w / k if k else math.inf for w, k in zip(wide, known, strict=True)])


def leads(entries: Sequence[Entry], row: str, others: Iterable[str] = (), columns: Iterable[str] = ()) -> list[Pair]:
    """The pairs of "``row`` is above every other row in every column"."""
    table = by_place(entries)
    shown = list(columns) or list(dict.fromkeys(e.column for e in entries if e.ours))
    beside = list(others) or [r for r in dict.fromkeys(e.row for e in entries if e.ours) if r != row]
    return [
        Pair(f"{row} over {other}, {column}", table[row, column].ours, table[other, column].ours)
        for column in shown
        for other in beside
        if (row, column) in table and (other, column) in table
    ]


def by_place(entries: Iterable[Entry]) -> Mapping[tuple[str, str], Entry]:
    """Entries by (row, column)."""
    return {(e.row, e.column): e for e in entries}


# ---- rank agreement ----


def agreements(entries: Sequence[Entry]) -> list[Agreement]:
    """One per column that has three or more rows with both numbers."""
    columns = dict.fromkeys(e.column for e in entries)
    both = [e for e in entries if math.isfinite(e.reported) and math.isfinite(e.mean)]
    found = {c: [e for e in both if e.column == c] for c in columns}
    return [agreement(c, rows) for c, rows in found.items() if len(rows) > 2]


def agreement(column: str, entries: Sequence[Entry]) -> Agreement:
    """Kendall's tau-b over rows; its interval comes from moving both sides by their noise (printed, pooled ours)."""
    reported = np.array([e.reported for e in entries])
    ours = np.array([e.mean for e in entries])
    noise = np.array([e.reported_std if math.isfinite(e.reported_std) else 0.0 for e in entries])
    spread, freedom = _pooled(entries)
    error = np.array([spread / math.sqrt(len(e.known)) for e in entries])
    draw = np.random.default_rng(20231)
    moved = kendall(
        reported + noise * draw.standard_normal((DRAWS, len(entries))),
        ours + error * draw.standard_normal((DRAWS, len(entries))),
    )
    low, high = np.quantile(moved, [0.05, 0.95]) if freedom else (-1.0, 1.0)
    return Agreement(column, float(kendall(reported[None], ours[None])[0]), float(low), float(high), len(entries))


def _pooled(entries: Sequence[Entry]) -> tuple[float, int]:
    """Standard deviation over seeds, pooled over entries, and its degrees of freedom.

    Runs of one seed share data and start, which moves them together and no rank; where every entry has the same seeds,
    what they share is taken out first.
    """
    values = [np.array(e.known) for e in entries]
    rest = [v - v.mean() for v in values]
    freedom = sum(len(v) - 1 for v in values)
    if len({len(e.ours) for e in entries}) == 1 and all(e.known == e.ours for e in entries) and len(values) > 1:
        together = np.array(rest)
        rest = list(together - together.mean(0))
        freedom -= len(values[0]) - 1
    total = sum(float(np.sum(r**2)) for r in rest)
    return (math.sqrt(total / freedom), freedom) if freedom else (0.0, 0)


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's tau-b along the last axis; 0 where one side is constant."""
    i, j = np.triu_indices(x.shape[-1], 1)
    a, b = np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j])
    untied = np.sqrt(np.count_nonzero(a, axis=-1) * np.count_nonzero(b, axis=-1))
    return np.asarray(np.sum(a * b, axis=-1) / np.maximum(untied, 1))
