"""Runs that change their method, and the cells that look at FedCOG's generation: against plain training."""

import numpy as np
import pytest

from empirics.experiments.jobs.continued import continued
from empirics.experiments.jobs.generation import generation_seconds, images, round_seconds
from empirics.experiments.jobs.train import train

TOY = {
    "problem": "softmax(held_out(iris))", "partition": "iid", "clients": 3, "seed": 4, "local_steps": 2, "batch": 5,
    "step_size": 0.1, "measure": ["test_accuracy"], "every": 1,
}  # fmt: skip


@pytest.mark.parametrize("method", ["fedavg()", "scaffold()", "fedavgm(momentum=0.3)"])
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
    wild = {**TOY, "problem": "ridge(held_out(iris))", "measure": [], "step_size": 1e30}
    told = continued(first="fedavg()", after=1, algorithm="fedavg()", rounds=30, **{**wild, "step_size": 1e3})
    assert told.status == "diverged"
    assert told.columns["round"][-1] > 1
    early = continued(first="fedavg()", after=9, algorithm="fedavg()", rounds=12, **wild)
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
