"""A natural federation and a network on real data, measured; what measuring costs."""

import numpy as np
import pytest
import torch

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.command import DEFAULT
from empirics.data.catalogue import digits
from empirics.federation.federate import federate
from empirics.federation.federation import Federation
from empirics.measuring import measurement, Run
from empirics.measuring.constants import constants, visited
from empirics.models.linear import Logistic, Softmax, with_intercept
from empirics.problems.problem import FederatedProblem
from empirics.training.setting import Setting

data = pytest.mark.data


def table(problem, method, setting, names, every):
    run = Run(problem, algorithm(method), setting, 1, [measurement(n) for n in names], every=every)
    found: dict[tuple, list[float]] = {}
    for row in run.rows():
        found.setdefault((row.quantity, row.client), []).append(row.value)
    return found


@data("heart_disease")
def test_four_hospitals():
    """L2-logistic regression with exact minimisers: FedAvg comes near the optimum of all and leaves those of each."""
    built = federate("heart_disease", "by_group()", local_test="held_out", standardise=True, intercept=True, seed=1)
    features = built.train.inputs.shape[1]
    problem = FederatedProblem.of(Logistic(features, 1, 0.1), built, client_weight="samples")
    assert problem.clients == 4
    setting = Setting(
        rounds=200, cohort=4, batch=16, local_steps=5, step_size=0.05, step_size_decay=0.985, client_weight="samples"
    )
    names = ["optimality_gap", "non_iidness", "local_suboptimality", "test_accuracy", "heterogeneity"]
    plain = table(problem, "fedavg()", setting, names, 200)
    gap = plain["optimality_gap", None]
    assert 0 < gap[-1] < gap[0] / 1000
    # The server model is nearly the global minimiser, so what it costs the clients adds up to nearly Gamma.
    excess = [plain["non_iidness", k][-1] + plain["local_suboptimality", k][-1] for k in range(4)]
    assert problem.weights.numpy() @ excess == pytest.approx(problem.heterogeneity + gap[-1], rel=1e-9)
    assert plain["heterogeneity", None][0] == problem.heterogeneity > 0.01
    assert plain["test_accuracy", None][-1] > 0.75
    found = constants(problem, 16, visited(problem, fedavg, setting, 1, most=5))
    assert found["smoothness"].value > max(problem.client_smoothness) > found["strong_convexity"].value == 0.1
    assert 0 < found["gradient_variance"].value < found["gradient_variance"].high < np.inf


class Counting(Softmax):
    """Counts the samples it evaluates and, threefold, those it differentiates on."""

    evaluated = 0
    trained = 0

    def evaluate(self, w, inputs, targets):
        type(self).evaluated += len(w) * inputs.shape[1]
        return super().evaluate(w, inputs, targets)

    def gradient(self, w, batch):
        type(self).trained += 3 * len(w) * batch[0].shape[1]
        return super().gradient(w, batch)


def test_measuring_takes_few_forward_passes_at_the_default_cadence():
    """Counted, not timed: seconds depend on who else uses the machine (see the benchmarks for them)."""
    data, order = digits(), np.random.default_rng(0).permutation(1797)
    inputs, targets = with_intercept(torch.tensor(data.inputs)), torch.tensor(data.labels)
    federation = Federation.of(inputs, targets, np.array_split(order[:1440], 20))
    test = Federation.of(inputs, targets, [order[1440:]])
    problem = FederatedProblem(Counting(65, 10, 1e-3), federation, test)
    setting = Setting(rounds=100, cohort=20, batch=32, local_steps=5, step_size=0.1)
    Run(problem, fedavg, setting, 1, [measurement(n) for n in DEFAULT]).rows()
    assert Counting.trained == 3 * 100 * 20 * 5 * 32
    assert 0 < Counting.evaluated < 0.05 * Counting.trained
