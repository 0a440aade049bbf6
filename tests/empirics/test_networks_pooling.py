"""The fused pooling against torch's, in double precision."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from empirics.models.networks import pooling
from empirics.models.networks.parts import ConvPool
from empirics.models.networks.pooling import relu_pool

SHAPES = [(32, 6, 24, 24), (3, 2, 8, 6), (5, 4, 2, 2), (1, 1, 4, 50)]


def random(shape: tuple[int, ...], seed: int, requires_grad: bool = True) -> Tensor:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x.requires_grad_(requires_grad)


def plain(x: Tensor, bias: Tensor | None) -> Tensor:
    return F.max_pool2d(F.relu(x if bias is None else x + bias.view(-1, 1, 1)), 2)


@pytest.fixture
def at_any_size(monkeypatch):
    monkeypatch.setattr(pooling, "SMALLEST", 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("biased", [False, True])
def test_values_and_gradients_are_exactly_torch_s(shape, biased, at_any_size):
    x, bias = random(shape, 1), random(shape[1:2], 2) if biased else None
    assert pooling._suits(x)
    out, expected = relu_pool(x, bias), plain(x, bias)
    assert torch.equal(out, expected)
    pull = random(out.shape, 3, requires_grad=False)
    wanted = torch.autograd.grad(expected, [x] if bias is None else [x, bias], pull)
    gradients = torch.autograd.grad(out, [x] if bias is None else [x, bias], pull)
    assert torch.equal(gradients[0], wanted[0])
    assert 0 < (gradients[0] != 0).double().mean() <= 0.25
    if bias is not None:
        torch.testing.assert_close(gradients[1], wanted[1], rtol=1e-13, atol=1e-13)  # a sum in another order


def test_one_of_the_two_gradients_can_be_left_out(at_any_size):
    x, bias = random((2, 3, 4, 6), 4), random((3,), 5)
    for first, second in ((True, False), (False, True)):
        wanted = [t for t, asked in ((x, first), (bias, second)) if asked]
        out = relu_pool(x.detach().requires_grad_(first), bias.detach().requires_grad_(second))
        assert out.requires_grad
        reference = torch.autograd.grad(plain(x, bias).square().sum(), wanted)
        x1, b1 = x.detach().requires_grad_(first), bias.detach().requires_grad_(second)
        got = torch.autograd.grad(relu_pool(x1, b1).square().sum(), [t for t in (x1, b1) if t.requires_grad])
        torch.testing.assert_close(got[0], reference[0])


def test_ties_send_the_gradient_to_exactly_one_of_the_largest(at_any_size):
    x = torch.tensor([[1.5, 1.5, 0.2, 0.3], [1.5, 0.7, 0.9, 0.9]], dtype=torch.float64).view(1, 1, 2, 4)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(relu_pool(x).sum(), x)
    squares = gradient.view(2, 2, 2).transpose(0, 1)
    largest = (
        x.detach().view(2, 2, 2).transpose(0, 1) == torch.tensor([1.5, 0.9], dtype=torch.float64).view(2, 1, 1)
    ).double()
    assert torch.equal(squares.sum((1, 2)), torch.ones(2, dtype=torch.float64))
    assert torch.equal(squares * largest, squares)


def test_negative_squares_have_value_and_gradient_zero_and_nan_stays_nan(at_any_size):
    x = torch.tensor([[-1.5, -0.5, 0.5, float("nan")], [-2.5, -0.25, 0.2, 0.1]]).view(1, 1, 2, 4).requires_grad_()
    out = relu_pool(x)
    assert out[0, 0, 0, 0] == 0
    assert out[0, 0, 0, 1].isnan()
    (gradient,) = torch.autograd.grad(out[0, 0, 0, 0], x)
    assert not gradient.any()


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # torch.func.jvp uses it itself
def test_second_derivatives_and_function_transforms_agree_with_torch(at_any_size):
    x, direction = random((2, 3, 4, 6), 6), random((2, 3, 4, 6), 7, requires_grad=False)

    def curved(pool, x):
        return (pool(x, None) ** 3).sum()

    products = []
    for pool in (relu_pool, plain):
        (gradient,) = torch.autograd.grad(curved(pool, x), x, create_graph=True)
        products.append(torch.autograd.grad(gradient, x, direction)[0])
        grad = torch.func.grad(lambda x, pool=pool: curved(pool, x))
        products.append(torch.func.jvp(grad, (x.detach(),), (direction,))[1])
    for product in products[1:]:
        torch.testing.assert_close(product, products[0], rtol=1e-12, atol=1e-12)
    assert products[0].any()


@pytest.mark.parametrize("shape", [(4, 3, 7, 6), (4, 3, 6, 7), (1, 1, 2, 2)])
def test_odd_and_small_inputs_fall_back_on_torch(shape):
    x, bias = random(shape, 1), random(shape[1:2], 2)
    assert not pooling._suits(x)
    assert torch.equal(relu_pool(x, bias), plain(x, bias))
    assert not pooling._suits(random((64, 6, 24, 24), 1).bfloat16())


@pytest.mark.parametrize(("side", "kernel", "padding"), [(12, 5, 0), (13, 3, 0), (12, 3, 0), (12, 3, 1), (13, 3, 1)])
def test_convolution_with_pooling_equals_the_plain_order(side, kernel, padding, at_any_size):
    torch.manual_seed(3)
    layer = ConvPool(3, 4, kernel, padding=padding).double()
    x = random((5, 3, side, side), 8)
    out = layer(x)
    expected = F.max_pool2d(F.relu(F.conv2d(x, layer.weight, layer.bias, padding=padding)), 2)
    torch.testing.assert_close(out, expected, rtol=1e-13, atol=1e-13)
    inputs = [x, layer.weight, layer.bias]
    for got, wanted in zip(
        torch.autograd.grad(out.sin().sum(), inputs), torch.autograd.grad(expected.sin().sum(), inputs), strict=True
    ):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)
