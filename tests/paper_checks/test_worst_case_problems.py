"""Worst cases of all methods, classes, metrics and assumptions: by PEPit, by the training loop, and proved."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from loops import cases
from tools.pepit_reference import by_pepit

from bounds.core import Statistic
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_case import verify
from paper_checks.worst_case.certificate import certify
from paper_checks.worst_case.function_class import Interpolant
from paper_checks.worst_case.problem import WorstCaseProblem
from paper_checks.worst_case.replay import attaining_instance, replay
from paper_checks.worst_case.solve import solve

STRONG = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
CONVEX = {**STRONG, "strong_convexity": 0.0}
SMOOTH = {"smoothness": 1.7, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}
OWN_MINIMA = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "heterogeneity": 0.4}
CAPS = {"smoothness": 1.7, "strong_convexity": 0.0, "initial_distance_sq": 2.3, "grad_cap_sq": 3.1}
GAP = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_gap": 1.1, "optimum_dissimilarity": 0.7}
BEFORE = {"smoothness": 1.7, "strong_convexity": 0.23, "distance_sq": 2.3, "heterogeneity": 0.4}
ROUND = {"smoothness": 1.7, "dissimilarity_offset": 0.4, "grad_norm_sq": 1.9, "divergence": 0.6}
LARGE = {"smoothness": 10.0, "strong_convexity": 0.0, "initial_distance_sq": 50.0, "optimum_dissimilarity": 700.0}
COMMON = {**CONVEX, "optimum_dissimilarity": 0.0}
"""Points coincide and no margin can be kept."""
FEDAVG, FEDPROX, SCAFFOLD = "fedavg()", "fedprox(mu=0.3)", "scaffold()"
FEDINIT, CODE = "fedinit(beta=0.2)", "fedinit(beta=0.2, reading='code')"

CASES = [
    (FEDAVG, STRONG, "distance_sq last rounds", 2, {}),
    (FEDAVG, SMOOTH, "grad_norm_sq min iterations", 3, {}),
    (FEDAVG, CONVEX, "optimality_gap last iterations", 3, {}),
    (FEDPROX, STRONG, "distance_sq mean iterations", 3, {}),
    (FEDPROX, SMOOTH, "local_drift mean rounds", 2, {}),
    (SCAFFOLD, CONVEX, "optimality_gap min rounds", 3, {}),
    (SCAFFOLD, SMOOTH, "mean_gradient_drift last rounds", 2, {}),
    (SCAFFOLD, STRONG, "consensus_distance mean iterations", 2, {}),
    (FEDINIT, STRONG, "divergence last rounds", 2, {}),
    (FEDINIT, SMOOTH, "grad_norm_sq mean rounds", 3, {}),
    (FEDINIT, CONVEX, "global_step last rounds", 2, {}),
    (CODE, STRONG, "mean_divergence mean rounds", 3, {}),
    (CODE, SMOOTH, "weighted_grad_norm_sq last rounds", 2, {}),
    (FEDAVG, OWN_MINIMA, "distance_sq last rounds", 2, {}),
    (SCAFFOLD, CAPS, "optimality_gap last rounds", 2, {}),
    (SCAFFOLD, GAP, "optimality_gap last rounds", 3, {}),
    (FEDAVG, {**STRONG, "dissimilarity_offset": 0.9, "dissimilarity_factor": 1.4}, "distance_sq last rounds", 2, {}),
    (FEDAVG, BEFORE, "distance_sq last iterations", 2, {}),
    (FEDAVG, {**SMOOTH, "pl_constant": 0.3}, "optimality_gap last rounds", 2, {}),
    (FEDAVG, ROUND, "divergence last rounds", 2, {}),
    (FEDPROX, STRONG, "distance_sq last rounds", 3, {"momentum": 0.4, "step_size_decay": 0.6}),
    (FEDPROX, STRONG, "distance_sq last rounds", 3, {"steps": (3, 1)}),
    (FEDAVG, {**SMOOTH, "grad_cap_sq": 2.1}, "grad_norm_sq min iterations", 2, {}),
    ("fedavgm(momentum=0.3)", STRONG, "optimality_gap last rounds", 2, {}),
    ("fedcm(alpha=0.6)", SMOOTH, "grad_norm_sq min rounds", 2, {}),
    (FEDAVG, SMOOTH, "loss_change last rounds", 4, {}),
    (FEDAVG, CONVEX, "grad_norm_sq last rounds", 1, {}),
    (FEDAVG, SMOOTH, "grad_norm_sq min rounds", 1, {}),
    (FEDAVG, CONVEX, "optimality_gap last rounds", 3, {"symmetric": False}),
    (FEDAVG, STRONG, "distance_sq last rounds", 4, {}),
    (FEDAVG, LARGE, "optimality_gap last rounds", 2, {"step_size": 0.01}),
    (FEDAVG, COMMON, "optimality_gap last rounds", 2, {"step_size": 0.3}),
]
UNKNOWN_TO_PEPIT = ("fedavgm(momentum=0.3)", "fedcm(alpha=0.6)")
"""Methods that the reference does not state."""


def question(name, given, metric, kind="last", over="rounds", clients=2, steps=None, symmetric=True, **more):
    setting = Setting(**{"rounds": 2, "cohort": clients, "local_steps": 2, "step_size": 0.13, **more})
    return WorstCaseProblem(algorithm(name), setting, given, metric, Statistic(kind, over), steps, symmetric)


@cases("name given metric clients more", CASES)
def test_a_worst_case_is_that_of_pepit_attained_by_a_federation_and_proved(name, given, metric, clients, more):
    asked = question(name, given, *metric.split(), clients=clients, **more)
    worst = solve(asked)
    if name not in UNKNOWN_TO_PEPIT and "loss_change" not in metric:
        assert worst.value == pytest.approx(by_pepit(asked), rel=1e-5)
    found = replay(attaining_instance(worst))
    assert found.agrees, found
    assert found.value == pytest.approx(worst.value, rel=1e-4, abs=1e-7)
    assert found.dimension == clients or metric != "distance_sq last rounds"  # the mean, and a simplex around it
    if name != CODE and "momentum" not in more and clients > 1 and asked.symmetric:
        proof = certify(asked, worst.value)
        verify.check(proof.content)
        assert float(Fraction(proof.content["bound"])) == pytest.approx(worst.value, rel=2e-6)
        if given is not COMMON:
            assert float(proof.attained) == pytest.approx(worst.value, rel=5e-6)
            assert 0 <= proof.width < 1e-6


def slopes(f, x, step):
    return [(f.at(x + step * e)[0] - f.at(x - step * e)[0]) / (2 * step) for e in np.eye(len(x))]


def test_functions_are_of_the_class_at_random_pairs_and_gradients_those_of_the_values():
    for mu, seed in product((-2.0, 0.0, 0.3), range(3)):
        draws = np.random.default_rng(seed)
        numbers = draws.standard_normal((2, 12, 3))  # which no function need have
        f = Interpolant(mu, 2.0, *numbers, draws.standard_normal(12))
        at = [(x, *f.at(x)) for x in draws.standard_normal((20, 3)) * 3]
        for x, _, gradient in at:
            np.testing.assert_allclose(slopes(f, x, 1e-5), gradient, atol=1e-7)
        for (x, value, gradient), (y, other, slope) in permutations(at, 2):
            apart = x - y
            bent = gradient - slope - mu * apart
            least = other + slope @ apart + mu / 2 * apart @ apart + bent @ bent / (2 * (2.0 - mu))
            assert value >= least - 1e-9


def test_coincident_and_nearly_coincident_points_and_a_single_one_are_no_trouble():
    draws = np.random.default_rng(4)
    points = np.repeat(draws.standard_normal((4, 2)), 3, axis=0) + 1e-7 * draws.standard_normal((12, 2))
    points[0] = points[1]
    f = Interpolant(0.0, 1.0, points, draws.standard_normal((12, 2)), np.zeros(12))
    for x in draws.standard_normal((30, 2)) * 5:
        np.testing.assert_allclose(slopes(f, x, 1e-4), f.gradient(x), atol=1e-6)
    parabola = Interpolant(-1.0, 1.0, np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1))
    assert parabola.at(np.array([2.0])) == (pytest.approx(2.0), pytest.approx(np.array([2.0])))


def test_a_method_of_ones_own_is_replayed_and_a_damaged_number_shows():
    mine = replace(question(SCAFFOLD, CONVEX, "optimality_gap"), algorithm=renamed(algorithm(SCAFFOLD), "mine"))
    assert replay(attaining_instance(solve(mine))).agrees
    instance = attaining_instance(solve(question(CODE, CONVEX, "optimality_gap", clients=3, steps=(1, 2))))
    assert replay(instance).agrees
    assert not replay(replace(instance, gradients=0.9 * instance.gradients)).agrees
