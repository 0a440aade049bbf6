"""FedALS in one round once more, read off the paper in plain loops: nothing comes from ``bounds``."""

import math
from collections.abc import Callable, Sequence

PerClient = Sequence[float]


def one_round(
    client_weight: PerClient, local_gap: PerClient, non_iidness: PerClient, smoothness: float, strong_convexity: float
) -> float:
    """Theorem 4.1, eq. (6)."""
    total = 0.0
    for p, gap, delta in zip(client_weight, local_gap, non_iidness, strict=True):
        first = smoothness * p**2 / strong_convexity * gap
        second = 2 * math.sqrt(smoothness / strong_convexity) * p * math.sqrt(delta * gap)
        total += p * (first + second)
    return total


def one_round_iid_claimed(
    client_weight: PerClient, local_gap: PerClient, smoothness: float, strong_convexity: float
) -> float:
    """Discussion of Theorem 4.1: the first term of eq. (6) alone."""
    total = 0.0
    for p, gap in zip(client_weight, local_gap, strict=True):
        total += p * (smoothness * p**2 / strong_convexity * gap)
    return total


def one_round_inexact(
    client_weight: PerClient,
    local_gap: PerClient,
    local_suboptimality: PerClient,
    non_iidness: PerClient,
    smoothness: float,
    strong_convexity: float,
) -> float:
    """Theorem C.1, eq. (38): two suboptimalities beside the local gap, in both terms."""
    total = 0.0
    for p, gap, eps, delta in zip(client_weight, local_gap, local_suboptimality, non_iidness, strict=True):
        first = 2 * smoothness * p**2 / strong_convexity * (gap + 2 * eps)
        second = math.sqrt(8 * smoothness / strong_convexity) * p * math.sqrt((delta + eps) * (gap + 2 * eps))
        total += p * (first + second)
    return total


def rounds_inexact_printed(
    client_weight: PerClient,
    local_gap: PerClient,
    local_suboptimality: PerClient,
    non_iidness: PerClient,
    smoothness: float,
    strong_convexity: float,
) -> float:
    """Eq. (57) for one round, as printed: the last factor has one suboptimality, the first term two."""
    total = 0.0
    for p, gap, eps, delta in zip(client_weight, local_gap, local_suboptimality, non_iidness, strict=True):
        first = 2 * smoothness * p**2 / strong_convexity * (gap + 2 * eps)
        second = math.sqrt(8 * smoothness / strong_convexity) * p * math.sqrt((delta + eps) * (gap + eps))
        total += p * (first + second)
    return total


def one_round_inexact_joined(
    client_weight: PerClient,
    local_gap: PerClient,
    local_suboptimality: PerClient,
    non_iidness: PerClient,
    smoothness: float,
    strong_convexity: float,
) -> float:
    """Eq. (38) with the two distances added as roots: V is at most 2/mu (sqrt(gap + eps) + sqrt(eps))^2."""
    total = 0.0
    for p, gap, eps, delta in zip(client_weight, local_gap, local_suboptimality, non_iidness, strict=True):
        moved = 2 / strong_convexity * (math.sqrt(gap + eps) + math.sqrt(eps)) ** 2
        slope = 2 * smoothness * (delta + eps)
        total += p * (smoothness / 2 * p**2 * moved + p * math.sqrt(slope * moved))
    return total


def rounds_inexact(
    client_weight: PerClient,
    local_gap: PerClient,
    local_suboptimality: PerClient,
    non_iidness: PerClient,
    smoothness: float,
    strong_convexity: float,
) -> float:
    """Eq. (57) with one suboptimality everywhere: V is at most 4/mu (gap + eps)."""
    total = 0.0
    for p, gap, eps, delta in zip(client_weight, local_gap, local_suboptimality, non_iidness, strict=True):
        moved = 4 / strong_convexity * (gap + eps)
        slope = 2 * smoothness * (delta + eps)
        total += p * (smoothness / 2 * p**2 * moved + p * math.sqrt(slope * moved))
    return total


def lemma_b1(client_weight: PerClient, swap_gap: PerClient) -> float:
    """Lemma B.1, eq. (10): the swap gap is the bracket, the mean over samples already taken."""
    total = 0.0
    for p, swap in zip(client_weight, swap_gap, strict=True):
        total += p * swap
    return total


TWINS: dict[str, Callable[..., float]] = {
    f"fedals.{twin.__name__}": twin
    for twin in (
        one_round,
        one_round_iid_claimed,
        one_round_inexact,
        rounds_inexact_printed,
        one_round_inexact_joined,
        rounds_inexact,
        lemma_b1,
    )
}
