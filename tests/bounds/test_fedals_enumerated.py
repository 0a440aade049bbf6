"""FedALS against enumeration in fractions: every training set of a mean estimate."""

from collections.abc import Iterator
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest
import sympy as sp

from bounds import Bound
from bounds.fedals.catalog import BOUNDS
from bounds.operators import bind

BY_NAME = {b.name.removeprefix("fedals."): b for b in BOUNDS}
WEIGHTS = (F(47, 100), F(31, 100), F(22, 100))


def exact(bound: Bound, **values: Any) -> F:
    """The bound in rational arithmetic."""

    def rational(value: F | int) -> sp.Rational:
        return sp.Rational(F(value).numerator, F(value).denominator)

    numbers = {
        q: [rational(v) for v in values[q.name]] if q.card.axis else rational(values[q.name]) for q in bound.quantities
    }
    result = bind(sp.Add(*bound.spelled_terms.values()), numbers)
    return F(int(result.p), int(result.q))


# ---- Lemmas D.1 and D.2 ----


# ---- the mean: every quantity of Theorem 4.1 by enumeration of all training sets ----

POOLS = ((F(-1), F(1, 2), F(2)), (F(0), F(1, 3), F(5)), (F(-3), F(1), F(3, 2)))
SAMPLES = 2
Samples = tuple[tuple[F, ...], ...]


def mean(values: Any) -> F:
    values = list(values)
    return sum(values, start=F(0)) / len(values)


def risk(theta: F, points: tuple[F, ...]) -> F:
    """Mean of half the squared distance."""
    return mean((theta - z) ** 2 / 2 for z in points)


def every_training_set(pools: Samples) -> Iterator[Samples]:
    return product(*(list(product(pool, repeat=SAMPLES)) for pool in pools))  # type: ignore[return-value]


def average_model(sets: Samples, weights: tuple[F, ...]) -> F:
    return sum((w * mean(s) for w, s in zip(weights, sets, strict=True)), start=F(0))


def measure(pools: Samples, weights: tuple[F, ...]) -> dict[str, Any]:
    """Expected gap, local gaps and non-iidness of averaged sample means, over all equally likely training sets."""
    gaps, local, drift = [], [], []
    for sets in every_training_set(pools):
        theta = average_model(sets, weights)
        gaps.append(sum(w * (risk(theta, p) - risk(theta, s)) for w, p, s in zip(weights, pools, sets, strict=True)))
        local.append([risk(mean(s), p) - risk(mean(s), s) for p, s in zip(pools, sets, strict=True)])
        drift.append([risk(theta, s) - risk(mean(s), s) for s in sets])
    return {
        "generalization_gap": mean(gaps),
        "local_gap": [mean(column) for column in zip(*local, strict=True)],
        "non_iidness": [mean(column) for column in zip(*drift, strict=True)],
    }


def variance(pool: tuple[F, ...]) -> F:
    return 2 * risk(mean(pool), pool)


def squared_distances(pools: Samples, weights: tuple[F, ...]) -> list[F]:
    centre = sum((w * mean(p) for w, p in zip(weights, pools, strict=True)), start=F(0))
    return [(mean(p) - centre) ** 2 for p in pools]


@pytest.fixture(scope="module")
def different() -> dict[str, Any]:
    return measure(POOLS, WEIGHTS)


def test_the_local_gap_of_a_sample_mean_is_its_variance_over_the_samples(different: dict[str, Any]) -> None:
    value = BY_NAME["gaussian_mean_local_gap"](
        client_gradient_variance=[float(variance(p)) for p in POOLS], smoothness=1.0, samples=SAMPLES
    )
    assert value == pytest.approx([float(g) for g in different["local_gap"]], rel=1e-13)


def test_the_gap_of_the_averaged_mean_is_the_weighted_local_gap(different: dict[str, Any]) -> None:
    value = exact(BY_NAME["gaussian_mean_gap"], client_weight=WEIGHTS, local_gap=different["local_gap"])
    assert value == different["generalization_gap"]


def test_the_non_iidness_of_means_is_known_in_closed_form(different: dict[str, Any]) -> None:
    measured = BY_NAME["gaussian_mean_non_iidness"](
        client_weight=[float(w) for w in WEIGHTS],
        local_gap=[float(g) for g in different["local_gap"]],
        client_distance_sq=[float(d) for d in squared_distances(POOLS, WEIGHTS)],
        smoothness=1.0,
    )
    assert measured == pytest.approx([float(d) for d in different["non_iidness"]], rel=1e-12)


def test_the_closed_form_of_the_bound_is_theorem_4_1_at_the_exact_quantities(different: dict[str, Any]) -> None:
    weights, gaps = [float(w) for w in WEIGHTS], [float(g) for g in different["local_gap"]]
    stated = BY_NAME["one_round"](
        client_weight=weights,
        local_gap=gaps,
        non_iidness=[float(d) for d in different["non_iidness"]],
        smoothness=1.0,
        strong_convexity=1.0,
    )
    closed = BY_NAME["gaussian_mean_bound"](
        client_weight=weights,
        local_gap=gaps,
        client_distance_sq=[float(d) for d in squared_distances(POOLS, WEIGHTS)],
        smoothness=1.0,
    )
    assert closed == pytest.approx(stated, rel=1e-12)
    assert stated > different["generalization_gap"]


def test_iid_clients_still_have_non_iidness_and_the_claimed_reading_is_below_the_true_gap() -> None:
    thirds = (F(1, 3),) * 3
    found = measure((POOLS[0],) * 3, thirds)
    gap = found["local_gap"][0]
    assert found["non_iidness"] == [gap * (1 - F(1, 3)) / 2] * 3
    assert found["generalization_gap"] == gap / 3
    claimed = exact(
        BY_NAME["one_round_iid_claimed"],
        client_weight=thirds,
        local_gap=found["local_gap"],
        smoothness=1,
        strong_convexity=1,
    )
    assert claimed == gap / 9
    assert claimed < found["generalization_gap"]


def test_lemma_b1_holds_for_averaged_means() -> None:
    pools, weights = POOLS[:2], (F(7, 10), F(3, 10))
    swaps = []
    for sets in every_training_set(pools):
        theta = average_model(sets, weights)
        row = []
        for k, pool in enumerate(pools):
            fresh = list(product(pool, repeat=SAMPLES))
            other = [average_model((*sets[:k], copy, *sets[k + 1 :]), weights) for copy in fresh]
            row.append(mean(risk(theta, c) - risk(o, c) for c, o in zip(fresh, other, strict=True)))
        swaps.append(row)
    swap_gap = [mean(column) for column in zip(*swaps, strict=True)]
    measured = measure(pools, weights)["generalization_gap"]
    assert exact(BY_NAME["lemma_b1"], client_weight=weights, swap_gap=swap_gap) == measured
