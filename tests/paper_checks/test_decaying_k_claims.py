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
from paper_checks.claims.claim import Book, Defect, Status
from paper_checks.claims.decaying_k import CLAIMS, REVIEW
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


def test_with_a_fixed_end_the_best_k_and_the_best_step_size_rise_while_the_loss_stays():
    """tau = 3.1, beta = 0.2, 400 seconds in all; when 7/8 of them have passed K* is twice what it was."""
    setting = {
        "current_loss": 1.7, "optimal_loss": 0.3, "smoothness": 2.0, "strong_convexity": 0.5, "cohort": 2,
        "grad_cap_sq": 5.3, "model_size": 6.2, "download_rate": 4.0, "upload_rate": 4.0, "minibatch_time": 0.2,
    }  # fmt: skip
    noise = {"client_weight": [0.25, 0.75], "client_gradient_variance": [2.1, 0.4], "heterogeneity": 0.7}
    best = [BOUNDS["decaying_k.k_star"].formula(runtime=w, step_size=0.01, **setting) for w in (400.0, 50.0)]
    assert best[0] == pytest.approx((6.5 / (8 * 0.01**2 * 2 * 1.25 * 5.3) * 3.1 / 400) ** (1 / 3))
    assert best[1] == pytest.approx(2 * best[0])
    sizes = [BOUNDS["decaying_k.eta_star"].formula(runtime=w, local_steps=7, **setting, **noise) for w in (400.0, 50.0)]
    z = 2.1 / 16 + 0.4 * 9 / 16 + 6 * 2 * 0.7 + 10 * 5.3 * 49
    assert sizes[0] == pytest.approx((2 * 6.5 / (2 * z) * (3.1 + 1.4) / 7 / 400) ** 0.5)
    assert sizes[1] == pytest.approx(8**0.5 * sizes[0])


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


# ---- verdicts as wide as their evidence ----


@pytest.mark.parametrize(
    ("name", "defect", "evidence", "repaired"),
    [
        ("theorem_1_from_lemma_2", Defect.READING, "836, (6) has 640.8", True),
        ("remark_1_1_centralised", Defect.READING, "", True),
        ("remark_1_3", Defect.READING, "K = 12: 102.444", True),
        ("restart", Defect.READING, "slope in distance_sq is 0", True),
        ("theorem_2_decay", Defect.READING, "at the witness the slope in runtime is ", True),
        ("corollary_2_1_decay", Defect.READING, "at the witness the slope in initial_runtime is ", True),
        ("theorem_1_informative_at_cap", Defect.REFUTED, "nearest 2.09794 of it", True),
        ("joint_minimum", Defect.REFUTED, "K = 2 for W = 500, K = 2 for W = 4000", True),
        ("three_schedules", Defect.GAP, "K_r-rounds: 2.11, K_r-error: 1.32, K_r-step: 3.01", False),
        ("setting_informative", Defect.SETTINGS, "CIFAR100: 102", False),
        ("algorithm_1_line_11", Defect.REFUTED, "squared gradient 1 at every iteration, (6) with G^2 = 4: 0.05", True),
    ],
)
def test_a_statement_fails_as_audited_with_a_counterexample(name, defect, evidence, repaired):
    claim = BY_NAME[f"decaying_k.{name}"]
    found = claim.check(Book())
    assert (found.status, claim.defect, found.as_audited) == (Status.FAILS, defect, True)
    assert found.witness
    assert evidence in found.evidence
    assert (claim.repair is not None) == repaired
    assert claim.repair is None or claim.repair.check(Book()).status is Status.HOLDS


