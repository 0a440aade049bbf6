"""Everything that would run on a GPU, run on a device that pretends to be one: the CPU's numbers, and all recorded."""

import numpy as np
import pytest
import torch
from empirics_toys import needs_an_algorithm
from network_samples import samples
from network_toys import federation, NET
from pretended import Pretended, pretended

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.algorithms.algorithm import fedavg
from empirics.experiments import Cell
from empirics.experiments.cells import run
from empirics.experiments.jobs import train
from empirics.federation.federation import Federation
from empirics.measuring import measurement, MEASUREMENTS, Run
from empirics.measuring.constants import constants
from empirics.models.networks import network, NETWORKS
from empirics.problems.tasks import task
from empirics.training.engines import choose, ClientLoop
from empirics.training.engines.graphs import Graphs
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

WRITTEN = {
    "fedcog": "fedcog(samples=5, steps=2, after=2, batch=3)",
    "vhl": "vhl(batch=3, per_class=4)",
    "fedgen": "fedgen(batch=4, noise=3, hidden=6, generator_steps=2)",
    "fedrep": "fedrep(head_steps=2)",
    "layerwise": "layerwise(scaffold(), alpha=3)",
    "with_consensus_data": "with_consensus_data(fedprox(mu=0.1), samples=5, steps=2)",
}
SMALLER = {
    "opt": "opt(width=16, depth=3, heads=2, hidden=32, classes=50, length=9)",
    "shakespeare_gru": "shakespeare_gru(width=8, depth=1, length=6)",
}
LARGE = ("resnet18", "resnet20", "vgg11", "fedcog_cifar100_cnn")


def trained(engine, net, data, method, plan):
    """The server's models after every round, wherever they lie, on the CPU."""
    found = torch.stack([state.model.cpu().clone() for state in rounds(net, data, method, plan, 3, engine)])
    return found.held if isinstance(found, Pretended) else found


def compare(net, data, method, plan):
    """The largest difference from the CPU's loop, over how far training moved, and the engine of the device."""
    plain = trained(ClientLoop(), net, data, method, plan)
    with pretended() as device:
        engine = Graphs()
        there = trained(engine, net, data.to(device), method, plan)
    return float((there - plain).abs().max() / (plain[-1] - plain[0]).abs().max()), engine


@pytest.mark.parametrize("local", [{"local_steps": 3}, {"local_epochs": 1, "momentum": 0.4}], ids=["steps", "epochs"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_recorded_and_gives_the_cpus_numbers(name, local):
    method = algorithm(WRITTEN.get(name, f"{name}(fedavg())" if needs_an_algorithm(name) else f"{name}()"))
    plan = Setting(rounds=5, cohort=3, batch=4, step_size=0.11, client_weight="samples", **local)
    apart, engine = compare(NET, federation(), method, plan)
    assert apart < 1e-12
    assert not engine.refused
    if "local_steps" in local:
        assert engine.replayed > 0


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in LARGE else ()) for n in NETWORKS])
def test_every_network_is_recorded_and_gives_the_cpus_numbers(name):
    net = network(SMALLER.get(name, f"{name}()"), precision="float64")
    inputs = samples(net, 8)[0]
    shape = net.output(net.start(1).unsqueeze(0), inputs[:2].unsqueeze(0)).shape
    draw = torch.Generator().manual_seed(11)
    if name == "opt":
        targets = torch.randint(0, 50, inputs.shape, generator=draw)
    elif len(shape) == 2:  # one number: a binary task
        targets = torch.randint(0, 2, (8,), generator=draw).float() * 2 - 1
    else:
        targets = torch.randint(0, shape[-1], (8,), generator=draw)
    data = Federation.of(inputs, targets, np.split(np.arange(8), 2))
    apart, engine = compare(net, data, fedavg, Setting(rounds=3, cohort=2, batch=2, step_size=0.01, local_steps=2))
    assert apart < 1e-9
    assert not engine.refused
    assert engine.replayed > 0


def test_a_gpu_evaluates_thousands_of_samples_at_once():
    net, seen = network("femnist_dnn()"), []
    inputs, targets = torch.randn(1, 3000, 1, 28, 28), torch.zeros(1, 3000, dtype=torch.int64)
    net.work.module.register_forward_pre_hook(lambda module, given: seen.append(len(given[0])))
    net.evaluate(net.start(1).unsqueeze(0), inputs, targets)
    assert max(seen) == net.chunk == 128
    seen.clear()
    with pretended() as device:
        net.evaluate(net.start(1).to(device).unsqueeze(0), inputs.to(device), targets.to(device))
    assert seen == [2048, 952]


