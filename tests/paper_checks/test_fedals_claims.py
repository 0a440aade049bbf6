"""FedALS: the important findings once more, by arithmetic of their own; the checks are not rerun here."""

from fractions import Fraction as F
from itertools import product
from math import sqrt
from statistics import fmean
from types import SimpleNamespace

import numpy as np
import pytest
from loops import cases

from bounds.assumptions import SAMPLES_NOISE
from bounds.catalog import get
from empirics.algorithms.layerwise import EarlySteps, fedals, LocalModels
from paper_checks.claims.checkers import Requires
from paper_checks.claims.claim import Book, Claim, Status
from paper_checks.claims.fedals import CLAIMS, listings, needed
from paper_checks.claims.fedals.common import NONNEGATIVE
from paper_checks.claims.fedals.walks import Walk


def claim(name: str) -> Claim:
    return next(c for c in CLAIMS if c.name == f"fedals.{name}")


def known(name: str) -> Status:
    return claim(name).known


def mean(values):
    return fmean(list(values))


def half_squared(theta, points):
    return mean((theta - z) ** 2 / 2 for z in points)


def coins(clients: int) -> tuple[float, float, float]:
    """Gap, local gap and non-iidness of clients that average two draws from {0, 2, 7} each, by going through all."""
    pool = (0.0, 2.0, 7.0)
    sets = list(product(product(pool, repeat=2), repeat=clients))
    gaps, local, drift = [], [], []
    for data in sets:
        means = [mean(d) for d in data]
        theta = mean(means)
        gaps.append(half_squared(theta, pool) - mean(half_squared(theta, d) for d in data))
        local.append(half_squared(means[0], pool) - half_squared(means[0], data[0]))
        drift.append(half_squared(theta, data[0]) - half_squared(means[0], data[0]))
    return mean(gaps), mean(local), mean(drift)


@cases("clients", [2, 3])
def test_the_gap_of_iid_clients_falls_like_one_over_k_and_their_non_iidness_does_not_vanish(clients):
    gap, local, drift = coins(clients)
    assert gap == pytest.approx(local / clients, rel=1e-12)
    assert drift == pytest.approx((1 - 1 / clients) * local / 2, rel=1e-12)
    assert local / clients**2 < gap < local / clients**2 + 2 / clients * sqrt(drift * local)


@cases("clients", [2, 3])
def test_for_iid_clients_the_second_term_is_at_least_twice_the_first(clients):
    _, local, drift = coins(clients)
    second = 2 / clients * sqrt(drift * local)
    assert second / (local / clients**2) == pytest.approx(sqrt(2 * clients * (clients - 1)), rel=1e-12)
    assert second >= 2 * local / clients**2 * (1 - 1e-12)
    assert known("discussion.iid_second_term") is Status.HOLDS


def test_with_nearly_all_weight_on_one_client_the_first_term_is_the_larger_one():
    """Two clients with one fair coin each; non-iidness from all coins, (6) by its terms."""
    weights, signs = (0.99, 0.01), list(product((-1.0, 1.0), repeat=2))
    first = second = 0.0
    for k, weight in enumerate(weights):
        drift = mean((weights[0] * z[0] + weights[1] * z[1] - z[k]) ** 2 / 2 for z in signs)
        first, second = first + weight**3, second + 2 * weight**2 * sqrt(drift)
    assert second / first == pytest.approx(0.0204, abs=5e-5)
    found = claim("discussion.iid_second_term").check(Book())
    assert (found.status, f"{second / first:.3g}" in found.evidence) == (Status.HOLDS, True)
    own, drift = (1, 1 / 100), 1 / 2 * (1 + 1 / 100) / 4  # equal weights, 1 and 100 samples of variance 1
    ratio = 2 * sum(sqrt(drift * v) for v in own) / 4 / (sum(own) / 8)
    assert ratio == pytest.approx(1.548, abs=5e-4)
    assert f"{ratio:.3g}" in found.evidence


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
    found = claim("discussion.non_iid_hurts").check(Book())
    assert found.status is Status.HOLDS
    assert f"{gap}," in found.evidence or place != -100