def test_what_the_improved_theorem_is_above_is_an_upper_estimate_and_gradient_descent_attains_it():
    from paper_checks.worst_cases.tables import committed

    assert not any(row["exact"] for row in committed("decaying_k.theorem_1_sharp"))  # so 1.1 is a lower limit alone
    x, step, squares = 5.0, 1 / 3, []  # clients 3/2 (x - 2)^2: L = 3
    for _ in range(4):
        squares.append((3 * (x - 2)) ** 2)
        x -= step * 3 * (x - 2)
    bound = BOUNDS["decaying_k.theorem_1_sharp"].formula(
        clients=2, cohort=2, client_gradient_variance=[0.0, 0.0], smoothness=3.0, initial_loss=13.5, optimal_loss=0.0,
        grad_cap_sq=81.0, steps_cubed_ratio=1.0, step_size=step, iterations=4,
    )  # fmt: skip
    assert float(bound) == pytest.approx(np.mean(squares)) == pytest.approx(81 / 4)
    assert any("decaying_k.theorem_1_sharp.worst_case" in sentence for sentence in REVIEW.survives)


def best_in_time(runtime, drawn, local):
    """The K > 0 that minimises 3 (1 + K/5) / (runtime K) + drawn K + local K^2."""
    from scipy.optimize import minimize_scalar

    def level(log_k):
        k = np.exp(log_k)
        return 3 * (1 + k / 5) / (runtime * k) + drawn * k + local * k**2

    return np.exp(minimize_scalar(level, bounds=(-12, 14), method="bounded", options={"xatol": 1e-12}).x)


@pytest.mark.parametrize(("runtime", "slope"), [(0.028125, -16 / 33), (1e7, -0.5), (1e-13, -1 / 3)])
def test_with_a_draw_the_best_k_falls_between_the_cube_and_the_square_root(runtime, slope):
    """eta L G^2 = 1 and eta L = 1/100: the draw costs K, local steps K^2/300 ; K* = 10 in the first case."""
    near, far = (best_in_time(factor * runtime, 1.0, 1 / 300) for factor in (0.99, 1.01))
    assert np.log(far / near) / np.log(1.01 / 0.99) == pytest.approx(slope, abs=2e-3)
    assert BY_NAME["decaying_k.remark_2_1"].check(Book()).status is Status.HOLDS


@pytest.mark.parametrize(
    ("cohort", "clients", "steps", "slope"),
    [(25, 500, 50, -0.33384), (10, 660, 1, -0.38049), (999, 1000, 50, -0.33333)],
)
def test_at_a_quarter_step_and_the_papers_cohorts_the_best_k_falls_almost_like_the_cube_root(
    cohort, clients, steps, slope
):
    """Sending costs 1/K, the draw (C - N)/(N (C - 1)) K, local steps K^2/12 (eta L = 1/4, in units of eta L G^2)."""
    drawn = (clients - cohort) / (cohort * (clients - 1))
    runtime = 3 / (steps**2 * (drawn + steps / 6))
    near, far = (best_in_time(factor * runtime, drawn, 1 / 12) for factor in (0.99, 1.01))
    assert (near * far) ** 0.5 == pytest.approx(steps, rel=1e-3)
    assert np.log(far / near) / np.log(1.01 / 0.99) == pytest.approx(slope, abs=2e-3)


def test_the_box_of_a_worst_case_is_said_and_only_theorem_1_is_called_its_own_repair():
    said = BY_NAME["decaying_k.theorem_1.worst_case"].check(Book()).evidence
    assert "(clients 2, kappa 10 or 100, Gamma 0.1 or 10, K <= 8)" in said
    notes = {name: BY_NAME[f"decaying_k.{name}.worst_case"].note for name in ("theorem_1", "theorem_1_appendix")}
    assert ["the same" in note for note in notes.values()] == [True, False]


def test_theorem_1_needs_k_t_inside_of_the_sum_of_lemma_2():
    lengths = [9] * 9 + [4] * 4 + [2] * 2
    charged = [8 * (k - 1) ** 2 + 4 * k**2 for k in lengths]
    wanted = 12 * (9**3 + 4**3 + 2**3) / 15
    assert np.mean(charged) <= wanted < max(charged) == 836


