"""Exact moments against fractions by hand, closed formulas for cohorts, fixed points, and methods they must refuse."""

from fractions import Fraction as Q
from itertools import combinations
from math import comb

import numpy as np
import pytest

from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import cohorts, ExactRun, NotAffineError
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.training.setting import Setting


def exact(problem, written, **setting):
    return ExactRun(problem, algorithm(written), Setting(**setting))


# ---- two clients in one dimension, two rounds of two steps, by hand ----

A, B, SIGMA2 = (Q(3, 2), Q(1, 2)), (Q(1, 3), Q(-7, 5)), (Q(1, 4), Q(1, 9))
START, ETA = Q(7, 10), Q(1, 5)
SHRINK = tuple(1 - ETA * a for a in A)  # 7/10 and 9/10
PUSH = tuple(ETA * a * b for a, b in zip(A, B, strict=True))  # 1/10 and -7/50
HESSIAN, OPTIMUM = Q(1), (A[0] * B[0] + A[1] * B[1]) / 2  # 1 and -1/10


def after_steps(i, mean, variance, steps):
    """Mean and variance of client i's model after local steps from a random start."""
    for _ in range(steps):
        mean, variance = SHRINK[i] * mean + PUSH[i], SHRINK[i] ** 2 * variance + ETA**2 * SIGMA2[i]
    return mean, variance


@pytest.fixture(scope="module")
def two_clients():
    return Quadratics(
        np.array(A, dtype=float).reshape(2, 1, 1),
        np.array(B, dtype=float).reshape(2, 1),
        np.array(SIGMA2, dtype=float).reshape(2, 1, 1),
        start=[float(START)],
    )


