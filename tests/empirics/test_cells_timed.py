"""Runs that last a given simulated time, and seconds per step: eq. (5) in plain numbers beside what they do."""

import math

import numpy as np
import pytest

from empirics.errors import EmpiricsError
from empirics.experiments.jobs.step_times import step_times
from empirics.experiments.jobs.timed import timed, times

SENDING = 3.0 / 20 + 3.0 / 5
"""Seconds to move 3 megabit down and up."""
PLAN = {
    "problem": "softmax(held_out(digits))",
    "points": 5,
    "minibatch_time": 0.25,
    "model_size": 3.0,
    "seed": 1,
    "partition": "iid",
    "clients": 6,
    "cohort": 2,
    "batch": 4,
    "step_size": 0.1,
    "local_steps": 8,
    "probe": 50,
}
SECONDS = 7 * (SENDING + 8 * 0.25)


def _run(schedule, **changed):
    algorithm = f"scheduled(fedavg(), schedule='{schedule}', window=2, patience=2)"
    return timed(**{**PLAN, "seconds": SECONDS, "algorithm": algorithm, **changed})


def _values(outcome, quantity):
    columns = outcome.columns
    return [v for v, q in zip(columns["value"], columns["quantity"], strict=True) if q == quantity]


def test_fixed_steps_get_exactly_their_rounds():
    outcome = _run("k_eta_fixed")
    assert (outcome.facts["rounds"], outcome.facts["local_steps"], outcome.status) == (7, 56, "done")
    assert _values(outcome, "runtime") == pytest.approx([SECONDS * (j / 5) ** 2 for j in range(6)])
    at = [int(SECONDS * (j / 5) ** 2 / (SENDING + 2.0) + 1e-9) for j in range(6)]
    assert _values(outcome, "local_steps") == [8 * r for r in at]
    assert [
        r for r, q in zip(outcome.columns["round"], outcome.columns["quantity"], strict=True) if q == "runtime"
    ] == at


@pytest.mark.parametrize("schedule", ["dsgd", "k_rounds"])
def test_shorter_rounds_leave_time_for_more_of_them(schedule):
    spent, rounds, steps = 0.0, 0, 0
    while True:
        k = 1 if schedule == "dsgd" else math.ceil(8 / (rounds + 1) ** (1 / 3) - 1e-9)
        if spent + SENDING + 0.25 * k > SECONDS:
            break
        spent, rounds, steps = spent + SENDING + 0.25 * k, rounds + 1, steps + k
    outcome = _run(schedule)
    assert (outcome.facts["rounds"], outcome.facts["local_steps"]) == (rounds, steps)
    assert rounds > 7


def test_the_start_is_the_same_and_the_loss_falls():
    fixed, single = _run("k_eta_fixed"), _run("dsgd")
    losses = _values(fixed, "train_loss")
    assert losses[0] == _values(single, "train_loss")[0] == pytest.approx(math.log(10), rel=0.05)
    assert losses[-1] < losses[0]
    assert _values(fixed, "test_accuracy")[-1] > 0.3


def test_the_probe_of_all_samples_is_the_training_loss():
    from empirics.algorithms import algorithm
    from empirics.measuring import measurement, Run
    from empirics.problems.tasks import task
    from empirics.training.setting import Setting

    dealt = task(PLAN["problem"]).deal("iid", 6, 1, client_weight="samples")
    plan = Setting(7, 2, batch=4, step_size=0.1, local_steps=8, client_weight="samples")
    rows = Run(dealt, algorithm("fedavg()"), plan, 1, [measurement("train_loss")], 7).rows()
    found = _values(_run("k_eta_fixed", probe=None, client_weight="uniform"), "train_loss")
    assert found[0] == pytest.approx(rows[0].value, rel=1e-9)


def test_a_run_that_diverges_says_so():
    outcome = _run("k_eta_fixed", problem="ridge(held_out(digits))", step_size=1e6, seconds=40 * SECONDS)
    assert outcome.status == "diverged"
    assert outcome.columns["quantity"][-1] == "diverged"
    assert "local_steps" not in outcome.facts


def test_own_tests_stand_in_for_a_common_one_and_nothing_for_none():
    assert _values(_run("dsgd", problem="softmax(digits)", local_test="held_out"), "test_accuracy")
    with pytest.raises(EmpiricsError, match="no test samples"):
        _run("dsgd", problem="softmax(digits)")


def test_too_little_time_is_refused():
    with pytest.raises(EmpiricsError, match=r"a round, 1 s; got 0\.5"):
        _run("dsgd", seconds=0.5)


def test_times_are_closer_at_first():
    assert times(16.0, 4) == [0.0, 1.0, 4.0, 9.0, 16.0]


def test_seconds_per_step_of_every_network():
    networks = [
        {"network": "sent140_linear(words=20)", "batch": 3},
        {"network": "shakespeare_gru(classes=5, width=4, length=6)", "batch": 2, "tokens": 5},
    ]
    outcome = step_times(networks, repeats=3, seed=2)
    assert outcome.columns["network"] == [n["network"] for n in networks]
    assert np.all(np.array(outcome.columns["seconds"]) > 0)
    assert outcome.facts["parameters"][0] == 42