@pytest.mark.parametrize("step", [0.08, 0.013])
def test_a_fixed_step_size_stays_away_unless_k_falls_to_one(step):
    bends, minima = np.array([1.0, 3.0, 2.0]), np.array([0.0, 1.0, -2.0])

    def run(lengths):
        x = 4.0
        for length in lengths:
            models = np.full(3, x)
            for _ in range(length):
                models -= step * bends * (models - minima)
            x = models.mean()
        return abs(x + 1 / 6)

    assert run([2] * 5000) == pytest.approx(5 * step / (18 - 21 * step), rel=1e-9)
    assert run([5, 3, 2] + [1] * 5000) < 1e-12
    drawn = noisy = 0.7
    for _ in range(5000):  # E x^2 with one of two opposed clients, and with a coin at each of two
        drawn = ((1 - step) ** 2 * drawn) + step**2
        noisy = ((1 - step) ** 2 * noisy) + step**2 / 2
    assert [drawn, noisy] == pytest.approx([step / (2 - step), step / (4 - 2 * step)])
    assert BY_NAME["decaying_k.remark_1_1_decay"].check(Book()).status is Status.HOLDS


def test_the_best_k_with_the_best_step_size_is_the_same_for_every_runtime_and_loss():
    """(8) typed out: kappa = 50, L = 1, Gamma = 18, G^2 = 1, N = 4, tau = 2, beta = 1."""
    from scipy.optimize import minimize

    def level(at, runtime, loss):
        k, step = np.exp(at)
        gap = 2 * 50 * (50 * loss - 18)
        return gap * (2 + k) / (step * runtime * k) + step * 50 * (6 * 18 + 9 * k**2)

    sizes = {}
    for runtime, loss in ((500, 20), (4000, 19), (10**6, 27)):
        found = minimize(level, (0.3, -3), (runtime, loss), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 0})
        best, sizes[runtime] = np.exp(found.x)
        assert best == pytest.approx(2, rel=1e-5)
    assert 0.25 > sizes[500] > sizes[4000] > sizes[10**6]


def test_a_new_run_with_its_own_g_wants_the_same_k_though_the_loss_has_fallen():
    """Clients x^2/2, F^* = 0, eta = 1/90, N = 3, tau = 5, W = 50: (9) over G^(2/3) at x = 4 and at x = 1."""
    best = {x: (x**2 / 2 / (8 / 90**2 * (1 + 1 / 6)) * 5 / 50 / x**2) ** (1 / 3) for x in (4, 1)}
    library = [BOUNDS["decaying_k.k_star"].formula(
        runtime=50.0, current_loss=x**2 / 2, optimal_loss=0.0, smoothness=1.0, strong_convexity=1.0, cohort=3,
        grad_cap_sq=float(x**2), step_size=1 / 90, model_size=6.0, download_rate=3.0, upload_rate=2.0,
        minibatch_time=0.2,
    ) for x in (4, 1)]  # fmt: skip
    assert library == pytest.approx(list(best.values()))
    assert library == pytest.approx([3.514035] * 2)


def test_equal_local_steps_minimise_theorem_1_among_schedules_of_the_same_rounds_and_steps():
    rng = np.random.default_rng(7)
    for _ in range(50):
        steps = np.sort(rng.integers(1, 60, size=12))[::-1]
        equal = steps.sum() / 12
        assert (steps**3).sum() / steps.sum() >= equal**2 * (1 - 1e-12)


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("gradient_cap", "3.3"),
        ("per_second", "3.4"),
        ("runtime_fixed", "3.4"),
        ("k_error_with_time", "3.5"),
        ("eta_error_with_time", "3.5"),
        ("rolling_loss_printed", "3.5"),
        ("rolling_loss", "3.5"),
    ],
)
def test_a_bound_names_the_section_that_prints_it(name, section):
    assert BOUNDS[f"decaying_k.{name}"].source.place.startswith(f"Section {section}, ")


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        ("eq_10", Defect.REFUTED),
        ("eq_12", Defect.REFUTED),
        ("corollary_2_1_cap", Defect.REFUTED),
        ("k_0_at_zero", Defect.READING),
    ],
)
def test_how_a_statement_fails(name, defect):
    claim = BY_NAME[f"decaying_k.{name}"]
    assert (claim.known, claim.defect) == (Status.FAILS, defect)


