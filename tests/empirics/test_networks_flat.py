"""Networks as models over flat rows: views, gradients, frozen copies, evaluation, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn, Tensor

from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.models.flat import KEPT
from empirics.models.losses import CrossEntropy
from empirics.models.network import Network
from empirics.models.networks import network
from empirics.models.networks.parts import Split
from empirics.training.engines import ClientLoop
from empirics.training.rounds import rounds
from empirics.training.setting import Setting


class Tied(nn.Module):
    """Its one weight is used in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(6, 6), nn.Linear(6, 6)
        self.up.weight = self.down.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.up(torch.tanh(self.down(x)))


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


def test_columns_are_the_parameters_in_order():
    net = small()
    w, (x, _, _) = net.start(3), batch_of(net)
    assert net.dim == 66
    torch.testing.assert_close(net.output(w.unsqueeze(0), x)[0], by_hand(w, x[0]), rtol=1e-13, atol=1e-13)
    module = net._fresh(7)
    row = torch.cat([p.detach().flatten() for p in module.parameters()])
    torch.testing.assert_close(net.output(row.unsqueeze(0), x)[0], module(x[0]).detach(), rtol=1e-13, atol=1e-13)
    for (_, columns), p in zip(net.layers.items(), module.parameters(), strict=True):
        assert torch.equal(row[columns].view(p.shape), p.detach())


def test_same_seed_same_start_and_other_draws_untouched():
    net = network("fedcog_cnn(side=16)")
    torch.manual_seed(4)
    before = torch.get_rng_state()
    first, again, other = net.start(1), network("fedcog_cnn(side=16)").start(1), net.start(2)
    _ = net.dim
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_bind_gives_views_an_update_in_place_changes_the_output():
    net = small()
    rows = torch.stack([net.start(1), net.start(2)])
    x, _, _ = batch_of(net)
    before = net.output(rows[1:], x)
    net.bind(rows[1])
    assert torch.equal(net.work.module(x[0]), before[0])
    rows[1].sub_(0.3)
    assert not torch.allclose(net.work.module(x[0]), before[0])
    torch.testing.assert_close(net.work.module(x[0]), by_hand(rows[1], x[0]), rtol=1e-13, atol=1e-13)
    # A gradient step as the engine takes it, and then another: the kept views follow the row.
    for _ in range(2):
        rows[1:].sub_(net.gradient(rows[1:], batch_of(net)), alpha=0.1)
        torch.testing.assert_close(net.output(rows[1:], x)[0], by_hand(rows[1], x[0]), rtol=1e-13, atol=1e-13)
    assert torch.equal(rows[0], net.start(1))


def test_gradient_is_that_of_the_loss_written_out():
    net = small()
    w, (x, y, _) = net.start(3).requires_grad_(), batch_of(net)
    (expected,) = torch.autograd.grad(F.cross_entropy(by_hand(w, x[0]), y[0]), w)
    torch.testing.assert_close(net.gradient(w.detach().unsqueeze(0), (x, y, None))[0], expected, rtol=1e-12, atol=1e-14)
    weight = torch.tensor([[0.5, 0.25, 0.25, 0.0, 0.0, 0.0]], dtype=torch.float64)
    (weighted,) = torch.autograd.grad((F.cross_entropy(by_hand(w, x[0]), y[0], reduction="none") * weight[0]).sum(), w)
    torch.testing.assert_close(
        net.gradient(w.detach().unsqueeze(0), (x, y, weight))[0], weighted, rtol=1e-12, atol=1e-14
    )
    with torch.no_grad():
        assert torch.equal(
            net.gradient(w.detach().unsqueeze(0), (x, y, weight))[0], net.gradient(w[None], (x, y, weight))[0]
        )


