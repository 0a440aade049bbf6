"""Judge whether a finding of a paper is reproduced by our runs.

A finding is a list of pairs "this is above that". Each pair is compared seed by seed, since runs of one seed share
data, start and batches. The variance of the differences is pooled over the pairs, and the intervals hold
simultaneously with 95 %; the verdict is wrong with 5 % if the differences are normal with equal variance. A pair with
a larger spread than the pooled one counts with its own.

With few seeds most findings remain undecided, unless every pair that is not clearly in order differs by less than a
tolerance (two one-sided tests per pair, each at 5 %). A finding also remains undecided if a side is not finite for some
seed, or if it rests on two or three equal differences of values that vary: accuracies are counts, which coincide by
chance. A finding may need guards (``guards.py``); if our runs miss one, it is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from .guards import Guard
from .runs import LEVEL, quantile

FEW = 2
"""Degrees of freedom below which equal differences count as chance."""
ROUNDING = 1e-9
"""Differences relative to the largest value that count as rounding."""


class Reproduction(StrEnum):
    """The verdict on a paper's finding at the scale of our runs."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    EQUAL = "equal within delta"
    UNDECIDED = "undecided"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Difference:
    """The mean difference of one comparison, named in ``words``, and half the width of its interval."""

    words: str
    mean: float
    half: float

    @property
    def numbers(self) -> str:
        """Both numbers as text."""
        return f"{self.mean:+.3g} ± {self.half:.2g}"

    @property
    def rounded(self) -> list[float] | None:
        """Both numbers with the digits that are printed; None if one is not finite."""
        both = [float(f"{self.mean:.3g}"), float(f"{self.half:.2g}")]
        return both if all(map(math.isfinite, both)) else None


@dataclass(frozen=True)
class Finding:
    """A finding in words, what its comparisons show, and the guards that it requires.

    ``result`` is the verdict of the comparisons alone and ``counts`` how many of them are decided, or else the reason
    of the result. ``least`` is the comparison that is least surely as claimed, ``more`` a text that follows it.
    ``counted`` marks findings on numbers that do not vary over seeds, such as costs.
    """

    words: str
    result: Reproduction
    counts: str
    least: Difference | None = None
    more: str = ""
    counted: bool = False
    guards: tuple[Guard, ...] = ()

    @property
    def missed(self) -> list[Guard]:
        """The guards that our runs miss."""
        return [guard for guard in self.guards if guard.missed]

    @property
    def verdict(self) -> Reproduction:
        """The verdict: none if a guard is missed."""
        return Reproduction.NOT_JUDGED if self.missed else self.result

    @property
    def effect(self) -> str:
        """The smallest difference, or what else was observed."""
        return f"{self.least.words} {self.least.numbers}{self.more}" if self.least else self.counts + self.more

    @property
    def why(self) -> str:
        """The reason of the verdict: the missed guards, then what the comparisons show."""
        shown = f"{self.counts}; least: {self.effect}" if self.least else self.effect
        return f"{'; '.join(map(str, self.missed))}. Seen: {shown}" if self.missed else shown


