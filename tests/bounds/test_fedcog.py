"""FedCOG's method, each formula against arithmetic of its own: generation, labels, weights, cost."""

import math

import numpy as np
import pytest

import bounds
from bounds.errors import DomainError, OutsideConditionsWarning
from bounds.fedcog import labels

GENERATION = bounds.get("fedcog.generation_loss")
DISAGREEMENT = bounds.get("fedcog.disagreement_loss")
LACK, ALLOCATION = bounds.get("fedcog.complementary_count"), bounds.get("fedcog.complementary_allocation")
WORKED_EXAMPLE = [500, 0, 400, 200, 400]


# ---- generation and local training ----


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
