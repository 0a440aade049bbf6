"""Step sizes as the papers choose them: rules over time, and the search for the best constant.

A trial is ``measure(step_size, seed)`` and returns what is compared, such as the test accuracy of a run; a run that
diverged (raises ``Diverged`` or returns NaN) is worse than any that did not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

import numpy as np

from ..errors import Diverged, EmpiricsError

Measure = Callable[[float, int], float]


def harmonic(step_size: float, iteration: Any) -> Any:
    """``step_size / (iteration/100 + 10)``: the rule of FedALS's language model (Table 5), iterations from 0."""
    return step_size / (np.asarray(iteration) / 100 + 10)


def falling(first: Any, offset: Any, iteration: Any) -> Any:
    """``first * offset / (offset + iteration)``, iterations from 0: the classic rule ``scale / (offset + t)``.

    ``scale`` is ``first * offset``. The rule of FedALS's language model is that of the offset 1000, and a huge offset
    leaves the step size as it is. Numbers of any kind: floats, arrays, fractions.
    """
    return first * offset / (offset + iteration)


def geometric(step_size: float, decay: float, round_: Any) -> Any:
    """``step_size * decay**round``, rounds from 0: FedInit's rule, with a decay of 0.998 on CIFAR-10."""
    return step_size * decay ** np.asarray(round_)


@dataclass(frozen=True)
class Tuned:
    """The best step size, its mean measure, and the means of everything that was tried, by rising step size."""

    step_size: float
    mean: float
    tried: dict[float, float]


def bracketed(
    measure: Measure,
    seeds: Iterable[int],
    start: float = 0.01,
    factor: float = 2.0,
    lower_is_better: bool = False,
    most: int = 40,
) -> Tuned:
    """FedALS's protocol (Appendix E.3): from ``start``, multiply and divide by ``factor`` until the best is bracketed.

    It stops when the step sizes next to the best one are no better; each is judged by its mean over ``seeds``. Where
    everything has diverged so far it goes down. Raises ``EmpiricsError`` after ``most`` step sizes without a bracket.
    """
    if not 0 < start < inf:
        raise EmpiricsError(f"start must be > 0; got {start:g}")
    if not 1 < factor < inf:
        raise EmpiricsError(f"factor must be > 1; got {factor:g}")
    scores: dict[int, float] = {}
    means: dict[int, float] = {}
    listed = _some(seeds)

    def judge(power: int) -> None:
        if power not in means:
            means[power] = _mean(measure, start * factor**power, listed)
            scores[power] = _score(means[power], lower_is_better)

    judge(0)
    while len(means) < most:
        best = max(scores, key=lambda power: (scores[power], -abs(power)))
        if scores[best] == -inf:
            judge(min(scores) - 1)
        elif {best - 1, best + 1} <= set(scores):
            tried = {start * factor**power: means[power] for power in sorted(means)}
            return Tuned(start * factor**best, means[best], tried)
        else:
            judge(best + 1)
            judge(best - 1)
    raise EmpiricsError(
        f"no step size lies between two worse ones after {most} trials from {start:g}; last tried "
        f"{start * factor ** min(means):.3g} to {start * factor ** max(means):.3g}"
    )


def best_of(
    measure: Measure, seeds: Iterable[int], candidates: Iterable[float], lower_is_better: bool = False
) -> Tuned:
    """The best of listed step sizes by their means over ``seeds`` (FedInit's grid: 0.01, 0.1, 0.5, 1)."""
    listed = _some(seeds)
    means = {size: _mean(measure, size, listed) for size in sorted(candidates)}
    if not means:
        raise EmpiricsError("tuning needs at least one step size to try; got none")
    best = max(means, key=lambda size: _score(means[size], lower_is_better))
    if isnan(means[best]):
        raise EmpiricsError(f"every step size diverged: {', '.join(f'{size:g}' for size in means)}; try smaller ones")
    return Tuned(best, means[best], means)


def _some(seeds: Iterable[int]) -> list[int]:
    listed = list(seeds)
    if not listed:
        raise EmpiricsError("tuning needs at least one seed; got none")
    return listed


def _mean(measure: Measure, step_size: float, seeds: list[int]) -> float:
    """The mean over the seeds; NaN when one of them diverged."""
    try:
        return float(np.mean([measure(step_size, seed) for seed in seeds]))
    except Diverged:
        return float("nan")


def _score(mean: float, lower_is_better: bool) -> float:
    """What is maximised; diverged runs come last."""
    if isnan(mean) or abs(mean) == inf:
        return -inf
    return -mean if lower_is_better else mean
