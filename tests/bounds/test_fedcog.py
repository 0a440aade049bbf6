"""FedCOG: rounding labels, and where its statements speak and are silent (values: the slow twins)."""

import math

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.errors import DomainError, OutsideConditionsWarning
from bounds.fedcog import labels
from bounds.points.fedcog import COROLLARY, POINTS, PRINTED, THEOREM

GENERATION = bounds.get("fedcog.generation_loss")
DISAGREEMENT = bounds.get("fedcog.disagreement_loss")
LACK, ALLOCATION = bounds.get("fedcog.complementary_count"), bounds.get("fedcog.complementary_allocation")
THEOREM_5_6, COROLLARY_5_7 = bounds.get("fedcog.theorem"), bounds.get("fedcog.corollary")
AS_PRINTED, ONE_ROUND = bounds.get("fedcog.corollary_printed"), bounds.get("fedcog.descent_one_round")
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


# ---- the theorem ----


@pytest.mark.parametrize(("tau", "beta_sq", "first"), [(2, 1.1, True), (9, 1.1, False), (9, 5.2, False)])
def test_the_step_size_conditions_end_where_they_say(tau, beta_sq, first):
    L = THEOREM["smoothness"]
    limits = (1 / (2 * tau), 1 / math.sqrt(2 * tau * (tau - 1) * (2 * beta_sq + 1)))
    assert (limits[0] < limits[1]) is first
    point = THEOREM | {"local_steps": tau, "dissimilarity_factor": beta_sq}
    edge = min(limits) / L
    assert THEOREM_5_6.holds(**point | {"step_size": edge * (1 - 1e-9)})
    (failed,) = THEOREM_5_6.failed(**point | {"step_size": edge * (1 + 1e-9)})
    assert failed.words.startswith("eta L <= 1/(2 tau)" if first else "eta L <= 1/sqrt")


def test_one_local_step_has_no_drift_and_only_the_first_condition():
    point = THEOREM | {"local_steps": 1, "dissimilarity_factor": 1e9, "step_size": 0.4999 / THEOREM["smoothness"]}
    parts = THEOREM_5_6.parts(**point)
    assert parts["drift by noise"] == parts["drift by heterogeneity"] == 0
    assert THEOREM_5_6.holds(**point)


# ---- the corollary ----


def at(tau, T):
    return COROLLARY | {"local_steps": tau, "rounds": T}


@pytest.mark.parametrize(("tau", "T"), [(1, 13), (3, 70), (5, 240), (40, 1200), (40, 900)])
def test_the_corollary_is_the_theorem_at_its_step_size(tau, T):
    theorem = THEOREM | at(tau, T) | {"step_size": 1 / math.sqrt(tau * T)}
    assert COROLLARY_5_7.holds(**at(tau, T)) == THEOREM_5_6.holds(**theorem)
    assert COROLLARY_5_7.formula(**at(tau, T)) == pytest.approx(THEOREM_5_6.formula(**theorem), rel=1e-12)


def test_the_corollary_holds_exactly_from_the_number_of_rounds_it_needs():
    L_sq, beta_sq = COROLLARY["smoothness"] ** 2, COROLLARY["dissimilarity_factor"]
    for tau in (1, 2, 6, 31):
        fewest = math.ceil(max(4 * tau * L_sq, 2 * (tau - 1) * (2 * beta_sq + 1) * L_sq))
        assert COROLLARY_5_7.holds(**at(tau, fewest))
        assert not COROLLARY_5_7.holds(**at(tau, fewest - 1))


def test_the_printed_corollary_speaks_where_its_theorem_is_silent():
    few = {"rounds": 100}
    assert THEOREM_5_6.failed(**THEOREM | few | {"step_size": 1 / math.sqrt(500)})
    assert np.isfinite(AS_PRINTED(**PRINTED | few))
    with pytest.warns(OutsideConditionsWarning, match="T >= 2"):
        assert math.isnan(COROLLARY_5_7(**COROLLARY | few))


# ---- the proof ----


def test_below_1_condition_63_asks_what_the_theorem_and_the_proof_ask():
    draws = np.random.default_rng(5)
    tau, beta_sq = draws.integers(2, 9, 4000), 1 + draws.exponential(2, 4000)
    load = draws.uniform(0.02, 0.999, 4000)  # A
    point = POINTS["fedcog.theorem"] | {"local_steps": tau, "dissimilarity_factor": beta_sq}
    point["step_size"] = np.sqrt(load / (2 * tau * (tau - 1))) / point["smoothness"]
    said = ((THEOREM_5_6, "sqrt"), (ONE_ROUND, "(63)"))
    relations = [r for b, w in said for c, r in zip(b.numeric_conditions, b.relations, strict=True) if w in c.words]
    assert len(relations) == 2
    by_proof = load * beta_sq / (1 - load) <= 0.5
    assert 100 < by_proof.sum() < 3900
    for relation in relations:
        assert (truth(relation, point) == by_proof).all()


def test_above_1_condition_63_holds_for_the_wrong_reason():
    point = POINTS["fedcog.descent_one_round"] | {"local_steps": 40, "smoothness": 2.1, "step_size": 0.0122}
    assert 2 * 40 * 39 * (2.1 * 0.0122) ** 2 > 1
    failed = {c.words for c in ONE_ROUND.failed(**point)}
    assert "drift does not feed itself: A < 1" in failed
    assert not any("(63)" in words for words in failed)


def truth(relation, point):
    """A relation of quantities at many points at once."""
    names = sorted(relation.free_symbols, key=str)
    return sp.lambdify(names, relation)(*(point[str(n)] for n in names))


# ---- sharpened ----

SHARP = bounds.get("fedcog.theorem_sharp")


@pytest.mark.parametrize("tau", [1, 2, 7, 90])
@pytest.mark.parametrize("share", [0.999, 0.3, 0.01])
def test_the_sharper_bound_is_between_a_quarter_of_the_theorem_and_all_of_it(tau, share):
    limit = min(1 / (2 * tau), math.inf if tau == 1 else 1 / math.sqrt(2 * tau * (tau - 1) * (2 * 1.4 + 1)))
    point = THEOREM | {"local_steps": tau, "dissimilarity_factor": 1.4, "step_size": share * limit / 1.7}
    ratio = SHARP(**point) / THEOREM_5_6(**point)
    assert 0.25 < ratio < 1
    if share == 0.01:
        assert ratio < 0.52


def test_the_sharper_bound_of_one_step_by_hand():
    """tau = 1: 2 gap/(eta T) + eta L sigma^2 sum p^2 / (1 - eta L), up to eta L = 1."""
    point = THEOREM | {"local_steps": 1, "step_size": 0.5, "smoothness": 1.7}
    noise = 0.5 * 1.7 * 1.9 * (0.2**2 + 0.35**2 + 0.45**2) / (1 - 0.85)
    assert SHARP(**point) == pytest.approx(2 * 3.7 / (0.5 * 240) + noise, rel=1e-13)
    assert SHARP.holds(**point)
    assert not SHARP.holds(**point | {"step_size": 0.59})
