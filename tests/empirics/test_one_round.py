"""One averaging round against exact enumeration of all draws from a tiny pool."""

from itertools import product

import numpy as np
import pytest

from bounds.catalog import get
from empirics.data.catalogue import Dataset
from empirics.measuring.one_round import OneRound
from empirics.problems.pool import Pool
from empirics.problems.tasks import task, TASKS

POOL = Dataset("three points", np.array([[0.2, -0.6], [0.9, 0.1], [-0.3, 0.5]]), np.array([0, 1, 1]), 2)


def everything(problem: Pool, counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Exact expectations: every possible draw of all clients, weighted by its probability."""
    measurement = OneRound(problem, counts)
    total: dict[str, np.ndarray] = {}
    for flat in product(range(len(POOL)), repeat=problem.clients * problem.samples):
        drawn = np.array(flat).reshape(problem.clients, problem.samples)
        chance = np.prod([problem.shares[k].numpy()[drawn[k]].prod() for k in range(problem.clients)])
        for key, value in measurement.of(drawn).items():
            total[key] = total.get(key, 0.0) + chance * value
    return total


def plain_ridge_round(problem: Pool, drawn: np.ndarray) -> tuple[float, list[float], list[float]]:
    """Gap, local gaps and non-iidness of one draw by normal equations."""
    data, lam = problem.task.data, problem.model.regularisation
    x, y = np.c_[data.inputs, np.ones(len(data))], np.eye(data.classes)[data.labels]

    def losses(theta):
        return ((x @ theta - y) ** 2).sum(1) / 2 + lam / 2 * (theta**2).sum()

    def population(theta, k):
        return float(problem.shares[k].numpy() @ losses(theta))

    def empirical(theta, k):
        return losses(theta)[drawn[k]].mean()

    thetas = [
        np.linalg.solve(x[rows].T @ x[rows] / len(rows) + lam * np.eye(x.shape[1]), x[rows].T @ y[rows] / len(rows))
        for rows in drawn
    ]
    average = sum(thetas) / len(thetas)
    clients = range(len(drawn))
    gap = sum(population(average, k) - empirical(average, k) for k in clients) / len(drawn)
    local = [population(thetas[k], k) - empirical(thetas[k], k) for k in clients]
    return gap, local, [empirical(average, k) - empirical(thetas[k], k) for k in clients]


def test_a_draw_equals_normal_equations():
    problem = task("ridge(digits, regularisation=0.3)").pool("dirichlet_replaced(0.5)", clients=3, samples=4)
    drawn = problem.draw(6)
    found = OneRound(problem, (2, 3)).of(drawn)
    gap, local, excess = plain_ridge_round(problem, drawn)
    assert found["generalization_gap"][1] == pytest.approx(gap, rel=1e-10)
    np.testing.assert_allclose(found["local_gap"], local, rtol=1e-10)
    np.testing.assert_allclose(found["non_iidness"][1], excess, rtol=1e-10)
    gap, _, excess = plain_ridge_round(problem, drawn[:2])
    assert found["generalization_gap"][0] == pytest.approx(gap, rel=1e-10)
    np.testing.assert_allclose(found["non_iidness"][0], [*excess, np.nan], rtol=1e-10)
    assert OneRound(problem, (1,)).of(drawn)["non_iidness"][0, 0] == 0


@pytest.mark.parametrize(
    ("model", "regularisation", "partition"),
    [
        ("ridge", 0.3, "iid"),
        ("softmax", 0.2, "dirichlet_replaced(0.8)"),
        ("logistic", 0.4, "dirichlet_replaced(0.8)"),
        ("svm", 0.35, "iid"),
    ],
)
def test_expectations_over_all_draws(model, regularisation, partition):
    """The control variates have mean exactly zero, the theorem holds, and its quantities are what they should be."""
    problem = TASKS[model](POOL, regularisation).pool(partition, 2, samples=2)
    exact = everything(problem, (1, 2))
    np.testing.assert_allclose(exact["generalization_gap_control"], 0, atol=1e-14)
    np.testing.assert_allclose(exact["local_gap_control"], 0, atol=1e-14)
    assert exact["generalization_gap"][0] == pytest.approx(exact["local_gap"][0], rel=1e-10)
    for i, count in enumerate((1, 2)):
        bound = get("fedals.one_round")(
            smoothness=problem.smoothness,
            strong_convexity=problem.strong_convexity,
            client_weight=np.full(count, 1 / count),
            local_gap=exact["local_gap"][:count],
            non_iidness=exact["non_iidness"][i, :count],
        )
        assert 0 < exact["generalization_gap"][i] < np.squeeze(bound)


def test_the_control_variate_cuts_the_error_where_many_clients_average():
    problem = task("ridge(digits, regularisation=0.5)").pool("iid", clients=12, samples=10)
    draws = [OneRound(problem, (12,))(seed) for seed in range(25)]
    plain = np.array([d["generalization_gap"][0] for d in draws])
    controlled = plain - [d["generalization_gap_control"][0] for d in draws]
    assert controlled.var() < plain.var() / 5
