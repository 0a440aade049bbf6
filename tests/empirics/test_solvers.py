"""Batched Newton: convergence from far away, independence of the stack, refusal to pretend."""

import numpy as np
import pytest
import torch

from empirics.errors import EmpiricsError, NotConvergedError
from empirics.models.linear import LeastSquares, Softmax
from empirics.models.solvers import newton


class Hyperbola:
    """``sqrt(1 + (w - c)^2) + tilt/2 (w - c)^2``: a full Newton step overshoots ever further from far away."""

    tilt = 1e-3

    def __init__(self, centres):
        self.centres = torch.tensor(centres, dtype=torch.float64).unsqueeze(1)

    def value(self, w):
        return (torch.sqrt(1 + (w - self.centres) ** 2) + self.tilt / 2 * (w - self.centres) ** 2).sum(1)

    def gradient(self, w):
        return (w - self.centres) / torch.sqrt(1 + (w - self.centres) ** 2) + self.tilt * (w - self.centres)

    def hessian_at(self, w):
        curve = (1 + (w - self.centres) ** 2) ** -1.5 + self.tilt
        return lambda direction: curve * direction


def zeros(rows):
    return torch.zeros(rows, 1, dtype=torch.float64)


def test_the_line_search_tames_newton():
    centres = [3.0, -7.0, 0.2]
    start = zeros(3)
    step = -Hyperbola(centres).gradient(start) / Hyperbola(centres).hessian_at(start)(torch.ones_like(start))
    assert abs(step[1, 0]) > 3 * 7  # the undamped step lands further away than it started
    np.testing.assert_allclose(newton(Hyperbola(centres), start, 1e-11)[:, 0], centres, atol=1e-9)


def test_clients_do_not_feel_who_shares_their_stack():
    rng = np.random.default_rng(2)
    inputs, targets = torch.from_numpy(rng.normal(size=(6, 5, 4))), torch.from_numpy(rng.integers(0, 3, (6, 5)))
    weights = torch.full((6, 5), 0.2, dtype=torch.float64)
    together = Softmax(4, 3, 0.1).minimise((inputs, targets, weights), 1e-11)
    some = [4, 1]
    alone = Softmax(4, 3, 0.1).minimise((inputs[some], targets[some], weights[some]), 1e-11)
    np.testing.assert_array_equal(alone, together[some])


class Uphill(Hyperbola):
    """A gradient of the wrong sign: no step along it descends."""

    def gradient(self, w):
        return -super().gradient(w)


def test_a_wrong_gradient_is_reported():
    with pytest.raises(NotConvergedError):
        newton(Uphill([3.0]), zeros(1), 1e-10)


def test_least_squares_without_a_single_minimiser_say_so():
    inputs = torch.tensor([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]], dtype=torch.float64)
    targets = torch.tensor([[0.4, 0.7, 0.1]], dtype=torch.float64)
    with pytest.raises(EmpiricsError, match=r"^the penalty of least squares must be large enough"):
        LeastSquares(2, 1, 1e-320).minimise((inputs, targets, None), 1e-10)
