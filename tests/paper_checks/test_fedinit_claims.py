"""FedInit's main findings by independent arithmetic: formulas and numbers typed from the paper, plain loops."""

import numpy as np
import pytest

from empirics.exact import expected, FLOATS, Group
from empirics.training.setting import Setting
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book


def relaxed(clients, cohort, steps, x, beta, rounds):
    """FedInit on F = w^2/2 from 1 with identical clients and x = eta K L."""
    setting = Setting(rounds, cohort, local_steps=steps, step_size=x / steps)
    return expected(f"fedinit(beta={beta})", [Group(1, 0, count=clients)], 1.0, setting, FLOATS)


def test_lemma_3_fails_as_listed_and_by_how_much():
    """Ten per cent of the clients, K = 5, beta = 0.1, in floating point: the largest excess."""
    for clients, excess in ((400, 1.4068), (10_000, 29.96)):
        run = relaxed(clients, clients // 10, 5, 0.005, 0.1, 300)
        allowed = 0.15 * run.server["divergence"][:-1] + 39 * 0.005**2 * run.server["grad_norm_sq"][:-1]
        allowed += 0.001**2 / clients * run.rounds["summed_grad_norm_sq"]
        assert max(run.rounds["global_step"] / allowed * (clients // 10)) == pytest.approx(excess, rel=1e-3)


def admitted(c, x, beta, lam):
    """The conditions of Theorem 1 at N = 1 and x = eta K L."""
    left = 1 - 39 * x - 3900 * beta**2 * x / (1 - 72 * beta**2) - 12 * x**2
    return x <= 1 / (2 * c) and 72 * beta**2 < 1 and lam < left


def test_theorems_1_2_and_4_fail_with_a_relaxed_start():
    c, x, beta, rounds, lam = 100, 1 / 400, 0.1, 100, 0.5
    assert admitted(c, x, beta, lam)
    run = relaxed(c, 1, 2, x, beta, rounds).server
    gradients = 2 * 0.5 / (lam * x * rounds)
    assert np.mean(run["grad_norm_sq"][:-1]) > 100 * gradients
    assert run["optimality_gap"][-1] > 100 * np.exp(-lam * x * rounds) * 0.5
    bound = 267 * x**2 / (1 - 96 * beta**2) * gradients
    assert bound == pytest.approx(0.33375, rel=1e-12)
    assert np.mean(run["divergence"][:-1]) > 1000 * bound
    found = CLAIMS["fedinit.theorem_4.dominates"].check(Book())
    assert "a relaxed start: 739.5 against 0.3337" in found.evidence
