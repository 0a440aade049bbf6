"""Exact moments of plain averaged SGD without cohorts: against listed cohorts, listed passes, and simulation."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import Averaging, ExactRun, Passes
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting

SIZES = np.array([0.07, 0.31])
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
    found = runs.readings(3, SIZES, 4)
    for i, size in enumerate(SIZES):
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
    together = runs.readings(5, SIZES, 4)
    found = runs.readings(60, [0.2, 900.0], 40)["grad_norm_sq"][-1]
    assert np.isfinite(found).tolist() == [True, False]
    assert found[1] == np.inf
    monkeypatch.setattr("empirics.exact.averaging.AT_ONCE", 1)
    apart = runs.readings(5, SIZES, 4)
    assert all(apart[word] == pytest.approx(together[word], rel=1e-12) for word in WORDS)


def test_clients_that_weigh_differently_are_not_drawn_by_halves():
    for weights, cohort, named in (([0.2, 0.5, 0.3], 2, "2 of 3"), (None, 4, "cohort .*4")):
        with pytest.raises(EmpiricsError, match=named):
            Averaging(random_quadratics(3, clients=3, dim=2, weights=weights), cohort)


# ---- shuffled passes ----


def samples(rng, sizes, dim):
    """Gradients of single samples at the minimiser: around each client's, which sum to nothing over the clients."""
    return [rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim)) for n in sizes]


def of_samples(problem, drawn):
    """The federation whose single samples vary as these do."""
    away = [x - x.mean(0) for x in drawn]
    return replace(problem, noise=np.stack([x.T @ x / len(x) for x in away])), away


def test_a_round_of_shuffled_passes_equals_the_list_of_all_orders():
    rng = np.random.default_rng(5)
    sizes, batch, steps, eta = (3, 4), 3, 3, 0.23  # a client of one batch a pass, and one whose second batch is short
    problem, away = of_samples(random_quadratics(2, clients=2, dim=2), samples(rng, sizes, 2))
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
    problem, away = of_samples(random_quadratics(4, clients=4, dim=2), samples(rng, sizes, 2))
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
