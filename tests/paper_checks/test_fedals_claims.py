"""FedALS: the important findings once more, by arithmetic of their own; the checks are not rerun here."""

from fractions import Fraction as F
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from loops import cases

from bounds.assumptions import SAMPLES_NOISE
from bounds.catalog import get
from empirics.algorithms.layerwise import EarlySteps, fedals, LocalModels
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.fedals import algorithms as listings, discussion as needed
from paper_checks.claims.fedals.enumerated import Walk


@cases("place", [-7, -100, -4000])
def test_where_curvatures_differ_the_gap_grows_with_the_distance_at_one_local_gap(place):
    """By (10): h/2 (theta - y)^2, one sample (3, 1) or (1, -1) of client 1, and client 2 at ``place``."""
    pool = ((3, 1), (1, -1))

    def swapped(model):
        pairs = [(model(z[1]), model(copy[1]), *copy) for z, copy in product(pool, repeat=2)]
        return sum(F(h) / 2 * ((old - y) ** 2 - (new - y) ** 2) for old, new, h, y in pairs) / 4

    gap, local = swapped(lambda y: F(y + place, 2)) / 2, swapped(F)
    assert (gap, local) == (F(4 - place, 8), 2)
    drift = float(sum(F(h, 2) * (F(y + place, 2) - y) ** 2 for h, y in pool) / 2)
    at = {"client_weight": [0.5, 0.5], "smoothness": 3.0, "strong_convexity": 1.0, "local_gap": [2.0, 0.0]}
    assert 0.2 < float(gap) / get("fedals.one_round")(**at, non_iidness=[drift, 1.0]) < 1
    noise = get("fedals.one_round_noise_sharp")
    near = noise(**at, client_gradient_variance=[9.0, 0.0], samples=1)  # at models from -1 to 1: (theta - 2)^2
    assert near < float(gap)
    assert SAMPLES_NOISE in {c.assumption for c in noise.conditions}
    found = CLAIMS["fedals.discussion.non_iid_hurts"].check(Book())
    assert found.status is Status.HOLDS
    assert f"{gap}," in found.evidence or place != -100


def walked(clients, steps, pull):
    """Gap, mean non-iidness and mean suboptimality of clients that take a step towards each of their fair coins.

    By going through all coins, half squared distances, from 0, in the arithmetic of ``pull``.
    """
    one = pull / pull
    found = [0 * one] * 3
    draws = list(product((one, -one), repeat=clients * steps))
    for coins in draws:
        own = [coins[k * steps : (k + 1) * steps] for k in range(clients)]
        models = []
        for mine in own:
            theta = 0 * one
            for z in mine:
                theta = theta - pull * (theta - z)
            models.append(theta)
        average = sum(models) / clients

        def risk(theta, points):
            return sum((theta - z) ** 2 / 2 for z in points) / len(points)

        for mine, theta in zip(own, models, strict=True):
            found[0] += (risk(average, (one, -one)) - risk(average, mine)) / clients
            found[1] += (risk(average, mine) - risk(theta, mine)) / clients
            found[2] += (risk(theta, mine) - risk(sum(mine) / steps, mine)) / clients
    return tuple(x / len(draws) for x in found)


@cases("clients steps pull", [(2, 4, F(1)), (3, 2, F(1, 3)), (2, 3, F(1, 2))])
def test_the_moments_of_walks_are_those_of_all_coins(clients, steps, pull):
    walk = Walk.of(clients, steps, pull)
    assert (walk.gap, walk.non_iidness, walk.suboptimality) == walked(clients, steps, pull)


def test_the_readings_that_are_trained_average_the_extractor_when_the_listings_do():
    rounds, period, alpha = 6, listings.TAU, listings.ALPHA
    whole = [s for s in range(1, rounds * period + 1) if s % (alpha * period) == 0]
    runs = {"printed": listings.Listing(), "printed_v1": listings.Listing(first=1, else_if=True)}
    for reading in ("intended", *runs):
        made = fedals(alpha=alpha, reading=reading)
        periods = next(keeper.sharing for keeper in made.remember if isinstance(keeper, LocalModels))
        first = 1 if isinstance(made.steps, EarlySteps) else period
        states = [SimpleNamespace(state=SimpleNamespace(round=r)) for r in range(rounds)]
        due = [first + r * period for r, state in enumerate(states) if periods.extractor_due(state)]
        if reading in runs:
            runs[reading].run(rounds)
        assert due == (runs[reading].sent[listings.PHI] if reading in runs else whole)


@cases("pair gap bound", [
    ({"place_0_1": F(0), "bend": F(2)}, "3/32", "1/16"), ({"place_0_0": F(0), "place_0_1": F(16), "place_1_0": F(1),
      "place_1_1": F(1), "ceiling": F(1)}, "1", "3/4")])  # fmt: skip
def test_the_small_examples_of_the_notes_are_right(pair, gap, bound):
    said = needed._exceeds(Book(), needed.PAIR | pair, "").evidence
    assert said.startswith(f"gap {float(F(gap)):.4g}, bound {float(F(bound)):.4g}")


# ---- improved bounds equal the gap for squared distances, whose moments have closed forms of their own ----


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
