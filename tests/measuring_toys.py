"""Two clients with five samples between them, small enough to check every number in plain loops."""

import csv

import numpy as np
import torch

from empirics.algorithms import algorithm
from empirics.federation.federation import Federation
from empirics.measuring import measurement, Row, Run
from empirics.models.linear import LeastSquares, Logistic
from empirics.problems.problem import FederatedProblem, Population
from empirics.training.setting import Setting

INPUTS = torch.tensor([[0.4, -1.1], [1.7, 0.3], [-0.6, 0.9], [0.2, 1.3], [-1.2, -0.7], [0.9, 0.8]], dtype=torch.float64)
NUMBERS = torch.tensor([0.3, -1.2, 0.7, 1.9, -0.4, 0.6], dtype=torch.float64)
SIGNS = torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, -1.0], dtype=torch.float64)
PARTS = [np.array([0, 1]), np.array([2, 3, 4])]
TESTS = [np.array([5, 0]), np.array([1, 5, 2])]
PENALTY = 0.35
SHARES = torch.tensor([[0.1, 0.2, 0.3, 0.15, 0.05, 0.2], [0.25, 0.05, 0.1, 0.2, 0.3, 0.1]], dtype=torch.float64)

SETTING = Setting(rounds=3, cohort=2, batch=1, local_steps=2, step_size=0.11)


def ridge(population: bool = False, tests: bool = False, **options) -> FederatedProblem:
    return _problem(LeastSquares(2, 1, PENALTY), NUMBERS, population, tests, **options)


def logistic(population: bool = False, tests: bool = False, **options) -> FederatedProblem:
    return _problem(Logistic(2, 1, PENALTY), SIGNS, population, tests, **options)


def _problem(model, targets, population, tests, **options) -> FederatedProblem:
    return FederatedProblem(
        model,
        Federation.of(INPUTS, targets, PARTS),
        local_test=Federation.of(INPUTS, targets, TESTS) if tests else None,
        population=Population(INPUTS, targets, SHARES) if population else None,
        name="tiny",
        **options,
    )


def mean_loss(problem: FederatedProblem, w, samples) -> float:
    """The mean loss of samples at w, by the formula."""
    rows, w = list(samples), np.asarray(w)
    scores, targets = INPUTS.numpy()[rows] @ w, problem.federation.targets.numpy()[rows]
    squares = isinstance(problem.model, LeastSquares)
    fits = (scores - targets) ** 2 / 2 if squares else np.log1p(np.exp(-targets * scores))
    return float(fits.mean() + problem.model.regularisation / 2 * w @ w)


def slope(problem: FederatedProblem, w, samples) -> np.ndarray:
    """The gradient of a mean loss by central differences."""
    w, h = np.asarray(w, dtype=float), 1e-6
    units = np.eye(2)
    return np.array(
        [(mean_loss(problem, w + h * u, samples) - mean_loss(problem, w - h * u, samples)) / (2 * h) for u in units]
    )


def by_hand(problem: FederatedProblem, setting: Setting, seed: int):
    """FedAvg with full participation in plain loops: server models, and every round's paths ``(clients, K + 1, 2)``."""
    server, paths = [np.zeros(2)], []
    weights = problem.weights.numpy()
    for round_ in range(setting.rounds):
        clients, steps = np.arange(2), np.full(2, setting.steps)
        index = problem.federation.draw(seed, round_, clients, steps, setting.batch).index
        here = []
        for k in clients:
            w = [server[-1]]
            for step in range(setting.steps):
                w.append(w[-1] - setting.step_size * slope(problem, w[-1], index[k, step].tolist()))
            here.append(w)
        paths.append(np.array(here))
        server.append(sum(p * w[-1] for p, w in zip(weights, here, strict=True)))
    return server, paths


def rows_of(problem, names, setting=SETTING, seed=3, method="fedavg()", every=1):
    run = Run(problem, algorithm(method), setting, seed, [measurement(n) for n in names], every=every)
    return run.rows()


def series(rows, quantity, **where):
    """Values of a quantity in the order of the rows, filtered by columns."""
    return [r.value for r in rows if r.quantity == quantity and all(getattr(r, k) == v for k, v in where.items())]


def read(path):
    """The rows of a file of ``empirics.measuring.write``."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    whole = ("seed", "round", "step", "client")
    return [Row(**{**line, **{name: int(line[name]) if line[name] else None for name in whole},
                   "value": float(line["value"])}) for line in lines]  # fmt: skip
