"""Curvature, noise and dissimilarity against dense Hessians, enumeration, search and planted errors."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from measuring_toys import INPUTS, logistic, PARTS, PENALTY, ridge, SETTING, slope
from refusals import all_refused
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.federation.federation import Federation
from empirics.measuring.constants import as_json, closed_forms, constants, path_of_run
from empirics.measuring.constants.curvature import eigenvalues, few_step_eigenvalues, hessian_product
from empirics.measuring.constants.noise import batch_variance, Gradients, gradients_along, offset_along, sample_noise
from empirics.models.linear import Logistic
from empirics.models.network import Network
from empirics.problems.problem import FederatedProblem

PATH = torch.tensor([[0.3, -0.8], [-1.1, 0.4], [0.6, 0.7]], dtype=torch.float64)


def network(width=4) -> FederatedProblem:
    """Two dense layers with so many hidden numbers."""
    net = Network(
        "net", lambda: nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 3)), dtype=torch.float64
    )
    return FederatedProblem(net, Federation.of(INPUTS, torch.tensor([0, 1, 2, 1, 0, 2]), PARTS), name="net")


def steepest_of(part):
    """The largest curvature of a client's least squares, penalty included."""
    x = INPUTS[part].numpy()
    return np.linalg.eigvalsh(x.T @ x / len(part))[-1] + PENALTY


def hessian(problem, w, client):
    """The dense Hessian of a client's loss, by autograd."""
    x, y = (part[None] for part in problem.samples.of(client))
    return torch.autograd.functional.hessian(lambda at: problem.model.task_loss(at[None], (x, y, None))[0], w)


def test_extreme_eigenvalues_of_a_network_equal_those_of_the_dense_hessian():
    """27 coordinates go the dense way, 75 through Lanczos, of which few steps stay inside of the spectrum."""
    for width in (4, 12):
        problem = network(width)
        w = problem.model.start(2) * 3
        product = hessian_product(problem.model, w, *problem.samples.of(1))
        found, values = eigenvalues(product, w), torch.linalg.eigvalsh(hessian(problem, w, 1))
        assert found.largest == pytest.approx(float(values[-1]), rel=1e-7)
        assert found.smallest == pytest.approx(float(values[0]), rel=1e-6)
        assert values[0] < -1e-3  # not convex here
        assert found.residual_largest < 1e-6
    few, many = (few_step_eigenvalues(product, w, steps) for steps in (3, 75))
    assert found.smallest < few.smallest < 0 < few.largest < found.largest
    assert few.residual_largest > 1e-3
    assert (many.smallest, many.largest) == pytest.approx((found.smallest, found.largest), rel=1e-7)
    assert many.residual_largest < 1e-7


def test_noise_of_single_samples_equals_the_plain_variance():
    for problem, path in ((ridge(), PATH), (logistic(), PATH), (network(), [network().model.start(5)])):
        targets = problem.federation.targets
        for w in path:
            found = sample_noise(problem, w)
            for client, part in enumerate(PARTS):
                each = [problem.model.gradient(w[None], (INPUTS[None, [j]], targets[None, [j]], None)) for j in part]
                stack = torch.cat(each)
                expected = float(((stack - stack.mean(0)) ** 2).sum(1).mean())
                assert found.variance[client] == pytest.approx(expected, rel=1e-9)
                assert found.error[client] == pytest.approx(0, abs=1e-12)


def test_batches_without_repetition_vary_as_enumeration_says():
    gradients = np.array([1.3, -0.4, 2.2, 0.1, -1.7])
    variance = np.array([gradients.var()])
    for batch, smallest in ((1, 1), (2, 1), (3, 2), (4, 1), (5, 5)):  # the last batch of a pass may be short
        means = [np.mean(chosen) for chosen in combinations(gradients, smallest)]
        found = batch_variance(variance, np.array([5]), batch)
        assert found[0] == pytest.approx(np.var(means), rel=1e-12, abs=1e-15)
    assert batch_variance(np.array([0.7]), np.array([1]), 1)[0] == 0


