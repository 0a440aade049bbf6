"""What is timed on a GPU in minutes: networks of the papers' runs and two others, one way of training each.

Data are random, in the shapes of the real sets. Beside the engine's ways stands the loop of most research code; a rate
is a share of the device's own rate of matrix products.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from empirics.algorithms.algorithm import fedavg
from empirics.federation.federation import Federation
from empirics.models.networks import network
from empirics.training.engines.graphs import Graphs
from empirics.training.engines.precision import full_precision
from empirics.training.rounds import train_round
from empirics.training.setting import Setting


@dataclass(frozen=True)
class Case:
    """A network, its clients and its local work."""

    text: str
    shape: tuple[int, ...]
    clients: int
    cohort: int
    steps: int
    batch: int
    samples: int

    def federation(self, device: torch.device) -> Federation:
        noise = torch.Generator().manual_seed(1)
        count = self.clients * self.samples
        inputs = torch.randn(count, *self.shape, generator=noise)
        targets = torch.randint(0, 10, (count,), generator=noise)
        return Federation.of(inputs, targets, np.split(np.arange(count), self.clients)).to(device)

    def setting(self, rounds_: int = 1) -> Setting:
        return Setting(rounds=rounds_, cohort=self.cohort, batch=self.batch, step_size=0.05, local_steps=self.steps)

    def flops(self) -> float:
        """Floating point operations of a round: forward and backward, multiply and add counted apart."""
        module = network(self.text).build()
        with FlopCounterMode(display=False) as counter:
            loss = torch.nn.functional.cross_entropy(
                module(torch.zeros(2, *self.shape)), torch.zeros(2, dtype=torch.long)
            )
            loss.backward()
        return counter.get_total_flops() / 2 * self.batch * self.steps * self.cohort


SMALL = Case("fedcog_cnn(channels=1, side=28)", (1, 28, 28), 20, 20, 5, 32, 160)
LARGE = Case("resnet18(stem='cifar')", (3, 32, 32), 100, 10, 50, 50, 500)
TINY_SMALL = Case("fedcog_cnn(channels=1, side=28)", (1, 28, 28), 3, 3, 2, 4, 8)
COG = Case("fedcog_cnn(channels=1, side=28)", (1, 28, 28), 10, 10, 20, 64, 640)
"""FedCOG's clients on Fashion-MNIST, with a twentieth of the local steps."""
ALS = Case("resnet20()", (3, 32, 32), 5, 5, 5, 64, 640)
"""FedALS's clients."""
TINY = Case("femnist_dnn()", (1, 28, 28), 3, 3, 2, 4, 8)
REPEATS = 3


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def timed(function: Callable[[], Any], device: torch.device, repeats: int) -> float:
    """Median wall seconds, after two calls that are not counted (the first is never recorded, the second is)."""
    function()
    function()
    spent = []
    for _ in range(repeats):
        wait(device)
        begin = time.perf_counter()
        function()
        wait(device)
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def matmul_rate(device: torch.device, size: int) -> float:
    """Operations per second of a square matrix product, measured."""
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    with full_precision(device):
        return 2 * size**3 / timed(lambda: a @ b, device, 7)


def plain_round(case: Case, device: torch.device) -> Callable[[], None]:
    """The loop of most research code, data already on the device: one client after another, PyTorch's own optimiser."""
    federation, server = case.federation(device), network(case.text).build().to(device)
    local, loss = network(case.text).build().to(device), torch.nn.CrossEntropyLoss()
    order = np.random.default_rng(1)

    def one_round() -> None:
        states = []
        for client in order.choice(case.clients, case.cohort, replace=False):
            inputs, targets = federation.samples(int(client))
            local.load_state_dict(server.state_dict())
            optimiser = torch.optim.SGD(local.parameters(), lr=0.05)
            chosen = [order.permutation(case.samples) for _ in range(-(-case.steps * case.batch // case.samples))]
            for batch in np.concatenate(chosen)[: case.steps * case.batch].reshape(case.steps, case.batch):
                index = torch.from_numpy(batch).to(device)
                optimiser.zero_grad()
                loss(local(inputs[index]), targets[index]).backward()
                optimiser.step()
            states.append({name: value.clone() for name, value in local.state_dict().items()})
        server.load_state_dict({name: sum(s[name] for s in states) / len(states) for name in states[0]})

    return one_round


def engine_round(case: Case, engine: Any, device: torch.device) -> Callable[[], None]:
    model, federation, setting = network(case.text), case.federation(device), case.setting()
    state = fedavg.begin(model.start(1).to(device), case.clients)

    def one_round() -> None:
        nonlocal state
        state = train_round(model, federation, fedavg, setting, 0, engine, state)

    return one_round


@dataclass(frozen=True)
class Timing:
    """One way of training: ``together`` clients at once (None: the engine's choice); ``loop``: the plain PyTorch loop.

    ``rate_of`` names the network whose runs this predicts.
    """

    name: str
    case: Case
    together: int | None = None
    record: bool = True
    loop: bool = False
    rate_of: str = ""

    def measured(self, device: torch.device, matmul: float) -> tuple[str, dict[str, Any]]:
        """In words and numbers; ``matmul`` is the device's rate of matrix products."""
        case, cuda = self.case, device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        seconds = timed(self._round(device), device, REPEATS)
        rate, step = case.flops() / seconds, seconds / (case.cohort * case.steps)
        memory = torch.cuda.max_memory_reserved() / 1e9 if cuda else 0.0
        words = (
            f"{1e3 * seconds:.4g} ms a round, {1e3 * step:.3g} ms a client's step, {rate / 1e12:.3g} TFLOP/s, "
            f"{100 * rate / matmul:.3g} % of the rate of matrix products ({matmul / 1e12:.3g} TFLOP/s), {memory:.2g} GB"
        )
        return words, {"seconds_per_step": step, "rate_of": self.rate_of, "share": rate / matmul, "memory_gb": memory}

    def _round(self, device: torch.device) -> Callable[[], None]:
        if not self.loop:
            return engine_round(self.case, Graphs(self.together, self.record), device)
        plain = plain_round(self.case, device)

        def exact() -> None:
            with full_precision(device):
                plain()

        return exact


def cases(few: bool) -> list[Timing]:
    """All, what predicts the papers' runs first; ``few`` tiny ones for a rehearsal."""
    if few:
        return [Timing("tiny network", TINY, rate_of="femnist_dnn"), Timing("tiny CNN, loop", TINY_SMALL, loop=True)]
    small, eighteen = "small CNN", "ResNet-18-GN"
    return [
        Timing(f"{small}, stacked", SMALL),
        Timing("FedCOG's CNN, stacked", COG, rate_of="fedcog_cnn"),
        Timing("ResNet-20, stacked", ALS, rate_of="resnet20"),
        Timing(f"{eighteen}, one after another", LARGE, rate_of="resnet18"),
        Timing(f"{small}, one after another", SMALL, together=1),
        Timing(f"{small}, plain loop", SMALL, loop=True),
        Timing(f"{small}, stacked, not recorded", SMALL, record=False),
        Timing("ResNet-20, one after another", ALS, together=1),
        Timing("ResNet-20, plain loop", ALS, loop=True),
        Timing(f"{eighteen}, plain loop", LARGE, loop=True),
        Timing(f"{eighteen}, one after another, not recorded", LARGE, record=False),
    ]
