"""Findings of the audit of Decaying-K, by arithmetic of their own: plain loops and numbers typed from the paper."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

from bounds.catalog import BOUNDS
from bounds.numerics.rounding import RoundUp
from bounds.vocabulary import local_steps as K, runtime as W, smoothness as L, step_size as eta
from paper_checks.claims.checkers import States
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.decaying_k import CLAIMS
from paper_checks.claims.decaying_k.by_hand.scalar import Scalars
from paper_checks.claims.decaying_k.common import CAP, TAU

BY_NAME = {c.name: c for c in CLAIMS}
TASKS = {  # size (Mb), K_0, seconds per step, printed share of K_r-rounds
    "Sent140": (0.32, 60, 0.0052, 0.21),
    "FEMNIST": (6.71, 80, 0.017, 0.11),
    "CIFAR100": (40.0, 50, 0.31, 0.090),
    "Shakespeare": (5.21, 80, 1.5, 0.74),
}


# ---- Table 4 ----


def local_steps(first, rounds):
    """ceil(K_0 / cbrt(r)), with room for the rounding of the root."""
    return np.ceil(first / np.cbrt(np.arange(1, rounds + 1)) - 1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_table_4_is_not_over_ten_thousand_rounds(task):
    _, first, _, printed = TASKS[task]
    share = local_steps(first, 10_000).sum() / (10_000 * first)
    assert 0.075 < share < 0.080
    assert abs(share - printed) > 0.01


@pytest.mark.parametrize("task", TASKS)
def test_table_4_is_over_the_same_runtime_but_for_cifar(task):
    size, first, step, printed = TASKS[task]
    sending = size / 20 + size / 5
    steps = local_steps(first, 300_000)
    ends = np.cumsum(sending + step * steps)
    rounds = np.searchsorted(ends, 10_000 * (sending + step * first), side="right")
    share = steps[:rounds].sum() / (10_000 * first)
    assert (abs(share - printed) < 0.005) == (task != "CIFAR100")
    if task == "CIFAR100":
        assert share == pytest.approx(0.1435, abs=1e-4)


@pytest.mark.parametrize(("task", "least"), [("CIFAR100", 0.12), ("FEMNIST", 0.10)])
def test_a_tenth_of_the_steps_leaves_time_for_more_than_a_tenth(task, least):
    """Were it a tenth, so many rounds would fit into the time that their steps, counted one by one, are more."""
    size, first, step, _ = TASKS[task]
    sending, tenth = size / 20 + size / 5, 1000 * first
    rounds = int((10_000 * (sending + step * first) - step * tenth) / sending)
    made = sum(next(k for k in range(1, first + 1) if k**3 * r >= first**3) for r in range(1, rounds + 1))
    assert made > 10 * least * tenth


def test_a_tenth_is_right_in_rounds_and_wrong_in_time():
    for name in ("decaying_k.results_tenth", "decaying_k.conclusion_tenfold"):
        found = BY_NAME[name].check(Book())
        assert found.status is Status.FAILS
        assert found.as_audited
        assert found.evidence.startswith("in the same time: ")


def test_1000_minutes_and_the_runtime_give_cifars_share_of_k_r_step():
    early, late = 10 + 0.31 * 50, 10 + 0.31 * 5
    switch = 60_000 / early
    after = (10_000 * early - 60_000) / late
    assert (50 * switch + 5 * after) / 500_000 == pytest.approx(0.40, abs=0.006)
    assert (50 * switch + 5 * (10_000 - switch)) / 500_000 == pytest.approx(0.31, abs=0.006)


# ---- the optima ----


def per_second(k, step_size, grad_cap_sq):
    """(8) in plain floats: kappa = 4, L = 2, tau = 3.1, beta = 0.2, W = 500, N = 2, loss 1.7, F^* = 0.3."""
    gap = 2 * 4 * (4 * 1.7 - 0.3)
    noise = 0.4 + 6 * 2 * 0.25 + (8 + 4 / 2) * grad_cap_sq * k**2
    return gap / (step_size * 500 * k) * (3.1 + 0.2 * k) + step_size * 4 * 2 * noise


def test_the_printed_k_is_too_large_by_the_cube_root_of_g_squared():
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda k: per_second(k, 0.01, 5.3), bounds=(0.5, 60), method="bounded").x
    printed = ((4 * 1.7 - 0.3) / (8 * 0.01**2 * 2 * (1 + 1 / 4)) * 3.1 / 500) ** (1 / 3)
    assert printed / best == pytest.approx(5.3 ** (1 / 3), rel=1e-4)


def test_the_printed_step_size_is_too_large_by_the_root_of_k():
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(lambda e: per_second(7, e, 0.6), bounds=(1e-4, 1), method="bounded", options={"xatol": 1e-9})
    noise = 0.4 + 6 * 2 * 0.25 + 10 * 0.6 * 49
    printed = (2 * (4 * 1.7 - 0.3) / (2 * noise) * (3.1 + 0.2 * 7) / 500) ** 0.5
    assert printed / best.x == pytest.approx(7**0.5, rel=1e-4)


def test_with_a_fixed_end_the_best_k_rises_while_the_loss_stays():
    left = np.array([900.0, 500.0, 100.0])
    best = [BOUNDS["decaying_k.k_star"].formula(
        runtime=w, current_loss=1.7, optimal_loss=0.3, smoothness=2.0, strong_convexity=0.5, cohort=2, grad_cap_sq=5.3,
        step_size=0.01, model_size=6.2, download_rate=4.0, upload_rate=4.0, minibatch_time=0.2,
    ) for w in left]  # fmt: skip
    assert np.all(np.diff(best) > 0)


def test_with_clients_alike_the_best_k_rises_with_the_runtime_while_the_bounds_falls():
    """A second to send, half a second a step: n steps in one round take 1 + n/2 seconds; more rounds make fewer."""
    best = [max(range(1, 2 * w), key=lambda k, w=w: k * int(w / (1 + k / 2))) for w in (30, 120)]
    assert best == [58, 238]
    assert BY_NAME["decaying_k.theorem_2_trend"].known is Status.FAILS


# ---- Theorem 1 and its lemmas ----


def test_a_shift_of_the_loss_makes_theorem_1_negative():
    """Gradient descent on x^2 + y^2/2 - 1 from its minimum: nothing moves, every gradient is zero."""
    kappa, loss = 2.0, -1.0
    bound = 2 * kappa * (kappa * loss - loss) / (0.125 * 4)
    assert bound == -8
    assert "-8" in BY_NAME["decaying_k.theorem_1"].check(Book()).evidence


def test_the_second_moment_stays_above_the_bound_with_the_defined_g():
    shrink = (1 - 6.5e-5) ** 20
    second = start = (1 - shrink) / (1 + shrink)
    for _ in range(50):  # E x^2 over the draw of one of two clients with minima 1 and -1
        second = ((shrink * second**0.5 + 1 - shrink) ** 2 + (shrink * second**0.5 - 1 + shrink) ** 2) / 2
    assert second == pytest.approx(start, rel=1e-12)
    bound = start / (6.5e-5 * 50_000) + 6.5e-5 * (3 + 12 * start * 400)
    assert start * (1 - 6.5e-5) ** 38 > 1.08 * bound


def test_the_variance_of_a_cohorts_mean_has_clients_minus_one_below():
    values = [2.0, -1.0, 0.5, 3.0, -4.0, 1.5]
    mean, spread = np.mean(values), np.var(values)
    of_means = np.mean([(np.mean(c) - mean) ** 2 for c in combinations(values, 4)])
    assert of_means == pytest.approx((6 - 4) / (6 - 1) * spread / 4, rel=1e-12)
    assert of_means != pytest.approx((6 - 4) / (4 - 1) * spread / 4, rel=1e-3)


def test_lemma_1_fails_at_the_end_of_a_round_from_the_optimum():
    walked = 1 - 0.95**10  # of clients towards 1, -1, 1, -1; two of them agree in one of three draws
    assert walked**2 / 3 > 7 * 0.05**2 * 6 * 0.5
    assert BY_NAME["decaying_k.lemma_1"].check(Book()).status is Status.FAILS


def test_one_coin_for_all_clients_is_clients_times_lemma_1():
    """x^2/2 for all, from x^* by one step of 1/4: (coin/4)^2 = 1/16 against eta^2 sum_c p_c^2 = 1/(16 C)."""
    for clients in (2, 10, 1000):
        squares = [(Fraction(1, 4) * sum(Fraction(coin, clients) for _ in range(clients))) ** 2 for coin in (-1, 1)]
        assert sum(squares) / 2 == clients * Fraction(1, 16) * clients * Fraction(1, clients**2)
    assert BY_NAME["decaying_k.lemma_1_independence"].known is Status.FAILS


def test_coins_kept_for_ever_hold_two_clients_off_the_minimum():
    """x + mean of the coins = 0 at rest: E x^2 = 1/2; (16) from there, eta = 1/4: 3/4 * 1/2 + 1/16 * 1/2 = 13/32."""
    rests = [-Fraction(a + b, 2) for a in (-1, 1) for b in (-1, 1)]
    assert sum(x**2 for x in rests) / 4 == Fraction(1, 2) > Fraction(13, 32) == Fraction(3, 8) + Fraction(1, 32)


def test_the_worst_cases_bound_the_clients_gradients_by_g():
    from paper_checks.worst_cases.tables import committed

    row = next(iter(committed("decaying_k.theorem_1")))
    assert row["grad_cap_sq"] == 4
    assert "G^2 = 4" in BY_NAME["decaying_k.theorem_1.worst_case"].note


# ---- the setup ----


def test_the_form_by_iterations_shrinks_a_model_that_is_at_rest():
    x = 1.0  # two equal clients at their common minimum, one of them taking part: sum_c p_c y_c = y / 2
    assert 0.5 * (x - 0.1 * 0.0) == 0.5
    found = BY_NAME["decaying_k.eq_2"]
    assert found.check(Book()).status is Status.FAILS
    assert found.repair.check(Book()).status is Status.HOLDS


def test_iid_clients_differ():
    """Two clients with two fair signs each: their means are -1, 0, 0, 1; Gamma is an eighth of the squared distance."""
    means = [-1, 0, 0, 1]
    gamma = np.mean([(a - b) ** 2 / 8 for a in means for b in means])
    assert gamma == pytest.approx(1 / 8)
    assert "2 samples: 1/8" in BY_NAME["decaying_k.gamma_iid"].check(Book()).evidence


def test_a_loss_that_never_changes_is_overestimated_by_one_percent():
    reports = sum(2.5 for _ in range(1000 - 100, 1000 + 1) for _ in range(7))
    assert reports / (100 * 7) == pytest.approx(2.5 * 1.01)


def test_softmax_has_curvature_one_half_in_opposite_biases_and_none_in_equal_ones():
    def loss(a, b):
        return np.log(np.exp(a) + np.exp(b)) - a

    h = 1e-4
    for direction, curvature in ((np.array([1, -1]) / 2**0.5, 0.5), (np.array([1, 1]) / 2**0.5, 0.0)):
        up, down = loss(*(h * direction)), loss(*(-h * direction))
        assert (up - 2 * loss(0, 0) + down) / h**2 == pytest.approx(curvature, abs=1e-6)
    assert 3.0 > 1 / (4 * 0.5)
    assert BY_NAME["decaying_k.setting_step_sizes"].known is Status.FAILS  # no L: 0.3, 0.01, 0.1 > 1/(4 h^2/4) = 1/h^2
    assert min(0.3, 0.01, 0.1) > 1 / 100**2


# ---- the means of this audit ----


def test_scalar_federations_run_as_by_hand():
    problem = Scalars.of((2, -1), (1, 3))
    assert problem.local(1, Fraction(1), 2, Fraction(1, 4)) == [1, Fraction(-1, 2), Fraction(-7, 8)]
    assert problem.minimiser == Fraction(-1, 4)
    assert problem.loss(Fraction(1)) == Fraction(1, 4) + 3
    assert problem.round_ends(Fraction(1), 1, 1, Fraction(1, 4)) == [
        (Fraction(1, 2), Fraction(5, 4)),
        (Fraction(1, 2), Fraction(-1, 2)),
    ]


PER_SECOND = BOUNDS["decaying_k.per_second"]
STATED = States(
    "decaying_k.per_second",
    (CAP, *PER_SECOND.relations[1:]),
    tuple(c.assumption.name for c in PER_SECOND.conditions if c.assumption is not None),
)


def planted(conditions):
    return Book({PER_SECOND.name: replace(PER_SECOND, conditions=tuple(conditions))})


def test_conditions_as_stated_pass():
    assert STATED(Book()).status is Status.HOLDS


@pytest.mark.parametrize("place", range(len(PER_SECOND.conditions)))
def test_a_dropped_condition_is_noticed(place):
    kept = [c for i, c in enumerate(PER_SECOND.conditions) if i != place]
    assert STATED(planted(kept)).status is Status.FAILS


@pytest.mark.parametrize(
    "relation",
    [eta <= 1 / (2 * L), eta >= 1 / (4 * L), sp.Lt(eta, 1 / (4 * L)), TAU <= W],
    ids=["doubled", "turned", "strict", "another"],
)
def test_a_changed_condition_is_noticed(relation):
    changed = [
        replace(c, relation=relation) if c.words == "the step size is at most 1/(4L)" else c
        for c in PER_SECOND.conditions
    ]
    assert STATED(planted(changed)).status is Status.FAILS


def test_round_up_in_many_digits_forgives_what_a_root_loses():
    from sympy.printing.pycode import MpmathPrinter

    assert "ceil" in MpmathPrinter().doprint(RoundUp(K))
    ceiling = sp.lambdify([K], RoundUp(81 / sp.cbrt(K)), modules="mpmath")
    assert [int(ceiling(k)) for k in (27, 26, 28)] == [27, 28, 27]


def test_every_failing_claim_says_why():
    silent = [c.name for c in CLAIMS if c.known is Status.FAILS and not c.note]
    assert not silent


def test_the_schedules_that_follow_the_loss_are_quotients_at_one_runtime():
    """(9) and (11) typed out, F^* = 0, kappa = 4, L = 2, N = 3, G^2 = 5.3, tau = 3.1, beta = 0.2."""

    def best_steps(loss, runtime):
        return (4 * loss / (8 * 0.01**2 * 2 * (1 + 1 / 6)) * 3.1 / runtime) ** (1 / 3)

    def best_step_size(loss, runtime):
        return (2 * 4 * loss / (2 * (0.4 + (8 + 4 / 3) * 5.3 * 49)) * (3.1 + 1.4) / runtime) ** 0.5

    assert best_steps(0.6, 500) / best_steps(1.7, 500) == pytest.approx((0.6 / 1.7) ** (1 / 3), rel=1e-12)
    assert best_step_size(0.6, 500) / best_step_size(1.7, 500) == pytest.approx((0.6 / 1.7) ** 0.5, rel=1e-12)
    assert best_steps(0.6, 300) / best_steps(1.7, 500) != pytest.approx((0.6 / 1.7) ** (1 / 3), rel=1e-2)
    assert best_steps(1.7, 1e-9) > 1e4  # at W = 0 there is none
    assert BY_NAME["decaying_k.eq_13"].known is Status.FAILS
    assert BY_NAME["decaying_k.k_0_at_zero"].known is Status.FAILS
