"""FedALS: the important findings once more, by arithmetic of their own; the checks are not rerun here."""

from itertools import product
from math import log, sqrt
from statistics import fmean

import pytest

from bounds.catalog import get
from paper_checks.claims.checkers import Requires
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.fedals import CLAIMS
from paper_checks.claims.fedals.cells import CRITICAL, Distinct
from paper_checks.claims.fedals.common import NONNEGATIVE
from paper_checks.reported import Reported


def known(name: str) -> Status:
    return next(c.known for c in CLAIMS if c.name == f"fedals.{name}")


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


@pytest.mark.parametrize("clients", [2, 3])
def test_the_gap_of_iid_clients_falls_like_one_over_k_and_their_non_iidness_does_not_vanish(clients):
    gap, local, drift = coins(clients)
    assert gap == pytest.approx(local / clients, rel=1e-12)
    assert drift == pytest.approx((1 - 1 / clients) * local / 2, rel=1e-12)
    assert local / clients**2 < gap < local / clients**2 + 2 / clients * sqrt(drift * local)
    assert known("discussion.one_over_k_squared") is known("discussion.iid_non_iidness") is Status.FAILS


@pytest.mark.parametrize("clients", [2, 3])
def test_for_iid_clients_the_second_term_is_at_least_twice_the_first(clients):
    _, local, drift = coins(clients)
    second = 2 / clients * sqrt(drift * local)
    assert second / (local / clients**2) == pytest.approx(sqrt(2 * clients * (clients - 1)), rel=1e-12)
    assert second >= 2 * local / clients**2 * (1 - 1e-12)
    assert known("discussion.iid_second_term") is Status.HOLDS


def test_the_bound_tends_to_root_two_times_the_gap():
    clients, local = 10**6, 0.37
    drift = (1 - 1 / clients) * local / 2
    bound = local / clients**2 + 2 / clients * sqrt(drift * local)
    assert bound / (local / clients) == pytest.approx(sqrt(2), rel=1e-5)


def test_a_client_drawn_twice_breaks_the_second_identity_of_lemma_d1():
    weights, values = (0.6, 0.4), (5.0, -2.0)
    clients = draws = 0.0
    for i, j in product((0, 1), repeat=2):
        p = weights[i] * weights[j]
        clients += p * (values[i] if i == j else values[i] / 4 + values[j] / 4)
        draws += p * (values[i] + values[j]) / 4
    mean_value = weights[0] * values[0] + weights[1] * values[1]
    assert draws == pytest.approx(mean_value / 2)
    assert clients == pytest.approx(mean_value / 2 + (weights[0] ** 2 * 5.0 - weights[1] ** 2 * 2.0) / 2)
    assert known("lemma_d1.weight") is Status.FAILS


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


def test_the_repaired_bound_for_local_steps_lies_between_the_exact_and_the_printed_one():
    values = {
        "client_weight": [0.5, 0.3, 0.2],
        "local_gap": [0.4, 0.7, 0.9],
        "non_iidness": [0.2, 0.5, 0.3],
        "smoothness": 2.3,
        "strong_convexity": 0.9,
    }
    exact = get("fedals.one_round")(**values)
    for epsilon in (0.001, 0.03, 0.4):
        joined, printed, lost, smaller = (
            float(get(f"fedals.{name}")(**values, local_suboptimality=[epsilon] * 3))
            for name in ("one_round_inexact_joined", "one_round_inexact", "rounds_inexact_printed", "rounds_inexact")
        )
        assert exact < joined < printed
        assert smaller < lost < printed
    nearly = get("fedals.one_round_inexact_joined")(**values, local_suboptimality=[1e-12] * 3)
    assert nearly == pytest.approx(float(exact), rel=1e-5)
    assert get("fedals.one_round_inexact")(**values, local_suboptimality=[1e-12] * 3) > 1.4 * exact


def test_a_models_move_is_twice_its_variance_and_an_independent_minimiser_is_no_nearer():
    """Why one suboptimality suffices in (57): for any answers A and minimisers B of equally likely data sets."""
    answers, minimisers = (0.3, 1.9, -0.7, 4.0), (1.1, 2.2, -3.0, 2.9)
    moved = mean((a - b) ** 2 for a, b in product(answers, repeat=2))
    centre = mean(answers)
    assert moved == pytest.approx(2 * mean((a - centre) ** 2 for a in answers))
    assert moved <= 2 * mean((a - b) ** 2 for a, b in product(answers, minimisers))


