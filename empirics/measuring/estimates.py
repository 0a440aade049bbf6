"""Estimates from independent seeds, with standard errors that also cover products, roots and fits of means."""

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
    """``statistic`` of the means over seeds (first axis) of ``samples``, with its delete-one-seed standard error.

    ``statistic`` is vectorised: it gets one stack of means per sample array, replicates on the first axis, and keeps
    that axis. For a plain mean the error is the usual standard deviation over the root of the number of seeds.
    """
    seeds = len(samples[0])
    if seeds < 3:
        raise EmpiricsError(f"a standard error needs at least 3 seeds; got {seeds}")
    value = np.asarray(statistic(*(x.mean(0, keepdims=True) for x in samples)))[0]
    replicates = np.asarray(statistic(*((x.sum(0) - x) / (seeds - 1) for x in samples)))
    spread = ((replicates - replicates.mean(0)) ** 2).sum(0)
    return Estimate(value, np.sqrt(spread * (seeds - 1) / seeds))


def power_law(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Exponent b of the weighted least-squares fit ``log y = a + b log x``, over the last axis of ``y``.

    For independent errors the best weights are ``(y / error of y)^2``. NaN where some y is not positive.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        heights = np.where(y > 0, np.log(y), np.nan)
    share = weights / weights.sum()
    places = np.log(x) - (share * np.log(x)).sum()
    return (share * places * heights).sum(-1) / (share * places**2).sum()