@dataclass(frozen=True)
class Pair:
    """The claim that ``higher`` exceeds ``lower`` by at least ``margin``; one value per seed each, paired."""

    words: str
    higher: Sequence[float]
    lower: Sequence[float]
    margin: float = 0.0

    @property
    def differences(self) -> np.ndarray:
        """Differences minus the margin, seed by seed; seeds with a missing value are left out."""
        with np.errstate(invalid="ignore"):  # infinite on both sides is not a difference
            apart = self.sides[0] - self.sides[1] - self.margin
        return apart[~np.isnan(apart)]

    @property
    def is_constant(self) -> bool:
        """Whether neither side varies over seeds, as for counts."""
        return all(len({*side[np.isfinite(side)].tolist()}) < 2 for side in self.sides)

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Both sides as far as both go."""
        shared = min(len(self.higher), len(self.lower))
        return np.asarray(self.higher[:shared], float), np.asarray(self.lower[:shared], float)


def exact_finding(words: str, so: bool, why: str, against: bool | None = None) -> Finding:
    """Return a finding on exact numbers: contradicted if ``against``, else reproduced if ``so``, else undecided.

    ``against`` None stands for ``not so``.
    """
    surely_not = not so if against is None else against
    verdict = Reproduction.CONTRADICTED if surely_not else Reproduction.REPRODUCED if so else Reproduction.UNDECIDED
    return Finding(words, verdict, why)


def judge(words: str, pairs: Iterable[Pair], delta: float = 0.0, guards: Iterable[Guard] = ()) -> Finding:
    """Judge a finding: reproduced if every pair is significantly in the claimed order, contradicted if one is reversed.

    Otherwise equal within ``delta`` if each remaining pair differs significantly by less than ``delta`` regardless of
    its margin (0: never), else undecided. If one of the ``guards`` is missed, the finding is not judged.
    """
    return replace(_compared(words, list(pairs), delta), guards=tuple(guards))


def _compared(words: str, claimed: Sequence[Pair], delta: float) -> Finding:
    """Return the verdict of the comparisons, without guards."""
    differences = [pair.differences for pair in claimed]
    if not claimed or any(not len(d) for d in differences):
        missing = next((p.words for p, d in zip(claimed, differences, strict=True) if not len(d)), "everything")
        return Finding(words, Reproduction.UNDECIDED, f"not measured: {missing}")
    half = _half_widths(differences)
    if half is None:
        return Finding(words, Reproduction.UNDECIDED, "one seed has no spread")
    if _equal_by_chance(claimed, differences):
        return Finding(words, Reproduction.UNDECIDED, "differences that agree by chance have no spread")
    means = np.array([float(d.mean()) if np.isfinite(d).all() else d[~np.isfinite(d)].min() for d in differences])
    as_claimed, reversed_, equal = means > half, means < -half, _equal(claimed, differences, delta)
    if as_claimed.all():
        verdict = Reproduction.REPRODUCED
    elif reversed_.any():
        verdict = Reproduction.CONTRADICTED
    elif (equal | as_claimed).all():
        verdict = Reproduction.EQUAL
    else:
        verdict = Reproduction.UNDECIDED
    worst = int(np.argmin(means))
    masks = (as_claimed, reversed_, equal & ~as_claimed)
    so, otherwise, small = (f"{int(mask.sum())} of {len(mask)}" for mask in masks)
    counts = f"{so} comparisons surely so, {otherwise} surely the other way"
    least = Difference(claimed[worst].words, float(means[worst]), float(half[worst]))
    within = f"; {small} surely differ by less than {delta:g}" if verdict is Reproduction.EQUAL else ""
    return Finding(words, verdict, counts, least, within, all(pair.is_constant for pair in claimed))


def _equal(claimed: Sequence[Pair], differences: Sequence[np.ndarray], delta: float) -> np.ndarray:
    """Return for each pair whether it differs significantly by less than ``delta`` (two one-sided tests).

    Each test keeps its own level, since all of them must pass (intersection-union test).
    """
    half = _half_widths(differences, 2 * LEVEL, shared=False)
    if not delta or half is None:
        return np.zeros(len(differences), bool)
    means = np.array([float(d.mean()) + pair.margin for pair, d in zip(claimed, differences, strict=True)])
    return np.abs(means) + half < delta


def _equal_by_chance(claimed: Sequence[Pair], differences: Sequence[np.ndarray]) -> bool:
    """Return whether the few differences have no spread although the values vary."""
    if sum(len(d) - 1 for d in differences) >= FEW or all(pair.is_constant for pair in claimed):
        return False
    largest = max(
        float(np.max(np.abs(side), initial=0.0, where=np.isfinite(side))) for p in claimed for side in p.sides
    )
    return all(float(np.ptp(d)) <= ROUNDING * largest for d in differences if np.isfinite(d).all())


def _half_widths(differences: Sequence[np.ndarray], level: float = LEVEL, shared: bool = True) -> np.ndarray | None:
    """Return half the confidence interval of every pair's mean difference, or None if no pair has a spread.

    The level is divided among the pairs if ``shared``. The spread is that pooled over all pairs, or the pair's own if
    larger. Infinite differences are left out of the spread, and the interval of their pair is infinite.
    """
    finite = [d[np.isfinite(d)] for d in differences]
    squares = [float(np.sum((d - d.mean()) ** 2)) if len(d) else 0.0 for d in finite]
    freedom = sum(max(len(d) - 1, 0) for d in finite)
    if not freedom:
        return None
    own = [square / (len(d) - 1) if len(d) > 1 else 0.0 for square, d in zip(squares, finite, strict=True)]
    among = len(differences) if shared else 1
    wide = np.sqrt(np.maximum(own, sum(squares) / freedom)) * quantile(freedom, level / among)
    known = [math.sqrt(len(d)) if len(d) == len(f) else 0.0 for d, f in zip(differences, finite, strict=True)]
    return np.array([w / k if k else math.inf for w, k in zip(wide, known, strict=True)])