def test_table_2_counts_both_directions_of_head_650_and_extractor_292304():
    printed = {1: 2.344, 5: 0.473, 10: 0.239, 25: 0.099, 50: 0.052, 100: 0.029}
    for alpha, billions in printed.items():
        one_way = (650 + 292_304 / alpha) * 20_000 / 5 / 1e9
        assert round(2 * one_way, 3) == billions != round(one_way, 3)


def test_an_else_if_behind_the_heads_test_is_never_reached():
    for tau, alpha, count in product(range(1, 7), range(1, 7), range(200)):
        if count % (alpha * tau) == 0:
            assert count % tau == 0
    assert known("algorithm_1.else_if") is Status.FAILS


def test_the_first_term_alone_exceeds_what_accuracies_can_differ_by():
    assert 2 / 25 * sqrt(292_954 / 320) == pytest.approx(2.42, abs=0.01)
    assert 2 / 25 * sqrt(292_954 / 320) > log(10) > 1


def test_an_exchange_in_front_of_the_step_makes_algorithm_1_fedavg_and_one_behind_it_does_not():
    """Two parabolas, curvatures 1 and 3, minima 2 and -1, steps of 1/8 from 5; rounds of two steps."""

    def move(models):
        return [x - a * (x - c) / 8 for x, a, c in zip(models, (1, 3), (2, -1), strict=True)]

    def run(before):
        models = [5.0, 5.0]
        for count in range(6):
            if before and count % 2 == 0:
                models = [mean(models)] * 2
            models = move(models)
            if not before and count % 2 == 0:
                models = [mean(models)] * 2
        return mean(models)

    wanted = [5.0, 5.0]
    for _ in range(3):
        wanted = [mean(move(move(wanted)))] * 2
    assert run(before=True) == pytest.approx(wanted[0], rel=1e-14)
    assert run(before=False) != pytest.approx(wanted[0], rel=1e-3)
    assert known("algorithm_1.fedavg") is known("algorithm_1.assignment") is Status.FAILS


def test_the_combination_is_behind_fedals_alone_and_mostly_ahead_of_scaffold():
    table = {"SVHN": (0.7180, 0.8117, 0.8097), "CIFAR-10": (0.4538, 0.5224, 0.5121),
             "CIFAR-100": (0.4124, 0.4863, 0.4820), "MNIST": (0.8121, 0.8208, 0.7827)}  # fmt: skip
    assert all(both < als for _, als, both in table.values())
    assert {name for name, (scaffold, _, both) in table.items() if both < scaffold} == {"MNIST"}
    assert 1.2773 < 1.2782 < 1.2839  # losses on MultiNLI: FedALS, both, SCAFFOLD
    assert known("table_1.complementary") is Status.FAILS


def cell(value: str, std: str) -> Reported:
    return Reported("T", "r", "c", value, std, "", "v1", "")


def test_a_difference_counts_as_noise_below_the_critical_t_only():
    numbers = {"a": cell("0.500", "0.020"), "b": cell("0.514", "0.020"), "c": cell("0.512", "0.020")}
    error = sqrt(2 * 0.02**2 / 20)
    assert 0.012 / error < CRITICAL < 0.014 / error
    assert Distinct(numbers, (("a", "b"),))(Book()).status is Status.HOLDS
    weak = Distinct(numbers, (("a", "b"), ("a", "c")), wrong=("a < c",))(Book())
    assert weak.status is Status.FAILS
    assert weak.as_audited
    assert not Distinct(numbers, (("b", "a"), ("a", "c")), wrong=("a < c",))(Book()).as_audited


def test_a_lost_or_added_condition_is_noticed():
    assert Requires("fedals.gaussian_mean_gap", NONNEGATIVE[:1])(Book()).status is Status.HOLDS
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


def test_a_constant_step_size_leaves_a_floor_under_the_suboptimality():
    """Half squared distances, steps of 1/2 on fresh samples: in the end a third of a variance, halved."""
    weights = [0.5 ** (60 - t) for t in range(60)]
    floor = sum((w - 1 / 60) ** 2 for w in weights) / 2
    assert floor == pytest.approx((1 / 3 - 1 / 60) / 2, rel=1e-6)
    assert 60 * floor > 3 * 5 * sum((w - 1 / 5) ** 2 for w in weights[-5:]) / 2
    assert known("eq_58.constant_step") is Status.FAILS
