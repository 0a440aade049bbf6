"""FedALS once more, read off the paper (or derived anew) in plain loops: nothing here comes from ``bounds``."""

import math

from .fedals_one_round import one_round
from .values import but

# ---- many rounds: eqs. (9), (58) ----


def _rounds(v, extra: float) -> float:
    """Eq. (9) with every round alike, hidden constants and logarithms set to 1; ``extra`` sits in A and in B."""
    noise = v.gradient_variance / (v.strong_convexity * v.local_steps)
    total = 0.0
    for p, delta, size in zip(v.client_weight, v.non_iidness, v.samples_per_round, strict=True):
        a = math.sqrt(v.complexity / size) + noise + extra
        b = delta + noise + extra
        first = 2 * v.smoothness * p**2 / v.strong_convexity * a
        second = math.sqrt(8 * v.smoothness / v.strong_convexity) * p * math.sqrt(a * b)
        total += p * (first + second)
    return total


# ---- rates, distances, traffic ----


def optimization_rate(v):
    """v1 Remark 5.1, the hidden constants set to 1."""
    ratio = v.local_steps / v.iterations
    return ratio + ratio ** (2 / 3) + 1 / math.sqrt(v.iterations)


def communicated_parameters(v):
    """Algorithm 1 of v2, its two tests counted step by step."""
    sent = 0
    for step in range(int(v.iterations)):
        if step % v.local_steps == 0:
            sent += v.head_size
        if step % (v.adaptation * v.local_steps) == 0:
            sent += v.extractor_size
    return sent


# ---- squared distances: every quantity of Theorem 4.1 from the moments of the samples' means ----


def gaussian_mean_local_gap(v):
    """Theorem 4.1's local gap for the loss L/2 ||theta - z||^2, whose local minimiser is the samples' mean."""
    gaps = []
    for variance in v.client_gradient_variance:
        spread = variance / v.smoothness**2  # E||z - m_k||^2: the gradient is L (theta - z)
        fresh = v.smoothness / 2 * (spread + spread / v.samples)
        own = v.smoothness / 2 * (spread - spread / v.samples)
        gaps.append(fresh - own)
    return gaps


def gaussian_mean_non_iidness(v):
    """Theorem 4.1's non-iidness: L/2 E||sum_j p_j zbar_j - zbar_k||^2, with E||zbar_j - m_j||^2 = local gap / L."""
    out = []
    for k, distance in enumerate(v.client_distance_sq):
        total = distance
        for j, (p, gap) in enumerate(zip(v.client_weight, v.local_gap, strict=True)):
            coefficient = p - (1 if j == k else 0)
            total += coefficient**2 * gap / v.smoothness
        out.append(v.smoothness / 2 * total)
    return out


def gaussian_mean_bound(v):
    """Right side of Theorem 4.1, eq. (6), mu = L for squared distances."""
    return one_round(but(v, non_iidness=gaussian_mean_non_iidness(v), strong_convexity=v.smoothness))


LINES = {
    "rounds_v1": lambda v: _rounds(v, extra=v.smoothness / v.strong_convexity),
    "rounds_v2": lambda v: _rounds(v, extra=0.0),
    "consensus_distance": lambda v: sum(distance / v.clients for distance in v.client_distance_sq),
    "communicated_parameters_table_2": lambda v: 2 * communicated_parameters(v),
    "gaussian_mean_gap": lambda v: sum(p * (p * gap) for p, gap in zip(v.client_weight, v.local_gap, strict=True)),
}