def test_two_rounds_of_fedavg_are_the_fractions(two_clients):
    found = exact(two_clients, "fedavg", rounds=2, cohort=2, local_steps=2, step_size=0.2).run()
    mean, variance = START, Q(0)
    for round_ in range(2):
        ends = [after_steps(i, mean, Q(0), 2) for i in (0, 1)]
        # V1 and V2: w_1 - w = (r - 1) w + push - eta noise, and w_0 - w = 0
        drift = [((r - 1) * mean + p) ** 2 + (r - 1) ** 2 * variance for r, p in zip(SHRINK, PUSH, strict=True)]
        assert found.rounds["local_drift"][round_] == pytest.approx(
            float(sum(d + ETA**2 * s for d, s in zip(drift, SIGMA2, strict=True)) / 2), rel=1e-12
        )
        linear = (SHRINK[0] ** 2 + SHRINK[1] ** 2) / 2
        after, fresh = (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 4
        assert found.rounds["global_step"][round_] == pytest.approx(
            float((after - mean) ** 2 + (linear - 1) ** 2 * variance + fresh), rel=1e-12
        )
        # both clients end as far from their average: half their difference
        apart = (ends[0][0] - ends[1][0]) ** 2 + (SHRINK[0] ** 2 - SHRINK[1] ** 2) ** 2 * variance
        apart += ends[0][1] + ends[1][1]
        for name in ("divergence", "active_divergence"):
            value = found.server[name][round_ + 1] if name == "divergence" else found.rounds[name][round_]
            assert value == pytest.approx(float(apart / 4), rel=1e-12)
        assert found.along[round_]["consensus_distance"]["model"][2] == pytest.approx(float(apart / 4), rel=1e-12)
        mean, variance = after, linear**2 * variance + fresh
        square = (mean - OPTIMUM) ** 2 + variance
        assert found.server["distance_sq"][round_ + 1] == pytest.approx(float(square), rel=1e-12)
        assert found.server["grad_norm_sq"][round_ + 1] == pytest.approx(float(HESSIAN**2 * square), rel=1e-12)
        assert found.server["optimality_gap"][round_ + 1] == pytest.approx(float(HESSIAN * square / 2), rel=1e-12)
    assert found.means[:, 0] == pytest.approx([0.7, 407 / 1000, 4331 / 20000], rel=1e-12)


def test_one_of_two_clients_by_hand(two_clients):
    """One client drawn at random: the server's model is either end with probability one half."""
    plan = {"rounds": 1, "cohort": 1, "local_steps": 2, "step_size": 0.2}
    found = exact(two_clients, "fedavg", **plan).run()
    ends = [after_steps(i, START, Q(0), 2) for i in (0, 1)]
    square = sum((m - OPTIMUM) ** 2 + v for m, v in ends) / 2
    assert found.server["distance_sq"][1] == pytest.approx(float(square), rel=1e-12)
    # the absent client's last model is still the start
    stale = sum((START - m) ** 2 + v for m, v in ends) / 2
    assert found.server["divergence"][1] == pytest.approx(float(stale / 2), rel=1e-12)
    assert found.rounds["active_divergence"][0] == pytest.approx(0, abs=1e-15)
    # where all train, the other one is away by the difference of two independent ends
    found = exact(two_clients, "fedinit(beta=0.1, reading='proof')", **plan).run()
    apart = (ends[0][0] - ends[1][0]) ** 2 + ends[0][1] + ends[1][1]
    assert found.server["divergence"][1] == pytest.approx(float(apart / 2), rel=1e-12)


# ---- cohorts ----


@pytest.fixture(scope="module")
def quiet():
    """Five clients without noise: after one round the only chance is the cohort."""
    return random_quadratics(21, 5, 3, noise=0.0)


def ends_of(problem, steps, step_size):
    """Every client's model after its local steps from the start, in plain loops."""
    ends = np.tile(problem.start, (problem.clients, 1))
    for _ in range(steps):
        for k in range(problem.clients):
            ends[k] = ends[k] - step_size * problem.curvatures[k] @ (ends[k] - problem.minima[k])
    return ends


def without_replacement(away, cohort):
    """``E ||mean of a cohort||^2`` by the sampling identity of FedInit's Lemma 3."""
    clients = len(away)
    together, single = (away.sum(0) ** 2).sum(), (away**2).sum()
    pairs = cohort * (cohort - 1) / (clients * (clients - 1)) * together
    return (pairs + cohort * (clients - cohort) / (clients * (clients - 1)) * single) / cohort**2


def test_cohorts_have_the_closed_formulas_of_their_sampling(quiet):
    """Bernoulli draws are a mixture over sizes."""
    even = ends_of(quiet, 3, 0.17) - quiet.minimiser
    weights = np.array([0.1, 0.3, 0.15, 0.25, 0.2])
    unlike = Quadratics(quiet.curvatures, quiet.minima, weights=weights, start=quiet.start)
    away = ends_of(unlike, 3, 0.17) - unlike.minimiser
    mean, single = ((weights @ away) ** 2).sum(), weights @ (away**2).sum(1)
    sizes = {n: comb(5, n) * 0.4**n * 0.6 ** (5 - n) for n in range(1, 6)}
    mixed = sum(p * without_replacement(even, n) for n, p in sizes.items()) / sum(sizes.values())
    for problem, sampling, cohort, expected in (
        *((quiet, "without_replacement", n, without_replacement(even, n)) for n in (1, 2, 3, 5)),
        *((unlike, "with_replacement", n, (1 - 1 / n) * mean + single / n) for n in (1, 3)),
        (quiet, "bernoulli", 2, mixed),
    ):
        drawn = {"sampling": sampling, "client_weight": "samples" if problem is unlike else "uniform"}
        run = exact(problem, "fedavg", rounds=1, cohort=cohort, local_steps=3, step_size=0.17, **drawn).run()
        assert run.server["distance_sq"][1] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("sampling", "number"), [("without_replacement", 10), ("with_replacement", 35), ("bernoulli", 31)]
)
def test_all_cohorts_are_listed_once_and_their_chances_sum_to_one(sampling, number):
    setting = Setting(rounds=1, cohort=3, sampling=sampling)
    listed = cohorts(setting, np.array([0.1, 0.3, 0.15, 0.25, 0.2]))
    assert len({(c.clients, c.counts) for c in listed}) == len(listed) == number
    assert sum(c.probability for c in listed) == pytest.approx(1, rel=1e-12)
    taking_part = [
        sum(c.probability * dict(zip(c.clients, c.counts, strict=True)).get(k, 0) for c in listed) for k in range(5)
    ]
    expected = {
        "without_replacement": [0.6] * 5,
        "with_replacement": [0.3, 0.9, 0.45, 0.75, 0.6],
        "bernoulli": [0.6 / (1 - 0.4**5)] * 5,
    }
    assert taking_part == pytest.approx(expected[sampling], rel=1e-12)