@cases("clients", [2, 3])
def test_root_two_suffices_in_theorem_4_1_and_is_needed_for_many_clients(clients):
    gap, local, drift = coins(clients)
    sharp = get("fedals.one_round_sharp")
    at = {"client_weight": [1 / clients] * clients, "smoothness": 1.0, "strong_convexity": 1.0}
    stated = sharp(**at, local_gap=[local] * clients, non_iidness=[drift] * clients)
    assert stated == pytest.approx(local / clients**2 + sqrt(2 * drift * local) / clients, rel=1e-12)
    assert gap < stated == pytest.approx(gap * (1 / clients + sqrt(1 - 1 / clients)), rel=1e-12)
    many = 10**6
    drift = (1 - 1 / many) * local / 2
    assert local / many**2 + 1.4 / many * sqrt(drift * local) < local / many


def test_the_model_of_one_of_two_clients_is_better_for_that_client_than_for_both():
    """Noise-free clients at -1 and 1, one of them takes part: risk zero for itself, 1 for both in the mean."""
    everyone = (0**2 / 2 + 2**2 / 2) / 2
    participant = 0.0
    assert everyone - participant == 1.0
    bound = get("fedals.participation_case1")
    stated = bound(
        client_weight=[0.5, 0.5], local_gap=0.0, non_iidness=0.0, smoothness=1.0, strong_convexity=1.0, cohort=1
    )
    assert stated == 0.0
    assert known("eq_73.bound") is known("eq_71") is Status.FAILS


def test_a_lost_or_added_condition_is_noticed():
    assert Requires("fedals.gaussian_mean_gap")(Book()).status is Status.FAILS
    assert Requires("fedals.lemma_b1", NONNEGATIVE[:1])(Book()).status is Status.FAILS


def test_a_step_twice_too_long_leaves_no_non_iidness_and_breaks_theorem_4_1():
    """Two clients, one fair coin each (1 or -1), models twice the coin: averaged model 2, 0, 0 or -2."""
    averaged = (2.0, 0.0, 0.0, -2.0)
    fresh = mean(half_squared(theta, (1.0, -1.0)) for theta in averaged)
    trained = mean((0.5, 0.5, 0.5, 0.5))  # one away from both coins, or one from either
    local = half_squared(2.0, (1.0, -1.0)) - 0.5
    assert (fresh - trained, local) == (1.0, 2.0)
    bound = get("fedals.one_round")
    stated = bound(client_weight=[0.5, 0.5], local_gap=local, non_iidness=0.0, smoothness=1.0, strong_convexity=1.0)
    assert stated == pytest.approx(0.5)
    assert known("theorem_4_1.exact_needed") is Status.HOLDS


# ---- Theorem 4.3: negative non-iidness ----


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


def rounds_bound(clients, steps, non_iidness):
    """(9) of v2 for L = mu = 1 and coins of 10 and -10, hidden constants and complexity one."""
    a, b = sqrt(1 / steps) + 100 / steps, 100 * float(non_iidness + F(1, steps))
    return 2 * a / clients**2 + sqrt(8 * a * b) / clients


@cases("clients steps pull", [(2, 4, F(1)), (3, 2, F(1, 3)), (2, 3, F(1, 2))])
def test_the_moments_of_walks_are_those_of_all_coins(clients, steps, pull):
    walk = Walk.of(clients, steps, pull)
    assert (walk.gap, walk.non_iidness, walk.suboptimality) == walked(clients, steps, pull)


