"""Constants, exact minimisers and population risks of the four linear losses on a pool, and the solver."""

import math

import numpy as np
import pytest
import torch
from loops import cases
from refusals import all_refused

from empirics.data.catalogue import Dataset
from empirics.errors import NotConvergedError
from empirics.models.linear import LeastSquares, Linear
from empirics.problems.pool import Pool
from empirics.problems.tasks import LinearTask, task, TASKS

MANY, TWO = ("ridge", "softmax"), ("logistic", "svm")
ALL = (*MANY, *TWO)
every_loss = cases("word", ALL)
PENALTY = {"ridge": 0.37, "softmax": 0.23, "logistic": 0.31, "svm": 0.29}


def small_pool(word: str, points: int = 11, features: int = 4) -> Dataset:
    classes = 2 if word in TWO else 3
    rng = np.random.default_rng(8)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, points - classes)])
    return Dataset("random", rng.uniform(-1, 1, size=(points, features)), labels, classes)


def problem_of(word: str, partition: str = "iid", clients: int = 4, samples: int = 6) -> Pool:
    return TASKS[word](small_pool(word), regularisation=PENALTY[word]).pool(partition, clients, samples)


def on_digits(word: str, partition: str = "iid", **drawn: int) -> Pool:
    return task(f"{word}(digits, regularisation={PENALTY[word]})").pool(partition, **drawn)


FIT = {
    "ridge": lambda scores, label: ((scores - np.eye(len(scores))[label]) ** 2).sum() / 2,
    "softmax": lambda scores, label: np.log(np.exp(scores).sum()) - scores[label],
    "logistic": lambda scores, label: np.log1p(np.exp((1 - 2 * label) * scores[0])),
    "svm": lambda scores, label: max(0.0, 1 + (1 - 2 * label) * scores[0]) ** 2 / 2,
}
"""The loss of one sample without penalty, written out."""


def plain_loss(word: str, theta: np.ndarray, x: np.ndarray, label: int) -> float:
    """The loss of one sample; theta has one row per output."""
    return FIT[word](theta @ x, label) + PENALTY[word] / 2 * (theta**2).sum()


def points_of(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """The pool's points with a constant feature, and their class numbers."""
    data = pool.task.data
    return np.c_[data.inputs, np.ones(len(data))], data.labels


def hessian_in_outputs(model: Linear, scores: np.ndarray, target: torch.Tensor) -> np.ndarray:
    output = torch.as_tensor(scores, dtype=torch.float64).reshape(1, -1, 1)
    product = model.output_hessian(output.clone(), target.reshape(1, 1))
    units = torch.eye(len(scores), dtype=torch.float64)
    return np.stack([product(unit.reshape(1, -1, 1)).numpy().ravel() for unit in units])


@every_loss
def test_derivatives_equal_finite_differences(word):
    problem = problem_of(word)
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


@every_loss
def test_evaluation_is_the_loss_written_out_and_counts_what_is_right(word):
    problem = problem_of(word)
    models = torch.from_numpy(np.random.default_rng(5).normal(size=(3, problem.model.dim)))
    losses, correct = problem.model.evaluate(models, problem.inputs, problem.targets)
    x, y = points_of(problem)
    for m, right in zip(models.numpy(), correct, strict=True):
        scores = x @ m.reshape(-1, 5).T
        guess = (scores[:, 0] > 0).astype(int) if word in TWO else scores.argmax(1)
        np.testing.assert_array_equal(right, guess == y)
    for m, of_points in zip(models.numpy(), losses, strict=True):
        plain = [plain_loss(word, m.reshape(-1, 5), *point) for point in zip(x, y, strict=True)]
        np.testing.assert_allclose(of_points, plain, rtol=1e-12)
    assert 0 < correct.sum() < correct.numel()
    x, y = torch.tensor([[[0.3, -1.2], [0.8, 0.1]]], dtype=torch.float64), torch.tensor([[0.7, -0.4]])
    model = LeastSquares(2, 1, 0.3)  # regression without classes has no accuracy
    assert model.evaluate(torch.tensor([[0.2, 0.9]], dtype=torch.float64), x, y)[1].isnan().all()


class NearMiss(LeastSquares):
    """Its minimisers miss by a little."""

    def minimise(self, batch, tolerance):
        return super().minimise(batch, tolerance) + 1e-9


def test_a_minimiser_that_is_not_one_is_refused():
    wrong = LinearTask("near", NearMiss)(small_pool("ridge"), regularisation=0.37)
    problem = wrong.pool("iid", clients=2, samples=4)
    with pytest.raises(NotConvergedError, match="gradient"):
        problem.local_minimisers(problem.draw(0))


@every_loss
def test_constants_are_attained(word):
    """The largest Hessian eigenvalue over points and models is L (softmax: approached), the smallest is mu."""
    problem = problem_of(word)
    rng = np.random.default_rng(0)
    outputs = problem.model.outputs
    # Outputs that split all probability between two classes (or stand at margin zero), and random ones.
    candidates = [np.array([20.0, 20.0, -20.0]) if outputs == 3 else np.zeros(1)]
    candidates += list(rng.normal(scale=2, size=(30, outputs)))
    largest, smallest = 0.0, np.inf
    for x, target in zip(problem.inputs[0].numpy(), problem.targets[0], strict=True):
        for scores in candidates:
            hessian = np.kron(hessian_in_outputs(problem.model, scores, target), np.outer(x, x))
            eigenvalues = np.linalg.eigvalsh(hessian + PENALTY[word] * np.eye(len(hessian)))
            largest, smallest = max(largest, eigenvalues[-1]), min(smallest, eigenvalues[0])
    assert largest == pytest.approx(problem.smoothness, rel=1e-9)
    assert smallest == pytest.approx(problem.strong_convexity, rel=1e-9)


@every_loss
def test_the_slope_is_never_exceeded_and_nearly_reached(word):
    model, rng = problem_of(word).model, np.random.default_rng(7)
    target = torch.tensor([[1]]) if word in MANY else torch.tensor([[1.0]], dtype=torch.float64)
    scores = np.concatenate([rng.normal(scale=9, size=(200, model.outputs)), np.zeros((1, model.outputs))])
    slopes = [
        float(model.output_gradient(torch.from_numpy(s).reshape(1, -1, 1).clone(), target).norm()) for s in scores
    ]
    assert max(slopes) <= model.slope
    if math.isfinite(model.slope):
        assert max(slopes) > 0.95 * model.slope


def test_a_pool_needs_a_linear_model_clients_and_samples():
    all_refused(
        [
            (lambda: task("femnist_dnn(digits)").pool("iid", clients=2, samples=3), "femnist_dnn"),
            (lambda: on_digits("ridge", clients=0, samples=4), "clients 1 0"),
            (lambda: on_digits("ridge", clients=3, samples=-2), "samples 1 -2"),
        ]
    )


def test_least_squares_without_a_single_minimiser_say_so():
    inputs = torch.tensor([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]], dtype=torch.float64)
    targets = torch.tensor([[0.4, 0.7, 0.1]], dtype=torch.float64)
    all_refused([(lambda: LeastSquares(2, 1, 1e-320).minimise((inputs, targets, None), 1e-10), "penalty")])