# ---- where runs end ----


def test_scaffold_reaches_the_optimum_where_fedavg_stalls_as_predicted():
    problem = random_quadratics(31, 3, 2, noise=0.0)
    fedavg = exact(problem, "fedavg", rounds=250, cohort=3, local_steps=4, step_size=0.2)
    scaffold = exact(problem, "scaffold", rounds=250, cohort=3, local_steps=4, step_size=0.2)
    stalled, reached = fedavg.run(), scaffold.run()
    # the fixed point of w = mean_k(S_k w + (1 - S_k) b_k) with S_k = (1 - eta A_k)^K
    shrink = [np.linalg.matrix_power(np.eye(2) - 0.2 * a, 4) for a in problem.curvatures]
    pull = sum((np.eye(2) - s) @ b for s, b in zip(shrink, problem.minima, strict=True))
    fixed = np.linalg.solve(np.eye(2) - sum(shrink) / 3, pull / 3)
    assert stalled.means[-1] == pytest.approx(fixed, abs=1e-10)
    assert fedavg.limit_mean() == pytest.approx(fixed, abs=1e-10)
    assert np.sqrt(stalled.server["distance_sq"][-1]) > 1e-2
    assert np.sqrt(reached.server["distance_sq"][-1]) < 1e-8
    assert scaffold.limit_mean() == pytest.approx(problem.minimiser, abs=1e-8)


def test_limit_of_fedals_is_that_of_its_period():
    run = exact(layered(32), "fedals(alpha=3)", rounds=240, cohort=3, local_steps=2, step_size=0.2)
    assert run.limit_mean() == pytest.approx(run.run().means[-1], abs=1e-9)


def layered(seed):
    return random_quadratics(seed, 3, 3, layers={"extractor": slice(0, 2), "head": slice(2, 3)})


# ---- what has no limit, is no affine map, or has too many cohorts ----


def test_methods_that_are_not_affine_are_refused():
    following = "scheduled(fedavg(), schedule='k_error')"
    for method in ("fedsam", "fedadam", "fedexp", "layerwise(scaffold(), alpha=2)", "fedavg", following):
        options = {"clip": 10.0} if method == "fedavg" else {}
        with pytest.raises(NotAffineError):
            exact(layered(41), method, rounds=3, cohort=3, local_steps=2, step_size=0.1, **options).run()


def test_schedules_and_divergence_have_no_limit_and_too_many_cohorts_are_counted():
    usual = {"rounds": 9, "cohort": 3, "local_steps": 2, "step_size": 0.2}
    for change in ({"step_size_decay": 0.9}, {"local_steps": 1, "step_size": 3.0}):
        with pytest.raises(EmpiricsError):
            exact(random_quadratics(31, 3, 2), "fedavg", **usual | change).limit_mean()
    with pytest.raises(EmpiricsError, match=r"184,756 .*2,000"):
        cohorts(Setting(rounds=1, cohort=10), np.full(20, 1 / 20))


# ---- readings by their definitions ----


