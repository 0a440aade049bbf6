"""Paired runs on data that differ in one sample, against two runs in plain loops."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from measuring_toys import by_hand, INPUTS, logistic, loss, ridge, SETTING, SHARES

from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.measuring import paired, Swap, swaps
from empirics.models.compiled import compiled
from empirics.problems.tasks import task
from empirics.training.setting import Setting

NEW = torch.tensor([-0.7, 0.45], dtype=torch.float64)


@pytest.mark.parametrize("make", [ridge, logistic])
def test_pairs_equal_two_runs_in_plain_loops(make):
    problem = make(population=True)
    target = torch.tensor(1.0, dtype=torch.float64)
    found = paired(problem, fedavg, SETTING, 3, [Swap(1, 2, NEW, target)])
    twin = make(population=True)
    x, y = INPUTS.clone(), problem.federation.targets.clone()
    x[4], y[4] = NEW, target  # the third sample of client 1
    twin = replace(twin, federation=Federation.of(x, y, [np.array([0, 1]), np.array([2, 3, 4])]))
    servers, paths = by_hand(problem, SETTING, 3)
    other_servers, other_paths = _by_hand_with(twin, x, y)
    for r in (0, 1, 2):
        apart = np.mean([np.linalg.norm(a[-1] - b[-1]) for a, b in zip(paths[r], other_paths[r], strict=True)])
        assert found.separation[r] == pytest.approx(apart, rel=1e-5)
        changes = [abs(loss(problem, servers[r + 1], j) - loss(problem, other_servers[r + 1], j)) for j in range(6)]
        np.testing.assert_allclose(found.changes[0, r], changes, rtol=1e-5, atol=1e-10)
        assert found.stability[r] == pytest.approx(max(changes), rel=1e-5)
    assert found.separation[-1] > 0


def _by_hand_with(twin, x, y):
    """The plain loops on changed data: they read the module's inputs, so these are changed for the while."""
    before = INPUTS.clone()
    INPUTS.copy_(x)
    try:
        return by_hand(twin, SETTING, 3)
    finally:
        INPUTS.copy_(before)


def test_the_same_sample_again_changes_nothing():
    problem = ridge(population=True)
    same = Swap(0, 1, INPUTS[1], problem.federation.targets[1])
    found = paired(problem, fedavg, SETTING, 3, [same])
    assert found.separations.max() == 0
    assert found.changes.max() == 0


def test_paired_runs_of_a_compiled_network_agree_with_those_on_torch():
    problem = task("femnist_dnn(digits, pixels=64, classes=10)").deal("iid", 3, 4, local_test="held_out")
    setting = Setting(rounds=2, cohort=3, batch=32, local_epochs=1, step_size=0.1)
    ours = replace(problem, model=compiled(problem.model))
    pairs = [paired(made, fedavg, setting, 3, swaps(made, seed=8, pairs=2)) for made in (problem, ours)]
    theirs, found = (np.concatenate([p.separations.ravel(), p.stability]) for p in pairs)
    np.testing.assert_allclose(found, theirs, rtol=1e-2)
    assert (found != theirs).any()


def test_stability_is_the_largest_mean_change():
    problem = ridge(population=True)
    several = swaps(problem, seed=8, pairs=4)
    together = paired(problem, fedavg, SETTING, 3, several)
    singly = np.stack([paired(problem, fedavg, SETTING, 3, [swap]).changes[0] for swap in several])
    np.testing.assert_allclose(together.stability, singly.mean(0).max(-1))
    assert (together.stability <= singly.max((0, 2))).all()


def test_swaps_follow_the_clients_distribution():
    problem = ridge(population=True)
    drawn = swaps(problem, seed=2, pairs=4000)
    for client in (0, 1):
        new = [s.inputs for s in drawn if s.client == client]
        counts = np.array([sum(torch.equal(x, INPUTS[j]) for x in new) for j in range(6)])
        expected = SHARES[client].numpy() * len(new)
        assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
        assert {s.place for s in drawn if s.client == client} == set(range(2 + client))


def test_own_test_samples_serve_where_there_is_no_population():
    drawn = swaps(ridge(tests=True), seed=2, pairs=50)
    for swap in drawn:
        allowed = {0: (5, 0), 1: (1, 5, 2)}[swap.client]
        assert any(torch.equal(swap.inputs, INPUTS[j]) for j in allowed)
    found = paired(ridge(tests=True), fedavg, SETTING, 3, drawn[:2])
    assert found.changes.shape == (2, 3, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: swaps(ridge(), 1, 2), "needs a population or test samples of every client"),
        (lambda: swaps(ridge(population=True), 1, 0), "pairs must be >= 1; got 0"),
        (lambda: paired(ridge(population=True), fedavg, SETTING, 3, []), "needs at least one swapped sample"),
        (
            lambda: paired(ridge(population=True), fedavg, SETTING, 3, [Swap(0, 2, NEW, torch.tensor(0.3))]),
            "client 0 has samples 0 to 1; got 2",
        ),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(EmpiricsError, match=message):
        call()