def test_the_last_of_four_coins_breaks_theorem_4_3_with_constants_one():
    """Steps of 1/L: the model is the last coin, K = 32.

    Gap: covariance of a mean of 32 last coins with the mean of 4 * 32 coins, 1/128. Non-iidness: half of (variance of
    that mean less that of a coin), plus what the coin and the mean have in common with the four coins.
    """
    gap = F(1, 32 * 4)
    non_iidness = (F(1, 32) - 1) / 2 + (1 - F(1, 32)) / 4
    assert non_iidness + F(1, 4) == F(1, 128)
    stated = rounds_bound(32, 4, non_iidness)
    assert stated == pytest.approx(0.4443166, rel=1e-6)
    assert stated < 100 * gap == F(25, 32)
    assert f"gap 0.7812, (9) {stated:.4g}" in claim("theorem_4_3.squared_distances").check(Book()).evidence


# ---- Algorithms 1 to 4, and what SCAFFOLD sends ----


def test_control_variables_of_version_1_stay_at_zero_so_that_its_algorithm_4_is_its_algorithm_1():
    """The listing's counter rounds*tau + t in plain numbers, and both listings run."""
    reached = [(r, t) for r in range(1, 9) for t in range(3) if (r * 3 + t) % 3 == 0]
    assert {t for _, t in reached} == {0}  # the head's walk h_{k,r,0} - h_{k,r,t} is then none
    both, alone = (
        listings.Listing(first=1, to_the_letter=True, else_if=True, controls=controls) for controls in (True, False)
    )
    assert (both.run(5) == alone.run(5)).all()
    assert not both.controls.any()
    assert known("algorithm_4.else_if") is known("algorithm_4.head") is Status.FAILS


def test_algorithm_4_with_walks_of_whole_periods_reaches_the_optimum():
    best = listings.OPTIMUM
    assert not listings.gradients(np.array([best, best])).sum(0).any()
    assert max(abs(listings.intended_controls(60, 3, 2) - best)) < 1e-6
    assert max(abs(listings.Listing(first=1, to_the_letter=True, controls=True).run(60) - best)) > 0.1


def test_the_listing_of_algorithm_2_is_powers_of_affine_maps():
    """``c_k + (I - H_k/8)^tau (theta - c_k)`` for both clients, averaged after every round."""
    theta = np.array(listings.START, dtype=float)
    for _ in range(6):
        ends = []
        for centre, curvature in zip(listings.CENTRES, listings.CURVATURES, strict=True):
            c, h = np.array(centre, dtype=float), np.array(curvature, dtype=float)
            ends.append(c + np.linalg.matrix_power(np.eye(2) - h / 8, 3) @ (theta - c))
        theta = sum(ends) / 2
    assert [float(x) for x in listings.trained("fedavg()", 6, 3).model] == pytest.approx(list(theta), rel=1e-12)


def test_what_is_trained_is_averaged_and_corrected_step_by_step():
    """FedALS and SCAFFOLD once more, all iterates in one loop."""
    models = walked = np.array([listings.START] * 2)
    shared = own = np.full((2, 2), F(0))
    averaged = models
    for step in range(1, 13):
        averaged = averaged - listings.STEP * listings.gradients(averaged)
        models = models - listings.STEP * (listings.gradients(models) + shared - own)
        for part, period in ((1, 3), (0, 6)):
            if step % period == 0:
                averaged = listings.with_part(averaged, part, sum(averaged[:, part]) / 2)
        if step % 3 == 0:
            own = own - shared + (walked - models) / (3 * listings.STEP)
            shared, models = sum(own) / 2, np.array([sum(models) / 2] * 2)
            walked = models
    assert (listings.trained("fedals(alpha=2)", 4, 3).model == sum(averaged) / 2).all()
    scaffold = listings.trained("scaffold()", 4, 3)
    assert (scaffold.model == models[0]).all()
    assert (scaffold.memory["control"] == own).all()


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


# ---- Theorem 4.1, read otherwise than its proof ----


@pytest.mark.slow
@cases("opened", ["bend", "ceiling"])
def test_the_search_that_looks_there_finds_it(opened):
    assert needed.searched(seed=1, **{opened: True})(Book()).status is Status.FAILS
    assert needed.searched()(Book()).status is Status.HOLDS