def test_readings_of_a_round_are_plain_sums_over_its_paths(quiet):
    """Without noise everything is deterministic; T3 of FedCOG's proof is a mean over the local steps of each client."""
    weights = np.array([0.1, 0.3, 0.15, 0.25, 0.2])
    problem = Quadratics(quiet.curvatures, quiet.minima, weights=weights, start=quiet.start)
    plan = {"rounds": 1, "local_steps": 3, "step_size": 0.17}
    weighed = exact(problem, "fedavg", cohort=5, client_weight="samples", **plan).run()
    found = exact(quiet, "fedinit(beta=0.1, reading='proof')", cohort=2, **plan).run()
    paths = np.stack([ends_of(quiet, k, 0.17) for k in range(4)])
    slopes = np.einsum("kij,tkj->tki", quiet.curvatures, paths - quiet.minima)  # (steps, clients, dim)
    drift = ((paths[:3] - quiet.start) ** 2).sum((0, 2)).mean()
    assert found.rounds["local_drift"][0] == pytest.approx(drift, rel=1e-12)
    assert found.rounds["summed_grad_norm_sq"][0] == pytest.approx((slopes[:3].sum((0, 1)) ** 2).sum(), rel=1e-12)
    assert found.rounds["grad_cap_sq"][0] == pytest.approx((slopes[:3] ** 2).sum(2).max(), rel=1e-12)
    steps = [((paths[3, list(two)].mean(0) - quiet.start) ** 2).sum() for two in combinations(range(5), 2)]
    assert found.rounds["global_step"][0] == pytest.approx(np.mean(steps), rel=1e-12)
    for k in range(4):
        average = paths[k].mean(0)
        gradient = np.mean([quiet.curvatures[i] @ (average - quiet.minima[i]) for i in range(5)], axis=0)
        assert found.along[0]["grad_norm_sq"][k] == pytest.approx((gradient**2).sum(), rel=1e-11)
    walked, squares = slopes[:3].mean(0), (slopes[0] ** 2).sum(1)
    apart = ((slopes[0] - walked) ** 2).sum(1)
    assert weighed.rounds["gradient_drift"][0] == pytest.approx(apart, rel=1e-11)
    assert weighed.rounds["mean_gradient_drift"][0] == pytest.approx(weights @ apart, rel=1e-11)
    assert weighed.rounds["mean_path_gradient_sq"][0] == pytest.approx(((weights @ walked) ** 2).sum(), rel=1e-11)
    assert weighed.server["client_grad_norm_sq"][0] == pytest.approx(squares, rel=1e-11)
    assert weighed.server["mean_client_grad_sq"][0] == pytest.approx(weights @ squares, rel=1e-11)


def test_iterations_open_rounds_at_the_server_model():
    problem = random_quadratics(51, 3, 2)
    found = exact(problem, "scheduled(fedavg(), schedule='k_rounds')", rounds=3, cohort=2, local_steps=4).run()
    steps = found.rounds["local_steps"]
    assert list(steps) == [4, 4, 3]
    line = found.iterations("grad_norm_sq")
    assert len(line) == steps.sum() + 1
    assert line[np.concatenate([[0], np.cumsum(steps)])] == pytest.approx(found.server["grad_norm_sq"], rel=1e-12)


def test_consensus_distance_is_read_layer_by_layer():
    found = exact(layered(52), "fedals(alpha=2)", rounds=3, cohort=3, local_steps=2, step_size=0.1).run()
    at = [found.along[r]["consensus_distance"] for r in range(3)]
    assert at[1]["extractor"][0] == pytest.approx(at[0]["extractor"][-1], rel=1e-12)  # not averaged after round 1
    assert at[2]["extractor"][0] == pytest.approx(0, abs=1e-14)  # averaged after round 2
    assert max(distances["head"][0] for distances in at) < 1e-14
    assert at[1]["head"][-1] > 1e-3
    for distances in at:
        assert distances["extractor"] + distances["head"] == pytest.approx(distances["model"], rel=1e-12)
