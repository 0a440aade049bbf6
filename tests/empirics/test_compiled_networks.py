"""Compiled passes against torch: gradients, halves, losses, algorithms, and what is not served."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import torch
from loops import cases
from refusals import all_refused
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.experiments import Cell
from empirics.experiments.cells import run
from empirics.federation.federation import Federation
from empirics.models.compiled import compiled, ENGINES, NotServed
from empirics.models.losses import LOSSES
from empirics.models.network import Network
from empirics.models.networks import network
from empirics.models.networks.blocks import Split
from empirics.training.engines import ClientLoop
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ["fedcog_cnn(channels=1, side=28)", "fedcog_cifar100_cnn", "decaying_k_cnn", "femnist_dnn"]


def lenet():
    return nn.Sequential(
        nn.Conv2d(2, 5, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(5, 7, (3, 2), bias=False),
        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(7 * 2 * 2, 9), nn.ReLU(), nn.Linear(9, 4),
    )  # fmt: skip


def batch_of(net, shape, samples, classes, seed=3, weighted=False):
    draws = torch.Generator().manual_seed(seed)
    inputs = torch.randn(1, samples, *shape, generator=draws)
    targets = torch.randint(0, classes, (1, samples), generator=draws)
    weight = torch.rand(1, samples, generator=draws) if weighted else None
    return inputs, targets, weight


def in_double(net):
    return Network(net.name, net.build, net.loss, torch.float64, net.input_shape)


def double(batch):
    return batch[0].double(), batch[1], None if batch[2] is None else batch[2].double()


def errors(net, w, batch, found):
    """Relative distance of every layer's gradient, weights and bias together, from that of float64 autograd."""
    exact = in_double(net).gradient(w.double(), double(batch))
    return relative(net, found.double() - exact, exact)


def relative(net, away, exact):
    """Size of every layer's part of ``away`` beside that of ``exact``."""
    return {
        name: float(away[:, at].norm() / exact[:, at].norm(dim=1).mean().clamp(min=1e-12))
        for name, at in net.weight_layers.items()
    }


def ties():
    return nn.Sequential(nn.Conv2d(1, 3, 1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 3))


def networks():
    """Networks, each with a batch of its inputs."""
    for name in PAPERS:
        net = network(name)
        for samples, weighted in ((32, False), (7, True)):
            yield net, batch_of(net, net.input_shape, samples, net.build.classes, weighted=weighted)
    yield net, batch_of(net, net.input_shape, 300, 62)  # more samples than a chunk
    own = Network("strides and rims", lenet)
    inputs, targets, _ = batch = batch_of(own, (2, 23, 21), 19, 4)
    yield own, batch
    several = torch.randint(0, 2, (*targets.shape, 4), generator=torch.Generator().manual_seed(8))
    yield Network("another loss", lenet, LOSSES["multi_label"]), (inputs, several, None)
    inputs, targets, _ = batch_of(own, (1, 4, 4), 5, 3)
    yield Network("ties", ties), (inputs.round(), targets, None)  # equal numbers in a window: of three values


@cases("net batch", networks())
def test_gradients_are_those_of_float64_autograd_or_at_most_twice_as_far_from_them_as_torchs(net, batch):
    w = net.start(5).unsqueeze(0)
    torchs = errors(net, w, batch, net.gradient(w, batch))
    for name, error in errors(net, w, batch, compiled(net).gradient(w, batch)).items():
        assert error <= max(1e-6, 2 * torchs[name])


@pytest.mark.parametrize(
    ("name", "samples", "torchs"),
    [("femnist_dnn", 256, True), ("femnist_dnn", 40, False), ("femnist_dnn", 3, True), ("decaying_k_cnn", 70, True),
     (PAPERS[0], 256, False), (PAPERS[0], 40, False), (PAPERS[1], 150, False)],
)  # fmt: skip
def test_evaluation_is_torchs_and_to_the_last_bit_where_compiled_passes_gain_nothing(name, samples, torchs):
    net = network(name)
    w, batch = net.start(5).unsqueeze(0), batch_of(net, net.input_shape, samples, 10)
    found, expected = (model.evaluate(w, *batch[:2]) for model in (compiled(net), net))
    assert torch.equal(found[0], expected[0]) is torchs
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert torch.allclose(ours.float(), theirs.float(), rtol=1e-5, atol=1e-6)


