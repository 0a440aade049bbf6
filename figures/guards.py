"""Guards: conditions on our runs without which a paper's finding is not judged, each a number and a threshold.

Our runs cannot judge a remedy if the problem that it cures is absent (``effect``), a long run by its beginning
(``horizon``), a size at another level (``level``), a gain if the task leaves no room for one (``ceiling``), a ranking
of methods that were not trained equally (``treatment``), or a finding on another statistic (``statistic``). The report
shows the number of a guard that is missed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from empirics.experiments import Cell

from .run_description import RunInfo
from .runs import Curve, half_interval, LEVEL
from .substitutes import class_count

HALF = 0.5
"""Share of the paper's effect, and of its local work, that our runs must reach."""
NEAR = 5.0
"""Points of accuracy by which our baseline may differ from the paper's and count as equal."""
POINT = 1.0
"""Points of accuracy that count as a difference."""
MOVED = 0.5
"""Percentage points by which accuracies must vary over the values of a coefficient before one can be the best."""
PLATEAU = 1.5
"""Multiple of the accuracy of guessing that training must reach before methods can be distinguished."""
LAST = 1 / 3
"""Share of a curve, at its end, whose slope decides whether training has levelled off."""
TREATMENT = "different treatment"
"""The subject of guards on methods that are not trained in the same way, or not as in the paper."""
OPTIMISER = ("momentum", "nesterov", "weight_decay", "step_size_decay", "step_size_rule", "optimizer", "clip")
TREATED = ("batch", "augment", *OPTIMISER)
"""Arguments that compared methods must share; the step size only if it was not searched for each method."""


@dataclass(frozen=True)
class Guard:
    """One guard of a finding: ``value`` (NaN: not measured) must be at least (or ``at_most``) the ``threshold``.

    ``subject`` is what the value measures, ``detail`` what the text says of it besides.
    """

    subject: str
    value: float
    threshold: float = 0.0
    at_most: bool = False
    detail: str = ""

    @property
    def missed(self) -> bool:
        """Whether the value was measured and misses the threshold."""
        return self.value > self.threshold if self.at_most else self.value < self.threshold

    def __str__(self) -> str:
        side = "at most" if self.at_most else "at least"
        return f"{self.subject}{self.detail}: {self.value:.3g}, needed {side} {self.threshold:.3g}"


def effect(words: str, unharmed: Sequence[float], harmed: Sequence[float], printed: float) -> Guard:
    """Require that the problem costs something: significantly more than zero (95 %), and half of the ``printed`` cost.

    Higher values are better, one per seed; ``printed`` NaN: any significant cost suffices.
    """
    pairs = zip(unharmed, harmed, strict=False)
    cost = np.array([high - low for high, low in pairs], float)
    mean, half = _interval(cost[np.isfinite(cost)], 2 * LEVEL)
    least = 0.0 if math.isnan(printed) else HALF * printed
    return Guard(words, mean, max(least, half))


def drift(name: str, iid: Sequence[float], apart: Sequence[float], printed: float = math.nan) -> Guard:
    """Require client drift: the accuracy that FedAvg loses to non-iid clients, as in ``effect``."""
    return effect(f"accuracy that FedAvg loses to non-iid clients on {name}", iid, apart, printed)


def horizon(info: RunInfo | None, curves: Iterable[Curve] = (), tolerance: float = POINT) -> Guard:
    """Require runs half as long as the paper's, in local steps or simulated seconds, or curves that have levelled off.

    Curves have levelled off if the gain of their last third does not differ significantly from zero over seeds (95 %)
    and its interval is narrower than ``tolerance``, since noise could otherwise hide a gain.
    """
    share = info.ours.work / info.paper.work if info else math.nan
    subject, detail = "share of the paper's local work", ""
    if share < HALF:
        gain, half = _interval(np.array([g for g in map(_gain, curves) if not math.isnan(g)]))
        if abs(gain) <= half <= tolerance:
            ended = f" {share:.2g}, but the curves' last third gains nothing"
            return Guard(subject, abs(gain), tolerance, True, ended)
        detail = "" if math.isnan(gain) else f" (the curves' last third still gains {gain:+.2g} ± {half:.2g})"
    return Guard(subject, share, HALF, detail=detail)


