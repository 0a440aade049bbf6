"""Losses, gaps and excess risk of a tiny federation against plain sums."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from loops import each
from measuring_toys import by_hand, logistic, mean_loss, PARTS, ridge, rows_of, series, SETTING, SHARES, TESTS

from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.fresh import Fresh
from empirics.measuring import Exactness, measurement, MEASUREMENTS, Run
from empirics.problems.tasks import task
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

PROBLEMS = pytest.mark.parametrize("make", [ridge, logistic])


def population_risk(problem, w, client):
    return sum(float(SHARES[client, j]) * mean_loss(problem, w, [j]) for j in range(6))


@PROBLEMS
def test_server_losses_and_gaps_equal_plain_sums(make):
    problem = make(population=True, client_weight="samples")
    setting = replace(SETTING, client_weight="samples")
    rows = rows_of(problem, ["train_loss", "generalization_gap", "excess_risk", "optimality_gap"], setting)
    server, _ = by_hand(problem, setting, 3)
    p = (2 / 5, 3 / 5)
    train = [sum(p[k] * mean_loss(problem, w, PARTS[k]) for k in (0, 1)) for w in server]
    risk = [sum(p[k] * population_risk(problem, w, k) for k in (0, 1)) for w in server]
    np.testing.assert_allclose(series(rows, "train_loss"), train, rtol=1e-7)
    np.testing.assert_allclose(series(rows, "generalization_gap"), np.subtract(risk, train), rtol=1e-6, atol=1e-9)
    least = min(
        sum(p[k] * mean_loss(problem, (a, b), PARTS[k]) for k in (0, 1))
        for a in np.linspace(-0.6, 0.6, 13)
        for b in np.linspace(-0.2, 1.2, 15)
    )
    gap = np.array(series(rows, "optimality_gap"))
    np.testing.assert_allclose(gap, np.array(train) - problem.optimal_loss, rtol=1e-6)
    assert 0 <= least - problem.optimal_loss < 1e-2
    np.testing.assert_allclose(
        series(rows, "excess_risk"), gap + np.array(series(rows, "generalization_gap")), rtol=1e-9
    )


@PROBLEMS
def test_local_measures_equal_plain_sums(make):
    problem = make(population=True)
    names = ["local_gap", "non_iidness", "local_suboptimality", "client_distance_sq"]
    rows = rows_of(problem, names)
    server, paths = by_hand(problem, SETTING, 3)
    for r in (1, 2, 3):
        for k in (0, 1):
            own = paths[r - 1][k][-1]
            train = mean_loss(problem, own, PARTS[k])
            expected = {
                "local_gap": population_risk(problem, own, k) - train,
                "non_iidness": mean_loss(problem, server[r], PARTS[k]) - train,
                "local_suboptimality": train - mean_loss(problem, problem.local_minimisers[k].numpy(), PARTS[k]),
                "client_distance_sq": ((own - server[r]) ** 2).sum(),
            }
            for name, value in expected.items():
                (found,) = series(rows, name, round=r, client=k)
                assert found == pytest.approx(value, rel=1e-6, abs=1e-9), name


def test_test_samples_stand_for_the_population_and_say_so():
    problem = logistic(tests=True)
    rows = rows_of(problem, ["test_loss", "test_accuracy", "generalization_gap", "local_accuracy_own", "local_gap"])
    server, paths = by_hand(problem, SETTING, 3)
    everything = np.concatenate(TESTS)
    np.testing.assert_allclose(
        series(rows, "test_loss"), [mean_loss(problem, w, everything) for w in server], rtol=1e-7
    )
    gap = [np.mean([mean_loss(problem, w, TESTS[k]) - mean_loss(problem, w, PARTS[k]) for k in (0, 1)]) for w in server]
    np.testing.assert_allclose(series(rows, "generalization_gap"), gap, rtol=1e-6, atol=1e-9)

    def right(w, samples):
        margins = [float(problem.federation.targets[j]) * float(problem.federation.inputs[j] @ w) for j in samples]
        return np.mean(np.array(margins) > 0)

    accuracy = [right(torch.from_numpy(w), everything) for w in server]
    np.testing.assert_allclose(series(rows, "test_accuracy"), accuracy)
    own = [right(torch.from_numpy(paths[2][k][-1]), TESTS[k]) for k in (0, 1)]
    np.testing.assert_allclose(series(rows, "local_accuracy_own", round=3), own)
    local = [paths[2][k][-1] for k in (0, 1)]
    gaps = [mean_loss(problem, w, TESTS[k]) - mean_loss(problem, w, PARTS[k]) for k, w in enumerate(local)]
    np.testing.assert_allclose(series(rows, "local_gap", round=3), gaps, rtol=1e-6)
    assert {r.exactness for r in rows} == {"sampled"}


@pytest.mark.parametrize("everyone", [False, True])
def test_participants_are_those_drawn_and_weigh_what_they_weigh_in_the_average(everyone):
    """Unbiased weights do not sum to 1, and an algorithm may train clients that are not drawn."""
    problem = ridge(population=True, client_weight="samples")
    setting = replace(SETTING, cohort=1, client_weight="samples", average="unbiased", rounds=6)
    method = replace(fedavg, everyone=everyone)
    measured = [measurement(name) for name in ("participation_gap", "out_of_sample_gap", "local_gap")]
    rows = Run(problem, method, setting, 3, measured, every=1).rows()
    states = list(rounds(problem.model, problem.federation, method, setting, 3))
    drawn = []
    for r, state in enumerate(states[1:], 1):
        (client,) = [row.client for row in rows if row.quantity == "local_gap" and row.round == r]
        drawn.append(client)
        w = state.model.numpy()
        risks = [population_risk(problem, w, k) for k in (0, 1)]
        assert series(rows, "participation_gap", round=r) == [
            pytest.approx(0.4 * risks[0] + 0.6 * risks[1] - risks[client], rel=1e-6)
        ]
        here = mean_loss(problem, w, PARTS[client])
        assert series(rows, "out_of_sample_gap", round=r) == [pytest.approx(risks[client] - here, rel=1e-6)]
    assert set(drawn) == {0, 1}


def test_gap_over_the_samples_of_each_round():
    """Fresh samples: equation (8) with Z of one round against plain sums, running mean over rounds."""
    problem = task("ridge(digits, regularisation=0.4)").pool("iid", clients=2, samples=13).drawn(seed=5)
    problem = replace(problem, federation=Fresh.from_(problem.federation, per_round=6))
    setting = Setting(rounds=2, cohort=2, batch=3, local_steps=2, step_size=0.05)
    rows = rows_of(problem, ["round_averaged_gap", "train_loss"], setting, every=1)
    states = list(rounds(problem.model, problem.federation, fedavg, setting, 3))
    gaps, seen = [], [set(), set()]
    for r, state in enumerate(states[1:]):
        used = problem.federation.draw(3, r, np.arange(2), np.array([2, 2]), 3).index.reshape(2, -1)
        risks = problem.population.risks(problem.model, state.model.unsqueeze(0))[0]
        here = []
        for k in (0, 1):
            places = used[k].tolist()
            assert len(set(places)) == len(places)
            x, y = problem.federation.inputs[places], problem.federation.targets[places]
            losses = problem.model.sample_losses(state.model.unsqueeze(0), x.unsqueeze(0), y.unsqueeze(0))
            here.append(float(risks[k] - losses.mean()))
            seen[k] |= set(places)
        gaps.append(np.mean(here))
    np.testing.assert_allclose(series(rows, "round_averaged_gap"), [gaps[0], np.mean(gaps)], rtol=1e-9)


def test_rounds_of_fresh_samples_are_disjoint_and_run_out():
    problem = ridge()
    fresh = Fresh.from_(problem.federation, per_round=1)
    both = [fresh.draw(7, r, np.array([0, 1]), np.array([1, 1]), 1).index.flatten().tolist() for r in (0, 1)]
    assert not set(both[0]) & set(both[1])
    for round_, steps, named in ((2, [1, 1], "round 3 .*3 samples of client 0.*2"), (0, [2, 2], "2 steps .*1 samples")):
        with pytest.raises(EmpiricsError, match=named):
            fresh.draw(7, round_, np.array([0, 1]), np.array(steps), 1)


def test_how_honest_a_number_is():
    for name, options, expected in (
        ("generalization_gap", {"population": True}, Exactness.EXACT),
        ("generalization_gap", {"tests": True}, Exactness.SAMPLED),
        ("excess_risk", {"tests": True}, Exactness.SAMPLED),
        ("excess_risk", {"population": True}, Exactness.EXACT),
        ("test_loss", {"tests": True}, Exactness.SAMPLED),
        ("train_loss", {}, Exactness.EXACT),
    ):
        assert measurement(name).exactness(ridge(**options), fedavg, SETTING) is expected


@each(MEASUREMENTS, lambda name: {"name": name})
def test_without_test_samples_it_is_refused_before_training_or_measured_to_the_end(name):
    try:
        made, said = rows_of(ridge(), [name]), "no need of test samples"
    except EmpiricsError as error:
        made, said = rows_of(ridge(tests=True), [name]), str(error)
    assert "test samples" in said
    assert len(made) > 2
