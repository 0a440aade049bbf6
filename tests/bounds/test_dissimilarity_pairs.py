"""The family of dissimilarity pairs, against two parabolas that meet it."""

import numpy as np
import pytest

from bounds.dissimilarity import convex_pair, excess, split_for
from bounds.scenario import Scenario
from bounds.substituting import pairs


@pytest.mark.parametrize(("L", "mu"), [(3.5, 0.4), (2.2, 0.01), (1.3, 1.1)])
def test_two_parabolas_of_weights_l_and_mu_meet_the_pair_and_no_smaller_one(L, mu):
    """Curvature mu with weight L/(L + mu), curvature L with the other one; z, -z L/mu at the common minimiser 0."""
    z, split = 0.7, 1.9
    weights = np.array([L, mu]) / (L + mu)
    curves, pulls = np.array([mu, L]), np.array([z, -z * L / mu])
    w = np.linspace(-40, 40, 400_001) * z / mu
    clients = (weights[:, None] * (curves[:, None] * w + pulls[:, None]) ** 2).sum(0)
    whole = (weights @ curves * w) ** 2
    offset, factor = convex_pair(weights @ pulls**2, L, mu, split)
    assert np.all(clients <= (offset + factor * whole) * (1 + 1e-12))
    assert np.min((offset + factor * whole) / clients) == pytest.approx(1, abs=1e-6)
    assert np.any(clients > offset + (factor - 1e-3 * (factor - 1)) * whole)


def test_one_formula_serves_the_scenario_and_its_inverse():
    s = Scenario.of(optimum_dissimilarity=0.7, smoothness=3.5, strong_convexity=0.4)
    for pair in pairs(s)[::7]:
        split = split_for(pair.factor, 3.5, 0.4)
        assert (pair.offset, pair.factor) == pytest.approx(convex_pair(0.7, 3.5, 0.4, split), rel=1e-9)
    assert excess(3.5, 0.4) == pytest.approx(3.1**2 / (4 * 3.5 * 0.4))
    assert excess(3.5, 1e-320) == np.inf


def test_gradients_that_are_never_far_apart_make_a_pair():
    """The mean squared gradient is the square of the mean and the mean squared distance to it."""
    s = Scenario.of(uniform_dissimilarity=0.83)
    (pair,) = pairs(s)
    assert (pair.offset, pair.factor) == (0.83, 1.0)
    draws, tight = np.random.default_rng(4), []
    for _ in range(200):
        weights = draws.dirichlet([0.9, 1.4, 0.6])
        gradients = draws.standard_normal((3, 2)) * draws.uniform(0.2, 2)
        whole = weights @ gradients
        zeta = ((gradients - whole) ** 2).sum(-1).max()
        mean = weights @ (gradients**2).sum(-1)
        assert mean <= (zeta + whole @ whole) * (1 + 1e-12)
        tight.append(mean > 0.5 * zeta + whole @ whole)
    assert any(tight)  # half of it would not do
    assert not pairs(Scenario.of({"uniform_dissimilarity": 0.83, "_provenance": {"uniform_dissimilarity": "lower"}}))


def test_clients_have_one_loss_where_their_gradients_never_differ():
    assert Scenario.of(uniform_dissimilarity=0).facts[0].identical_clients is True
    assert Scenario.of(uniform_dissimilarity=0.4).facts[0].identical_clients is False
    assert not hasattr(Scenario.of(smoothness=2.5).facts[0], "identical_clients")
