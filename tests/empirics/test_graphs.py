"""Recorded local steps: buffers and replays give the loop's numbers, and what cannot be replayed is not."""

import pytest
import torch
from empirics_toys import ByRound, directed, even, Halving, ragged, small, TowardsAll
from loops import cases
from torch import nn

from empirics.algorithms.algorithm import fedavg, Rows
from empirics.algorithms.local import scaffold
from empirics.errors import EmpiricsError
from empirics.models.network import Network
from empirics.training.engines import ClientLoop
from empirics.training.engines.graphs import capture, Graphs
from empirics.training.engines.stacking import StackedNetwork
from empirics.training.engines.tracing import has_no_dropout, Rehearsal, Untraceable
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

EXACT = torch.float64
LOCAL = {
    "steps": {"local_steps": 3},
    "epochs": {"local_epochs": 2},
    "momentum": {"local_steps": 3, "momentum": 0.4},
    "adamw": {"local_epochs": 1, "optimizer": "adamw"},
    "clip": {"local_epochs": 2, "clip": 0.3, "weight_decay": 0.02},
}


def setting(rounds_=5, **local):
    return Setting(rounds=rounds_, cohort=4, batch=8, step_size=0.11, **local)


def trained(engine, algorithm, plan, federation, dtype=EXACT):
    return torch.stack([s.model.clone() for s in rounds(small(dtype), federation, algorithm, plan, 3, engine)])


def gap(engine, algorithm, plan, federation, plain=None):
    """Largest difference from the loop, over how far training moved."""
    plain = trained(ClientLoop(), algorithm, plan, federation) if plain is None else plain
    moved = (plain[-1] - plain[0]).abs().max()
    assert moved > 1e-3
    return float((trained(engine, algorithm, plan, federation) - plain).abs().max() / moved)


@cases("local", LOCAL)
def test_replays_equal_the_loop(local):
    """The methods are those of the tests of the pretended device."""
    run = scaffold(), setting(4, **LOCAL[local]), ragged(EXACT)
    plain = trained(ClientLoop(), *run)
    for together in (None, 1, 3):
        engine = Graphs(together)
        assert gap(engine, *run, plain) < 1e-12
        assert not engine.refusals
        if local == "epochs" or together == 1:
            assert engine.replays > engine.recordings > 0


def test_equal_clients_are_recorded_whole_and_once_or_not_at_all_where_that_is_asked_for():
    engine = Graphs()
    assert gap(engine, scaffold(), setting(local_steps=3), even(EXACT)) < 1e-12
    assert (engine.recordings, engine.replays) == (1, 4), "the first round runs as it is, the second is recorded"
    with pytest.raises(EmpiricsError, match="together"):
        Graphs(0)
    engine = Graphs(record=False)
    assert gap(engine, fedavg, setting(local_epochs=2), ragged(EXACT)) < 1e-12
    assert engine.recordings == engine.replays == 0


def test_first_losses_are_the_loops():
    class Report:
        needs_loss = True

        def __call__(self, state, steps, step_size):
            return steps, step_size

    algorithm = directed(fedavg.direction, steps=Report())
    for federation in (even(EXACT), ragged(EXACT)):
        for together in (None, 1, 2):
            runs = [
                list(rounds(small(EXACT), federation, algorithm, setting(local_epochs=1), 3, engine))[-1].losses
                for engine in (Graphs(together), ClientLoop())
            ]
            assert runs[0] == pytest.approx(runs[1], rel=1e-12)
            assert len(set(runs[0])) == 5


@pytest.mark.parametrize(
    ("direction", "reason"),
    [(Halving(), "local_scalar_dense"), (ByRound(), "the round"), (TowardsAll(), "all clients' last")],
    ids=lambda value: type(value).__name__,
)
def test_hooks_that_look_are_run_as_they_are(direction, reason):
    algorithm = directed(direction, remember=(Rows("last"),))
    for together, local in ((None, "steps"), (1, "epochs"), (None, "epochs")):
        engine = Graphs(together)
        assert gap(engine, algorithm, setting(**LOCAL[local]), ragged(EXACT)) < 1e-12
        assert [reason in why for why in engine.refusals.values()] == [True]


@pytest.mark.parametrize(
    ("federation", "optimizer"), [(even, {}), (ragged, {"momentum": 0.4}), (ragged, {"optimizer": "adamw"})]
)
def test_step_sizes_that_fall_do_not_ask_for_new_recordings(federation, optimizer):
    engines = Graphs(), Graphs()
    falling = setting(12, local_epochs=1, step_size_decay=0.9, **optimizer)
    constant = setting(12, local_epochs=1, **optimizer)
    for engine, plan in zip(engines, (falling, constant), strict=True):
        assert gap(engine, fedavg, plan, federation(EXACT)) < 1e-12
    assert engines[0].recordings == engines[1].recordings > 0
    assert engines[0].replays == engines[1].replays > engines[0].recordings
    for together in (None, 1):  # within a round too
        engine = Graphs(together)
        assert gap(engine, scaffold(), setting(9, local_steps=3, step_offset=2.7, **optimizer), even(EXACT)) < 1e-12
        assert engine.replays > engine.recordings > 0


