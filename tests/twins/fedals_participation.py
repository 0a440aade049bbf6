"""FedALS under partial participation once more: every possible draw is listed, nothing comes from ``bounds``."""

import cmath
import math
from collections.abc import Callable, Iterator
from itertools import combinations, product

from .fedals_one_round import one_round
from .values import but


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


def _mean(v, draws: Callable[..., Iterator[tuple[float, int, float]]], power: int, cohort: int = 0) -> float:
    """The expected sum over participants of the weight, times the weight to ``power``, times the client's value."""
    total = 0.0
    for chance, k, weight in draws(v, cohort or v.cohort):
        total += chance * weight * weight**power * v.client_value[k]
    return total


def lemma_d2_weight(v):
    """Lemma D.2, eq. (67), second identity."""
    assert v.clients == len(v.client_weight)
    return _mean(v, _subsets, 1)


def lemma_d2_weight_sq(v):
    """Lemma D.2, eq. (67), third identity."""
    assert v.clients == len(v.client_weight)
    return _mean(v, _subsets, 2)


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


LINES = {
    "lemma_d1_mean": lambda v: _mean(v, _each, 0, cohort=3),
    "lemma_d1_weight_printed": lambda v: _mean(v, _each, 1),
    "lemma_d1_weight_sq_printed": lambda v: _mean(v, _each, 2),
    "lemma_d1_weight": lambda v: _mean(v, _counted, 1),
    "lemma_d1_weight_sq": lambda v: _mean(v, _counted, 2),
    "lemma_d2_mean": lambda v: _mean(v, _subsets, 0, cohort=2),
    "participation_case1": lambda v: _case(v, lambda p: 1 / v.cohort),
    "participation_case2": lambda v: _case(v, lambda p: p * v.clients / v.cohort),
    "participation_gap": lambda v: 0.0,
}
