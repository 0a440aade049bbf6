"""Networks as models over flat rows: views, gradients, frozen copies, evaluation, and what is refused."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from refusals import all_refused
from torch import nn, Tensor

from empirics.errors import EmpiricsError
from empirics.models.network import Network
from empirics.models.networks import network
from empirics.models.networks.parts import Split


def small(dtype: torch.dtype = torch.float64) -> Network:
    def build() -> nn.Module:
        return Split(nn.Sequential(nn.Linear(5, 7), nn.Tanh()), nn.Linear(7, 3))

    return Network("small", build, dtype=dtype)


def batch_of(net: Network, samples: int = 6, features: int = 5, classes: int = 3) -> tuple[Tensor, Tensor, None]:
    generator = torch.Generator().manual_seed(9)
    x = torch.randn(1, samples, features, generator=generator, dtype=net.dtype)
    return x, torch.randint(0, classes, (1, samples), generator=generator), None


def by_hand(row: Tensor, x: Tensor) -> Tensor:
    """``small`` written out; columns in the order weight, bias, weight, bias."""
    hidden = torch.tanh(x @ row[:35].view(7, 5).T + row[35:42])
    return hidden @ row[42:63].view(3, 7).T + row[63:]


def test_columns_are_the_parameters_in_order_and_the_gradient_is_that_of_the_loss_written_out():
    net = small()
    w, (x, y, _) = net.start(3).requires_grad_(), batch_of(net)
    assert net.dim == 66
    torch.testing.assert_close(net.output(w.unsqueeze(0), x)[0], by_hand(w, x[0]), rtol=1e-13, atol=1e-13)
    module = net._fresh(7)
    row = torch.cat([p.detach().flatten() for p in module.parameters()])
    torch.testing.assert_close(net.output(row.unsqueeze(0), x)[0], module(x[0]).detach(), rtol=1e-13, atol=1e-13)
    for (_, columns), p in zip(net.layers.items(), module.parameters(), strict=True):
        assert torch.equal(row[columns].view(p.shape), p.detach())
    for weight in (None, torch.tensor([[0.5, 0.25, 0.25, 0.0, 0.0, 0.0]], dtype=torch.float64)):
        losses = F.cross_entropy(by_hand(w, x[0]), y[0], reduction="none")
        (expected,) = torch.autograd.grad(losses.mean() if weight is None else (losses * weight[0]).sum(), w)
        found = net.gradient(w.detach().unsqueeze(0), (x, y, weight))
        torch.testing.assert_close(found[0], expected, rtol=1e-12, atol=1e-14)
        with torch.no_grad():
            assert torch.equal(found, net.gradient(w[None], (x, y, weight)))


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:RNN module weights")  # cuDNN copies them: they are views of a row
def test_recurrent_weights_stay_in_the_row_on_a_gpu():
    net = network("shakespeare_gru(length=9)")
    tokens = torch.randint(0, 79, (1, 4, 9), generator=torch.Generator().manual_seed(1))
    batch = tokens, tokens[..., 0], None
    host = net.start(1).unsqueeze(0)
    device = host.cuda()
    for _ in range(3):
        host.sub_(network(net.name).gradient(host, batch), alpha=0.5)
        device.sub_(net.gradient(device, tuple(t if t is None else t.cuda() for t in batch)), alpha=0.5)
    torch.testing.assert_close(device.cpu(), host, rtol=1e-3, atol=1e-4)


def test_other_statistics_and_noise_outside_of_the_row_rows_inputs_and_halves_that_do_not_fit_are_refused():
    images, flat, whole = network("fedcog_cnn"), network("femnist_dnn"), Network("mine", lambda: nn.Linear(5, 3))
    w, x = flat.start(0).unsqueeze(0), torch.randn(1, 2, 1, 28, 28)
    assert torch.equal(flat.output(w, x), flat.output(w, x.flatten(2)))
    batch = batch_of(whole)
    assert whole.gradient(whole.start(0).unsqueeze(0), batch).shape == (1, 18)
    others = {
        nn.BatchNorm1d(7, track_running_stats=False): "batch norm",
        nn.BatchNorm1d(7, momentum=None): "batch norm",
        nn.Dropout(0.1): "dropout",
    }
    all_refused(others, lambda part: Network("mine", lambda: nn.Sequential(nn.Linear(5, 7), part)).start(0))
    for call, named in (
        (lambda: small().output(torch.stack([small().start(1), small().start(2)]), batch_of(small())[0]), "split"),
        (lambda: images.output(images.start(0).unsqueeze(0), x), r"\(3, 32, 32\).*\(1, 28, 28\)"),
        (lambda: flat.output(w, torch.zeros(1, 2, 783)), "783"),
        (lambda: whole.features(whole.start(0).unsqueeze(0), batch[0]), "mine .*features"),
    ):
        with pytest.raises((EmpiricsError, RuntimeError), match=named):
            call()
