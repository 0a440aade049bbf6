"""Constants of quadratic federations against brute force, and their training parts against autograd and statistics."""

import numpy as np
import pytest
import torch
from refusals import all_refused
from scipy import optimize

from empirics.errors import EmpiricsError
from empirics.problems.quadratics import (
    GaussianMean,
    QuadraticFederation,
    QuadraticModel,
    Quadratics,
    random_quadratics,
)

WEIGHTS = np.array([0.17, 0.31, 0.23, 0.29])
FLOORS = np.array([0.4, 1.3, 0.7, 2.1])


@pytest.fixture(scope="module")
def problem():
    return random_quadratics(11, 4, 3, noise=0.6, weights=WEIGHTS, floors=FLOORS)


def test_smoothness_convexity_and_the_pl_constant_are_extreme_slopes_and_ratios(problem):
    moves = np.random.default_rng(5).standard_normal((20_000, 3))
    far = problem.minimiser + moves
    moves /= np.linalg.norm(moves, axis=1, keepdims=True)
    slopes = problem.client_gradients(moves) - problem.client_gradients(np.zeros(3))
    along = np.einsum("nkd,nd->nk", slopes, moves)
    assert 0.99 * problem.smoothness <= np.linalg.norm(slopes, axis=2).max() <= problem.smoothness * (1 + 1e-12)
    assert problem.strong_convexity * (1 - 1e-12) <= along.min() <= 1.01 * problem.strong_convexity
    ratio = (problem.gradient(far) ** 2).sum(1) / (2 * (problem.loss(far) - problem.optimal_loss))
    assert problem.pl_constant * (1 - 1e-9) <= ratio.min() <= 1.01 * problem.pl_constant
    assert problem.strong_convexity < problem.pl_constant < problem.smoothness


def searched_offset(problem, factor):
    """Largest excess of the clients' gradients over ``factor`` times the global one, by gradient search."""

    def excess(w):
        return -(
            (problem.client_gradients(w) ** 2).sum(-1) @ problem.weights - factor * (problem.gradient(w) ** 2).sum()
        )

    return max(-optimize.minimize(excess, s, tol=1e-13).fun for s in np.random.default_rng(3).standard_normal((4, 3)))


def test_smallest_offset_is_the_maximum_a_search_finds(problem):
    for over in (1.07, 1.9):
        factor = over * problem.smallest_dissimilarity_factor
        assert problem.dissimilarity_offset_for(factor) == pytest.approx(searched_offset(problem, factor), rel=1e-6)


def test_no_offset_serves_below_the_generalised_eigenvalue(problem):
    threshold = problem.smallest_dissimilarity_factor
    assert threshold > 1.001
    assert problem.dissimilarity_offset_for(0.999 * threshold) == np.inf
    grown = [problem.dissimilarity_offset_for((1 + gap) * threshold) for gap in (1e-2, 1e-4, 1e-6)]
    assert grown[0] < grown[1] < grown[2] < np.inf


def test_senseless_federations_are_refused():
    values = {"curvatures": np.array([np.eye(2), 2 * np.eye(2)]), "minima": np.ones((2, 2))}
    wrong = [
        ({"curvatures": np.eye(2)[None]}, "curvatures (2, 2, 2)"),
        ({"curvatures": np.array([np.eye(2), -np.eye(2)])}, "curvatures"),
        ({"noise": np.array([np.eye(2), [[1, 0.5], [0.2, 1]]])}, "noise"),
        ({"weights": [0.4, 0.7]}, "weights 1"),
        ({"start": [np.nan, 1.0]}, "start"),
        ({"curvatures": np.array([np.diag([1.0, 0.0])] * 2)}, "mean curvature"),
    ]
    all_refused(wrong, lambda change: Quadratics(**{**values, **change}))


def test_gradient_is_the_derivative_of_the_loss(problem):
    batch = QuadraticFederation(problem).draw(3, 2, np.array([1, 3]), np.array([2, 2]), 1).at(2, 1)
    w = torch.tensor([[0.3, -1.2, 0.8], [2.1, 0.4, -0.6]], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(QuadraticModel(problem).task_loss(w, batch).sum(), w)
    assert torch.allclose(QuadraticModel(problem).gradient(w, batch), slope, rtol=1e-13, atol=1e-13)


def test_noise_has_the_stated_covariance(problem):
    federation = QuadraticFederation(problem)
    noise = federation.draw(4, 0, np.array([2]), np.array([20_000]), 1).noise[0].numpy()
    products = noise[:, :, None] * noise[:, None, :]
    error = products.std(0) / np.sqrt(len(noise))
    assert (np.abs(products.mean(0) - problem.noise[2]) < 4.5 * error).all()
    assert (np.abs(noise.mean(0)) < 4.5 * noise.std(0) / np.sqrt(len(noise))).all()
    assert problem.gradient_variance == pytest.approx(max(np.trace(s) for s in problem.noise), rel=1e-12)


def test_noise_belongs_to_seed_round_and_client_alone(problem):
    federation = QuadraticFederation(problem)
    some = federation.draw(4, 6, np.array([0, 2]), np.array([5, 5]), 1).noise
    others = federation.draw(4, 6, np.array([2, 3, 0]), np.array([9, 9, 2]), 1).noise
    assert torch.equal(some[1], others[0, :5])
    assert torch.equal(some[0, :2], others[2, :2])
    assert not torch.equal(some, federation.draw(4, 7, np.array([0, 2]), np.array([5, 5]), 1).noise)
    assert not torch.equal(some, federation.draw(5, 6, np.array([0, 2]), np.array([5, 5]), 1).noise)


MEANS = np.array([[0.4, -1.3], [2.2, 0.9], [-0.8, 1.7]])
GAUSS = GaussianMean(MEANS, variance=0.7, samples=5)


def test_risks_are_means_over_the_points_and_over_fresh_ones():
    drawn, w = GAUSS.draw(3), np.array([0.6, -0.2])
    risks = [np.mean([0.5 * ((w - z) ** 2).sum() for z in points]) for points in drawn]
    assert GAUSS.training(drawn).client_losses(w) == pytest.approx(risks, rel=1e-12)
    assert GAUSS.training(drawn).noise[1] == pytest.approx(np.cov(drawn[1].T, bias=True), rel=1e-12)
    losses = 0.5 * ((w - GaussianMean(MEANS, 0.7, samples=40_000).draw(8)) ** 2).sum(-1)
    error = losses.std(1) / np.sqrt(losses.shape[1])
    assert (np.abs(losses.mean(1) - GAUSS.population.client_losses(w)) < 4.5 * error).all()
    with pytest.raises(EmpiricsError, match="variance"):
        GaussianMean(MEANS, -0.1, samples=3)


def test_constants_are_those_of_unit_curvature():
    population = GaussianMean(MEANS, 0.7, samples=5, batch=4).population
    assert population.smoothness == population.strong_convexity == GAUSS.smoothness == 1
    assert population.gradient_variance == pytest.approx(2 * 0.7 / 4)
    spread = ((MEANS - MEANS.mean(0)) ** 2).sum(1).mean()
    assert population.heterogeneity == pytest.approx(spread / 2)
    assert population.dissimilarity_offset == pytest.approx(spread)
    assert population.optimal_loss == pytest.approx(spread / 2 + 2 * 0.7 / 2)