def test_gradients_along_a_path_and_the_smallest_offset():
    problem = ridge(client_weight="samples")
    found = gradients_along(problem, PATH)
    p = (2 / 5, 3 / 5)
    for i, w in enumerate(PATH.numpy()):
        slopes = [slope(problem, w, part) for part in PARTS]
        total = p[0] * slopes[0] + p[1] * slopes[1]
        assert found.mean_sq[i] == pytest.approx(sum(q * (g @ g) for q, g in zip(p, slopes, strict=True)), rel=1e-6)
        assert found.global_sq[i] == pytest.approx(total @ total, rel=1e-5, abs=1e-8)
        assert found.largest_sq[i] == pytest.approx(max(g @ g for g in slopes), rel=1e-6)
        assert found.distance_sq[i] == pytest.approx(max((g - total) @ (g - total) for g in slopes), rel=1e-5)
    seen = Gradients(np.array([2.0, 5.0, 3.3]), np.array([0.4, 3.1, 0.2]), *[np.full(3, 0.7)] * 2)
    candidates = np.linspace(0, 6, 60_001)
    for factor in (1.0, 1.4, 40.0):
        serves = [(seen.mean_sq <= c + factor * seen.global_sq).all() for c in candidates]
        assert offset_along(seen, factor) == pytest.approx(candidates[np.argmax(serves)], abs=2e-4)


def test_constants_of_ridge_are_closed_forms_and_hold_along_the_run():
    problem = ridge()
    steps = path_of_run(problem, fedavg, SETTING, 3)
    found = constants(problem, batch=1, path=steps)
    start = sum(slope(problem, np.zeros(2), part) for part in PARTS) / 2
    expected = {
        "smoothness": max(map(steepest_of, PARTS)),
        "sample_smoothness": max(float(x @ x) for x in INPUTS[:5]) + PENALTY,
        "strong_convexity": PENALTY,
        "initial_grad_norm_sq": start @ start,
        "heterogeneity": problem.heterogeneity,
        "initial_gap": problem.loss(torch.zeros(2).double()) - problem.optimal_loss,
        "initial_distance_sq": float(problem.minimiser @ problem.minimiser),
        "gradient_variance": max(sample_noise(problem, w).variance.max() for w in steps),
    }
    assert {name: found[name].value for name in expected} == pytest.approx(expected, rel=1e-8)
    grades = {"smoothness": "exact", "dissimilarity_offset": "exact", "gradient_variance": "lower"}
    assert {name: found[name].provenance for name in grades} == grades
    assert found["client_weight"].value == [0.5, 0.5]
    assert found["dissimilarity_offset"].certain
    assert "samples" not in found  # clients hold 2 and 3
    assert (found["gradient_variance"].low, found["gradient_variance"].high) == (
        found["gradient_variance"].value,
        math.inf,
    )


@pytest.mark.parametrize("step_size", [0.3, 2.0])
def test_closed_forms_hold_along_whole_runs_and_end_the_intervals(step_size):
    """Every sample's gradient, at every model that any client stands at; the estimates look at the start alone."""
    problem = logistic()
    found = constants(problem, batch=1)
    setting = replace(SETTING, rounds=30, batch=1, step_size=step_size)
    seen = path_of_run(problem, fedavg, setting, 4, most=31)
    largest = max(slope(problem, w.numpy(), [j]) @ slope(problem, w.numpy(), [j]) for w in seen for j in range(5))
    spread = max(sample_noise(problem, w).variance.max() for w in seen)
    along = gradients_along(problem, seen)
    offset = (along.mean_sq - along.global_sq).max()
    cap, noise = (found[n] for n in ("grad_cap_sq", "gradient_variance"))
    differ = constants(problem, batch=1, factor=1.0)["dissimilarity_offset"]
    assert cap.low < largest <= cap.value == cap.high
    assert noise.low < spread * (1 + 1e-9) <= noise.value == noise.high
    each = [max(sample_noise(problem, w).variance[k] for w in seen) for k in (0, 1)]
    assert found["sample_gradient_variance"].value == pytest.approx(
        [float((INPUTS[part] ** 2).sum(1).mean()) for part in PARTS], rel=1e-12
    )
    whole = constants(problem, batch=3)  # all samples of both clients
    assert whole["client_gradient_variance"].value == [0, 0]
    assert whole["sample_gradient_variance"].value == found["sample_gradient_variance"].value
    assert all(e <= c for e, c in zip(each, found["client_gradient_variance"].value, strict=True))
    assert max(found["client_gradient_variance"].value) == noise.value
    assert offset <= differ.value < math.inf
    assert {c.provenance for c in (cap, noise, differ)} == {"proved"}


