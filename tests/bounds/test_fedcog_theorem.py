"""FedCOG's Theorem 5.6 and Corollary 5.7, printed and derived, and what the paper says about them."""

import math

import numpy as np
import pytest

import bounds
from bounds.errors import OutsideConditionsWarning
from bounds.points.fedcog import COROLLARY, PRINTED, THEOREM

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
