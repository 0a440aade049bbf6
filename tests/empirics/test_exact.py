"""Exact moments: fractions by hand, closed formulas, listed cohorts and orders, groups of clients, and simulation."""

from dataclasses import replace
from fractions import Fraction as Q
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
import torch
from loops import cases
from scipy import stats

from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import (
    after,
    AlikeRound,
    Averaging,
    cohorts,
    draw,
    ENGINES,
    ExactRun,
    listed,
    NotAffineError,
    Passes,
    Work,
)
from empirics.exact.maps import Tracing
from empirics.problems.quadratics import QuadraticFederation, QuadraticModel, Quadratics, random_quadratics
from empirics.training.rounds import draw_cohort, rounds
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


# ---- plain averaged SGD without cohorts ----

STEP_SIZES = np.array([0.07, 0.31])
WORDS = ("optimality_gap", "grad_norm_sq", "distance_sq")


@pytest.mark.parametrize(
    ("dim", "cohort", "sampling", "weights"),
    [
        (2, 2, "without_replacement", None),
        (3, 1, "without_replacement", None),
        (8, 4, "without_replacement", [0.1, 0.3, 0.25, 0.35]),
        (9, 2, "with_replacement", [0.1, 0.3, 0.25, 0.35]),
        (3, 2, "bernoulli", None),
    ],
)
def test_equal_to_listing_all_cohorts(dim, cohort, sampling, weights):
    """Below and above the size up to which rounds are doubled; at the average of all clients before every step too."""
    problem = random_quadratics(11, 4, dim, noise=0.4, weights=weights)
    runs = Averaging(problem, cohort, sampling)
    found = runs.readings(3, STEP_SIZES, 4)
    for i, size in enumerate(STEP_SIZES):
        plan = Setting(rounds=4, cohort=cohort, sampling=sampling, local_steps=3, step_size=size)
        setting = replace(plan, client_weight="uniform" if weights is None else "samples")
        listed, whole = ExactRun(problem, algorithm("fedavg"), setting).run(), runs.run(3, size, 4)
        for word in WORDS:
            assert found[word][:, i] == pytest.approx(listed.server[word], rel=1e-10)
            assert whole.server[word] == pytest.approx(listed.server[word], rel=1e-10)
            assert whole.iterations(word) == pytest.approx(listed.iterations(word), rel=1e-10)
        assert whole.rounds["grad_cap_sq"] == pytest.approx(listed.rounds["grad_cap_sq"], rel=1e-10)
        assert ("divergence" in whole.server) == (cohort == 4)
        if cohort == 4:
            assert whole.server["divergence"] == pytest.approx(listed.server["divergence"], rel=1e-10)


def test_step_sizes_taken_one_after_another_give_the_same_and_what_diverges_is_infinite(monkeypatch):
    runs = Averaging(random_quadratics(3, clients=6, dim=3), 2)
    together = runs.readings(5, STEP_SIZES, 4)
    found = runs.readings(60, [0.2, 900.0], 40)["grad_norm_sq"][-1]
    assert np.isfinite(found).tolist() == [True, False]
    assert found[1] == np.inf
    monkeypatch.setattr("empirics.exact.averaging.AT_ONCE", 1)
    apart = runs.readings(5, STEP_SIZES, 4)
    assert all(apart[word] == pytest.approx(together[word], rel=1e-12) for word in WORDS)


def test_clients_that_weigh_differently_are_not_drawn_by_halves():
    for weights, cohort, named in (([0.2, 0.5, 0.3], 2, "2 of 3"), (None, 4, "cohort .*4")):
        with pytest.raises(EmpiricsError, match=named):
            Averaging(random_quadratics(3, clients=3, dim=2, weights=weights), cohort)


# ---- shuffled passes ----


def sample_gradients(rng, sizes, dim):
    """Gradients of single samples at the minimiser: around each client's, which sum to nothing over the clients."""
    return [rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim)) for n in sizes]


def of_samples(problem, drawn):
    """The federation whose single samples vary as these do."""
    away = [x - x.mean(0) for x in drawn]
    return replace(problem, noise=np.stack([x.T @ x / len(x) for x in away])), away