def test_the_largest_gradient_is_known_of_plain_descent_with_small_steps_alone():
    problem = logistic()
    penalty = problem.model.regularisation
    assert {"grad_cap_sq", "gradient_variance"} <= set(closed_forms(problem, 1, fedavg, 0.9 / penalty))
    assert "grad_cap_sq" not in closed_forms(problem, 1, fedavg, 1.1 / penalty)
    held = as_json(closed_forms(problem, 1))["_up_to"]
    assert held == {"grad_cap_sq": {"relaxation": 0, "distillation_weight": 0, "step_size": pytest.approx(1 / penalty)}}
    assert "grad_cap_sq" not in closed_forms(problem, 1, algorithm("fedprox(mu=0.3)"), 0.9 / penalty)
    assert not set(closed_forms(ridge(), 1)) & {"grad_cap_sq", "gradient_variance"}  # slopes have no bound


def test_what_is_counted_or_follows_from_other_constants():
    found = constants(network(12), 2)
    assert (found["clients"].value, found["parameters"].value) == (2, 75)
    assert found["model_size"].value == pytest.approx(75 * 32 * 1e-6, rel=1e-12)  # in megabits
    even = replace(ridge(), federation=Federation.of(INPUTS, ridge().federation.targets, [[0, 1, 4], [2, 3, 5]]))
    found = constants(even, 2)
    at_zero = float((even.federation.targets[:6] ** 2).mean()) / 2
    assert (found["samples"].value, found["pl_constant"].value) == (3, PENALTY)
    assert found["condition_number"].value == pytest.approx(even.smoothness / PENALTY, rel=1e-12)
    assert found["initial_loss"].value == pytest.approx(at_zero, rel=1e-9)


def test_constants_of_a_network_are_lower_estimates():
    problem = network()
    path = torch.stack([problem.model.start(1), problem.model.start(2) * 2])
    found = constants(problem, 1, path)
    tops = [torch.linalg.eigvalsh(hessian(problem, w, client)).abs().max() for w in path for client in (0, 1)]
    steep = float(max(tops))
    assert found["smoothness"].value == pytest.approx(steep, rel=1e-9)
    assert found["smoothness"].high == math.inf
    assert "strong_convexity" not in found
    assert found["smoothness"].provenance == found["sample_smoothness"].provenance == "lower"
    assert (found["dissimilarity_factor"].value, found["dissimilarity_factor"].provenance) == (1, "chosen")
    quick = constants(problem, 1, path, quick=True)["smoothness"]
    x, y = (torch.cat(both) for both in zip(*(problem.samples.of(client) for client in (0, 1)), strict=True))
    together = max(abs(v) for w in path for v in eigenvalues(hessian_product(problem.model, w, x, y), w)[:2])
    assert quick.value == pytest.approx(together, rel=1e-2)
    assert quick.value <= together * (1 + 1e-12) < steep
    assert quick.high == math.inf
    losses = [problem.loss(w) for w in path]
    assert found["initial_loss"].value == losses[0]
    assert found["optimal_loss"].high == min(losses)
    assert found["optimal_loss"].low == 0
    assert found["initial_gap"].low == losses[0] - min(losses)


def test_mistakes_are_named():
    all_refused(
        [
            (lambda: constants(ridge(), 0), "batch 0"),
            (lambda: constants(ridge(), 1, factor=0.5), "B^2 0.5"),
            (lambda: constants(ridge(), 1, factor=1.0), "G^2 B^2 1"),
            (lambda: path_of_run(ridge(), fedavg, SETTING, 1, most=1), "2 1"),
        ]
    )


def test_equal_parabolas_need_no_more_than_the_dissimilarity_at_the_minimiser():
    """With L = mu the gradients differ by the same at every model."""
    x = torch.tensor([[1e-30, 2e-30], [3e-30, 1e-30], [2e-30, 5e-30]], dtype=torch.float64)
    y = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    alike = FederatedProblem(Logistic(2, 1, 0.4), Federation.of(x, y, [np.array([0]), np.array([1, 2])]))
    assert alike.smoothness == alike.strong_convexity == 0.4
    assert alike.dissimilarity_offset_for(1.0) == alike.optimum_dissimilarity
    assert alike.dissimilarity_offset_for(0.97) == np.inf
    assert alike.dissimilarity_offset == alike.optimum_dissimilarity
