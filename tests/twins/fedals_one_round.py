"""FedALS in one round once more, read off the paper in plain loops: nothing comes from ``bounds``."""

import math
from collections.abc import Callable


def _mean(v, part: Callable[..., float], *names: str) -> float:
    """The mean over clients of ``part``, which takes a client's weight and its entries of the named values."""
    total = 0.0
    for p, *own in zip(v.client_weight, *(getattr(v, name) for name in names), strict=True):
        total += p * part(p, *own)
    return total


def one_round(v):

    def part(p: float, gap: float, delta: float) -> float:
        first = v.smoothness * p**2 / v.strong_convexity * gap
        return first + 2 * math.sqrt(v.smoothness / v.strong_convexity) * p * math.sqrt(delta * gap)

    return _mean(v, part, "local_gap", "non_iidness")


def one_round_iid_claimed(v):
    """Discussion of Theorem 4.1: the first term of eq. (6) alone."""
    return _mean(v, lambda p, gap: v.smoothness * p**2 / v.strong_convexity * gap, "local_gap")


def _inexact(v, second_gap: int) -> float:
    """Two suboptimalities beside the local gap in the first term, ``second_gap`` of them in the second."""

    def part(p: float, gap: float, eps: float, delta: float) -> float:
        first = 2 * v.smoothness * p**2 / v.strong_convexity * (gap + 2 * eps)
        root = math.sqrt((delta + eps) * (gap + second_gap * eps))
        return first + math.sqrt(8 * v.smoothness / v.strong_convexity) * p * root

    return _mean(v, part, "local_gap", "local_suboptimality", "non_iidness")


def _moved(v, way: Callable[[float, float], float]) -> float:
    """The two terms from the squared distance ``way(gap, eps)`` / mu to the minimiser, and the slope there."""

    def part(p: float, gap: float, eps: float, delta: float) -> float:
        moved = way(gap, eps) / v.strong_convexity
        slope = 2 * v.smoothness * (delta + eps)
        return v.smoothness / 2 * p**2 * moved + p * math.sqrt(slope * moved)

    return _mean(v, part, "local_gap", "local_suboptimality", "non_iidness")


def one_round_sharp(v):
    """Eq. (31) with V at most 2/mu gap, half of it under the root."""

    def part(p: float, gap: float, delta: float) -> float:
        variance = gap / v.strong_convexity
        return v.smoothness * p**2 * variance + p * math.sqrt(2 * v.smoothness * delta * variance)

    return _mean(v, part, "local_gap", "non_iidness")


def one_round_inexact_sharp(v):
    """Eq. (31) with V at most 4/mu (gap + eps), half of it under the root."""

    def part(p: float, gap: float, eps: float, delta: float) -> float:
        variance = 2 * (gap + eps) / v.strong_convexity
        return v.smoothness * p**2 * variance + p * math.sqrt(2 * v.smoothness * (delta + eps) * variance)

    return _mean(v, part, "local_gap", "local_suboptimality", "non_iidness")


LINES = {
    "one_round_inexact": lambda v: _inexact(v, 2),
    "rounds_inexact_printed": lambda v: _inexact(v, 1),
    "one_round_inexact_joined": lambda v: _moved(v, lambda gap, eps: 2 * (math.sqrt(gap + eps) + math.sqrt(eps)) ** 2),
    "rounds_inexact": lambda v: _moved(v, lambda gap, eps: 4 * (gap + eps)),
    "lemma_b1": lambda v: _mean(v, lambda p, swap: swap, "swap_gap"),
}
