"""Improved bounds of FedALS equal the gap for squared distances, whose moments have closed forms of their own."""

import numpy as np
import pytest
from loops import cases

from bounds.catalog import get


@cases("clients cohort", [(1, 1), (2, 1), (2, 2), (50, 37), (1000, 1), (1000, 999), (1000, 1000)])
def test_case_1_without_non_iidness_is_the_gap_for_squared_distances(cohort, clients):
    """The mean squared share of a binomial number of draws; half of the clients weigh three times as much."""
    raw = np.where(np.arange(clients) % 2 == 0, 3.0, 1.0)
    weights, local = raw / raw.sum(), np.linspace(0.5, 2.0, clients)
    gap = float(((weights * (1 - weights) / cohort + weights**2) * local).sum())
    given = {"client_weight": weights, "local_gap": local, "client_gradient_variance": 6 * local}
    bound = get("fedals.participation_case1_noise_sharp")
    assert bound(**given, samples=6, smoothness=1.0, strong_convexity=1.0, cohort=cohort) == pytest.approx(gap)


ONE_STEP = [(1, 1.0), (1, 1e-3), (2, 0.5), (40, 1.0), (1000, 0.5), (1000, 1e-3)]


@cases("clients size taken", [(*step, taken) for step in ONE_STEP for taken in (1, 10, 10**4)])
def test_what_replaces_theorem_4_3_is_the_gap_for_squared_distances(clients, taken, size):
    """Each step goes ``size`` of the way to a fresh sample: the model's covariance with their mean, clients unlike."""
    raw = np.linspace(1.0, 3.0, clients)
    weights, noise = raw / raw.sum(), np.linspace(0.5, 2.0, clients)
    covariance = size * sum((1 - size) ** later for later in range(taken)) / taken
    gap = float((weights**2 * noise * covariance).sum())
    bound = get("fedals.rounds_noise_sharp")(
        client_weight=weights, client_gradient_variance=noise, samples_per_round=np.full(clients, taken),
        step_size=size, local_steps=taken, smoothness=1.0, strong_convexity=1.0,
    )  # fmt: skip
    assert bound == pytest.approx(gap)
