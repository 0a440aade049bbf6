"""The cells of sweeps: runs of a simulated time, runs that change their method, what they refuse."""

import math

import numpy as np
import pytest
from loops import cases

from empirics.algorithms import algorithm
from empirics.experiments.jobs.continued import continued
from empirics.experiments.jobs.generation import generation_seconds, images, round_seconds
from empirics.experiments.jobs.timed import timed, times
from empirics.experiments.jobs.train import train
from empirics.measuring import measurement, Run
from empirics.measuring.core import need_test
from empirics.problems.evaluation import every_model as evaluated
from empirics.problems.tasks import task
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

SENDING = 3.0 / 20 + 3.0 / 5
"""Seconds to move 3 megabit down and up."""
PLAN = {
    "problem": "softmax(held_out(digits))", "partition": "iid", "clients": 6, "cohort": 2, "seed": 1, "batch": 4,
    "step_size": 0.1, "local_steps": 8, "points": 5, "probe": 50, "minibatch_time": 0.25, "model_size": 3.0,
}  # fmt: skip
SECONDS = 7 * (SENDING + 8 * 0.25)


def _run(schedule, **changed):
    algorithm = f"scheduled(fedavg(), schedule='{schedule}', window=2, patience=2)"
    return timed(**{**PLAN, "seconds": SECONDS, "algorithm": algorithm, **changed})


def _values(outcome, quantity):
    columns = outcome.columns
    return [v for v, q in zip(columns["value"], columns["quantity"], strict=True) if q == quantity]


def test_fixed_steps_get_exactly_their_rounds_and_the_loss_falls_from_the_same_start():
    outcome = _run("k_eta_fixed")
    assert (outcome.facts["rounds"], outcome.facts["local_steps"], outcome.status) == (7, 56, "done")
    assert _values(outcome, "runtime") == pytest.approx([SECONDS * (j / 5) ** 2 for j in range(6)])
    at = [int(SECONDS * (j / 5) ** 2 / (SENDING + 2.0) + 1e-9) for j in range(6)]
    assert _values(outcome, "local_steps") == [8 * r for r in at]
    rows = zip(outcome.columns["round"], outcome.columns["quantity"], strict=True)
    assert [r for r, q in rows if q == "runtime"] == at
    losses = _values(outcome, "train_loss")
    assert losses[0] == _values(_run("dsgd"), "train_loss")[0] == pytest.approx(math.log(10), rel=0.05)
    assert losses[-1] < losses[0]
    assert _values(outcome, "test_accuracy")[-1] > 0.3
    assert times(16.0, 4) == [0.0, 1.0, 4.0, 9.0, 16.0]


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


@pytest.mark.parametrize("every", [1, 2])
def test_step_schedules_decay_when_validation_accuracy_stops_improving(every):
    dealt = task(PLAN["problem"]).deal("iid", 6, 1)
    plan = Setting(100, 2, batch=4, step_size=0.1, local_steps=8)
    states, tests = rounds(dealt.model, dealt.federation, algorithm("fedavg()"), plan, 1), need_test(dealt)
    right = [float(evaluated(dealt.model, s.model.unsqueeze(0), tests).right) for s in states][every::every]
    many = next(n for n in range(20, 99) if sum(right[n - 10 : n]) <= sum(right[n - 20 : n - 10]))
    seconds = 100 * (SENDING + 8 * 0.25)
    left = seconds - every * many * (SENDING + 8 * 0.25)
    for schedule, after in (("k_step", int(left / (SENDING + 0.25))), ("eta_step", 8 * (100 - every * many))):
        found = _run(schedule, seconds=seconds, validated=every)
        assert found.facts["local_steps"] == 8 * every * many + after


def test_the_probe_of_all_samples_is_the_training_loss():
    dealt = task(PLAN["problem"]).deal("iid", 6, 1, client_weight="samples")
    plan = Setting(7, 2, batch=4, step_size=0.1, local_steps=8, client_weight="samples")
    rows = Run(dealt, algorithm("fedavg()"), plan, 1, [measurement("train_loss")], 7).rows()
    found = _values(_run("k_eta_fixed", probe=None, client_weight="uniform"), "train_loss")
    assert found[0] == pytest.approx(rows[0].value, rel=1e-9)


