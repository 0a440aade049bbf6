"""FedInit's main findings by independent arithmetic: formulas and numbers typed from the paper, plain loops."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from loops import cases

from bounds import BOUNDS
from empirics.exact import expected, FLOATS, Group
from empirics.training.setting import Setting
from paper_checks.audit.running import claim
from paper_checks.claims.claim import Book
from paper_checks.claims.fedinit.absent import EqualParabolas

# ---- Theorem 3 ----


STABILITY = {
    "samples": 300,
    "rounds": 40,
    "local_steps": 5,
    "smoothness": 1.7,
    "lipschitz": 2.3,
    "gradient_variance": 0.6,
    "loss_cap": 4.1,
    "step_size_scale": 0.12,
    "relaxation": 0.07,
    "summed_divergence_root": 1.3,
}


def test_theorem_3_lost_a_lipschitz_constant_and_a_factor():
    """t_0 put into Lemma 5 by hand, against what eq. (14) prints."""
    s, scale, lip = 300, 0.12 * 1.7, 2.3
    inner = 2 * (lip**2 + s * lip * math.sqrt(0.6)) / 1.7
    t_0 = (inner / 4.1 * 200**scale) ** (1 / (1 + scale))
    growth = (200 / t_0) ** scale
    early, gradients = 4.1 * t_0 / s, inner / (s - 1) * growth
    drift = lip * 1.07 ** (1 / (0.07 * scale)) * growth * 1.3
    printed = BOUNDS["fedinit.theorem_3_printed"].parts(**STABILITY)
    assert printed["stochastic gradients"] * (2 - 1 / s) == pytest.approx(early + gradients, rel=1e-12)
    assert printed["client drift"] * lip == pytest.approx(drift, rel=1e-12)
    assert printed["client drift"] < 0.5 * drift


def test_the_divergence_part_of_theorem_3_falls_with_the_samples():
    def drift(samples, noise):
        inner = 2 * (2.3**2 + samples * 2.3 * math.sqrt(noise)) / 1.7
        return 1.07 ** (1 / (0.07 * 0.204)) * (4.1 * 200 / inner) ** (0.204 / 1.204) * 1.3

    for samples in (300, 90_000):
        printed = BOUNDS["fedinit.theorem_3_printed"].parts(**{**STABILITY, "samples": samples})
        assert printed["client drift"] == pytest.approx(drift(samples, 0.6), rel=1e-12)
    assert drift(300, 0.6) > 2.6 * drift(90_000, 0.6)
    assert drift(300, 0.0) == drift(90_000, 0.0)


# ---- absent clients ----


def cohorts_by_cohorts(clients, cohort, beta, shrink, turns, moves):
    """E w^2, E w last, E last^2, E last last', the last step's E (w' - w)^2, and the square of the sum of all relaxed
    starts, over every sequence of cohorts."""
    drawn = list(itertools.combinations(range(clients), cohort))
    found = np.array([Q(0)] * 6)
    for sequence in itertools.product(drawn, repeat=turns):
        server, last, before = Q(1), [Q(1)] * clients, Q(1)
        for who in sequence:
            before, starts = server, {i: server + beta * (server - last[i]) for i in who}
            sent = [shrink * x - (x if moves else 0) for x in starts.values()]
            server = (server if moves else 0) + sum(sent) / Q(cohort)
            last = [shrink * starts[i] if i in starts else x for i, x in enumerate(last)]
        others = [x * y for x, y in itertools.permutations(last, 2)]
        found += [
            server**2, server * sum(last) / Q(clients), sum(x * x for x in last) / Q(clients),
            sum(others) / Q(len(others)), (server - before) ** 2, sum(server + beta * (server - x) for x in last) ** 2,
        ]  # fmt: skip
    return list(found / len(drawn) ** turns)


@cases("moves", [False, True])
def test_the_exact_moments_of_absent_clients_are_those_of_all_draws(moves):
    run = EqualParabolas(4, 2, 3, Q(2, 5), Q(7, 20), 3, Q(1, 2), code=moves).run
    server, across, last, _, step, _ = cohorts_by_cohorts(4, 2, Q(7, 20), (1 - Q(2, 15)) ** 3, 3, moves)
    assert run.server["grad_norm_sq"][-1] == server
    assert run.server["divergence"][-1] == server - 2 * across + last
    assert run.rounds["global_step"][-1] == step
    per_start = (1 - (1 - Q(2, 15)) ** 3) / Q(2, 15)  # a client's gradients of a round over its start
    before = cohorts_by_cohorts(4, 2, Q(7, 20), (1 - Q(2, 15)) ** 3, 2, moves)
    assert run.rounds["summed_grad_norm_sq"][-1] == before[-1] * per_start**2


def test_lemma_3_and_the_descent_inequality_fail_as_listed_and_by_how_much():
    """Ten per cent of the clients, K = 5, beta = 0.1, in floating point: the largest excess, and how many rounds."""

    def run(clients, cohort, steps, x, beta, rounds):
        setting = Setting(rounds, cohort, local_steps=steps, step_size=x / steps)
        made = expected(f"fedinit(beta={beta})", [Group(1, 0, count=clients)], 1.0, setting, FLOATS)
        return made.server["grad_norm_sq"], made.server["divergence"], made.rounds

    for clients, excess in ((400, 1.4068), (10_000, 29.96)):
        square, apart, moved = run(clients, clients // 10, 5, 0.005, 0.1, 300)
        allowed = 0.15 * apart[:-1] + 39 * 0.005**2 * square[:-1]
        allowed += 0.001**2 / clients * moved["summed_grad_norm_sq"]
        assert max(moved["global_step"] / allowed * (clients // 10)) == pytest.approx(excess, rel=1e-3)
    square, apart, _ = run(100, 10, 5, 0.01, 0.1, 399)
    fallen = (square[:-1] - square[1:]) / 0.005 + 0.2 / (0.28 * 10 * 0.005) * (apart[:-1] - apart[1:])
    assert sum(square[:-1] > fallen) == 164
    square, apart, _ = run(100, 1, 2, 1 / 200, 0.0, 400)
    assert apart[-1] > 300 * 267 / 200**2 * square[-1]
    assert 2 * 0.99 * apart[-1] > 100 * 12 * 2 / 200**2 * square[-1]  # Lemma 2, absent clients where they stay


# ---- what is refuted ----


def left_for_lambda(x, n, beta):
    return 1 - 39 * x / n - 3900 * beta**2 * x / ((1 - 72 * beta**2) * n) - 12 * x**2


def expectations(c, x, k, beta, rounds):
    """E w and E last of w^2/2 from 1 where one of c clients is drawn: whoever it is, its last model is a mean one."""
    a, w, last = (1 - x / k) ** k, 1.0, 1.0
    found = [(w, last)]
    for _ in range(rounds):
        w = a * (w + beta * (w - last))
        last = last * (1 - 1 / c) + w / c
        found.append((w, last))
    return np.array(found)


def test_theorems_1_and_2_fail_with_one_of_a_hundred_equal_clients():
    c, x, beta, rounds, lam = 100, 1 / 400, 0.1, 100, 0.5
    assert x <= 1 / (2 * c)
    assert 72 * beta**2 < 1
    assert lam < left_for_lambda(x, 1, beta)
    w = expectations(c, x, 2, beta, rounds)[:, 0]
    assert np.mean(w[:-1] ** 2) > 100 * (2 * 0.5 / (lam * x * rounds))
    assert w[-1] ** 2 / 2 > 100 * np.exp(-lam * x * rounds) * 0.5


def squares(c, x, k, noise, rounds):
    """E w^2, E w last and E last^2 of FedAvg with one of c clients drawn, from 1, or from 0 with noise."""
    a = (1 - x / k) ** k
    v = noise * (x / k) ** 2 * np.sum((1 - x / k) ** (2 * np.arange(k)))
    ww = wl = ll = 0.0 if noise else 1.0
    found = [(ww, wl, ll)]
    for _ in range(rounds):
        ww, wl = a * a * ww + v, a * wl
        wl, ll = wl + (ww - wl) / c, ll + (ww - ll) / c
        found.append((ww, wl, ll))
    return np.array(found)


def test_theorem_4_fails_for_fedavg_with_one_of_a_hundred_equal_clients():
    c, x, rounds, lam = 100, 1 / 200, 400, 0.8
    assert x <= 1 / (2 * c)
    assert lam < left_for_lambda(x, 1, 0)
    seen = squares(c, x, 2, 0, rounds)[:-1]
    divergence = np.mean(seen[:, 0] - 2 * seen[:, 1] + seen[:, 2])
    assert divergence > 2 * (267 * x**2 * 2 * 0.5 / (lam * x * rounds))


def test_theorem_5_fails_for_fedavg_under_noise_alone_as_the_run_gets_long():
    last = squares(1000, 1 / 2000, 2, 1, 20_000)[-1]
    assert last[0] - 2 * last[1] + last[2] == pytest.approx(settled(1000, 1 / 2000, 2), rel=1e-3)
    c, x, k, lam = 100_000, 1 / 200_000, 2, 0.5
    assert x <= 1 / (2 * c)
    assert lam < left_for_lambda(x, 1, 0)
    eta = x / k
    bound = 69 * eta**2 * k + 267 * 13 / lam * (eta**3 * k**2 + eta**2 * k / lam)
    assert settled(c, x, k) > 4 * bound


def settled(c, x, k):
    a, stay = (1 - x / k) ** k, 1 - 1 / c
    v = (x / k) ** 2 * np.sum((1 - x / k) ** (2 * np.arange(k)))
    return 2 * v * stay / ((1 + a) * (1 - stay * a))


def test_theorem_4_fails_with_a_relaxed_start():
    c, x, beta, rounds, lam = 100, 1 / 400, 0.1, 100, 0.5
    assert lam < left_for_lambda(x, 1, beta)
    path = expectations(c, x, 2, beta, rounds)[:-1]
    at_least = np.mean((path[:, 0] - path[:, 1]) ** 2)  # of the means, so not more than the mean square
    bound = 267 * x**2 / (1 - 96 * beta**2) * (2 * 0.5 / (lam * x * rounds))
    assert bound == pytest.approx(0.33375, rel=1e-12)
    assert at_least > 1000 * bound
    found = claim("fedinit.theorem_4.dominates").check(Book())
    assert "a relaxed start: 739.5 against 0.3337" in found.evidence


def test_lemma_2_needs_the_cap_of_its_proof():
    w, drift = 1.0, 0.0
    for _ in range(10):  # steps of 3 on w^2/2
        drift, w = drift + (w - 1) ** 2, w - 3 * w
    assert drift == 350217 > 10 * 3 * 10 * 3**2 * 4 * 10
    assert "cap" in claim("fedinit.lemma_2.dominates").words
