"""FedALS without non-iidness once more, in plain loops over clients and samples: nothing comes from ``bounds``."""

import math
from collections.abc import Callable, Iterator

from .fedals_participation import _counted


def _gap(v, share: float, variance: float, covariance: float) -> float:
    """What (10) averages for a client of this share in the model."""
    curvature = (v.smoothness - v.strong_convexity) / 2 * share**2 * variance
    return curvature + share * covariance


def _whole(v, of: Callable[[int], tuple[float, float]]) -> float:
    return sum(p * _gap(v, p, *of(k)) for k, p in enumerate(v.client_weight))


def _measured(v, k: int) -> tuple[float, float]:
    """Variance of a local minimiser by its gap, and the most it can vary with the gradient's mean over the samples."""
    variance = v.local_gap[k] / v.strong_convexity
    return variance, math.sqrt(variance) * math.sqrt(v.client_gradient_variance[k] / v.samples)


def one_round_constants_sharp(v):
    """The same where every one of the samples moves the minimiser by its gradient over mu times their number."""

    def of(k: int) -> tuple[float, float]:
        moved = [math.sqrt(v.client_gradient_variance[k]) / (v.strong_convexity * v.samples)] * v.samples
        variance = sum(m**2 for m in moved)
        return variance, sum(m * math.sqrt(v.client_gradient_variance[k]) / v.samples for m in moved)

    return _whole(v, of)


def _steps(v) -> Iterator[float]:
    """By how much of its gradient a step still shows in the model at the end of the round."""
    for later in range(v.local_steps):
        yield v.step_size * (1 - v.step_size * v.strong_convexity) ** later


def rounds_noise_sharp(v):
    """Theorem 4.3's gap of a round, step by step."""

    def of(k: int) -> tuple[float, float]:
        noise, samples = v.client_gradient_variance[k], v.samples_per_round[k]
        batch = samples / v.local_steps
        return sum(m**2 * noise / batch for m in _steps(v)), sum(m * noise / samples for m in _steps(v))

    return _whole(v, of)


def participation_case1_noise_sharp(v):
    """Case I: every draw of participants, with their shares in the model and in the risk."""
    return sum(chance * share * _gap(v, share, *_measured(v, k)) for chance, k, share in _counted(v, v.cohort))


LINES = {
    "one_round_noise_sharp": lambda v: _whole(v, lambda k: _measured(v, k)),
}
