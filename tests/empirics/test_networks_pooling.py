"""The fused pooling against torch's, in double precision."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from empirics.models.networks import pooling
from empirics.models.networks.parts import ConvPool
from empirics.models.networks.pooling import relu_pool


def random(shape: tuple[int, ...], seed: int, requires_grad: bool = True) -> Tensor:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x.requires_grad_(requires_grad)


def plain(x: Tensor, bias: Tensor | None) -> Tensor:
    return F.max_pool2d(F.relu(x if bias is None else x + bias.view(-1, 1, 1)), 2)


@pytest.fixture
def at_any_size(monkeypatch):
    monkeypatch.setattr(pooling, "SMALLEST", 1)


@pytest.mark.parametrize("shape", [(32, 6, 24, 24), (3, 2, 8, 6), (5, 4, 2, 2), (1, 1, 4, 50)])
def test_values_and_gradients_are_exactly_torch_s(shape, at_any_size):
    for wanted in ((0,), (1,), (0, 1)):  # of the input, of the bias, of both
        x, bias = random(shape, 1, 0 in wanted), random(shape[1:2], 2, 1 in wanted)
        assert pooling._suits(x)
        out, expected = relu_pool(x, bias), plain(x, bias)
        assert torch.equal(out, expected)
        asked = [(x, bias)[place] for place in wanted]
        pull = random(out.shape, 3, requires_grad=False)
        gradients, torchs = (torch.autograd.grad(made, asked, pull) for made in (out, expected))
        if 0 in wanted:
            assert torch.equal(gradients[0], torchs[0])
            assert 0 < (gradients[0] != 0).double().mean() <= 0.25
        torch.testing.assert_close(gradients[-1], torchs[-1], rtol=1e-13, atol=1e-13)  # a bias: in another order
    alone = random(shape, 1)
    assert torch.equal(relu_pool(alone), plain(alone, None))


def test_ties_send_the_gradient_to_exactly_one_of_the_largest(at_any_size):
    x = torch.tensor([[1.5, 1.5, 0.2, 0.3], [1.5, 0.7, 0.9, 0.9]], dtype=torch.float64).view(1, 1, 2, 4)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(relu_pool(x).sum(), x)
    for columns, largest in ((slice(0, 2), 1.5), (slice(2, 4), 0.9)):
        given, found = x.detach()[0, 0, :, columns], gradient[0, 0, :, columns]
        assert found.sum() == 1
        assert (found * (given == largest)).sum() == 1


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


@pytest.mark.parametrize(("side", "kernel", "padding"), [(12, 5, 0), (13, 3, 0), (12, 3, 1), (13, 3, 1)])
def test_convolution_with_pooling_equals_the_plain_order(side, kernel, padding, at_any_size):
    torch.manual_seed(3)
    layer, x = ConvPool(3, 4, kernel, padding=padding).double(), random((5, 3, side, side), 8)
    out, inputs = layer(x), [x, layer.weight, layer.bias]
    expected = F.max_pool2d(F.relu(F.conv2d(x, layer.weight, layer.bias, padding=padding)), 2)
    torch.testing.assert_close(out, expected, rtol=1e-13, atol=1e-13)
    gradients, torchs = (torch.autograd.grad(made.sin().sum(), inputs) for made in (out, expected))
    for got, wanted in zip(gradients, torchs, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)
