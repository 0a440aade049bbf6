"""Paired runs on data that differ in one sample, against two runs in plain loops."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from measuring_toys import by_hand, INPUTS, logistic, mean_loss, ridge, SETTING, SHARES

from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.measuring import measurement, of_pairs, paired, Run, Swap, swaps
from empirics.measuring.stability import every_client, PAIRS
from empirics.models.compiled import compiled
from empirics.problems.tasks import task
from empirics.training.setting import Setting

NEW = torch.tensor([[-0.7, 0.45], [1.2, -0.85]], dtype=torch.float64)
TARGETS = torch.tensor([1.0, -1.0], dtype=torch.float64)


@pytest.mark.parametrize("make", [ridge, logistic])
@pytest.mark.parametrize("places", [[2], [2, 0]])
def test_pairs_equal_two_runs_in_plain_loops(make, places):
    problem, new, targets = make(population=True), NEW[: len(places)], TARGETS[: len(places)]
    found = paired(problem, fedavg, SETTING, 3, [Swap(1, np.array(places), new, targets)])
    twin = make(population=True)
    x, y = INPUTS.clone(), problem.federation.targets.clone()
    for place, row, target in zip(places, new, targets, strict=True):
        x[2 + place], y[2 + place] = row, target  # client 1 holds samples 2 to 4
    twin = replace(twin, federation=Federation.of(x, y, [np.array([0, 1]), np.array([2, 3, 4])]))
    servers, paths = by_hand(problem, SETTING, 3)
    with _inputs(x):
        other_servers, other_paths = by_hand(twin, SETTING, 3)
    after = [2 + place for place in places]
    for r in (0, 1, 2):
        apart = np.mean([np.linalg.norm(a[-1] - b[-1]) for a, b in zip(paths[r], other_paths[r], strict=True)])
        assert found.separations[0, r] == pytest.approx(apart, rel=1e-5)
        with _inputs(x):
            before, now = (mean_loss(twin, models[r + 1], after) for models in (servers, other_servers))
        assert found.changes[0, r] == pytest.approx(before - now, rel=1e-4)
    assert found.separations[0, -1] > 0


@contextmanager
def _inputs(changed):
    """The plain loops read the module's inputs, so these are changed for the while."""
    before = INPUTS.clone()
    INPUTS.copy_(changed)
    try:
        yield
    finally:
        INPUTS.copy_(before)


def test_the_same_sample_again_changes_nothing():
    problem = ridge(population=True)
    same = Swap(0, np.array([1]), INPUTS[1:2], problem.federation.targets[1:2])
    found = paired(problem, fedavg, SETTING, 3, [same])
    assert found.separations.max() == 0
    assert np.abs(found.changes).max() == 0


def test_paired_runs_of_a_compiled_network_agree_with_those_on_torch():
    problem = task("femnist_dnn(digits, pixels=64, classes=10)").deal("iid", 3, 4, local_test="held_out")
    setting = Setting(rounds=2, cohort=3, batch=32, local_epochs=1, step_size=0.1)
    ours = replace(problem, model=compiled(problem.model))
    pairs = [paired(made, fedavg, setting, 3, swaps(made, seed=8, pairs=2)) for made in (problem, ours)]
    theirs, found = (np.concatenate([p.separations.ravel(), np.abs(p.changes).mean(0)]) for p in pairs)
    np.testing.assert_allclose(found, theirs, rtol=1e-2)
    assert (found != theirs).any()


def test_the_mean_change_of_a_new_sample_is_the_expected_generalization_gap():
    """Bousquet and Elisseeff: for any learning map, over the draws of data sets, replaced samples and their places."""
    problem = task("softmax(iris, regularisation=0.02)").pool("iid", 3, 7)
    setting = Setting(rounds=2, cohort=2, batch=3, local_steps=4, step_size=0.2)
    rows = []
    for seed in range(60):
        drawn = problem.drawn(seed)
        gap = Run(drawn, fedavg, setting, seed, [measurement("generalization_gap")], every=2).rows()[-1].value
        one = paired(drawn, fedavg, setting, seed, swaps(drawn, seed, 8)).changes[:, -1].mean()
        whole = paired(drawn, fedavg, setting, seed, every_client(drawn, seed)).changes[:, -1].mean()
        rows.append((gap, one - gap, whole - gap))
    mean, error = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
    assert mean[0] > 4 * error[0]
    assert (np.abs(mean[1:]) < 3 * error[1:]).all()
    assert (mean[0] > 4 * error[1:]).all()  # so that nothing else would have passed


def test_rows_of_a_run_are_means_over_its_pairs_and_clients():
    problem = ridge(population=True)
    rows = of_pairs(problem, fedavg, SETTING, 3, ["swap_gap", "stability"])
    several = swaps(problem, 3, PAIRS)
    singly = np.stack([paired(problem, fedavg, SETTING, 3, [swap]).changes[0] for swap in several])
    assert [row.value for row in rows if row.quantity == "stability"] == pytest.approx(np.abs(singly).mean(0))
    assert (np.abs(singly).mean(0) > np.abs(singly.mean(0))).any()
    clients = paired(problem, fedavg, SETTING, 3, every_client(problem, 3)).changes
    found = {(row.client, row.round): row.value for row in rows if row.quantity == "swap_gap"}
    assert found == {(k, r + 1): pytest.approx(clients[k, r]) for k in (0, 1) for r in range(3)}
    assert {row.quantity for row in rows} == {"swap_gap", "stability", "separation"}


def test_swaps_follow_the_clients_distribution():
    problem = ridge(population=True)
    drawn = swaps(problem, seed=2, pairs=4000)
    for client in (0, 1):
        new = [s.inputs[0] for s in drawn if s.client == client]
        counts = np.array([sum(torch.equal(x, INPUTS[j]) for x in new) for j in range(6)])
        expected = SHARES[client].numpy() * len(new)
        assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
        assert {int(s.places[0]) for s in drawn if s.client == client} == set(range(2 + client))


def test_own_test_samples_serve_where_there_is_no_population():
    drawn = swaps(ridge(tests=True), seed=2, pairs=50)
    for swap in drawn:
        allowed = {0: (5, 0), 1: (1, 5, 2)}[swap.client]
        assert any(torch.equal(swap.inputs[0], INPUTS[j]) for j in allowed)
    found = paired(ridge(tests=True), fedavg, SETTING, 3, drawn[:2])
    assert found.changes.shape == (2, 3)


def test_mistakes_are_named():
    with pytest.raises(EmpiricsError, match="population or test samples"):
        swaps(ridge(), 1, 2)
    with pytest.raises(EmpiricsError, match=r"client 0 .*0 to 1.*\[2\]"):
        paired(ridge(population=True), fedavg, SETTING, 3, [Swap(0, np.array([2]), NEW[:1], TARGETS[:1])])
