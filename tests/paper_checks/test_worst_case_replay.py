"""Worst cases as federations: run by the training loop they do as badly as the program says, and meet what was said."""

import dataclasses
from itertools import permutations, product

import numpy as np
import pytest

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_case.function_class import Interpolant
from paper_checks.worst_case.replay import attaining_instance, replay
from paper_checks.worst_case.solve import worst_case

START = {"smoothness": 1.0, "initial_distance_sq": 1.0}
STRONG = {**START, "strong_convexity": 0.1, "optimum_dissimilarity": 1.0}
CONVEX = {**START, "strong_convexity": 0.0, "optimum_dissimilarity": 1.0}
SMOOTH = {"smoothness": 1.0, "initial_gap": 1.0, "dissimilarity_offset": 1.0}


def setting(rounds, clients, steps, size=0.3, **more):
    return Setting(rounds=rounds, cohort=clients, local_steps=steps, step_size=size, **more)


def checked(worst):
    """The replay of a worst case, after all that must hold of any."""
    found = replay(attaining_instance(worst))
    assert found.agrees, found
    assert found.value == pytest.approx(worst.value, rel=1e-4, abs=1e-7)
    return found


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


def test_one_client_alone_and_clients_apart_make_instances_of_few_dimensions():
    for clients, given, metric, dimension, more in (
        (1, CONVEX, "grad_norm_sq", 1, {}),
        (1, SMOOTH, "grad_norm_sq", None, {"statistic": "min"}),
        (3, CONVEX, "optimality_gap", None, {"symmetric": False}),
        (4, STRONG, "distance_sq", 4, {}),  # one for the mean, three for a simplex of four
    ):
        found = checked(worst_case("fedavg()", setting(2, clients, 2), given, metric, **more))
        assert dimension in (None, found.dimension)


def test_steps_of_each_round_decay_momentum_other_units_and_a_common_minimiser():
    checked(worst_case("fedavg()", setting(2, 2, 1), STRONG, "distance_sq", steps=(1, 3)))
    checked(worst_case("fedavg()", setting(2, 2, 2, step_size_decay=0.7, momentum=0.5), STRONG, "distance_sq"))
    large = {"smoothness": 10.0, "strong_convexity": 0.0, "initial_distance_sq": 50.0, "optimum_dissimilarity": 700.0}
    checked(worst_case("fedavg()", setting(3, 2, 2, 0.01), large, "optimality_gap"))
    # Points coincide and no margin can be kept.
    checked(worst_case("fedavg()", setting(2, 2, 3, 0.5), {**CONVEX, "optimum_dissimilarity": 0.0}, "optimality_gap"))


def test_a_method_of_ones_own_is_replayed_and_a_damaged_number_shows():
    own = renamed(algorithm("scaffold()"), "mine")
    assert replay(attaining_instance(worst_case(own, setting(1, 2, 2), CONVEX, "optimality_gap"))).agrees
    chosen = "fedinit(beta=0.1, reading='code')"
    instance = attaining_instance(worst_case(chosen, setting(2, 3, 2), CONVEX, "optimality_gap", steps=(1, 2)))
    assert replay(instance).agrees
    assert not replay(dataclasses.replace(instance, gradients=0.9 * instance.gradients)).agrees