def test_everyone_takes_part_where_no_cohort_is_given():
    plan = {"problem": "softmax(iris)", "clients": 4, "seed": 3, "rounds": 2, "algorithm": "fedavg"}
    plan["measure"] = ["train_loss"]
    assert train(**plan).columns == train(**plan, cohort=4).columns


TOY = {
    "problem": "softmax(held_out(iris))", "partition": "iid", "clients": 3, "seed": 4, "local_steps": 2, "batch": 5,
    "step_size": 0.1, "measure": ["test_accuracy"], "every": 1,
}  # fmt: skip


@cases("method", ("fedavg()", "scaffold()", "fedavgm(momentum=0.3)"))
def test_going_on_with_the_same_method_is_one_run(method):
    whole = train(algorithm=method, rounds=5, **TOY).columns
    parts = continued(first=method, after=2, algorithm=method, rounds=5, **TOY).columns
    assert parts["value"] == whole["value"]
    assert parts["round"] == whole["round"] == list(range(6))


def test_fedcog_goes_on_from_fedavg_and_leaves_the_beginning_as_it_was():
    options = {"problem": "femnist_dnn(held_out(iris), pixels=4, classes=3)", "momentum": 0.9}
    method = "fedcog(after=2, samples=6, steps=4, distillation=1.0)"
    whole = train(algorithm=method, rounds=4, **{**TOY, **options}).columns
    for _ in range(2):  # the second time from the kept beginning
        parts = continued(first="fedavg()", after=2, algorithm=method, rounds=4, **{**TOY, **options}).columns
        assert parts["value"] == whole["value"]


def test_local_models_are_looked_at_where_asked():
    looked = {"closely": ["client_distance_sq", "local_accuracy_own"], "closely_at": [3], "local_test": "matched"}
    told = continued(first="fedavg()", after=2, algorithm="finetuned(fedavg())", rounds=4, **TOY, **looked).columns
    at = [r for q, r in zip(told["quantity"], told["round"], strict=True) if q == "client_distance_sq"]
    assert at == [3, 3, 3]
    assert told["quantity"].count("local_accuracy_own") == 3


def test_a_run_that_diverges_says_after_which_round():
    outcome = _run("k_eta_fixed", problem="ridge(held_out(digits))", step_size=1e6, seconds=40 * SECONDS)
    assert (outcome.status, outcome.columns["quantity"][-1]) == ("diverged", "diverged")
    assert "local_steps" not in outcome.facts
    wild = {**TOY, "problem": "ridge(held_out(iris))", "measure": [], "first": "fedavg()", "algorithm": "fedavg()"}
    told = continued(after=1, rounds=30, **{**wild, "step_size": 1e3})
    assert told.status == "diverged"
    assert told.columns["round"][-1] > 1
    early = continued(after=9, rounds=12, **{**wild, "step_size": 1e30})
    assert early.status == "diverged"
    assert early.columns["round"][-1] <= 9


def test_images_and_times_of_generation():
    toy = {k: v for k, v in TOY.items() if k not in ("measure", "every", "problem")}
    net = {"problem": "femnist_dnn(held_out(digits))", "first": "fedavg()", "after": 1, **toy}
    made = images(steps=[0, 30], **net)
    assert made.columns["steps"] == [-1] * 10 + [0] * 10 + [30] * 10
    assert made.columns["label"] == list(range(10)) * 3
    moved = np.abs(np.subtract(made.columns["pixels"][10:20], made.columns["pixels"][20:]))
    assert 0.01 < moved.mean() < 0.31  # Adam steps of at most about 0.01
    times = round_seconds(algorithms={"a": "fedavg()", "b": "moon()"}, repeats=2, **net).columns
    assert (times["job"], times["repeat"]) == (["a", "b"] * 2, [1, 1, 2, 2])
    taken = generation_seconds(samples=[3, 9], steps=1, repeats=1, **net).columns
    assert taken["job"] == ["3", "9"]
    assert min(times["seconds"] + taken["seconds"]) > 0
