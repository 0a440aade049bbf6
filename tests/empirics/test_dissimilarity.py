"""The pair (G^2, B^2) of convex clients: random models and federations, cases it is met in, and planted errors."""

import numpy as np
import pytest
import torch
from loops import each

from empirics.federation.federation import Federation
from empirics.models.linear import Logistic, Softmax, SquaredHinge
from empirics.problems.problem import FederatedProblem
from empirics.problems.quadratics import Quadratics

S_TRIED = (0.13, 1.0, 4.2)


def excess(L: float, mu: float) -> float:
    return (L - mu) ** 2 / (4 * L * mu)


def drawn(seed: int) -> FederatedProblem:
    """A federation of a random linear model, of clients of unlike sizes and scales."""
    draws = np.random.default_rng(seed)
    sizes = draws.integers(2, 9, size=draws.integers(2, 6))
    total, features = int(sizes.sum()), int(draws.integers(2, 4))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    inputs = draws.normal(size=(total, features)) * np.exp(draws.normal(size=len(sizes)))[owner, None]
    penalty = float(np.exp(draws.uniform(-4, 0.5)))
    kind = (Logistic, Softmax, SquaredHinge)[seed % 3]
    if kind is Softmax:
        targets, model = torch.from_numpy(draws.integers(0, 3, total)), Softmax(features, 3, penalty)
    else:
        targets, model = torch.from_numpy(draws.choice([-1.0, 1.0], total)), kind(features, 1, penalty)
    parts = [np.flatnonzero(owner == k) for k in range(len(sizes))]
    weight = ("uniform", "samples")[seed // 3 % 2]
    return FederatedProblem(model, Federation.of(torch.from_numpy(inputs), targets, parts), client_weight=weight)


def numbers(problem: FederatedProblem, w: np.ndarray) -> tuple[float, float]:
    """The weighted mean squared client gradient and the squared gradient of their mean."""
    p = problem.weights.numpy()
    gradients = problem.client_gradients(torch.from_numpy(w)).numpy()
    mean = p @ gradients
    return float(p @ (gradients**2).sum(1)), float(mean @ mean)


@each(map(str, range(18)), lambda seed: {"seed": int(seed)})
def test_the_pairs_of_convexity_hold_at_every_model(seed):
    problem, draws = drawn(seed), np.random.default_rng(1000 + seed)
    e = excess(problem.smoothness, problem.strong_convexity)
    best = problem.minimiser.numpy()
    at_best = numbers(problem, best)[0]
    assert problem.optimum_dissimilarity == pytest.approx(at_best, rel=1e-7)
    assert problem.dissimilarity_factor == pytest.approx(1 + 2 * e, rel=1e-9)
    assert problem.dissimilarity_offset == pytest.approx(2 * at_best, rel=1e-6)
    pairs = [(problem.dissimilarity_offset_for(1 + (1 + s) * e), 1 + (1 + s) * e) for s in S_TRIED]
    for (offset, _), s in zip(pairs, S_TRIED, strict=True):
        assert offset == pytest.approx((1 + 1 / s) * at_best, rel=1e-6)
    for size in np.exp(draws.uniform(-6, 4, size=100)):
        clients, together = numbers(problem, best + size * draws.normal(size=len(best)))
        assert all(clients <= (offset + factor * together) * (1 + 1e-9) for offset, factor in pairs)


def test_the_smoothness_of_clients_is_none_too_small_and_that_of_samples_larger():
    """Hessians of clients at many models: below L everywhere, and equal to it for two classes somewhere."""
    for seed in range(9):
        problem, draws = drawn(seed), np.random.default_rng(seed)
        steepest = 0.0
        for size in (0.0, 0.4, 2.5):
            w = torch.from_numpy(size * draws.normal(size=problem.model.dim))
            for k in range(problem.clients):
                x, y = (part[None] for part in problem.samples.of(k))
                model = problem.model
                dense = torch.autograd.functional.hessian(
                    lambda at, x=x, y=y, model=model: model.task_loss(at[None], (x, y, None))[0], w
                )
                steepest = max(steepest, float(torch.linalg.eigvalsh(dense)[-1]))
        assert steepest <= problem.smoothness * (1 + 1e-9)
        if isinstance(problem.model, Logistic):
            assert steepest == pytest.approx(problem.smoothness, rel=1e-9)  # at 0
        assert problem.smoothness < problem.sample_smoothness


def parabolas(draws: np.random.Generator) -> tuple[Quadratics, float, float]:
    """Clients whose curvatures are often the extreme ones, which is where the inequality is met."""
    clients, dim = int(draws.integers(2, 6)), int(draws.integers(1, 4))
    mu = float(draws.uniform(0.1, 1))
    L = mu * float(draws.uniform(1.02, 40))
    turned = draws.random() < 0.5
    turns = np.linalg.qr(draws.normal(size=(clients, dim, dim)))[0] if turned else np.eye(dim)
    extreme = draws.random() < 0.7
    bends = draws.choice([mu, L], (clients, 1, dim)) if extreme else draws.uniform(mu, L, (clients, 1, dim))
    curvatures = np.broadcast_to(turns, (clients, dim, dim)) * bends @ np.swapaxes(turns, -1, -2)
    weights = draws.dirichlet(np.full(clients, 0.7))
    if draws.random() < 0.4:
        weights = np.full(clients, L / (mu + L) / (clients - 1))
        weights[0] = mu / (mu + L)
    minima = float(draws.choice([0.1, 1.3, 5.2])) * draws.normal(size=(clients, dim))
    return Quadratics((curvatures + np.swapaxes(curvatures, 1, 2)) / 2, minima, weights=weights), L, mu


def test_nothing_smaller_serves_all_convex_clients():
    """Against the exact G^2 of hundreds of quadratics: never below it, met to rounding; planted errors are caught."""
    draws, largest, caught = np.random.default_rng(7), 0.0, {"e": 0, "offset": 0}
    for _ in range(700):
        problem, L, mu = parabolas(draws)
        e, at_best = excess(L, mu), problem.optimum_dissimilarity
        assert problem.smallest_dissimilarity_factor <= (1 + e) * (1 + 1e-9)
        if at_best < 1e-9:
            continue
        for s in S_TRIED:
            exact = problem.dissimilarity_offset_for(1 + (1 + s) * e)
            assert exact <= (1 + 1 / s) * at_best * (1 + 1e-8)
            largest = max(largest, exact / ((1 + 1 / s) * at_best))
            caught["e"] += problem.dissimilarity_offset_for(1 + (1 + s) * 0.9 * e) > (1 + 1 / s) * at_best * (1 + 1e-8)
            caught["offset"] += exact > (1 + 0.9 / s) * at_best * (1 + 1e-8)
    assert largest == pytest.approx(1, rel=1e-9)
    assert min(caught.values()) > 15


def test_equal_parabolas_need_no_more_than_the_dissimilarity_at_the_minimiser():
    """With L = mu the gradients differ by the same at every model."""
    x = torch.tensor([[1e-30, 2e-30], [3e-30, 1e-30], [2e-30, 5e-30]], dtype=torch.float64)
    y = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    alike = FederatedProblem(Logistic(2, 1, 0.4), Federation.of(x, y, [np.array([0]), np.array([1, 2])]))
    assert alike.smoothness == alike.strong_convexity == 0.4
    assert alike.dissimilarity_offset_for(1.0) == alike.optimum_dissimilarity
    assert alike.dissimilarity_offset_for(0.97) == np.inf
    assert alike.dissimilarity_offset == alike.optimum_dissimilarity
