"""FedCOG's method, each formula against arithmetic of its own: generation, labels, weights, cost."""

import math

import numpy as np
import pytest

import bounds
from bounds.errors import DomainError, OutsideConditionsWarning
from bounds.fedcog import labels
from bounds.points.fedcog import POINTS

GENERATION = bounds.get("fedcog.generation_loss")
DISAGREEMENT = bounds.get("fedcog.disagreement_loss")
UPPER, LOWER = bounds.get("fedcog.disagreement_upper"), bounds.get("fedcog.disagreement_lower")
LACK, ALLOCATION = bounds.get("fedcog.complementary_count"), bounds.get("fedcog.complementary_allocation")
COST = bounds.get("fedcog.sample_passes")
WORKED_EXAMPLE = [500, 0, 400, 200, 400]


def kl(p, q, base=math.e):
    return sum(a * math.log(a / b, base) for a, b in zip(p, q, strict=True) if a > 0)


def js(p, q, base=math.e):
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kl(p, middle, base) + kl(q, middle, base)) / 2


# ---- generation and local training ----


def test_the_disagreement_loss_lies_between_one_minus_ln_2_and_1():
    draws = np.random.default_rng(11)
    for concentration in (0.01, 0.3, 4.0):
        for p, q in draws.dirichlet([concentration] * 4, size=(50, 2)):
            assert LOWER() - 1e-15 <= 1 - js(p, q) <= UPPER() + 1e-15


def test_with_logarithms_to_base_2_the_range_would_start_at_0():
    assert 1 - js([0.3, 0.7, 0, 0], [0, 0, 0.6, 0.4], base=2) == pytest.approx(0, abs=1e-15)
    assert LOWER() > 0.3


def test_a_divergence_above_ln_2_is_not_one_of_natural_logarithms():
    with pytest.warns(OutsideConditionsWarning, match="ln 2"):
        assert math.isnan(DISAGREEMENT(jensen_shannon=0.71))
    with pytest.warns(OutsideConditionsWarning, match="1 - ln 2"):
        assert math.isnan(GENERATION(task_loss=1.4, disagreement_weight=0.1, disagreement_loss=0.29))


# ---- labels, weights, cost ----


def test_the_worked_example_of_the_paper():
    assert LACK(class_count=WORKED_EXAMPLE).tolist() == [0, 500, 100, 300, 100]
    assert labels.complement(WORKED_EXAMPLE) == [0, 500, 100, 300, 100]
    assert sum(labels.complement(WORKED_EXAMPLE)) == 1000
    assert ALLOCATION(class_count=WORKED_EXAMPLE, generated_samples=256)[1] == pytest.approx(256 * 500 / 1000)


def test_own_and_complementary_samples_together_are_balanced():
    counts = [13, 4, 0, 29]
    assert (LACK(class_count=counts) + counts).tolist() == [29] * 4
    assert bounds.get("fedcog.balanced_samples")(class_count=counts) == 4 * 29


def test_the_allocation_distributes_all_generated_samples():
    assert ALLOCATION(class_count=[13, 4, 0, 29], generated_samples=97).sum() == pytest.approx(97, rel=1e-14)


def test_a_balanced_client_has_no_complementary_allocation():
    with pytest.warns(OutsideConditionsWarning, match="not all equally frequent"):
        assert np.isnan(ALLOCATION(class_count=[8, 8, 8], generated_samples=256)).all()
    with pytest.raises(DomainError, match="lack nothing"):
        labels.largest_remainder(labels.complement([8, 8, 8]), 256)


@pytest.mark.parametrize("counts", [WORKED_EXAMPLE, [13, 4, 0, 29], [3, 3, 1, 2, 2, 2, 1]])
def test_largest_remainders_lose_no_sample_and_stay_within_one_of_the_share(counts):
    rounded = labels.largest_remainder(labels.complement(counts), 256)
    assert sum(rounded) == 256
    assert np.abs(rounded - ALLOCATION(class_count=counts, generated_samples=256)).max() < 1


def test_rounding_down_as_the_released_code_does_loses_fewer_samples_than_classes():
    counts = [13, 4, 0, 29]
    down = labels.floors(labels.complement(counts), 256)
    assert down == [math.floor(256 * lack / 70) for lack in (16, 25, 29, 0)]
    assert 0 < 256 - sum(down) < 4
    assert all(a - b in (0, 1) for a, b in zip(labels.largest_remainder([16, 25, 29, 0], 256), down, strict=True))


def test_remainders_that_tie_go_to_the_lower_class():
    assert labels.largest_remainder([3, 3, 3, 0], 10) == [4, 3, 3, 0]


@pytest.mark.parametrize("counts", [[], [3, -1], [2, 2.5], [4, math.inf]])
def test_counts_that_are_no_counts_are_refused(counts):
    with pytest.raises(DomainError, match="class_count"):
        labels.complement(counts)


def test_uniform_labels_need_a_copy_of_every_class():
    assert labels.uniform(10, 26) == [26] * 10
    assert bounds.get("fedcog.uniform_labels")(classes=10, samples_per_class=26) == sum(labels.uniform(10, 26))
    with pytest.raises(DomainError, match="classes"):
        labels.uniform(0, 26)


def test_the_weights_without_hyper_parameters_sum_to_1():
    counts = [13, 4, 0, 29]
    own = bounds.get("fedcog.task_weight")(class_count=counts)
    lacking = bounds.get("fedcog.distillation_weight")(class_count=counts)
    assert own == pytest.approx(46 / (46 + 16 + 25 + 29), rel=1e-14)
    assert own + lacking == pytest.approx(1, rel=1e-14)


def test_a_balanced_client_does_not_distil():
    assert bounds.get("fedcog.distillation_weight")(class_count=[8, 8, 8]) == 0
    assert bounds.get("fedcog.task_weight")(class_count=[8, 8, 8]) == 1


def test_without_generated_data_the_cost_is_that_of_fedavg():
    parts = COST.parts(**POINTS["fedcog.sample_passes"] | {"generation_steps": 0, "generated_batch": 0})
    assert parts == {"generation": 0, "distillation": 0, "local training": 2 * 390 * 64}
