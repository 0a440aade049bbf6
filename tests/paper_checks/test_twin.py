"""The quadratic twin: Taylor's second order at the minimiser, and the noise of samples there, by plain arithmetic."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.errors import EmpiricsError
from empirics.problems.tasks import task
from paper_checks.comparing.twin import runs, twin


@pytest.fixture(scope="module")
def problem():
    return task("logistic(breast_cancer, regularisation=0.07)").deal("dirichlet(0.6)", 4, 3)


def plain(problem, k, w):
    """Loss, gradients of the samples and Hessian of a client, for the logistic loss."""
    x, y = (part.double().numpy() for part in problem.samples.of(k))
    chance = 1 / (1 + np.exp(y * (x @ w)))
    loss = np.log1p(np.exp(-y * (x @ w))).mean() + 0.035 * w @ w
    hessian = (x * (chance * (1 - chance))[:, None]).T @ x / len(x) + 0.07 * np.eye(len(w))
    return loss, -(chance * y)[:, None] * x + 0.07 * w, hessian


def test_it_is_the_second_order_of_every_client(problem):
    found, at = twin(problem), problem.minimiser.numpy()
    assert found.minimiser == pytest.approx(at, abs=1e-9)
    for k in range(4):
        loss, gradients, hessian = plain(problem, k, at)
        assert found.client_losses(at)[k] == pytest.approx(loss, rel=1e-10)
        assert found.client_gradients(at)[k] == pytest.approx(gradients.mean(0), abs=1e-10)
        assert found.curvatures[k] == pytest.approx(hessian, abs=1e-12)
        assert found.noise[k] == pytest.approx(np.cov(gradients.T, bias=True), abs=1e-12)
    assert found.optimal_loss == pytest.approx(problem.optimal_loss, rel=1e-12)


def test_least_squares_is_its_own_twin():
    ridge = task("ridge(diabetes, regularisation=0.2)").deal("iid", 5, 1)
    found, itself = twin(ridge), ridge.quadratics
    w = np.linspace(-1.3, 2.1, found.dim)
    assert found.client_losses(w) == pytest.approx(itself.client_losses(w), rel=1e-9)


def test_minibatches_are_those_of_training(problem):
    made = runs(problem, cohort=3, batch=5)
    assert made.passes.batch == 5
    assert made.passes.samples.tolist() == list(problem.client_sizes)
    assert made.problem.start == pytest.approx(problem.model.start(0).numpy())


def test_no_twin_without_a_single_minimiser(problem):
    net = task("fedcog_cnn(digits)").deal("iid", 3, 0)
    for other in (net, replace(problem, model=replace(problem.model, regularisation=0.0))):
        with pytest.raises(EmpiricsError, match="linear model with a penalty"):
            twin(other)


def test_large_models_are_refused(problem, monkeypatch):
    monkeypatch.setattr("paper_checks.comparing.twin.MOST_COORDINATES", 7)
    with pytest.raises(EmpiricsError, match=r"up to 7 parameters; .* has 31"):
        twin(problem)
