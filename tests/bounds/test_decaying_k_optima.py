"""Decaying-K: the best K and eta and the derivatives of (8), and what their printed forms have lost."""

import numpy as np
import pytest
import sympy as sp
from decaying_k_by_hand import bound_8, exactly, plain, POINT, point_of, POINTS_ALL

from bounds.decaying_k.convergence import per_rounds, per_second
from bounds.decaying_k.derivatives import step_size_curvature_derived, steps_curvature_derived
from bounds.decaying_k.optima import (
    eta_star,
    eta_star_capped,
    eta_star_printed,
    eta_star_rounds,
    k_star,
    k_star_printed,
    k_star_rounds,
)
from bounds.points.decaying_k import POINTS
from bounds.vocabulary import (
    client_gradient_variance as sigma_c,
    client_weight as p_c,
    communication_time as tau,
    heterogeneity as Gamma,
    local_steps as K,
    minibatch_time as beta,
    rounds as R,
    runtime as W,
    step_size as eta,
)

# ---- the best number of local steps ----


def test_the_derived_k_star_is_where_the_bound_per_second_is_smallest():
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda k: bound_8(k, 0.009), bounds=(0.1, 60), method="bounded", options={"xatol": 1e-10})
    assert k_star(**POINTS["decaying_k.k_star"]) == pytest.approx(found.x, rel=1e-6)


@pytest.mark.parametrize(
    ("best", "bound", "over"),
    [
        (k_star, per_second, K),
        (eta_star, per_second, eta),
        (k_star_rounds, per_rounds, K),
        (eta_star_rounds, per_rounds, eta),
    ],
)
def test_the_derived_optimum_is_what_minimize_gives_and_its_value_is_the_bound_there(best, bound, over):
    optimum = bound.minimize(over)
    assert float(exactly(optimum.at - best.expr, POINTS_ALL)) == pytest.approx(0, abs=1e-15)
    there = exactly(bound.expr.subs(over, optimum.at), POINTS_ALL)
    assert float(there) == pytest.approx(float(exactly(optimum.value, POINTS_ALL)), rel=1e-13)
    assert best.target == over
    assert best.relation == "="


@pytest.mark.parametrize("star", [k_star, k_star_printed])
def test_the_best_k_knows_neither_the_computation_time_nor_the_noise(star):
    assert not {beta, p_c, sigma_c, Gamma} & plain(star).free_symbols


def test_the_best_k_halves_in_eight_times_the_runtime_and_rises_with_the_cohort():
    point = POINTS["decaying_k.k_star"]
    assert k_star(**{**point, "runtime": 8 * 311.0}) == pytest.approx(k_star(**point) / 2, rel=1e-13)
    assert np.all(np.diff(k_star(**{**point, "cohort": [1, 2, 3]})) > 0)


def test_for_a_given_number_of_rounds_the_best_k_needs_no_slow_network():
    assert sp.simplify(plain(k_star).subs(W, R * tau) - plain(k_star_rounds)) == 0
    assert sp.simplify(plain(eta_star).subs(W, R * tau).subs(beta, 0) - plain(eta_star_rounds)) == 0
    assert sp.simplify(plain(eta_star).subs(W, R * tau) - plain(eta_star_rounds)) != 0


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


def test_the_best_step_size_rises_with_the_cohort_and_falls_with_k():
    """The text says that a larger cohort allows a smaller step size; by its own formula it asks for a larger one."""
    point, printed = POINTS["decaying_k.eta_star"], POINTS["decaying_k.eta_star_printed"]
    assert np.all(np.diff(eta_star(**{**point, "cohort": [1, 2, 3]})) > 0)
    assert np.all(np.diff(eta_star_printed(**{**printed, "cohort": [1, 2, 3]})) > 0)
    assert np.all(np.diff(eta_star(**{**point, "local_steps": [2, 3, 7, 40]})) < 0)


@pytest.mark.parametrize(("W", "G2", "limited"), [(311.0, 1.7, False), (2.9, 0.0013, True)])
def test_the_capped_eta_star_is_the_best_of_all_allowed_step_sizes(W, G2, limited):
    point = point_of(eta_star_capped, runtime=W, grad_cap_sq=G2)
    best = eta_star_capped(**point)
    allowed = np.linspace(1e-5, 1 / (4 * 1.3), 40001)
    grid = allowed[np.argmin([bound_8(6, e, W=W, G2=G2) for e in allowed])]
    assert best == pytest.approx(grid, abs=1e-5)
    assert (best == 1 / (4 * 1.3)) is limited
    assert eta_star.holds(**point) is not limited
    assert not limited or eta_star.formula(**point) > best


def test_minimising_with_numbers_agrees_with_the_capped_eta_star():
    point = {**POINT, "runtime": 2.9, "grad_cap_sq": 0.0013}
    del point["step_size"]
    found = per_second.minimize(eta, **point)
    assert float(found.at) == pytest.approx(eta_star_capped(**point), rel=1e-9)


# ---- the derivatives in K ----


def test_the_bound_per_second_is_convex_in_k_and_in_eta():
    for curvature in (steps_curvature_derived, step_size_curvature_derived):
        point = point_of(curvature)
        for scale in (0.013, 0.7, 5.3):
            assert min(curvature.parts(**{**point, "step_size": 0.03 * scale, "runtime": 90 / scale}).values()) > 0
