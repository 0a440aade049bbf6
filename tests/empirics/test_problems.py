"""Constants, exact minimisers and population risks of the four linear losses on a pool."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from empirics.data.catalogue import Dataset, digits
from empirics.errors import EmpiricsError, NotConvergedError
from empirics.federation.partitions import Iid, LabelSkew
from empirics.models.linear import LeastSquares, Linear
from empirics.problems import FAMILIES, Family, LogisticRegression, PoolProblem, Ridge, Softmax, SupportVectorMachine

MANY = (Ridge(0.37), Softmax(0.23))
TWO = (LogisticRegression(0.31), SupportVectorMachine(0.29))
ALL = (*MANY, *TWO)


def small_pool(family: Family, points: int = 11, features: int = 4) -> Dataset:
    classes = 2 if family in TWO else 3
    rng = np.random.default_rng(8)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, points - classes)])
    return Dataset("random", rng.normal(size=(points, features)), labels, classes)


def problem_of(family: Family, partition=None, clients: int = 4, samples: int = 6) -> PoolProblem:
    return PoolProblem(family, small_pool(family), partition or Iid(), clients, samples)


def plain_fit(family: Family, scores: list[float], label: int) -> float:
    """The loss of one sample without penalty, written out."""
    sign = 2 * label - 1
    match family.word:
        case "ridge":
            return sum((s - (c == label)) ** 2 for c, s in enumerate(scores)) / 2
        case "softmax":
            return math.log(sum(math.exp(s) for s in scores)) - scores[label]
        case "logistic":
            return math.log(1 + math.exp(-sign * scores[0]))
        case _:
            return max(0.0, 1 - sign * scores[0]) ** 2 / 2


def plain_loss(family: Family, theta: np.ndarray, x: np.ndarray, label: int) -> float:
    """The loss of one sample; theta has one row per output."""
    scores = [sum(t * v for t, v in zip(row, x, strict=True)) for row in theta]
    return plain_fit(family, scores, label) + family.regularization / 2 * sum(t**2 for t in theta.ravel())


def with_bias(data: Dataset) -> np.ndarray:
    return np.c_[data.inputs, np.ones(len(data))]


def hessian_in_outputs(model: Linear, scores: np.ndarray, target: torch.Tensor) -> np.ndarray:
    output = torch.as_tensor(scores, dtype=torch.float64).reshape(1, -1, 1)
    product = model.bend(output.clone(), target.reshape(1, 1))
    units = torch.eye(len(scores), dtype=torch.float64)
    return np.stack([product(unit.reshape(1, -1, 1)).numpy().ravel() for unit in units])


@pytest.mark.parametrize("family", ALL, ids=str)
def test_losses_on_a_shared_pool_equal_plain_sums(family):
    problem = problem_of(family, LabelSkew(0.4), clients=7)
    models = torch.from_numpy(np.random.default_rng(1).normal(size=(7, problem.model.dim)))
    x, y = with_bias(problem.data), problem.data.labels
    by_hand = [[plain_loss(family, m.reshape(-1, 5), x[j], y[j]) for j in range(11)] for m in models.numpy()]
    np.testing.assert_allclose(problem.losses(models), by_hand, rtol=1e-12)
    for rows in (1, 3, 7):  # shared by several models or held by each: the same
        own = problem.inputs.expand(rows, -1, -1).contiguous(), problem.targets.expand(rows, -1).contiguous()
        np.testing.assert_allclose(problem.model.sample_losses(models[:rows], *own), by_hand[:rows], rtol=1e-12)


@pytest.mark.parametrize("family", ALL, ids=str)
def test_derivatives_equal_finite_differences(family):
    problem = problem_of(family)
    model, rng = problem.model, np.random.default_rng(3)
    w, step = (torch.from_numpy(rng.normal(size=(2, model.dim))) for _ in range(2))
    weight = torch.from_numpy(rng.dirichlet(np.ones(11), 2))
    for batch in (
        (problem.inputs, problem.targets, weight),
        (problem.inputs.expand(2, -1, -1), problem.targets.expand(2, -1), None),
    ):
        up, down = w + 1e-6 * step, w - 1e-6 * step
        rise = (model.task_loss(up, batch) - model.task_loss(down, batch)) / 2e-6
        np.testing.assert_allclose((model.gradient(w, batch) * step).sum(1), rise, rtol=1e-7)
        turn = (model.gradient(up, batch) - model.gradient(down, batch)) / 2e-6
        np.testing.assert_allclose(model.hessian(w, batch)(step), turn, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("family", ALL, ids=str)
def test_evaluation_counts_what_is_right(family):
    problem = problem_of(family)
    models = torch.from_numpy(np.random.default_rng(5).normal(size=(3, problem.model.dim)))
    _, correct = problem.model.evaluate(models, problem.inputs, problem.targets)
    x, y = with_bias(problem.data), problem.data.labels
    for m, right in zip(models.numpy(), correct, strict=True):
        scores = x @ m.reshape(-1, 5).T
        guess = (scores[:, 0] > 0).astype(int) if family in TWO else scores.argmax(1)
        np.testing.assert_array_equal(right, guess == y)
    assert 0 < correct.sum() < correct.numel()


def test_regression_without_classes_has_no_accuracy():
    model = LeastSquares(2, 1, 0.3)
    x, y = torch.tensor([[[0.3, -1.2], [0.8, 0.1]]], dtype=torch.float64), torch.tensor([[0.7, -0.4]])
    assert model.evaluate(torch.tensor([[0.2, 0.9]], dtype=torch.float64), x, y)[1].isnan().all()


@pytest.mark.parametrize("family", ALL, ids=str)
def test_local_minimisers_equal_those_of_a_general_optimiser(family):
    problem = problem_of(family)
    drawn = problem.draw(3)
    found = problem.local_minimisers(drawn).numpy()
    x, y = with_bias(problem.data), problem.data.labels
    for k in range(4):

        def risk(theta, k=k):
            return np.mean([plain_loss(family, theta.reshape(-1, 5), x[j], y[j]) for j in drawn[k]])

        independent = minimize(risk, np.zeros(problem.model.dim), method="BFGS", options={"gtol": 1e-6}).x
        np.testing.assert_allclose(found[k], independent, atol=2e-5)
        assert risk(found[k]) <= risk(independent) + 1e-12


@pytest.mark.parametrize("family", MANY, ids=str)
@pytest.mark.parametrize("samples", [3, 40])
def test_gradient_at_the_local_minimisers_vanishes(family, samples):
    """Fewer samples than features, and more: the dual and the primal solve of ridge."""
    problem = PoolProblem(family, digits(), Iid(), clients=3, samples=samples)
    drawn = problem.draw(5)
    x, y = with_bias(problem.data), np.eye(10)[problem.data.labels]
    for theta, rows in zip(problem.local_minimisers(drawn).numpy().reshape(3, 10, 65), drawn, strict=True):
        scores = x[rows] @ theta.T
        wanted = scores if family.word == "ridge" else np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        gradient = (wanted - y[rows]).T @ x[rows] / samples + family.regularization * theta
        assert np.linalg.norm(gradient) <= 1e-10


@pytest.mark.parametrize("samples", [3, 9])
def test_ridge_solves_what_newton_solves(samples):
    problem = problem_of(Ridge(0.37), clients=3, samples=samples)
    drawn = torch.from_numpy(problem.draw(2))
    weights = torch.from_numpy(np.random.default_rng(6).dirichlet(np.ones(samples), 3))
    batch = problem.inputs[0][drawn], problem.targets[0][drawn], weights
    general = Linear.minimise(problem.model, batch, 1e-12)
    np.testing.assert_allclose(problem.model.minimise(batch, 1e-12), general, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", [Softmax(0.23), SupportVectorMachine(0.29)], ids=str)
def test_population_minimiser_has_no_descent(family):
    problem = problem_of(family, LabelSkew(0.5), clients=7)
    models = problem.population_minimisers()
    risk = (problem.shares * problem.losses(models)).sum(1)
    rng = np.random.default_rng(4)
    for _ in range(20):
        nearby = models + 1e-3 * torch.from_numpy(rng.normal(size=models.shape))
        assert ((problem.shares * problem.losses(nearby)).sum(1) > risk).all()


class NearMiss(LeastSquares):
    """Its minimisers miss by a little."""

    def minimise(self, batch, tolerance):
        return super().minimise(batch, tolerance) + 1e-9


class WrongRidge(Ridge):
    loss = NearMiss


def test_a_minimiser_that_is_not_one_is_refused():
    problem = problem_of(Ridge(0.37))
    problem = PoolProblem(WrongRidge(0.37), problem.data, Iid(), clients=2, samples=4)
    with pytest.raises(NotConvergedError, match="gradient norm"):
        problem.local_minimisers(problem.draw(0))


@pytest.mark.parametrize("family", ALL, ids=str)
def test_constants_are_attained(family):
    """The largest Hessian eigenvalue over points and models is L (softmax: approached), the smallest is mu."""
    problem = problem_of(family)
    rng = np.random.default_rng(0)
    outputs = problem.model.outputs
    # Outputs that split all probability between two classes (or stand at margin zero), and random ones.
    candidates = [np.array([20.0, 20.0, -20.0]) if outputs == 3 else np.zeros(1)]
    candidates += list(rng.normal(scale=2, size=(30, outputs)))
    largest, smallest = 0.0, np.inf
    for x, target in zip(problem.inputs[0].numpy(), problem.targets[0], strict=True):
        for scores in candidates:
            hessian = np.kron(hessian_in_outputs(problem.model, scores, target), np.outer(x, x))
            eigenvalues = np.linalg.eigvalsh(hessian + family.regularization * np.eye(len(hessian)))
            largest, smallest = max(largest, eigenvalues[-1]), min(smallest, eigenvalues[0])
    assert largest == pytest.approx(problem.smoothness, rel=1e-9)
    assert smallest == pytest.approx(problem.strong_convexity, rel=1e-9)


@pytest.mark.parametrize("family", ALL, ids=str)
def test_slope_and_curvature_are_never_exceeded_and_nearly_reached(family):
    model, rng = problem_of(family).model, np.random.default_rng(7)
    target = torch.tensor([[1]]) if family in MANY else torch.tensor([[1.0]], dtype=torch.float64)
    scores = np.concatenate([rng.normal(scale=9, size=(200, model.outputs)), np.zeros((1, model.outputs))])
    bends = [np.linalg.eigvalsh(hessian_in_outputs(model, s, target))[-1] for s in scores]
    assert max(bends) <= model.curvature + 1e-12
    slopes = [float(model.pull(torch.from_numpy(s).reshape(1, -1, 1).clone(), target).norm()) for s in scores]
    assert max(slopes) <= model.slope
    if math.isfinite(model.slope):
        assert max(slopes) > 0.95 * model.slope


@pytest.mark.parametrize("word", FAMILIES)
def test_families_are_written_as_calls(word):
    assert str(FAMILIES[word](0.25)) == f"{word}(0.25)"
    assert FAMILIES[word](0.25) != FAMILIES[word](0.5)


@pytest.mark.parametrize("wrong", [0.0, -0.3, float("nan"), float("inf")])
def test_a_penalty_must_be_positive(wrong):
    with pytest.raises(EmpiricsError, match="regularization must be positive"):
        Ridge(wrong)


def test_a_margin_needs_two_classes():
    with pytest.raises(EmpiricsError, match=r"svm\(0.29\) needs 2 classes; the data have 10"):
        _ = PoolProblem(SupportVectorMachine(0.29), digits(), Iid(), clients=2, samples=3).model


def test_a_federation_needs_clients_and_samples():
    data = small_pool(Ridge(0.37))
    with pytest.raises(EmpiricsError, match="clients must be at least 1; got 0"):
        PoolProblem(Ridge(0.37), data, Iid(), clients=0, samples=3)
    with pytest.raises(EmpiricsError, match="samples must be at least 1; got -2"):
        PoolProblem(Ridge(0.37), data, Iid(), clients=3, samples=-2)
