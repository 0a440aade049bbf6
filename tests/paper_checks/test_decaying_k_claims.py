"""Findings of the audit of Decaying-K, by arithmetic of their own: plain loops and numbers typed from the paper."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from loops import cases

from bounds.catalog import BOUNDS
from bounds.vocabulary import runtime as W, smoothness as L, step_size as eta
from paper_checks.claims.checkers import States
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.decaying_k import CLAIMS
from paper_checks.claims.decaying_k.common import CAP, TAU
from paper_checks.claims.parabolas import Scalars
from paper_checks.claims.review import review

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


@cases("task", TASKS)
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


def test_lemma_1_fails_at_the_end_of_a_round_from_the_optimum():
    walked = 1 - 0.95**10  # of clients towards 1, -1, 1, -1; two of them agree in one of three draws
    assert walked**2 / 3 > 7 * 0.05**2 * 6 * 0.5
    assert BY_NAME["decaying_k.lemma_1"].check(Book()).status is Status.FAILS


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


@cases("place", range(len(PER_SECOND.conditions)))
def test_a_dropped_condition_is_noticed(place):
    kept = [c for i, c in enumerate(PER_SECOND.conditions) if i != place]
    assert STATED(planted(kept)).status is Status.FAILS


@cases("relation", [eta <= 1 / (2 * L), eta >= 1 / (4 * L), sp.Lt(eta, 1 / (4 * L)), TAU <= W])
def test_a_changed_condition_is_noticed(relation):
    changed = [
        replace(c, relation=relation) if c.words == "the step size is at most 1/(4L)" else c
        for c in PER_SECOND.conditions
    ]
    assert STATED(planted(changed)).status is Status.FAILS


def test_every_failing_claim_says_why():
    silent = [c.name for c in CLAIMS if c.known is Status.FAILS and not c.note]
    assert not silent


# ---- verdicts as wide as their evidence ----


def test_what_the_improved_theorem_is_above_is_an_upper_estimate_and_gradient_descent_attains_it():
    from paper_checks.worst_case.tightness_table import committed

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
    assert any("decaying_k.theorem_1_sharp.worst_case" in sentence for sentence in review("decaying_k").survives)


def test_the_printed_step_size_is_above_the_limit_for_a_gradient_cap_that_strong_convexity_allows():
    """(x^2 + y^2/48)/2 at (1, 0): kappa = 48, F = 1/2, G^2 = 1 >= 2 mu F = 1/48, N = K = 1, four rounds: 1 > 1/4."""
    assert 2 * 48 * Fraction(1, 2) / 12 / 4 == 1 > Fraction(1, 4)
    witness = BY_NAME["decaying_k.corollary_2_1_cap"].check(Book()).witness
    cap, mu, loss, least = (
        Fraction(witness[n]) for n in ("grad_cap_sq", "strong_convexity", "current_loss", "optimal_loss")
    )
    assert cap >= 2 * mu * (loss - least)


def test_the_ratio_to_the_worst_case_is_rounded_down():
    """450.75 / 0.97149783 = 463.974... and 1.008125 / 0.997501564 = 1.01065... in the tables."""
    for name, ratio in (("theorem_1", "463.9"), ("lemma_1_sharp", "1.01")):
        said = BY_NAME[f"decaying_k.{name}.worst_case"].check(Book()).evidence
        assert said.startswith(f"bound / exact worst case >= {ratio} at ")