def test_gradients_reach_the_inputs_and_both_halves_and_no_parameters_of_a_frozen_network():
    net = network(PAPERS[0])
    inputs, targets, _ = batch_of(net, net.input_shape, 9, 10)

    def made(model):
        x, row = inputs.clone().requires_grad_(), net.start(5).unsqueeze(0).requires_grad_()
        z = model.features(row, x)
        loss = model.losses(model.head(row, z), targets).mean() + z.square().mean()
        found = [z, *torch.autograd.grad(loss, [row, x])]
        teacher = model.at(row[0])
        output = teacher.output(x)
        assert torch.allclose(output, teacher.head(teacher.features(x)), rtol=1e-5, atol=1e-6)
        (slope,) = torch.autograd.grad(output.square().mean(), x)
        assert row.grad is None
        return [*found, output, slope]

    for ours, theirs in zip(made(compiled(net)), made(net), strict=True):
        assert ours.shape == theirs.shape
        assert not torch.equal(ours, theirs)  # by other code
        assert float((ours - theirs).detach().norm() / theirs.detach().norm()) < 1e-5


def test_second_gradients_of_rows_and_inputs_are_those_of_torch():
    net = Network("smooth", lambda: nn.Sequential(nn.Linear(7, 9), nn.ReLU(), nn.Linear(9, 3)))
    inputs, targets, _ = batch_of(net, (7,), 5, 3)

    def penalised(model):
        row, x = model.start(5).unsqueeze(0).requires_grad_(), inputs.clone().requires_grad_()
        loss = model.task_loss(row, (x, targets, None)).sum()
        steep, along = torch.autograd.grad(loss, [row, x], create_graph=True)
        return torch.autograd.grad(loss + 0.3 * steep.square().sum() + 0.7 * along.square().sum(), [row, x])

    for ours, theirs in zip(penalised(compiled(net)), penalised(net), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def dealt(net, clients=5, each=37, seed=6):
    inputs, targets, _ = batch_of(net, net.input_shape, clients * each, 10, seed)
    return Federation(inputs[0], targets[0], torch.arange(clients * each), np.arange(0, clients * each + 1, each))


SETTING = Setting(rounds=2, cohort=4, batch=16, local_steps=3, step_size=0.05)


def trained(net, method, engine, setting=SETTING, seed=4):
    return list(rounds(net, dealt(net), algorithm(method), setting, seed, engine))[-1].model


METHODS = ["fedavg", "moon", "feddecorr", "vhl(batch=9)", "fedgen(generator_steps=3)",
           "fedcog(samples=8, steps=3, after=0)", "fedreg(iterations=2)"]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_updates_are_at_most_twice_as_far_from_those_in_double_precision_as_those_of_torch(method):
    net = network(PAPERS[0])

    def off(seed):
        """How far torch is in the update, as a share of it, and how many times as far compiled passes are."""
        exact, theirs, ours = (
            trained(model, method, ClientLoop(), seed=seed).double() for model in (in_double(net), net, compiled(net))
        )
        far = float((theirs - exact).norm())
        return far / float((exact - net.start(seed)).norm()), float((ours - exact).norm()) / far

    # feddecorr divides by how much a column varies: for next to nothing at times, and then rounding is a lottery
    shares, times = zip(*map(off, (1, 2, 7) if method == "feddecorr" else (4,)), strict=True)
    assert median(shares) < 1e-2
    assert median(times) <= 2


def test_numbers_do_not_depend_on_the_threads_which_compiled_networks_are_given():
    net = compiled(network(PAPERS[0]))
    ragged = Setting(rounds=2, cohort=5, batch=16, local_epochs=1, step_size=0.05)
    for method, counts in (("fedavg", (2, 3)), ("fedcog(samples=4, steps=1, after=0, generator=True)", (3,))):
        alone = trained(net, method, ClientLoop(), ragged)
        assert all(torch.equal(trained(net, method, ClientLoop(threads=count), ragged), alone) for count in counts)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_stops_a_thread_is_raised_and_the_threads_go_on_with_the_next_round(error):
    def stops(work, w, gradient, gradient_at):
        raise error("stop")

    net, engine = compiled(network(PAPERS[0])), ClientLoop(threads=2)
    with pytest.raises(error):
        list(rounds(net, dealt(net), renamed(fedavg, "stops()", direction=stops), SETTING, 4, engine))
    assert torch.equal(trained(net, "fedavg", engine), trained(net, "fedavg", ClientLoop()))


CELL = {"algorithm": "fedavg()", "problem": "femnist_dnn(digits, pixels=64, classes=10)", "seed": 3, "rounds": 1,
        "measure": ["train_loss"], "clients": 4}  # fmt: skip


CHANGING = {**CELL, "first": "fedavg()", "after": 1, "rounds": 2, "algorithm": "fedcog(samples=4, steps=2, after=0)"}


@pytest.mark.parametrize(
    ("job", "words", "exact"),
    [("train", CELL, 1e-3), ("train", {**CELL, "problem": "softmax(digits)"}, 1e-10), ("continued", CHANGING, 1e-3)],
)
def test_the_engine_is_in_a_cells_key_and_card_and_torch_changes_no_key(job, words, exact):
    torchs, ours = Cell(job, words), Cell(job, {**words, "engine": ENGINES[-1]})
    assert Cell(job, {**words, "engine": "torch"}).key == torchs.key != ours.key
    theirs, found = (run(cell.home, cell.arguments) for cell in (torchs, ours))
    assert found.facts == {**theirs.facts, "engine": ENGINES[-1]}
    assert found.columns["value"] == pytest.approx(theirs.columns["value"], rel=exact)
    assert (found.columns["value"] != theirs.columns["value"]) is (exact > 1e-6)


NOT_SERVED = [
    (lambda: nn.Sequential(nn.Flatten(), nn.Linear(9, 4), nn.Tanh(), nn.Linear(4, 3)), "2 Tanh"),
    (lambda: nn.Sequential(nn.Conv2d(2, 4, 3, groups=2), nn.Flatten()), "groups"),
    (lambda: nn.Sequential(nn.MaxPool2d(2, stride=1), nn.Flatten(), nn.Linear(9, 3)), "0 MaxPool2d"),
    (lambda: Split(nn.GRU(3, 4), nn.Linear(4, 2)), "features GRU"),
    (lambda: nn.Sequential(*[nn.Linear(4, 4)] * 2), "weight"),
    ("sent140_linear", "one dense"),
    ("femnist_dnn(precision='float64')", "float64"),
]


def test_a_network_that_is_not_served_stays_on_torch_and_says_why():
    made = ((network(net) if isinstance(net, str) else Network("own", net), why) for net, why in NOT_SERVED)
    all_refused(made, compiled, NotServed)


TRAINS = """import sys
sys.modules["numba"] = None
import fedbounds
words = "train --rounds 1 --clients 3 --problem".split()
sys.exit(fedbounds.main([*words, "femnist_dnn(digits, pixels=64, classes=10)"]))"""


def test_training_without_numba_takes_torch_and_one_line_says_so():
    quiet = {**os.environ, "FEDBOUNDS_PROGRESS": "none"}
    done = subprocess.run([sys.executable, "-c", TRAINS], cwd=ROOT, capture_output=True, text=True, env=quiet)
    assert done.returncode == 0
    assert "round 1: train_loss" in done.stdout
    assert "numbers by" not in done.stdout  # torch, the default
    (reason,) = done.stderr.splitlines()
    assert "numba" in reason
    assert "ModuleNotFoundError" in reason