def test_the_printed_optima_lose_to_others_for_one_parabola_within_the_hypotheses():
    """x^2/2, N = 1 and F^* = 0, where G^2 = x^2 = 2 F; (8) per second or per round in fractions."""

    def level(k, step, grad_sq, sending, computing, runtime):
        drift = 12 * grad_sq * k**2
        return 2 * (grad_sq / 2) * (sending / k + computing) / (step * runtime) + step * drift

    step = Fraction(1, 48)
    cubed = Fraction(4) / (8 * step**2 * Fraction(3, 2)) / 12  # (9) at F = 4, W = 12, tau = 1
    assert cubed == 4**3
    assert [level(k, step, 8, Fraction(1), 1, 12) for k in (4, 2)] == [72, 56]
    squared = Fraction(1) / (12 * 16) / 3  # (11) and (12) at F = 1/2, K = 4, R = 3
    assert squared == Fraction(1, 24) ** 2
    assert [level(4, e, 1, Fraction(1), 0, 3) for e in (Fraction(1, 24), Fraction(1, 48))] == [10, 8]


def test_the_printed_step_size_is_above_the_limit_for_a_gradient_cap_that_strong_convexity_allows():
    """(x^2 + y^2/48)/2 at (1, 0): kappa = 48, F = 1/2, G^2 = 1 >= 2 mu F = 1/48, N = K = 1, four rounds: 1 > 1/4."""
    assert 2 * 48 * Fraction(1, 2) / 12 / 4 == 1 > Fraction(1, 4)
    witness = BY_NAME["decaying_k.corollary_2_1_cap"].check(Book()).witness
    cap, mu, loss, least = (
        Fraction(witness[n]) for n in ("grad_cap_sq", "strong_convexity", "current_loss", "optimal_loss")
    )
    assert cap >= 2 * mu * (loss - least)


def test_where_the_best_step_size_is_above_the_limit_the_best_k_falls_with_the_runtime():
    """As ``joint_minimum`` with F = 20: kappa = 50, L = 1, Gamma = 18, G^2 = 1, N = 4, tau = 2, beta = 1."""
    best, free = [], []
    for runtime in (10, 20, 50, 200, 500):
        found = {}
        for k in range(1, 41):
            gap, noise = 100 * (50 * 20 - 18) * (2 + k) / (runtime * k), 50 * (6 * 18 + 9 * k**2)
            step = min((gap / noise) ** 0.5, 0.25)
            found[k] = (gap / step + step * noise, (gap / noise) ** 0.5)
        best.append(min(found, key=found.get))
        free.append(found[best[-1]][1])
    assert best == [7, 6, 4, 3, 2]
    assert [step > 0.25 for step in free] == [True, True, True, True, False]


def test_in_two_dimensions_a_client_leaves_the_segment_between_the_minima():
    bend = np.array([[1, 0.9], [0.9, 1]])
    assert np.array([0, 0]) - 0.1 * bend @ (np.array([0, 0]) - np.array([1, 0])) == pytest.approx([0.1, 0.09])


def test_lemma_1_as_printed_fails_below_the_limit_on_step_sizes_too():
    ends = [b * (1 - 0.95**10) for b in (1, -1, 1, -1)]
    after = np.mean([(sum(pair) / 2) ** 2 for pair in combinations(ends, 2)])
    assert after == pytest.approx(0.0536707, rel=1e-5)
    assert 0.05 <= 1 / 4
    assert after > 0.0075
