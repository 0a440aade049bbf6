"""Decaying-K: where its statements speak and where they are silent (values: the slow twins)."""

from math import isnan

import numpy as np
import pytest

from bounds.decaying_k.convergence import (
    lemma_1,
    lemma_1_printed,
    per_rounds,
    per_second,
    theorem_1,
    theorem_1_appendix,
)
from bounds.decaying_k.optima import eta_star, eta_star_capped, eta_star_printed, k_star, k_star_printed, k_star_rounds
from bounds.decaying_k.runtime import runtime, runtime_fixed
from bounds.errors import OutsideConditionsWarning
from bounds.points.decaying_k import POINTS

POINT = POINTS["decaying_k.per_second"]


def point_of(bound, **changed):
    return {**POINTS[bound.name], **changed}


# ---- runtime ----


def test_a_run_with_fewer_iterations_than_rounds_has_no_runtime():
    with pytest.warns(OutsideConditionsWarning, match="at least one local step"):
        assert isnan(runtime(**point_of(runtime, rounds=43, iterations=42)))
    assert runtime(**point_of(runtime, rounds=43, iterations=43)) > 0


# ---- Theorem 1 and the bound per second ----


def test_the_bound_per_second_is_theorem_1_after_the_time_its_rounds_take():
    seconds = runtime_fixed(**point_of(runtime_fixed, iterations=246, local_steps=6))
    by_time = per_second(**{**POINT, "runtime": seconds, "local_steps": 6})
    whole = point_of(theorem_1, iterations=246, steps_cubed_ratio=36, initial_loss=POINT["current_loss"])
    assert by_time == pytest.approx(theorem_1(**whole), rel=1e-13)
    assert per_rounds(**point_of(per_rounds, rounds=41)) == pytest.approx(by_time, rel=1e-13)


def test_less_time_than_one_round_says_nothing():
    short = {**POINT, "runtime": 0.99 * (6.71 / 21.3 + 6.71 / 4.9 + 0.017 * 6)}
    assert [c.words for c in per_second.failed(**short)] == ["the runtime holds at least one round"]
    assert np.isfinite(per_second.formula(**short))


def test_the_step_size_may_reach_a_quarter_of_the_inverse_smoothness_and_no_more():
    at_limit, beyond = (point_of(theorem_1, smoothness=1.25, step_size=s) for s in (0.2, 0.2000001))
    assert theorem_1.holds(**at_limit)
    assert not theorem_1.holds(**beyond)


def test_the_sum_of_the_appendix_needs_as_many_marked_clients_as_take_part():
    point = POINTS["decaying_k.theorem_1_appendix"]
    assert theorem_1_appendix.holds(**point)
    assert not theorem_1_appendix.holds(**{**point, "takes_part": [1, 1, 1]})


def test_the_printed_lemma_1_is_silent_for_one_participant_and_the_repaired_one_for_one_client():
    assert not lemma_1_printed.holds(**point_of(lemma_1_printed, cohort=1))
    assert lemma_1.holds(**point_of(lemma_1, cohort=1))
    assert not lemma_1.holds(**point_of(lemma_1, cohort=1, clients=1, client_gradient_variance=[0.7]))


def test_without_a_limit_on_the_step_size_the_printed_contraction_turns_negative():
    long_step = lemma_1_printed.parts(**point_of(lemma_1_printed, step_size=2.7))["contraction"]
    assert long_step == pytest.approx((1 - 2.7 * 0.4) * 3.1, rel=1e-12)
    assert not lemma_1.holds(**point_of(lemma_1, step_size=2.7))


# ---- the best number of local steps ----


@pytest.mark.parametrize("star", [k_star, k_star_printed, k_star_rounds, eta_star, eta_star_printed, eta_star_capped])
def test_no_optimum_where_kappa_times_the_loss_is_below_the_smallest_loss(star):
    negative = point_of(star, current_loss=-0.2, optimal_loss=-0.3)
    assert not star.holds(**negative)


def test_no_best_k_without_gradients_while_the_print_does_not_notice():
    assert not k_star.holds(**point_of(k_star, grad_cap_sq=0))
    assert "grad_cap_sq" not in [q.name for q in k_star_printed.quantities]


def test_a_best_k_whose_round_outlasts_the_runtime_is_not_stated():
    slow = point_of(k_star, minibatch_time=270.0)
    assert [c.words for c in k_star.failed(**slow)] == ["at the optimum, the runtime holds at least one round"]


# ---- the best step size ----


@pytest.mark.parametrize(("runtime", "cap", "limited"), [(311.0, 1.7, False), (2.9, 0.0013, True)])
def test_the_capped_eta_star_is_the_best_of_all_allowed_step_sizes(runtime, cap, limited):
    point = point_of(eta_star_capped, runtime=runtime, grad_cap_sq=cap)
    best = eta_star_capped(**point)
    found = per_second.minimize("step_size", **{n: v for n, v in {**POINT, **point}.items() if n != "step_size"})
    assert best == pytest.approx(float(found.at), rel=1e-9)
    assert (best == 1 / (4 * 1.3)) is limited
    assert eta_star.holds(**point) is not limited
    assert not limited or eta_star.formula(**point) > best
