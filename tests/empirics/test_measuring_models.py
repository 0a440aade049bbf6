"""Gradients, distances and spread of a tiny federation against plain loops over clients and steps."""

from dataclasses import replace

import numpy as np
import pytest
from measuring_toys import by_hand, logistic, PARTS, ridge, rows_of, series, SETTING, slope

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.measuring import Exactness, measurement, Run
from empirics.training.setting import Setting

PROBLEMS = pytest.mark.parametrize("make", [ridge, logistic])


def steepness(problem, w):
    """``||grad F||^2`` by finite differences."""
    total = sum(p * slope(problem, w, PARTS[k]) for k, p in enumerate(problem.weights.tolist()))
    return float(total @ total)


@PROBLEMS
def test_gradient_norms_at_server_models_and_virtual_averages(make):
    problem = make()
    server, paths = by_hand(problem, SETTING, 3)
    rows = rows_of(problem, ["grad_norm_sq", "mean_grad_norm_sq", "virtual_grad_norm_sq"])
    found = series(rows, "grad_norm_sq", step=None)
    norms = [steepness(problem, w) for w in server]
    np.testing.assert_allclose(found, norms, rtol=1e-5)
    # Mean over the states before: the start counts, the present state does not.
    np.testing.assert_allclose(series(rows, "mean_grad_norm_sq"), [np.mean(norms[:r]) for r in (1, 2, 3)], rtol=1e-5)
    for r in (1, 2, 3):
        for step in (1, 2):
            (value,) = series(rows, "virtual_grad_norm_sq", round=r, step=step)
            assert value == pytest.approx(steepness(problem, paths[r - 1][:, step].mean(0)), rel=1e-5)


@PROBLEMS
def test_spread_and_moves(make):
    problem = make()
    server, paths = by_hand(problem, SETTING, 3)
    names = ["consensus_distance_steps", "divergence", "active_divergence", "local_drift", "global_step"]
    rows = rows_of(problem, [*names, "mean_divergence"])
    ends = [path[:, -1] for path in paths]
    divergence = [0.0, *(np.mean([((w - server[r]) ** 2).sum() for w in ends[r - 1]]) for r in (1, 2, 3))]
    np.testing.assert_allclose(series(rows, "divergence"), divergence, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(series(rows, "active_divergence"), divergence[1:], rtol=1e-6)
    np.testing.assert_allclose(
        series(rows, "mean_divergence"), [np.mean(divergence[:r]) for r in (1, 2, 3)], rtol=1e-6, atol=1e-15
    )
    drift = [np.mean([sum(((w - server[r]) ** 2).sum() for w in path[:-1]) for path in paths[r]]) for r in (0, 1, 2)]
    np.testing.assert_allclose(series(rows, "local_drift"), drift, rtol=1e-6)
    steps = [((server[r + 1] - server[r]) ** 2).sum() for r in (0, 1, 2)]
    np.testing.assert_allclose(series(rows, "global_step"), steps, rtol=1e-6)
    for r in (1, 2, 3):
        for step in (1, 2):
            at = paths[r - 1][:, step]
            value = np.mean(((at - at.mean(0)) ** 2).sum(1))
            assert series(rows, "consensus_distance", round=r, step=step, layer="") == [pytest.approx(value, rel=1e-6)]
            assert series(rows, "consensus_distance", round=r, step=step, layer="linear") == [pytest.approx(value)]


def test_partial_participation_keeps_last_models_and_calls_them_a_proxy():
    setting = replace(SETTING, cohort=1, rounds=5)
    problem = ridge()
    run = Run(problem, fedavg, setting, 4, [measurement(n) for n in ("divergence", "client_distance_sq")], every=1)
    last, expected = np.zeros((2, 2)), []
    for state, rows in run:
        for row in rows:
            if row.quantity == "client_distance_sq":
                assert row.value == pytest.approx(0, abs=1e-30)  # one participant: the average is its model
                last[row.client] = state.model.numpy()
        expected.append(np.mean(((last - state.model.numpy()) ** 2).sum(1)))
    rows = run.rows()
    np.testing.assert_allclose(series(rows, "divergence"), expected, rtol=1e-12)
    assert {r.exactness for r in rows if r.quantity == "divergence"} == {"proxy"}
    assert measurement("divergence").exactness(problem, fedavg, SETTING) is Exactness.EXACT
    proof = algorithm("fedinit(beta=0.1, reading='proof')")  # everyone trains, whoever is drawn
    assert measurement("divergence").exactness(problem, proof, setting) is Exactness.EXACT


def test_listening_changes_no_number_whatever_the_steps():
    """Local epochs on clients of unlike size: rows of a chunk stop at different steps."""
    problem = ridge()
    setting = Setting(rounds=4, cohort=2, batch=1, local_epochs=2, step_size=0.07)
    quiet = Run(problem, fedavg, setting, 9, [measurement("train_loss")], every=1)
    heard = Run(problem, fedavg, setting, 9, [measurement(n) for n in ("train_loss", "local_drift")], every=1)
    assert series(quiet.rows(), "train_loss") == series(heard.rows(), "train_loss")
    rows = rows_of(problem, ["virtual_grad_norm_sq", "consensus_distance_steps", "consensus_distance"], setting, seed=9)
    assert sorted({r.step for r in rows if r.round == 2 and r.step}) == [1, 2, 3, 4, 5, 6]
    for r in (1, 2, 3, 4):  # after the last step the path is at the ends
        (at_end,) = series(rows, "consensus_distance", round=r, step=None, layer="")
        assert series(rows, "consensus_distance_steps", round=r, step=6, layer="") == [at_end]


def test_a_path_is_kept_only_for_rounds_that_are_measured():
    problem = ridge()
    sparse = rows_of(problem, ["local_drift"], replace(SETTING, rounds=5), every=2)
    dense = rows_of(problem, ["local_drift"], replace(SETTING, rounds=5), every=1)
    assert [r.round for r in sparse] == [2, 4, 5]
    assert [r for r in dense if r.round in (2, 4, 5)] == sparse