def test_a_round_of_shuffled_passes_equals_the_list_of_all_orders():
    rng = np.random.default_rng(5)
    sizes, batch, steps, eta = (3, 4), 3, 3, 0.23  # a client of one batch a pass, and one whose second batch is short
    problem, away = of_samples(random_quadratics(2, clients=2, dim=2), sample_gradients(rng, sizes, 2))
    found = Averaging(problem, 1, passes=Passes(np.array(sizes), batch)).readings(steps, [eta], 1)
    gaps = []
    for k, noise in enumerate(away):
        orders = list(permutations(range(len(noise))))
        cut = -(-len(noise) // batch)
        each = []
        for passes in product(orders, repeat=-(-steps // cut)):
            batches = [list(order[i : i + batch]) for order in passes for i in range(0, len(order), batch)]
            w = problem.start.copy()
            for chosen in batches[:steps]:
                w = w - eta * (problem.curvatures[k] @ (w - problem.minima[k]) + noise[chosen].mean(0))
            each.append(problem.loss(w) - problem.optimal_loss)
        gaps.append(np.mean(each))
    assert found["optimality_gap"][1, 0] == pytest.approx(np.mean(gaps), rel=1e-12)


def test_equal_to_simulation_of_many_seeds():
    rng = np.random.default_rng(8)
    sizes, batch, steps, eta, rounds, cohort, seeds = np.array([5, 7, 9, 6]), 4, 3, 0.19, 4, 2, 3000
    problem, away = of_samples(random_quadratics(4, clients=4, dim=2), sample_gradients(rng, sizes, 2))
    exact = Averaging(problem, cohort, passes=Passes(sizes, batch)).readings(steps, [eta], rounds)["optimality_gap"]
    w = np.tile(problem.start, (seeds, 1))
    for _ in range(rounds):
        total = np.zeros_like(w)
        drawn = rng.permuted(np.tile(np.arange(4), (seeds, 1)), axis=1)[:, :cohort]
        for k in range(4):
            order = rng.permuted(np.tile(np.arange(sizes[k]), (seeds, 1)), axis=1)
            again = rng.permuted(np.tile(np.arange(sizes[k]), (seeds, 1)), axis=1)
            cut = -(-sizes[k] // batch)
            batches = [o[:, i * batch : (i + 1) * batch] for o in (order, again) for i in range(cut)]
            local = w.copy()
            for chosen in batches[:steps]:
                gradient = (local - problem.minima[k]) @ problem.curvatures[k] + away[k][chosen].mean(1)
                local = local - eta * gradient
            total += np.where((drawn == k).any(1)[:, None], local, 0)
        w = total / cohort
    gaps = problem.loss(w) - problem.optimal_loss
    assert abs(gaps.mean() - exact[-1, 0]) < 4 * gaps.std() / seeds**0.5
    assert gaps.std() / seeds**0.5 < 0.04 * exact[-1, 0]


# ---- federations whose clients are alike in groups ----

SIZES = np.array([3.0, 2.0])
KIND = [0, 0, 0, 1, 1]
SHARES = np.array([0.15, 0.275])
"""Of one client of each group; with equal shares 0.2."""
CASES = [
    (Setting(1, 2), np.full(2, 0.2)),
    (Setting(1, 4), np.full(2, 0.2)),
    (Setting(1, 5, client_weight="samples"), SHARES),
    (Setting(1, 3, sampling="with_replacement"), SHARES),
    (Setting(1, 2, sampling="bernoulli"), np.full(2, 0.2)),
]


def enumerated(setting, shares):
    """Every cohort's probability, weights in the average and indicator of work, client by client."""
    each = shares[KIND]
    everybody = setting.cohort == 5 and setting.sampling == "without_replacement"
    for cohort in cohorts(setting, each):
        weights, works = np.zeros(5), np.zeros(5)
        weights[list(cohort.clients)] = np.array(cohort.counts) / sum(cohort.counts)
        works[list(cohort.clients)] = 1
        yield cohort.probability, each if everybody else weights, works


def work():
    """A round of generic numbers: two of the server, two of every client, two sent."""
    draws = np.random.default_rng(11)
    noise, gone = draws.standard_normal((2, 4, 4)), draws.standard_normal((2, 2, 2))
    parts = [0.6 * draws.standard_normal(shape) for shape in [(2, 2, 2)] * 6]
    spread = [x @ np.swapaxes(x, 1, 2) for x in (noise, gone)]
    return Work(*parts, *spread, 0.4 * draws.standard_normal((2, 2)), draws.standard_normal((2, 2)))


def one_by_one(work, setting, shares, mean, covariance):
    """Mean and covariance of (x, y_1 .. y_5) a round later, cohort by cohort."""
    size = 12
    maps = []
    for chance, weights, works in enumerated(setting, shares):
        linear, added = np.zeros((size, size)), np.zeros((size, size))
        linear[:2, :2] = work.stays + work.moves @ sum(a * work.sent_x[k] for a, k in zip(weights, KIND, strict=True))
        for i, (a, here, k) in enumerate(zip(weights, works, KIND, strict=True)):
            rows = slice(2 + 2 * i, 4 + 2 * i)
            linear[:2, rows] = a * work.moves @ work.sent_y[k]
            linear[rows, :2] = work.here_x[k] if here else work.gone_x[k]
            linear[rows, rows] = work.here_y[k] if here else work.gone_y[k]
            source = np.zeros((size, 4))
            source[:2, :2], source[rows, 2:] = a * work.moves, here * np.eye(2)
            added += source @ work.noise[k] @ source.T
            added[rows, rows] += (1 - here) * work.gone_noise[k]
        maps.append((chance, linear, added))
    ends = [linear @ mean for _, linear, _ in maps]
    middle = sum(c * end for (c, _, _), end in zip(maps, ends, strict=True))
    spread = sum(
        c * (linear @ covariance @ linear.T + added + np.outer(end - middle, end - middle))
        for (c, linear, added), end in zip(maps, ends, strict=True)
    )
    return middle, spread


@pytest.mark.parametrize(("setting", "shares"), CASES)
def test_three_rounds_of_groups_are_those_of_all_clients(setting, shares):
    played = AlikeRound(work(), draw(setting, SIZES, shares), SIZES)
    mean, covariance = np.array([1.3, -0.7, *[0.4, 1.1] * 3, *[-0.6, 0.2] * 2]), np.zeros((12, 12))
    u = np.array([1.3, -0.7, 0.4, 1.1, -0.6, 0.2])
    state = played.flat(np.outer(u, u), np.zeros((2, 2, 2)))
    matrix, constant = played.affine
    for _ in range(3):
        mean, covariance = one_by_one(work(), setting, shares, mean, covariance)
        state = matrix @ state + constant
    raw = covariance + np.outer(mean, mean)
    groups = np.zeros((6, 12))
    groups[:2, :2] = np.eye(2)
    for i, k in enumerate(KIND):
        groups[2 + 2 * k : 4 + 2 * k, 2 + 2 * i : 4 + 2 * i] = np.eye(2) / SIZES[k]
    s, v = played.blocks(state)
    np.testing.assert_allclose(s, groups @ raw @ groups.T, rtol=1e-10, atol=1e-12)
    for k in range(2):
        mine = [slice(2 + 2 * i, 4 + 2 * i) for i in range(5) if KIND[i] == k]
        whole = sum(raw[x, x] for x in mine) / SIZES[k]
        middle = groups[2 + 2 * k : 4 + 2 * k]
        np.testing.assert_allclose(v[k], whole - middle @ raw @ middle.T, rtol=1e-9, atol=1e-12)


def test_any_horizon_is_reached_by_squaring():
    draws = np.random.default_rng(5)
    matrix, constant, start = 0.3 * draws.standard_normal((4, 4)), draws.standard_normal(4), draws.standard_normal(4)
    states = listed(matrix, constant, start, 37)
    for count in (1, 2, 23, 37):
        last, total = after(matrix, constant, start, count)
        np.testing.assert_allclose(last, states[count], rtol=1e-12)
        np.testing.assert_allclose(total, states[:count].sum(0), rtol=1e-12)
    rest = np.linalg.solve(np.eye(4) - matrix, constant)
    np.testing.assert_allclose(after(matrix, constant, start, 2**40)[0], rest, rtol=1e-10)


# ---- read off the methods' own hooks ----

METHODS = ("fedavg()", "fedinit(beta=0.07)", "fedinit(beta=0.07, reading='proof')", "scaffold()", "fedprox(mu=0.3)",
           "feddyn(alpha=0.4)", "fedcm(alpha=0.3)", "fedavgm(momentum=0.5)")  # fmt: skip


def four_clients(noise=0.4):
    draws = np.random.default_rng(9)
    curves = np.array([[[1.2, 0.2], [0.2, 0.7]], [[0.9, -0.1], [-0.1, 1.4]]])
    kind = [0, 1, 1, 1]
    return Quadratics(
        curves[kind], draws.standard_normal((2, 2))[kind], noise * curves[kind] / 3, start=np.array([1.1, -0.3])
    )


@cases("written", METHODS)
def test_groups_say_what_all_cohorts_say(written):
    curve = np.array([[[1.2, 0.2], [0.2, 0.7]]])
    alone = Quadratics(curve, np.array([[0.4, -0.9]]), 0.3 * curve, start=np.array([1.1, -0.3]))
    for problem, cohort in ((four_clients(), 2), (four_clients(), 4), (alone, 1)):
        setting = Setting(rounds=2, cohort=cohort, local_steps=2, step_size=0.11)
        one, two = (ENGINES[name](problem, algorithm(written), setting) for name in ("groups", "moments"))
        for mine, other in ((one.server, two.server), (one.rounds, two.rounds)):
            for word in set(mine) & set(other):
                np.testing.assert_allclose(mine[word], other[word], rtol=1e-8, atol=1e-13, err_msg=word)
        for word in ("grad_norm_sq", "distance_sq"):
            np.testing.assert_allclose(one.iterations(word), two.iterations(word), rtol=1e-8, err_msg=word)


def test_a_thousand_clients_of_whom_ten_take_part_are_followed_without_listing_a_cohort():
    kind = np.arange(1000) % 2
    curves, minima = np.array([[[1.2]], [[0.7]]]), np.array([[0.3], [-1.1]])
    problem = Quadratics(curves[kind], minima[kind], 0.5 * curves[kind], start=np.array([0.9]))
    setting = Setting(rounds=4, cohort=10, local_steps=2, step_size=0.1)
    run = ENGINES["groups"](problem, algorithm("fedavg()"), setting)
    ends = minima[:, 0] + (1 - 0.1 * curves[:, 0, 0]) ** 2 * (0.9 - minima[:, 0])
    apart = ends.var() * 1000 / 999 * (1 / 10 - 1 / 1000)
    noise = np.mean([0.01 * 0.5 * h * (1 + (1 - 0.1 * h) ** 2) for h in curves[:, 0, 0]]) / 10
    wanted = (ends.mean() - problem.minimiser[0]) ** 2 + apart + noise
    assert run.server["distance_sq"][1] == pytest.approx(wanted, rel=1e-9)


def test_draws_that_groups_cannot_follow_are_refused():
    with pytest.raises(EmpiricsError, match="with_replacement"):
        ENGINES["groups"](four_clients(), algorithm("fedavg()"), Setting(2, 2, sampling="with_replacement"))
    with pytest.raises(EmpiricsError, match=r"cohort .*6 > 5"):
        draw(Setting(1, 6), SIZES, SHARES)


# ---- training by the real loop, over many seeds ----

SEEDS, ERROR_RATE = 200, 1e-3
LAYERS = {"extractor": slice(0, 1), "head": slice(1, 2)}
UNEVEN = np.array([0.45, 0.2, 0.35])


def noisy(**options):
    return random_quadratics(61, 3, 2, noise=0.8, layers=LAYERS, **options)


def one_seed(quadratics, method, setting, seed):
    """Readings of one sampled run, by their plain definitions."""
    model, federation, engine = QuadraticModel(quadratics), QuadraticFederation(quadratics), Tracing()
    found = {name: [] for name in ("grad_norm_sq", "optimality_gap", "distance_sq", "divergence")}
    found |= {name: [] for name in ("global_step", "active_divergence", "local_drift")}
    last, before = np.tile(quadratics.start, (3, 1)), None
    for state in rounds(model, federation, method, setting, seed, engine):
        w = state.model.numpy()
        if before is not None:
            drawn, counts = draw_cohort(setting, federation, seed, state.round - 1)
            paths = engine.models
            last[np.arange(3) if method.everyone else drawn] = paths[:, -1]
            found["global_step"].append(((w - before) ** 2).sum())
            found["active_divergence"].append(counts @ ((last[drawn] - w) ** 2).sum(1) / counts.sum())
            if len(paths) == 3:
                found["local_drift"].append(((paths[:, :-1] - before) ** 2).sum((1, 2)).mean())
            engine.forget()
        found["grad_norm_sq"].append((quadratics.gradient(w) ** 2).sum())
        found["optimality_gap"].append(quadratics.loss(w) - quadratics.optimal_loss)
        found["distance_sq"].append(((w - quadratics.minimiser) ** 2).sum())
        found["divergence"].append(((last - w) ** 2).sum(1).mean())
        before = w.copy()
    return {name: np.array(values) for name, values in found.items()}


def sample(quadratics, written, setting):
    """Readings of all seeds: name -> (seeds, entries); the drift only where all clients train in every round."""
    runs = [one_seed(quadratics, algorithm(written), setting, seed) for seed in range(SEEDS)]
    kept = [name for name in runs[0] if len({len(run[name]) for run in runs}) == 1 and len(runs[0][name])]
    return {name: np.stack([run[name] for run in runs]) for name in kept}


def worst(sampled, trajectory):
    """The largest distance in standard errors, and the limit it should keep to."""
    away = []
    for name, values in sampled.items():
        exact = trajectory.server.get(name, trajectory.rounds.get(name))
        assert exact.shape == values.shape[1:], name
        error = values.std(0, ddof=1) / np.sqrt(len(values))
        certain = error <= 1e-12 * (1 + np.abs(exact))
        assert values.mean(0)[certain] == pytest.approx(exact[certain], rel=1e-10, abs=1e-14), name
        away += list(np.abs(values.mean(0) - exact)[~certain] / error[~certain])
    return max(away), stats.norm.isf(ERROR_RATE / 2 / len(away))


SAMPLED = {
    "fedavg, Case I, weighted": (
        "fedavg",
        {"cohort": 2, "sampling": "with_replacement", "client_weight": "samples"},
        {"weights": UNEVEN},
    ),
    "fedavg, Bernoulli, weighted": (
        "fedavg",
        {"cohort": 2, "sampling": "bernoulli", "client_weight": "samples"},
        {"weights": UNEVEN},
    ),
    "falling step size, momentum": ("fedprox(mu=0.7)", {"cohort": 2, "step_size_decay": 0.8, "momentum": 0.4}, {}),
    "falling local steps": ("scheduled(fedavg(), schedule='k_rounds')", {"cohort": 2, "local_steps": 4}, {}),
    "scaffold": ("scaffold", {"cohort": 2}, {}),
    "fedinit, stale models": ("fedinit(beta=0.3)", {"cohort": 2}, {}),
    "fedinit, proof": ("fedinit(beta=0.3, reading='proof')", {"cohort": 2}, {}),
    "fedals": ("fedals(alpha=2)", {"cohort": 2, "rounds": 3}, {}),
    "server momentum": ("fedavgm(momentum=0.5)", {"cohort": 2}, {}),
}


@pytest.mark.parametrize("case", SAMPLED)
def test_sampled_training_agrees_with_the_exact_moments(case):
    written, options, fields = SAMPLED[case]
    setting = Setting(**{"rounds": 2, "cohort": 3, "local_steps": 2, "step_size": 0.25, **options})
    quadratics = noisy(**fields)
    trajectory = ExactRun(quadratics, algorithm(written), setting).run()
    away, limit = worst(sample(quadratics, written, setting), trajectory)
    assert away < limit


def test_tracing_engine_trains_like_the_engine_of_the_models():
    quadratics, setting = noisy(), Setting(rounds=3, cohort=1, local_steps=3, step_size=0.25)
    model, federation = QuadraticModel(quadratics), QuadraticFederation(quadratics)
    for written in ("scaffold", "fedals(alpha=2)", "fedinit(beta=0.3, reading='proof')"):
        plain = rounds(model, federation, algorithm(written), setting, 5)
        traced = rounds(model, federation, algorithm(written), setting, 5, Tracing())
        assert all(torch.equal(one.model, other.model) for one, other in zip(plain, traced, strict=True))


def test_the_comparison_notices_a_wrong_number():
    """Exact moments of a step size 15 % smaller, and of a client more in the cohort, are told apart."""
    setting = Setting(rounds=3, cohort=2, local_steps=2, step_size=0.25)
    sampled = sample(noisy(), "fedavg", setting)
    for wrong in (
        Setting(rounds=3, cohort=2, local_steps=2, step_size=0.2125),
        Setting(rounds=3, cohort=3, local_steps=2, step_size=0.25),
    ):
        away, limit = worst(sampled, ExactRun(noisy(), algorithm("fedavg"), wrong).run())
        assert away > limit
