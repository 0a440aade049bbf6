"""When our runs can judge a paper's finding: six guards, each of which compares one number with a threshold.

A remedy cannot be judged where the problem that it cures is absent (``effect``), a long run by its beginning
(``horizon``), a size where the level is another (``level``), a gain where the task leaves no room for it (``ceiling``),
a ranking of methods that were not tuned and trained equally (``treatment``), nor a finding on one statistic by
another (``statistic``). A finding that misses one of its guards is not judged, and the report shows the number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from empirics.experiments import Cell

from .run_description import Ran
from .runs import Curve, interval, LEVEL
from .substitutes import classes

HALF = 0.5
"""The part of the paper's effect, and of its local work, that a run must reach."""
NEAR = 5.0
"""Points of accuracy between our baseline and the paper's within which levels count as equal."""
POINT = 1.0
"""Points of accuracy that count as a difference."""
MOVED = 0.5
"""Percentage points that a coefficient moves accuracies by before one of its values can be the best."""
PLATEAU = 1.5
"""Times the accuracy of guessing that training must reach before methods can be distinguished."""
LAST = 1 / 3
"""The part of a curve at its end whose slope says whether training has ended."""
OPTIMISER = ("momentum", "nesterov", "weight_decay", "step_size_decay", "step_size_rule", "optimizer", "clip")
TREATED = ("batch", "augment", *OPTIMISER)
"""Arguments of a run that compared methods must share; the step size is each method's own where it was searched."""


@dataclass(frozen=True)
class Regime:
    """One guard of a finding: ``value`` (NaN: not measured) must be at least, or ``at_most``, the ``threshold``."""

    words: str
    value: float
    threshold: float = 0.0
    at_most: bool = False

    @property
    def missed(self) -> bool:
        """Whether it was measured and not met."""
        return self.value > self.threshold if self.at_most else self.value < self.threshold

    def __str__(self) -> str:
        side = "at most" if self.at_most else "at least"
        return f"{self.words}: {self.value:.3g}, needed {side} {self.threshold:.3g}"


def effect(words: str, unharmed: Sequence[float], harmed: Sequence[float], printed: float) -> Regime:
    """That the problem is there: what it costs, seed by seed, is above zero (95 %) and half of what the paper prints.

    More is better in both lists; ``printed`` is the cost in the paper (NaN: not printed, so any significant cost will
    do).
    """
    pairs = zip(unharmed, harmed, strict=False)
    cost = np.array([high - low for high, low in pairs], float)
    mean, half = _interval(cost[np.isfinite(cost)], 2 * LEVEL)
    least = 0.0 if math.isnan(printed) else HALF * printed
    return Regime(words, mean, max(least, half))


def drift(name: str, iid: Sequence[float], apart: Sequence[float], printed: float = math.nan) -> Regime:
    """The same of client drift: what FedAvg loses to non-iid clients."""
    return effect(f"accuracy that FedAvg loses to non-iid clients on {name}", iid, apart, printed)


def horizon(ran: Ran | None, curves: Iterable[Curve] = (), tolerance: float = POINT) -> Regime:
    """That runs are half as long as the paper's, in local steps or simulated seconds, or that their curves have ended.

    A curve has ended where what its last third gains does not differ from zero over seeds (95 %), and is known to
    ``tolerance``: noise that hides any gain shows no end.
    """
    share = ran.ours.work / ran.paper.work if ran else math.nan
    words = "share of the paper's local work"
    if share < HALF:
        gain, half = _interval(np.array([g for g in map(_gain, curves) if not math.isnan(g)]))
        if abs(gain) <= half <= tolerance:
            return Regime(f"{words} {share:.2g}, but the curves' last third gains nothing", abs(gain), tolerance, True)
        words += "" if math.isnan(gain) else f" (the curves' last third still gains {gain:+.2g} ± {half:.2g})"
    return Regime(words, share, HALF)


def level(ran: Ran | None, ours: Sequence[float], printed: float, size: bool = False) -> list[Regime]:
    """That our baseline is within five points of the paper's: for findings on a ``size``, and in the paper's own setup.

    With other data or another network, which the report names, an order can be judged at another level.
    """
    same = ran is not None and " for " not in f"{ran.data}{ran.network}"
    if not (size or same) or math.isnan(printed):
        return []
    words = f"points between FedAvg here ({mean(ours):.1f}) and in the paper ({printed:.1f})"
    return [Regime(words, abs(mean(ours) - printed), NEAR, True)]


def ceiling(ours: Sequence[float], printed: float) -> list[Regime]:
    """That the task is not easier than the paper's: our baseline is at most five points more accurate."""
    words = f"points by which the task is easier for FedAvg ({mean(ours):.1f}) than in the paper ({printed:.1f})"
    return [] if math.isnan(printed) else [Regime(words, mean(ours) - printed, NEAR, True)]


def treatment(
    methods: Mapping[str, Sequence[Cell]],
    searched: Collection[str] | None = None,
    papers: Collection[str] = (),
) -> Regime:
    """That compared methods are trained equally, but for arguments that differ in the paper too (``papers``).

    ``searched``: methods whose step size was searched until the best lay inside; None where the paper searches none,
    and then step sizes must be equal as well.
    """
    used = {name: cells[0].arguments for name, cells in methods.items() if cells}
    compared = (*TREATED, *(("step_size",) if searched is None else ()))
    unlike = [
        argument
        for argument in compared
        if argument not in papers and len({str(given.get(argument, "")) for given in used.values()}) > 1
    ]
    unlike += [f"step size of {name} not searched" for name in used if searched is not None and name not in searched]
    return Regime("different treatment: " + (", ".join(unlike) or "none"), len(unlike), 0, True)


def statistic(ours: str, papers: str) -> Regime:
    """That both are the same statistic, in words."""
    words = ours if ours == papers else f"statistic: {ours} for the paper's {papers}"
    return Regime(words, float(ours != papers), 0, True)


def learnt(ran: Ran | None, accuracies: Sequence[float]) -> list[Regime]:
    """That training left its first plateau: accuracy in percent over that of guessing; none where that is not known."""
    count = classes(ran.ours.data) if ran else 0
    words = f"accuracy over that of guessing, {ran.data if ran else ''}"
    return [Regime(words, mean(accuracies) * count / 100, PLATEAU)] if count else []


def moved(words: str, levels: Iterable[Sequence[float]]) -> Regime:
    """That a coefficient moves anything: the range of mean accuracies over its values."""
    means = [mean(values) for values in levels]
    spread = max(means, default=math.nan) - min(means, default=math.nan)
    return Regime(f"{words}, range over its values in points", spread, MOVED)


def mean(values: Sequence[float]) -> float:
    """Of the values that are known; NaN where none is."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _interval(values: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Mean and half its interval over seeds; infinite for one seed, NaN for none."""
    if not len(values):
        return math.nan, math.nan
    return float(values.mean()), interval(values.tolist(), level) if len(values) > 1 else math.inf


def _gain(curve: Curve) -> float:
    """What the last third of a curve gains by its least-squares line; NaN with fewer than four points there."""
    at, values = curve
    late = at >= at[-1] - LAST * (at[-1] - at[0]) if len(at) else np.zeros(0, bool)
    if late.sum() < 4 or not np.isfinite(values[late]).all():
        return math.nan
    slope = np.polyfit(at[late], values[late], 1)[0]
    return float(slope * (at[-1] - at[late][0]))
