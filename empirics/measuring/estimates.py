"""Estimates from independent seeds, with standard errors, also for functions of means (products, roots, fits)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import EmpiricsError


class Estimate(NamedTuple):
    """A number (or array) and its standard error."""

    value: np.ndarray
    error: np.ndarray


def jackknife(statistic: Callable[..., np.ndarray], *samples: np.ndarray) -> Estimate:
    """Return ``statistic`` of the means over seeds (first axis) of ``samples``, with its jackknife standard error.

    ``statistic`` is vectorised: its arguments are stacks of means, with replicates on the first axis, which it keeps.
    For a mean the error is the standard deviation over the root of the number of seeds.
    """
    seeds = len(samples[0])
    if seeds < 3:
        raise EmpiricsError(f"a standard error needs at least 3 seeds; got {seeds}")
    value = np.asarray(statistic(*(x.mean(0, keepdims=True) for x in samples)))[0]
    replicates = np.asarray(statistic(*((x.sum(0) - x) / (seeds - 1) for x in samples)))
    spread = ((replicates - replicates.mean(0)) ** 2).sum(0)
    return Estimate(value, np.sqrt(spread * (seeds - 1) / seeds))


def power_law(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The exponent b of the weighted least-squares fit ``log y = a + b log x``, over the last axis of ``y``.

    For independent errors the best weights are ``(y / error of y)^2``. NaN if some y is not positive.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        log_y = np.where(y > 0, np.log(y), np.nan)
    share = weights / weights.sum()
    centred = np.log(x) - (share * np.log(x)).sum()
    return (share * centred * log_y).sum(-1) / (share * centred**2).sum()
