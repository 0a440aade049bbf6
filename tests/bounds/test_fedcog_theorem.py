"""FedCOG's Theorem 5.6 and Corollary 5.7, printed and derived, and what the paper says about them."""

import math

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.errors import OutsideConditionsWarning
from bounds.points.fedcog import COROLLARY, PRINTED, THEOREM
from bounds.vocabulary import clients

THEOREM_5_6, COROLLARY_5_7 = bounds.get("fedcog.theorem"), bounds.get("fedcog.corollary")
AS_PRINTED, ORDER = bounds.get("fedcog.corollary_printed"), bounds.get("fedcog.corollary_order")

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


def test_equal_clients_divide_the_gradient_noise_by_their_number():
    equal = THEOREM_5_6.equal_clients().terms["gradient noise"]
    one = THEOREM_5_6.parts(**THEOREM | {"client_weight": [1.0]})["gradient noise"]
    many = THEOREM_5_6.parts(**THEOREM | {"client_weight": [1 / 7] * 7})["gradient noise"]
    assert one / many == pytest.approx(7, rel=1e-12)
    assert sp.diff(equal * clients, clients) == 0


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


def test_each_order_covers_its_part_of_the_corollary():
    tau, T = (a.ravel() for a in np.meshgrid([1, 3, 20, 400], [30, 1000, 10**5, 10**8]))
    parts = AS_PRINTED.parts(**PRINTED | {"local_steps": tau, "rounds": T})
    orders = ORDER.parts(local_steps=tau, rounds=T)
    weights_sq = 0.2**2 + 0.35**2 + 0.45**2
    first = parts["optimisation"] + parts["gradient noise"]
    assert first / orders["1/sqrt(tau T)"] == pytest.approx(np.full(16, 4 * 3.7 + 4 * 1.7 * 1.9 * weights_sq))
    assert (parts["drift by noise"] < 3 * 1.9 * 1.7**2 * orders["1/T"]).all()
    assert (parts["drift by heterogeneity"] < 6 * 0.83 * 1.7**2 * orders["tau/T"]).all()
    assert (AS_PRINTED(**PRINTED | {"local_steps": tau, "rounds": T}) < 33 * ORDER(local_steps=tau, rounds=T)).all()


def best_tau(T, most=4000, **changes):
    tau = np.arange(1, most + 1)
    return int(tau[np.argmin(COROLLARY_5_7.formula(**COROLLARY | {"local_steps": tau, "rounds": T} | changes))])


def test_for_finitely_many_rounds_a_best_number_of_local_steps_exists():
    best = best_tau(10**6)
    assert 1 < best < 4000
    assert COROLLARY_5_7.holds(**at(best, 10**6))


def test_the_best_number_of_local_steps_grows_like_the_cube_root_of_the_rounds():
    assert best_tau(10**9) / best_tau(10**6) == pytest.approx(10, rel=0.1)


def test_with_few_rounds_one_local_step_is_best():
    assert best_tau(12, most=50) == 1
    assert best_tau(12, most=50, dissimilarity_offset=0.0, gradient_variance=0.0) == 50


def test_without_heterogeneity_only_the_conditions_make_a_number_of_local_steps_best():
    alike = {"dissimilarity_offset": 0.0}
    assert best_tau(10**4, **alike) == 4000  # the formula falls as far as one looks
    tau = np.arange(1, 4001)
    allowed = tau[COROLLARY_5_7.holds(**at(tau, 10**4) | alike)]
    assert allowed[-1] == math.floor(1 + 10**4 / (2 * 5.6 * 1.7**2))
    assert np.nanargmin(COROLLARY_5_7(**at(tau, 10**4) | alike)) + 1 == allowed[-1]


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
