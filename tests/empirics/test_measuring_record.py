"""Runs under observation: when rows come, what they say, what stops them, how they are kept."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from measuring_toys import logistic, PARTS, ridge, rows_of, SETTING

from bounds import vocabulary
from bounds.quantities import Quantity
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.measuring import default_every, measurement, MEASUREMENTS, read, Row, Run, write
from empirics.measuring.record import MOST_PATH, OVERHEAD, SHARE
from empirics.problems.problem import FederatedProblem
from empirics.training.setting import Setting


def test_measurements_are_words_of_the_vocabulary():
    for name in MEASUREMENTS:
        made = measurement(name)
        assert isinstance(made.quantity, Quantity)
        assert getattr(vocabulary, made.quantity.name) == made.quantity
        assert made.name.split("(")[0] == name


def test_every_exact_measurement_reads_a_finite_number():
    names = [n for n in MEASUREMENTS if n not in ("test_accuracy", "train_accuracy") and "accuracy" not in n]
    rows = rows_of(logistic(population=True, tests=True), [*names, "train_accuracy", "local_accuracy_common"])
    assert {measurement(n).quantity.name for n in names} <= {r.quantity for r in rows}
    assert all(np.isfinite(r.value) for r in rows)


def test_rows_say_where_they_come_from():
    problem = ridge()
    run = Run(problem, fedavg, SETTING, 7, [measurement("non_iidness")], every=2, experiment="first try")
    rows = run.rows()
    assert [(r.round, r.client) for r in rows] == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert {r[:3] for r in rows} == {("first try", "fedavg()", 7)}
    assert {(r.step, r.layer, r.quantity, r.honesty) for r in rows} == {(None, "", "non_iidness", "exact")}


def test_start_and_last_round_are_always_measured():
    rows = rows_of(ridge(), ["train_loss"], replace(SETTING, rounds=7), every=3)
    assert [r.round for r in rows] == [0, 3, 6, 7]


def test_the_table_keeps_every_digit(tmp_path):
    rows = rows_of(ridge(), ["local_drift", "non_iidness", "consensus_distance"])
    rows.append(Row("a, b", "fedavg()", 1, 2, None, None, "layer.0", "train_loss", float("nan"), "proxy"))
    again = read(write(rows, tmp_path / "rows.csv"))
    assert again[:-1] == rows[:-1]
    assert np.isnan(again[-1].value)
    assert again[-1]._replace(value=0) == rows[-1]._replace(value=0)


def test_weights_of_the_average_and_of_the_loss_must_agree():
    with pytest.raises(
        EmpiricsError, match="averages by client_weight='uniform', the global loss of tiny by 'samples'"
    ):
        Run(ridge(client_weight="samples"), fedavg, SETTING, 1, [])
    with pytest.raises(EmpiricsError, match="client_weight must be one of uniform, samples; got 'equal'"):
        ridge(client_weight="equal")
    with pytest.raises(EmpiricsError, match="every must be a whole number >= 1; got 0"):
        Run(ridge(), fedavg, SETTING, 1, [], every=0)


def test_paths_too_large_to_keep_are_refused():
    class Huge:
        dim, stacked = MOST_PATH, True

    problem = FederatedProblem(Huge(), ridge().federation, name="huge")
    with pytest.raises(EmpiricsError, match=r"after each of 2 local steps takes 68\.7 GB; leave out local_drift"):
        Run(problem, fedavg, SETTING, 1, [measurement("local_drift")], every=1).rows()


def test_the_default_cadence_counts_the_work():
    x = torch.zeros(4000, 2, dtype=torch.float64)
    federation = Federation.of(x, torch.zeros(4000, dtype=torch.float64), [np.arange(1000), np.arange(1000, 4000)])
    problem = replace(ridge(), federation=federation)
    setting = Setting(rounds=9, cohort=2, batch=50, local_steps=4)
    every = default_every(problem, setting, [measurement("train_loss"), measurement("grad_norm_sq")])
    trained, measured = 3 * 2 * 4 * 50, OVERHEAD + (1 + 2) * 4000
    assert (every - 1) * trained * SHARE < measured <= every * trained * SHARE
    epochs = replace(setting, local_epochs=2, cohort=1)
    assert default_every(problem, epochs, [measurement("train_loss")]) == -(-(OVERHEAD + 4000) // (3 * 4000 * SHARE))


def test_parts_must_fit_together():
    with pytest.raises(EmpiricsError, match="local_test must have the 2 clients of the federation; got 1"):
        FederatedProblem(ridge().model, ridge().federation, local_test=Federation.of(*_samples(), PARTS[:1]))


def _samples():
    federation = ridge().federation
    return federation.inputs, federation.targets
