"""What surely does not fit is refused before the work; progress is told from the first moment on."""

import math
import os

import pytest

import fedbounds
from empirics import command, sizes
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import ExactRun
from empirics.problems import tasks
from empirics.problems.quadratics import random_quadratics
from empirics.sizes import in_words, memory, refuse_beyond_memory
from empirics.training.setting import Setting

IRIS = ["--problem", "softmax(iris, regularisation=0.02)", "--clients", "3"]


@pytest.fixture
def small_machine(monkeypatch):
    """One with 2 GB, so that what is refused would not hurt here either."""
    monkeypatch.setattr(sizes, "memory", lambda: 2e9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--local-steps", "30000000"], "a round of 30000000 local steps needs 23 GB or more"),
        (["--local-epochs", "20000000"], "a round of 40000000 local steps needs 30.7 GB or more"),
        (["--algorithm", "ditto(local_steps=30000000)"], "a round of 30000000 local steps needs"),
        (["--seeds", "70000000"], "the table of 70000000 runs of 20 rounds needs"),
        (["--rounds", "1000000000", "--every", "3"], "the table of 1 runs of 1000000000 rounds needs 100 GB or more"),
    ],
)
def test_training_that_cannot_be_held_is_refused_with_an_estimate(small_machine, refused, words, said):
    error = refused("train", *IRIS, *words)
    assert said in error
    assert "this machine has 2 GB: take " in error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fedinit.lemma_2", *IRIS, "--rounds", "1000000000"], "measuring 5 runs of 1000000000 rounds needs 2.25 TB"),
        (["fedinit.lemma_2", *IRIS, "--seeds", "300000000"], "measuring 300000000 runs of 10 rounds needs 1.35 TB"),
        (["fedals.rounds_v1", *IRIS, "--local-steps", "3000000"], "drawing 960000000 samples for each of 3 clients"),
        (["fedinit.theorem_1", "--dim", "30000"], "quadratics of 4 clients with 30000 parameters needs 86.4 GB"),
        (["fedinit.theorem_1", "--rounds", "1000000000"], "following 1000000000 rounds needs 176 GB"),
        (["fedinit.theorem_1", "--instances", "1000000000"], "1000000000 instances needs 150 GB"),
        (["fedals.one_round", "--clients", "30000000"], "drawing 20 samples for each of 30000000 clients needs 4.8 GB"),
        (["fedals.one_round", "--samples", "70000000"], "drawing 70000000 samples for each of 50 clients needs 28 GB"),
        (["fedals.one_round", "--seeds", "70000000"], "70000000 draws for up to 50 clients needs 56 GB"),
    ],
)
def test_validation_that_cannot_be_held_is_refused_with_an_estimate(small_machine, refused, words, said):
    assert said in refused("validate", *words)


def test_exact_moments_of_too_many_clients_are_refused(small_machine):
    def run(clients, cohort, method):
        setting = Setting(2, cohort, local_steps=2, step_size=0.1)
        return ExactRun(random_quadratics(3, clients, 2), algorithm(method), setting).run()

    with pytest.raises(EmpiricsError, match=r"need all cohorts: 2,300 of them here, more than the limit of 2,000"):
        run(2300, 1, "fedavg()")
    with pytest.raises(EmpiricsError, match=r"need all cohorts: more than the limit of 2,000"):
        run(2300, 1150, "fedavg()")
    with pytest.raises(EmpiricsError, match=r"the covariance of 36002 numbers .* needs 10.4 GB"):
        run(9000, 9000, "relaxed(fedavg(), beta=0.1)")


def test_what_fits_is_not_refused(small_machine):
    refuse_beyond_memory(1.99e9, "this", "do less")
    with pytest.raises(EmpiricsError, match=r"^this needs 2.01 GB or more; this machine has 2 GB: do less$"):
        refuse_beyond_memory(2.01e9, "this", "do less")


def test_the_memory_of_this_machine_is_that_of_the_system(monkeypatch):
    assert memory() > 1e8
    if hasattr(os, "sysconf"):
        monkeypatch.delattr(os, "sysconf")
    assert memory() == math.inf


def test_sizes_in_words():
    assert [in_words(x) for x in (17, 1234, 5.67e7, 3.21e25)] == ["17 B", "1.23 kB", "56.7 MB", "3.21e+07 EB"]


@pytest.mark.parametrize("verb", ["train", "constants"])
def test_progress_is_told_before_the_data_are_read(verb, monkeypatch, capsys):
    heard = []

    class Ear:
        def start(self, total):
            heard.append(total)

        def doing(self, words):
            heard.append(words)

        def step(self):
            heard.append("step")

    class Told:
        def __enter__(self):
            return Ear()

        def __exit__(self, *_):
            heard.append("over")

    monkeypatch.setattr(command, "progress", Told)
    read = tasks.task
    monkeypatch.setattr(tasks, "task", lambda text: heard.append("read") or read(text))
    run = ["--rounds", "2", "--seeds", "2", "--measure", "train_loss"] if verb == "train" else []
    assert fedbounds.main([verb, *IRIS, "--batch", "10", *run]) == 0
    capsys.readouterr()
    assert heard[:2] == [f"reading {IRIS[1]}", "read"]
    assert heard[-1] == "over"
    if verb == "train":
        assert (heard[2], heard.count("step")) == (4, 4)