def test_networks_on_another_device_run_as_graphs():
    with pretended() as device:
        assert isinstance(choose(NET, device), Graphs)


def test_the_pretended_device_notices_what_a_gpu_would():
    """Without this nothing above would show anything."""
    with pretended() as device:
        there, here = torch.randn(4, 3).to(device), torch.randn(4, 3)
        assert torch.equal((there @ there.T).cpu(), there.cpu() @ there.cpu().T)
        for mistake in (lambda: there + here, lambda: torch.cat([there, here]), lambda: there.numpy()):
            with pytest.raises(RuntimeError):
                mistake()
        assert (there * torch.tensor(2.0)).device == device, "a number may lie on the CPU"
        copied = here.to(device)
        here.zero_()
        assert float(copied.abs().sum()) > 0, "what lies there is a copy"


# ---- what is measured ----


def read(text, name, device=None):
    """The numbers that a short run gives for one measurement."""
    problem = task(text).deal("dirichlet(1.0)" if "digits" in text else "iid", 5, 1, local_test="held_out")
    problem = problem if device is None else problem.to(device)
    plan = Setting(rounds=3, cohort=3, batch=8, step_size=0.05, local_steps=3)
    observed = Run(problem, algorithm("scaffold()"), plan, 2, [measurement(name)], 1)
    return [row.value for _, read_ in observed for row in read_]


@pytest.mark.parametrize("text", ["softmax(digits, regularisation=0.1)", "ridge(diabetes, regularisation=0.1)"])
def test_every_measurement_of_a_convex_problem_is_the_cpus(text):
    for name in MEASUREMENTS:
        if name == "training_seconds":  # the clock's
            continue
        written = {"runtime": "runtime(upload_rate=2)", "average_gap": "average_gap(growth=1.01)"}.get(name, name)
        with pretended() as device:
            there = read(text, written, device)
        assert len(there) > 2
        assert there == pytest.approx(read(text, written), rel=1e-9, abs=1e-12, nan_ok=True), name


def test_measurements_of_a_network_are_the_cpus():
    for name in ("train_loss", "test_accuracy", "divergence", "grad_norm_sq", "local_gap", "consensus_distance"):
        with pretended() as device:
            there = read("femnist_dnn(digits)", name, device)
        assert there == pytest.approx(read("femnist_dnn(digits)", name), rel=1e-4), name


@pytest.mark.parametrize(
    "text",
    ["softmax(digits, regularisation=0.1)", "ridge(diabetes, regularisation=0.1)", "femnist_dnn(digits)"],
)
def test_constants_are_the_cpus(text):
    def found(device=None):
        problem = task(text).deal("iid", 4, 1)
        return constants(problem if device is None else problem.to(device), 8, quick=True)

    with pretended() as device:
        there = found(device)
    here = found()
    assert there.keys() == here.keys()
    for name, constant in here.items():
        np.testing.assert_allclose(there[name].value, constant.value, rtol=1e-5, err_msg=name)


# ---- jobs ----


def test_cells_that_ask_for_a_gpu_compute_there(monkeypatch):
    """The three jobs that train, with the arguments of a cell, against the same cells on the CPU."""
    asked = []
    monkeypatch.setattr(train, "device_named", lambda name: asked.append(name) or torch.device("meta"))
    common = {
        "problem": "femnist_dnn(held_out(digits))",
        "clients": 4,
        "cohort": 2,
        "batch": 8,
        "step_size": 0.05,
        "seed": 1,
    }
    common |= {"algorithm": "fedavg()", "local_steps": 2}
    cells = [
        Cell("train", {**common, "rounds": 2, "measure": ["train_loss"]}),
        Cell("continued", {**common, "rounds": 4, "after": 2, "first": "scaffold()", "measure": ["train_loss"]}),
        Cell("timed", {**common, "seconds": 5.0, "points": 3, "probe": 20, "minibatch_time": 0.01, "model_size": 0.1,
                       "download_rate": 20.0, "upload_rate": 5.0}),
    ]  # fmt: skip
    for cell in cells:
        here = run(cell.home, cell.arguments)
        with pretended():
            there = run(cell.home, {**cell.arguments, "engine": "cuda"})
        assert asked, f"{cell.job} did not ask for the device"
        asked.clear()
        assert there.columns.keys() == here.columns.keys()
        numbers = [name for name, column in here.columns.items() if isinstance(column[-1], float)]
        assert numbers
        for name in numbers:
            np.testing.assert_allclose(np.array(there.columns[name], float), here.columns[name], rtol=1e-4)
