"""FedALS once more, read off the paper (or derived anew) in plain loops: nothing here comes from ``bounds``."""

import cmath
import math
from collections.abc import Callable, Iterator
from itertools import combinations, product

from .values import but

# ---- one round ----


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


# ---- partial participation: every possible draw is listed ----


def _draws(v, cohort: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Case I: every ordered draw of ``cohort`` clients with its probability."""
    for draw in product(range(len(v.client_weight)), repeat=cohort):
        yield math.prod(v.client_weight[k] for k in draw), draw


def _each(v, cohort: int) -> Iterator[tuple[float, int, float]]:
    """Case I as printed: each of the ``cohort`` draws has weight 1/cohort, also where a client comes twice."""
    for chance, draw in _draws(v, cohort):
        yield from ((chance, k, 1 / cohort) for k in draw)


def _counted(v, cohort: int) -> Iterator[tuple[float, int, float]]:
    """Case I as a distribution over clients: the weight of a client is its share of the draws."""
    for chance, draw in _draws(v, cohort):
        yield from ((chance, k, draw.count(k) / cohort) for k in set(draw))


def _subsets(v, cohort: int) -> Iterator[tuple[float, int, float]]:
    """Case II: every subset is as likely; a participant weighs its share times clients over cohort."""
    clients = len(v.client_weight)
    subsets = list(combinations(range(clients), cohort))
    for subset in subsets:
        yield from ((1 / len(subsets), k, v.client_weight[k] * clients / cohort) for k in subset)


def _drawn(v, draws: Callable[..., Iterator[tuple[float, int, float]]], power: int, cohort: int = 0) -> float:
    """The expected sum over participants of the weight, times the weight to ``power``, times the client's value."""
    total = 0.0
    for chance, k, weight in draws(v, cohort or v.cohort):
        total += chance * weight * weight**power * v.client_value[k]
    return total


def lemma_d2_weight(v):
    """Lemma D.2, eq. (67), second identity."""
    assert v.clients == len(v.client_weight)
    return _drawn(v, _subsets, 1)


def lemma_d2_weight_sq(v):
    """Lemma D.2, eq. (67), third identity."""
    assert v.clients == len(v.client_weight)
    return _drawn(v, _subsets, 2)


def _case(v, share: Callable[[float], float]) -> float:
    """The two terms of (6) with ``share`` of its weight in a client's place, averaged with the weights."""
    total = 0.0
    for p, gap, delta in zip(v.client_weight, v.local_gap, v.non_iidness, strict=True):
        first = v.smoothness / v.strong_convexity * share(p) ** 2 * gap
        second = 2 * math.sqrt(v.smoothness / v.strong_convexity) * share(p) * math.sqrt(delta * gap)
        total += p * (first + second)
    return total


def participation_case1_counted(v):
    """Eq. (72), which is (6) with the participants' shares, averaged over every possible draw of Case I."""
    total = 0.0
    for chance, draw in _draws(v, v.cohort):
        shares = [draw.count(k) / v.cohort for k in range(len(v.client_weight))]
        total += chance * one_round(but(v, client_weight=shares))
    return total


# ---- what is true of the participation gap ----


def _triangle(v) -> list[complex]:
    """Three points of the plane at these squared distances from their weighted mean, which lies at 0.

    The weighted offsets p_k u_k close a triangle; its angles follow from its sides by the law of cosines.
    """
    a, b, c = (p * math.sqrt(d) for p, d in zip(v.client_weight, v.client_distance_sq, strict=True))
    turn_b = math.pi - math.acos((a**2 + b**2 - c**2) / (2 * a * b))
    turn_c = turn_b + math.pi - math.acos((b**2 + c**2 - a**2) / (2 * b * c))
    sides = [a, b * cmath.exp(1j * turn_b), c * cmath.exp(1j * turn_c)]
    assert abs(sum(sides)) < 1e-12
    return [side / p for side, p in zip(sides, v.client_weight, strict=True)]


def participation_gap_quadratic(v):
    """Left side of eq. (71), Case I, for three clients with losses L/2 |theta - m_k|^2 placed in the plane."""
    places = _triangle(v)
    gap = 0.0
    for chance, draw in _draws(v, v.cohort):
        model = sum(places[k] for k in draw) / v.cohort
        everyone = sum(p * abs(model - place) ** 2 for p, place in zip(v.client_weight, places, strict=True))
        participants = sum(abs(model - places[k]) ** 2 for k in draw) / v.cohort
        gap += chance * v.smoothness / 2 * (everyone - participants)
    return gap


# ---- without non-iidness, in loops over clients and samples ----


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
    "one_round_inexact": lambda v: _inexact(v, 2),
    "rounds_inexact_printed": lambda v: _inexact(v, 1),
    "one_round_inexact_joined": lambda v: _moved(v, lambda gap, eps: 2 * (math.sqrt(gap + eps) + math.sqrt(eps)) ** 2),
    "rounds_inexact": lambda v: _moved(v, lambda gap, eps: 4 * (gap + eps)),
    "lemma_b1": lambda v: _mean(v, lambda p, swap: swap, "swap_gap"),
    "rounds_v1": lambda v: _rounds(v, extra=v.smoothness / v.strong_convexity),
    "rounds_v2": lambda v: _rounds(v, extra=0.0),
    "consensus_distance": lambda v: sum(distance / v.clients for distance in v.client_distance_sq),
    "communicated_parameters_table_2": lambda v: 2 * communicated_parameters(v),
    "gaussian_mean_gap": lambda v: sum(p * (p * gap) for p, gap in zip(v.client_weight, v.local_gap, strict=True)),
    "lemma_d1_mean": lambda v: _drawn(v, _each, 0, cohort=3),
    "lemma_d1_weight_printed": lambda v: _drawn(v, _each, 1),
    "lemma_d1_weight_sq_printed": lambda v: _drawn(v, _each, 2),
    "lemma_d1_weight": lambda v: _drawn(v, _counted, 1),
    "lemma_d1_weight_sq": lambda v: _drawn(v, _counted, 2),
    "lemma_d2_mean": lambda v: _drawn(v, _subsets, 0, cohort=2),
    "participation_case1": lambda v: _case(v, lambda p: 1 / v.cohort),
    "participation_case2": lambda v: _case(v, lambda p: p * v.clients / v.cohort),
    "participation_gap": lambda v: 0.0,
    "one_round_noise_sharp": lambda v: _whole(v, lambda k: _measured(v, k)),
}