def test_a_rehearsal_refuses_what_leaves_the_device_or_fails():
    for operation in (
        lambda x: x.sum().item(),
        lambda x: x / 2 if x.norm() > 1 else x,
        lambda x: x[x > 0],
        lambda x: x.nonzero(),
        lambda x: x + torch.randn_like(x),
        lambda x: torch.equal(x, x),
    ):
        with pytest.raises(Untraceable), Rehearsal():
            operation(torch.arange(6.0) - 2.3)

    def fails():
        raise ValueError("planted")

    with pytest.raises(Untraceable, match="ValueError: planted"):
        capture(fails, torch.device("cpu"))


def test_kernels_that_may_draw_for_dropout_pass_where_there_is_none():
    """Recurrent layers and attention: on a GPU torch marks their kernels as drawing random numbers."""
    x = torch.randn(1, 2, 5, 4, requires_grad=True)
    attention = torch.nn.functional.scaled_dot_product_attention
    with Rehearsal():
        attention(x, x, x).sum().backward()
    with pytest.raises(Untraceable, match="aten::"), Rehearsal():
        attention(x, x, x, dropout_p=0.3)
    for kernel in (torch.ops.aten._cudnn_rnn.default, torch.ops.aten._scaled_dot_product_efficient_attention.default):
        arguments = [getattr(a, "default_value", None) for a in kernel._schema.arguments]
        place = next(i for i, a in enumerate(kernel._schema.arguments) if a.name in ("dropout", "dropout_p"))
        for chance, passes in ((0.0, True), (0.2, False)):
            given = [chance if i == place else value for i, value in enumerate(arguments)]
            assert has_no_dropout(kernel, given, {}) is passes


def normed():
    """A convolution and group norm on its channels."""
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.GroupNorm(3, 6), nn.Tanh(), nn.Flatten(), nn.Linear(216, 4))


@pytest.mark.parametrize("net", [small(EXACT), Network("normed", normed, dtype=EXACT)], ids=lambda net: net.name)
def test_a_stack_is_its_networks(net):
    kinds, stack = [type(part) for part in net.work.module], StackedNetwork(net)
    w = torch.stack([net.start(seed) for seed in (1, 2, 3)])
    noise = torch.Generator().manual_seed(2)
    inputs = torch.randn(3, 5, 1, 8, 8, generator=noise, dtype=EXACT)
    targets = torch.randint(0, 4, (3, 5), generator=noise)
    for weight in (torch.rand(3, 5, generator=noise, dtype=EXACT), None):
        loss, gradient = (take(w, (inputs, targets, weight)) for take in (stack.task_loss, stack.gradient))
        for row in range(3):
            alone = slice(row, row + 1)
            batch = tuple(None if part is None else part[alone] for part in (inputs, targets, weight))
            torch.testing.assert_close(loss[alone], net.task_loss(w[alone], batch), rtol=1e-12, atol=0)
            torch.testing.assert_close(gradient[alone], net.gradient(w[alone], batch), rtol=1e-11, atol=1e-14)
    assert (stack.dim, stack.layers) == (net.dim, net.layers)
    assert [type(part) for part in net.work.module] == kinds, "the network itself stays as it is"


@pytest.mark.gpu
@pytest.mark.parametrize("together", [None, 1])
@pytest.mark.parametrize("local", LOCAL)
def test_a_gpu_agrees_with_the_cpu_and_with_itself(local, together):
    plan, gpu = setting(**LOCAL[local]), ragged(EXACT).to("cuda")
    engine = Graphs(together)
    recorded = trained(engine, scaffold(), plan, gpu)
    assert torch.equal(recorded, trained(Graphs(together), scaffold(), plan, gpu))
    assert torch.equal(recorded, trained(Graphs(together, record=False), scaffold(), plan, gpu))
    plain = trained(ClientLoop(), scaffold(), plan, ragged(EXACT))
    assert (recorded.cpu() - plain).abs().max() < 1e-10
    assert not engine.refusals


@pytest.mark.gpu
def test_a_gpu_runs_what_cannot_be_recorded():
    engine, gpu = Graphs(), ragged(EXACT).to("cuda")
    models = trained(engine, directed(Halving()), setting(local_epochs=2), gpu)
    plain = trained(ClientLoop(), directed(Halving()), setting(local_epochs=2), ragged(EXACT))
    assert (models.cpu() - plain).abs().max() < 1e-10
    assert len(engine.refusals) == 1
