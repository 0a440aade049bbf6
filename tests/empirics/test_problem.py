"""Federated problems know their minimisers and constants: fractions, dense Hessians, promises kept by every kind."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from loops import cases
from measuring_toys import logistic, ridge

from bounds.assumptions import ASSUMPTIONS
from empirics.errors import EmpiricsError
from empirics.models.network import Network
from empirics.problems.quadratics import random_quadratics
from empirics.problems.tasks import task


def test_assumptions_read_what_the_problem_states():
    flags = {name: ASSUMPTIONS[name].holds(logistic(), None, None) for name in ASSUMPTIONS}
    assert flags["smooth"] is flags["strongly_convex"] is flags["convex"] is flags["dissimilarity"] is True
    assert flags["bounded_variance"] is flags["nonnegative_loss"] is flags["polyak_lojasiewicz"] is True
    assert flags["lipschitz"] is flags["bounded_loss"] is flags["equal_sizes"] is False
    assert flags["independent_samples"] is flags["bounded_gradient"] is None
    assert ASSUMPTIONS["bounded_variance"].holds(ridge(), None, None) is False
    network = replace(ridge(), model=Network("net", lambda: torch.nn.Linear(2, 3)))
    for name in ("smooth", "strongly_convex", "dissimilarity", "bounded_variance", "lipschitz"):
        assert ASSUMPTIONS[name].holds(network, None, None) is None
    assert ASSUMPTIONS["convex"].holds(network, None, None) is False
    with pytest.raises(EmpiricsError):
        _ = network.minimiser


WEIGHTS = np.array([0.37, 0.21, 0.42])


def dealt(text):
    return task(text).deal("dirichlet(0.7, least=5)", 3, seed=2, client_weight="samples")


PROBLEMS = {
    "ridge": lambda: dealt("ridge(iris, regularisation=0.3)"),
    "softmax": lambda: dealt("softmax(iris, regularisation=0.2)"),
    "logistic": lambda: dealt("logistic(breast_cancer, regularisation=0.4)"),
    "svm": lambda: dealt("svm(breast_cancer, regularisation=0.6)"),
    "drawn": lambda: task("ridge(iris, regularisation=0.3)").pool("dirichlet_replaced(0.7)", 3, 9).problem(seed=4),
    "quadratics": lambda: random_quadratics(7, 3, 4, noise=0.3, weights=WEIGHTS, floors=np.array([0.3, 1.7, 0.9])),
}


@cache
def made(name):
    return PROBLEMS[name]()


every_problem = cases("name problem", [(name, made(name)) for name in PROBLEMS])


def numbers(array):
    return np.asarray(array, dtype=float)


def at(problem, seed, size=1.0):
    """A generic model, in the problem's own kind of array."""
    w = size * np.random.default_rng(seed).standard_normal(len(problem.minimiser))
    return torch.from_numpy(w) if isinstance(problem.minimiser, torch.Tensor) else w


@every_problem
def test_losses_lie_between_their_parabolas(problem):
    for seed in range(5):
        w, v = at(problem, 2 * seed), at(problem, 2 * seed + 1, size=3.0)
        away = numbers(v - w)
        beyond = numbers(problem.client_losses(v)) - numbers(problem.client_losses(w))
        beyond -= numbers(problem.client_gradients(w)) @ away
        assert (problem.strong_convexity / 2 * away @ away <= beyond * (1 + 1e-9)).all()
        assert (beyond <= problem.smoothness / 2 * away @ away * (1 + 1e-9)).all()


@every_problem
def test_minimisers_have_no_gradient_and_the_smallest_loss(problem):
    weights = numbers(problem.weights)
    assert weights.sum() == pytest.approx(1)
    assert np.abs(weights @ numbers(problem.client_gradients(problem.minimiser))).max() < 1e-9
    assert weights @ numbers(problem.client_losses(problem.minimiser)) == pytest.approx(problem.optimal_loss, rel=1e-12)
    for k, best in enumerate(problem.local_minimisers):
        assert np.abs(numbers(problem.client_gradients(best))[k]).max() < 1e-9
        assert numbers(problem.client_losses(best))[k] == pytest.approx(float(problem.local_optimal_losses[k]))
    gap = problem.optimal_loss - weights @ numbers(problem.local_optimal_losses)
    assert problem.heterogeneity == pytest.approx(gap, rel=1e-9)
    assert gap > 0


@every_problem
def test_dissimilarity_and_the_gradients_growth_hold_at_every_model(problem):
    weights = numbers(problem.weights)
    at_best = numbers(problem.client_gradients(problem.minimiser))
    assert problem.optimum_dissimilarity == pytest.approx(weights @ (at_best**2).sum(1), rel=1e-9)
    assert problem.optimum_dissimilarity <= problem.dissimilarity_offset * (1 + 1e-12)
    assert problem.smoothness <= problem.sample_smoothness
    for seed in range(5):
        gradients = numbers(problem.client_gradients(at(problem, seed, size=2.0)))
        mean = weights @ gradients
        most = problem.dissimilarity_offset + problem.dissimilarity_factor * mean @ mean
        assert weights @ (gradients**2).sum(1) <= most * (1 + 1e-9)
        loss = weights @ numbers(problem.client_losses(at(problem, seed, size=2.0)))
        assert 2 * problem.pl_constant * (loss - problem.optimal_loss) <= mean @ mean * (1 + 1e-9)
