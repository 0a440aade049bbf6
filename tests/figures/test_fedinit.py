"""FedInit's times: the first round that is good enough, and methods that take turns."""

import math

import numpy as np

from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures.fedinit import times


def test_the_first_round_at_which_the_running_mean_is_there():
    at, accuracy = np.array([0, 5, 10, 15, 20]), np.array([90.0, 10.0, 40.0, 30.0, 60.0])
    assert times.first_round_at(at, accuracy, 40.0, 1) == 10
    assert times.first_round_at(at, accuracy, 40.0, 2) == 20
    assert times.first_round_at(at, accuracy, 61.0, 1) == math.inf
    assert times.first_round_at(at, accuracy, 60.0 + 1e-12, 1) == 20


def test_rounds_of_all_methods_take_turns():
    plan = {"problem": "softmax(held_out(digits))", "seed": 0, "clients": 6, "cohort": 2, "local_steps": 1}
    timed = seconds(["fedavg()", "scaffold()"], 2, **plan)
    assert timed.columns["algorithm"] == ["fedavg()", "scaffold()"] * (2 * BLOCKS)
    assert timed.columns["block"] == [b for b in range(BLOCKS) for _ in range(4)]
    assert min(timed.columns["seconds"]) > 0
