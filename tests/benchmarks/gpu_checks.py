"""Every algorithm, network and job on another device against the CPU: what a GPU is asked first, and a pretended one.

A place is where the other side computes: a context that gives the device, ``pretended()`` or ``gpu()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import torch
from empirics_toys import needs_an_algorithm
from network_toys import federation, NET, samples
from pretended import PRETENDED, Pretended, pretended as foreign

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.algorithms.algorithm import fedavg
from empirics.experiments import Cell
from empirics.experiments.cells import run
from empirics.experiments.jobs import train
from empirics.federation.federation import Federation
from empirics.models.networks import network, NETWORKS
from empirics.training.engines import ClientLoop, device_named
from empirics.training.engines.graphs import Graphs
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

Place = Callable[[], AbstractContextManager[torch.device]]

WRITTEN = {
    "fedcog": "fedcog(samples=5, steps=2, after=1, batch=3)",
    "vhl": "vhl(batch=3, per_class=4)",
    "fedgen": "fedgen(batch=4, noise=3, hidden=6, generator_steps=2)",
    "fedreg": "fedreg(iterations=2)",
    "fedrep": "fedrep(head_steps=2)",
    "layerwise": "layerwise(scaffold(), alpha=2)",
    "with_consensus_data": "with_consensus_data(fedprox(mu=0.1), samples=5, steps=2)",
}
SMALLER = {
    "opt": "opt(width=16, depth=3, heads=2, hidden=32, classes=50, length=9)",
    "shakespeare_gru": "shakespeare_gru(width=8, depth=1, length=6)",
}
LARGE = ("resnet18", "resnet20", "vgg11", "fedcog_cifar100_cnn")
LOCAL: dict[str, dict[str, Any]] = {"steps": {"local_steps": 3}, "epochs": {"local_epochs": 1, "momentum": 0.4}}
_COMMON = {
    "problem": "femnist_dnn(held_out(digits))", "clients": 4, "cohort": 2, "batch": 8, "step_size": 0.05, "seed": 1,
    "algorithm": "fedavg()", "local_steps": 2,
}  # fmt: skip
CELLS = {
    "train": {"rounds": 2, "measure": ["train_loss"]},
    "continued": {"rounds": 4, "after": 2, "first": "scaffold()", "measure": ["train_loss"]},
    "timed": {"seconds": 1.2, "points": 3, "probe": 6, "minibatch_time": 0.01, "model_size": 0.1,
              "download_rate": 20.0, "upload_rate": 5.0},
}  # fmt: skip
"""The jobs that train, each with the arguments of a small cell."""


@dataclass(frozen=True)
class Found:
    """The largest difference from the CPU, over how far training moved; what the recorder refused; what it replayed."""

    apart: float
    refused: str = ""
    replayed: int = 0


@contextmanager
def pretended() -> Iterator[torch.device]:
    """The device that only pretends, for cells too that ask for a GPU."""
    with foreign() as device, mock.patch.object(train, "device_named", return_value=PRETENDED):
        yield device


@contextmanager
def gpu() -> Iterator[torch.device]:
    """The GPU."""
    yield device_named("cuda")


def trained(engine: Any, net: Any, data: Any, method: Any, plan: Setting) -> torch.Tensor:
    """The server's models after every round, wherever they lie, on the CPU."""
    found = torch.stack([state.model.cpu().clone() for state in rounds(net, data, method, plan, 3, engine)])
    return found.held if isinstance(found, Pretended) else found


def compare(net: Any, data: Any, method: Any, plan: Setting, place: Place) -> Found:
    """The CPU's loop against the engine of GPUs at that place."""
    plain = trained(ClientLoop(), net, data, method, plan)
    with place() as device:
        engine = Graphs()
        there = trained(engine, net, data.to(device), method, plan)
    moved = float((plain[-1] - plain[0]).abs().max())
    refused = "; ".join(sorted(set(engine.refusals.values())))
    return Found(float((there - plain).abs().max()) / moved, refused, engine.replays)


def of_algorithm(name: str, local: str, place: Place) -> Found:
    """A method on a network of 31 numbers, with this local work, in float64."""
    method = algorithm(WRITTEN.get(name, f"{name}(fedavg())" if needs_an_algorithm(name) else f"{name}()"))
    plan = Setting(rounds=3, cohort=3, batch=4, step_size=0.11, client_weight="samples", **LOCAL[local])
    return compare(NET, federation(), method, plan, place)


def of_network(name: str, place: Place) -> Found:
    """Two or three rounds of FedAvg on random inputs, in float64."""
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
    rounds = 2 if name in ("resnet18", "vgg11") else 3  # ten million numbers: replayed in the second round already
    return compare(net, data, fedavg, Setting(rounds=rounds, cohort=2, batch=2, step_size=0.01, local_steps=2), place)


def of_job(name: str, place: Place) -> Found:
    """A cell with float32 numbers: the largest relative difference of any number in its table."""
    cell = Cell(name, {**_COMMON, **CELLS[name]})
    here = run(cell.home, cell.arguments).columns
    with place():
        there = run(cell.home, {**cell.arguments, "engine": "cuda"}).columns
    assert there.keys() == here.keys()
    numbers = [column for column in here if isinstance(here[column][-1], float)]
    assert numbers, f"{name} tells no numbers"
    pairs = [np.array([there[column], here[column]], float) for column in numbers]
    return Found(max(float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 1e-9))) for a, b in pairs))


def everything(few: bool) -> dict[str, dict[str, Callable[[Place], Found]]]:
    """All checks by lane, which may run side by side; ``few`` of every kind for a rehearsal."""
    algorithms = ("fedavg", "scaffold", "fedcog") if few else tuple(ALGORITHMS)
    networks = ("sent140_linear", "femnist_dnn") if few else tuple(NETWORKS)
    lanes: dict[str, dict[str, Callable[[Place], Found]]] = {
        local: {f"algorithm {name}, local {local}": partial(of_algorithm, name, local) for name in algorithms}
        for local in LOCAL
    }
    small = {f"network {name}": partial(of_network, name) for name in networks if name not in LARGE}
    large = {f"network {name}": partial(of_network, name) for name in networks if name in LARGE}
    jobs = {f"job {name}": partial(of_job, name) for name in CELLS}
    if few:
        return {"all": lanes["steps"] | small | {name: jobs[name] for name in list(jobs)[:2]}}
    return lanes | {"networks": small, "large": large, "jobs": jobs}