def level(info: RunInfo | None, ours: Sequence[float], printed: float, size: bool = False) -> list[Guard]:
    """Require our baseline within five points of the paper's: for findings on a ``size``, and in the paper's own setup.

    An order of methods can be judged at another level if data or network differ, which the report names.
    """
    same = info is not None and (info.data, info.network) == (info.ours.data, info.ours.network)
    if not (size or same) or math.isnan(printed):
        return []
    detail = f" ({known_mean(ours):.1f}) and in the paper ({printed:.1f})"
    return [Guard("points between FedAvg here", abs(known_mean(ours) - printed), NEAR, True, detail)]


def ceiling(ours: Sequence[float], printed: float) -> list[Guard]:
    """Require a task that is not easier than the paper's: our baseline at most five points more accurate."""
    subject, detail = "points by which the task is easier for FedAvg", f" ({known_mean(ours):.1f}) than in the paper"
    detail += f" ({printed:.1f})"
    return [] if math.isnan(printed) else [Guard(subject, known_mean(ours) - printed, NEAR, True, detail)]


def treatment(
    methods: Mapping[str, Sequence[Cell]], searched: Collection[str] | None = None, papers: Collection[str] = ()
) -> Guard:
    """Require that the compared methods are trained equally, but for the arguments ``papers`` that differ in the paper.

    ``searched`` are the methods whose step size was searched until the best one lay inside the grid. None if the paper
    searches none; step sizes must then be equal as well.
    """
    used = {name: cells[0].arguments for name, cells in methods.items() if cells}
    compared = (*TREATED, *(("step_size",) if searched is None else ()))
    differing = [
        argument
        for argument in compared
        if argument not in papers and len({str(given.get(argument, "")) for given in used.values()}) > 1
    ]
    differing += [f"step size of {name} not searched" for name in used if searched is not None and name not in searched]
    return Guard(TREATMENT, len(differing), 0, True, f": {', '.join(differing) or 'none'}")


def statistic(ours: str, papers: str) -> Guard:
    """Require that our statistic and the paper's, given as texts, are the same."""
    if ours == papers:
        return Guard(ours, 0.0, 0, True)
    return Guard("statistic", 1.0, 0, True, f": {ours} for the paper's {papers}")


def gpu_times(cells: Sequence[Cell]) -> list[Guard]:
    """Require times of a GPU, as in the paper; ours are those of a core, which processes one image after the other."""
    return [statistic("seconds of one core", "seconds of a GPU")] if cells else []


def above_guessing(info: RunInfo | None, accuracies: Sequence[float]) -> list[Guard]:
    """Require accuracies (in percent) well above guessing; no guard if the accuracy of guessing is not known."""
    count = class_count(info.ours.data) if info else 0
    words = f"accuracy over that of guessing, {info.data if info else ''}"
    return [Guard(words, known_mean(accuracies) * count / 100, PLATEAU)] if count else []


def coefficient_effect(words: str, levels: Iterable[Sequence[float]]) -> Guard:
    """Require that a coefficient matters: a minimum range of mean accuracies over its values."""
    means = [known_mean(values) for values in levels]
    spread = max(means, default=math.nan) - min(means, default=math.nan)
    return Guard(f"{words}, range over its values in points", spread, MOVED)


def known_mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _interval(values: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Return the mean and half its confidence interval, which is infinite for one value; both NaN for none."""
    if not len(values):
        return math.nan, math.nan
    return float(values.mean()), half_interval(values.tolist(), level) if len(values) > 1 else math.inf


def _gain(curve: Curve) -> float:
    """Return the gain of the last third of a curve by a least-squares line; NaN with fewer than four points there."""
    at, values = curve
    late = at >= at[-1] - LAST * (at[-1] - at[0]) if len(at) else np.zeros(0, bool)
    if late.sum() < 4 or not np.isfinite(values[late]).all():
        return math.nan
    slope = np.polyfit(at[late], values[late], 1)[0]
    return float(slope * (at[-1] - at[late][0]))