def test_an_objective_of_outputs_features_and_row_is_differentiated_in_the_row():
    net = small()
    x, y, _ = batch_of(net)
    centre = net.start(8)

    def objective(w: Tensor) -> Tensor:
        z = net.features(w, x)
        other = net.features(centre.unsqueeze(0), x)  # binds another row in between
        return net.task_loss(w, (x, y, None)) + 0.3 * ((z - other) ** 2).sum() + 0.7 * ((w - centre) ** 2).sum()

    w = net.start(3).unsqueeze(0).requires_grad_()
    (gradient,) = torch.autograd.grad(objective(w).sum(), w)
    direction = torch.randn(66, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    step = 1e-6 * direction
    with torch.no_grad():
        slope = (objective(w + step) - objective(w - step)) / 2e-6
    assert (gradient[0] @ direction).item() == pytest.approx(slope.item(), rel=1e-7)


def test_frozen_copies_pass_gradients_to_inputs_and_keep_their_parameters():
    net = small()
    x, y, _ = batch_of(net)
    teacher, w = net.at(net.start(5)), net.start(6).unsqueeze(0)
    expected = net.output(net.start(5).unsqueeze(0), x)
    point = x.clone().requires_grad_()
    output = teacher.output(point)
    torch.testing.assert_close(output, expected)
    gradient = net.gradient(w, (x, y, None))  # the work module serves another row in between
    (to_input,) = torch.autograd.grad(output.sum(), point)
    assert to_input.abs().sum() > 0
    assert torch.equal(teacher.head(teacher.features(x)), teacher.output(x))
    assert not teacher.output(x).requires_grad
    assert torch.equal(net.gradient(w, (x, y, None)), gradient)


def test_a_shared_weight_counts_once_and_gets_both_gradients():
    net = Network("tied", Tied, dtype=torch.float64)
    assert net.dim == 36 + 6 + 6
    w = net.start(1).requires_grad_()
    x = torch.randn(1, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    y = torch.tensor([[0, 3, 5, 2]])
    weight, first, second = w[:36].view(6, 6), w[36:42], w[42:]
    (expected,) = torch.autograd.grad(F.cross_entropy(torch.tanh(x[0] @ weight.T + first) @ weight.T + second, y[0]), w)
    torch.testing.assert_close(net.gradient(w.detach().unsqueeze(0), (x, y, None))[0], expected, rtol=1e-12, atol=1e-14)


def test_parameters_that_do_nothing_have_gradient_zero():
    def build() -> nn.Module:
        module = nn.Linear(5, 3)
        module.idle = nn.Parameter(torch.ones(4))
        return module

    net = Network("idle", build, dtype=torch.float64)
    gradient = net.gradient(net.start(1).unsqueeze(0), batch_of(net))
    columns = net.layers["idle"]
    assert not gradient[0, columns].any()
    assert gradient.norm() > 0.1


def test_long_rows_are_not_kept_alive():
    net = Network("wide", lambda: nn.Linear(1024, KEPT // 1024 + 1), dtype=torch.float32)
    w = net.start(0).unsqueeze(0)
    assert w.numel() > KEPT
    batch = torch.randn(1, 2, 1024), torch.tensor([[1, 2]]), None
    before = net.gradient(w, batch)
    w.sub_(before, alpha=0.5)
    assert not torch.allclose(net.gradient(w, batch), before)
    assert not net.work._kept


def test_training_equals_torch_s_own_optimizer_on_a_module_per_client():
    net = network("fedcog_cnn(channels=1, side=16, precision='float64')")
    generator = torch.Generator().manual_seed(6)
    x, y = torch.randn(70, 1, 16, 16, generator=generator, dtype=torch.float64), torch.arange(70) % 7
    federation = Federation.of(x, y, [np.arange(20), np.arange(20, 45), np.arange(45, 70)])
    setting = Setting(rounds=2, cohort=3, batch=20, step_size=0.07, local_steps=3, momentum=0.9, weight_decay=0.01)
    *_, last = rounds(net, federation, fedavg, setting, seed=5, engine=ClientLoop())
    server = net.start(5)
    for round_ in range(2):
        ends = []
        for client in range(3):
            module = net.build().double()
            nn.utils.vector_to_parameters(server.clone(), module.parameters())
            optimizer = torch.optim.SGD(module.parameters(), lr=0.07, momentum=0.9, weight_decay=0.01)
            batches = federation.draw(5, round_, np.array([client]), np.array([3]), 20)
            for step in range(3):
                inputs, targets, weight = batches.at(1, step)
                losses = F.cross_entropy(module(inputs[0]), targets[0], reduction="none")
                optimizer.zero_grad()
                (losses.mean() if weight is None else (losses * weight[0]).sum()).backward()
                optimizer.step()
            ends.append(nn.utils.parameters_to_vector(module.parameters()).detach())
        server = torch.stack(ends).mean(0)
    torch.testing.assert_close(last.model, server, rtol=1e-9, atol=1e-10)
    assert (last.model - net.start(5)).norm() > 0.01


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


def test_evaluation_in_chunks_equals_all_at_once():
    whole, chunked = small(), Network("chunked", small().build, dtype=torch.float64, chunk=4)
    x, y, _ = batch_of(whole, samples=11)
    w = whole.start(2).unsqueeze(0)
    output = whole.output(w, x)
    with torch.no_grad():
        torch.testing.assert_close(chunked.output(w, x), output, rtol=1e-13, atol=1e-13)
        torch.testing.assert_close(chunked.task_loss(w, (x, y, None)), whole.losses(output, y).mean(-1))
        seen: list[int] = []
        handle = chunked.work.module.register_forward_pre_hook(lambda module, args: seen.append(len(args[0])))
        chunked.task_loss(w, (x, y, None))
        handle.remove()
        assert seen == [4, 4, 3]
    losses, correct = chunked.evaluate(w, x, y)
    torch.testing.assert_close(losses, whole.losses(output, y), rtol=1e-12, atol=1e-13)
    assert torch.equal(correct, whole.correct(output, y))
    assert 0 < correct.sum() < 11
    assert not losses.requires_grad


def test_several_rows_are_refused():
    net = small()
    with pytest.raises(RuntimeError, match="split"):
        net.output(torch.stack([net.start(1), net.start(2)]), batch_of(net)[0])


def test_inputs_of_another_shape_are_refused_by_name():
    images, flat = network("fedcog_cnn"), network("femnist_dnn")
    with pytest.raises(EmpiricsError, match=r"takes samples of shape \(3, 32, 32\); got \(1, 28, 28\)"):
        images.output(images.start(0).unsqueeze(0), torch.zeros(1, 2, 1, 28, 28))
    w = flat.start(0).unsqueeze(0)
    x = torch.randn(1, 2, 1, 28, 28)
    assert torch.equal(flat.output(w, x), flat.output(w, x.flatten(2)))
    with pytest.raises(EmpiricsError, match="got"):
        flat.output(w, torch.zeros(1, 2, 783))


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        (nn.BatchNorm1d(7, track_running_stats=False), "batch norm"),
        (nn.BatchNorm1d(7, momentum=None), "batch norm"),
        (nn.Dropout(0.1), "dropout"),
    ],
)
def test_other_statistics_and_noise_outside_of_the_row_are_refused(part, complaint):
    net = Network("mine", lambda: nn.Sequential(nn.Linear(5, 7), part, nn.Linear(7, 3)))
    with pytest.raises(EmpiricsError, match=complaint):
        net.output(net.start(0).unsqueeze(0), torch.zeros(1, 2, 5))


def test_modules_without_halves_train_but_say_so():
    net = Network("mine", lambda: nn.Linear(5, 3), CrossEntropy())
    x, y, _ = batch_of(net)
    w = net.start(0).unsqueeze(0)
    assert net.gradient(w, (x, y, None)).shape == (1, 18)
    with pytest.raises(EmpiricsError, match="mine has no features"):
        net.features(w, x)


# ---- memory ----

FAULTS = """
import ctypes, resource
from empirics.models.memory import keep_freed_memory

c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c.memset.argtypes, c.free.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], [ctypes.c_void_p]

def step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [c.malloc(1_000_000) for _ in range(20)]
    for block in blocks:
        c.memset(block, 1, 1_000_000)
    for block in blocks:
        c.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for _ in range(4):
    given_back = step()
asked = keep_freed_memory()
for _ in range(4):
    kept = step()
print(asked, given_back, kept)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="page faults are counted on Linux")
def test_page_faults_end_where_the_c_library_can_be_asked():
    out = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    asked, given_back, kept = out.stdout.split()
    if asked == "True":  # glibc
        assert int(given_back) > 1_000
        assert int(kept) < 100


def test_networks_ask_for_it():
    from empirics.models import memory

    memory.keep_freed_memory.cache_clear()
    _ = network("femnist_dnn").dim
    assert memory.keep_freed_memory.cache_info().misses == 1
