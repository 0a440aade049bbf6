"""Estimating a Gaussian mean: training and population risks against sums over points and closed forms."""

import numpy as np
import pytest

from empirics.errors import EmpiricsError
from empirics.problems.quadratics import GaussianMean

MEANS = np.array([[0.4, -1.3], [2.2, 0.9], [-0.8, 1.7]])
GAUSS = GaussianMean(MEANS, variance=0.7, samples=5)


def test_training_risk_is_the_mean_over_the_points():
    drawn, w = GAUSS.draw(3), np.array([0.6, -0.2])
    risks = [np.mean([0.5 * ((w - z) ** 2).sum() for z in points]) for points in drawn]
    assert GAUSS.training(drawn).client_losses(w) == pytest.approx(risks, rel=1e-12)
    assert GAUSS.training(drawn).noise[1] == pytest.approx(np.cov(drawn[1].T, bias=True), rel=1e-12)


def test_population_risk_is_what_fresh_points_cost():
    w = np.array([0.6, -0.2])
    points = GaussianMean(MEANS, 0.7, samples=40_000).draw(8)
    losses = 0.5 * ((w - points) ** 2).sum(-1)
    error = losses.std(1) / np.sqrt(losses.shape[1])
    assert (np.abs(losses.mean(1) - GAUSS.population.client_losses(w)) < 4.5 * error).all()


def test_constants_are_those_of_unit_curvature():
    population = GaussianMean(MEANS, 0.7, samples=5, batch=4).population
    assert population.smoothness == population.strong_convexity == GAUSS.smoothness == 1
    assert population.gradient_variance == pytest.approx(2 * 0.7 / 4)
    spread = ((MEANS - MEANS.mean(0)) ** 2).sum(1).mean()
    assert population.heterogeneity == pytest.approx(spread / 2)
    assert population.dissimilarity_offset == pytest.approx(spread)
    assert population.optimal_loss == pytest.approx(spread / 2 + 2 * 0.7 / 2)


def test_senseless_numbers_are_refused():
    with pytest.raises(EmpiricsError, match="variance must be >= 0"):
        GaussianMean(MEANS, -0.1, samples=3)
