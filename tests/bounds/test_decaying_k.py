"""Decaying-K, statement by statement: runtime, Theorem 1 in both forms, its lemmas, and the bound per second."""

from math import isnan

import numpy as np
import pytest
from decaying_k_by_hand import POINT, point_of, TAU, VARIANCE

from bounds.decaying_k.convergence import (
    lemma_1,
    lemma_1_printed,
    lemma_2,
    per_rounds,
    per_second,
    theorem_1,
    theorem_1_appendix,
)
from bounds.decaying_k.optima import eta_star, k_star
from bounds.decaying_k.practice import eta_error_with_time, k_error_with_time
from bounds.decaying_k.runtime import round_time, runtime, runtime_fixed
from bounds.errors import OutsideConditionsWarning
from bounds.points.decaying_k import POINTS

# ---- runtime ----


def test_identical_clients_take_the_sum_of_their_rounds():
    steps = [9, 7, 4, 3]
    one = {"client_download_rate": [21.3] * 2, "client_upload_rate": [4.9] * 2, "client_minibatch_time": [0.017] * 2}
    by_round = sum(round_time(model_size=6.71, local_steps=k, **one) for k in steps)
    assert runtime(**point_of(runtime, rounds=4, iterations=sum(steps))) == pytest.approx(by_round, rel=1e-14)


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
    short = {**POINT, "runtime": 0.99 * (TAU + 0.017 * 6)}
    assert [c.words for c in per_second.failed(**short)] == ["the runtime holds at least one round"]
    assert np.isfinite(per_second.formula(**short))


def test_the_step_size_may_reach_a_quarter_of_the_inverse_smoothness_and_no_more():
    at_limit, beyond = (point_of(theorem_1, smoothness=1.25, step_size=s) for s in (0.2, 0.2000001))
    assert theorem_1.holds(**at_limit)
    assert not theorem_1.holds(**beyond)


def test_the_appendix_form_is_smaller_in_the_loss_and_larger_in_the_drift():
    point = POINTS["decaying_k.theorem_1_appendix"]
    main, appendix = theorem_1.parts(**POINTS["decaying_k.theorem_1"]), theorem_1_appendix.parts(**point)
    ratio = (1.3 / 0.4 * 2.3 - 0.2) / (2.3 - 0.2)
    assert main["optimisation"] == pytest.approx(ratio * appendix["optimisation"], rel=1e-14)
    assert appendix["drift"] == pytest.approx(16 / (8 + 4 / 2) * main["drift"], rel=1e-14)
    chosen = 0.52**2 * 0.7 + 0.17**2 * 0.45
    assert appendix["gradient variance"] == pytest.approx(chosen / VARIANCE * main["gradient variance"], rel=1e-14)
    assert appendix["heterogeneity"] == pytest.approx(main["heterogeneity"], rel=1e-14)


def test_the_sum_of_the_appendix_needs_as_many_marked_clients_as_take_part():
    point = POINTS["decaying_k.theorem_1_appendix"]
    assert theorem_1_appendix.holds(**point)
    assert not theorem_1_appendix.holds(**{**point, "takes_part": [1, 1, 1]})


def test_dividing_lemma_2_by_the_step_sizes_gives_at_most_theorem_1_and_at_least_half_its_drift():
    steps, size, total = 6, 0.009, 247
    lemma = lemma_2.parts(**point_of(lemma_2, squared_step_sizes=size**2 * total, local_steps=steps))
    lemma = {name: part / (size * total) for name, part in lemma.items()}
    theorem = theorem_1.parts(**point_of(theorem_1, steps_cubed_ratio=steps**2))
    drift = lemma.pop("drift") + lemma.pop("partial participation")
    assert theorem["drift"] / 2 < drift < theorem.pop("drift")
    assert lemma == pytest.approx(theorem, rel=1e-13)


@pytest.mark.parametrize(("everyone", "some", "exceeds"), [(7, 3, True), (5, 3, False), (6, 3, True), (40, 39, False)])
def test_the_printed_participation_factor_exceeds_one_unless_more_than_half_take_part(everyone, some, exceeds):
    shared = {"clients": everyone, "cohort": some, "client_gradient_variance": [0.7] * everyone}
    full = 4 / some * 6**2 * 0.009**2 * 1.7
    printed, repaired = (
        lemma.parts(**point_of(lemma, **shared, **more))["partial participation"] / full
        for lemma, more in ((lemma_1_printed, {"client_weight": [1 / everyone] * everyone}), (lemma_1, {}))
    )
    assert printed == pytest.approx((everyone - some) / (some - 1), rel=1e-12)
    assert (printed > 1) is exceeds
    assert repaired == pytest.approx((everyone - some) / (everyone - 1), rel=1e-12)
    assert repaired < 1


def test_the_printed_lemma_1_is_silent_for_one_participant_and_the_repaired_one_for_one_client():
    assert not lemma_1_printed.holds(**point_of(lemma_1_printed, cohort=1))
    assert lemma_1.holds(**point_of(lemma_1, cohort=1))
    assert not lemma_1.holds(**point_of(lemma_1, cohort=1, clients=1, client_gradient_variance=[0.7]))


def test_without_a_limit_on_the_step_size_the_printed_contraction_turns_negative():
    long_step = lemma_1_printed.parts(**point_of(lemma_1_printed, step_size=2.7))["contraction"]
    assert long_step == pytest.approx((1 - 2.7 * 0.4) * 3.1, rel=1e-12)
    assert not lemma_1.holds(**point_of(lemma_1, step_size=2.7))


# ---- what the schedules rest on ----


def test_the_optimum_over_its_start_is_the_ratio_of_two_optima():
    late, early = point_of(k_star, optimal_loss=0), point_of(k_star, optimal_loss=0, current_loss=2.3, runtime=49.0)
    ratio = k_star(**late) / k_star(**early)
    assert k_error_with_time(**POINTS[k_error_with_time.name]) == pytest.approx(47 * ratio, rel=1e-13)
    late, early = point_of(eta_star, optimal_loss=0), point_of(eta_star, optimal_loss=0, current_loss=2.3, runtime=49.0)
    ratio = eta_star(**late) / eta_star(**early)
    assert eta_error_with_time(**POINTS[eta_error_with_time.name]) == pytest.approx(0.31 * ratio, rel=1e-13)


@pytest.mark.parametrize(("with_time", "root"), [(k_error_with_time, 3), (eta_error_with_time, 2)])
def test_the_error_schedules_drop_the_runtime_by_which_the_optimum_also_falls(with_time, root):
    """(13) and (14) are the ratio at equal runtimes; at the runtimes of the point they are too large by a root."""
    start = POINTS[with_time.name]["initial_local_steps" if root == 3 else "initial_step_size"]
    dropped = start * (1.9 / 2.3) ** (1 / root)
    assert with_time(**point_of(with_time, runtime=49.0)) == pytest.approx(dropped, rel=1e-13)
    assert dropped / with_time(**point_of(with_time)) == pytest.approx((311 / 49) ** (1 / root), rel=1e-13)
