"""Training networks on a GPU: whether the numbers hold, and how near to the device's limit the engine comes.

    python tests/benchmarks/gpu.py [--write] [--device cuda] [--tiny]

Without a GPU it says so and ends with status 0. Data are random, in the shapes of the real sets, so nothing has to be
downloaded. ``--write`` puts the chapter into RESULTS.md. ``--tiny --device cpu`` runs all of it small, as a rehearsal.

Checked: the update of a round on CPU and GPU (relative difference), recorded against plain running, two runs against
each other, all with products in float32. Timed, with the plain sequential loop in the same run: a small CNN with 20 of
20 clients, 5 steps of batch 32, stacked and one after another; ResNet-18 with group norm on 32x32 images, 10 of 100
clients, 50 steps of batch 50, as a share of the device's measured rate of matrix products.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from results import machine, options, publish, put, RESULTS, table
from torch.utils.flop_counter import FlopCounterMode

from empirics.algorithms.algorithm import fedavg
from empirics.federation.federation import Federation
from empirics.models.networks import network
from empirics.training.engines import ClientLoop
from empirics.training.engines.graphs import Graphs
from empirics.training.engines.precision import computing
from empirics.training.rounds import play, rounds
from empirics.training.setting import Setting

HEAD = "# GPU: networks"
NOT_MEASURED = f"{HEAD}\n\nNot measured: no GPU has been there. `python tests/benchmarks/gpu.py --write` fills this in."


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
TINY_LARGE = Case("resnet20()", (3, 32, 32), 3, 2, 2, 3, 6)


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


def matmul_rate(device: torch.device, precision: str, size: int) -> float:
    """Operations per second of a square matrix product, measured."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    with computing("tf32" if precision == "tf32" else "float32", device):
        return 2 * size**3 / timed(lambda: a @ b, device, 7)


# ---- numbers ----


def update(case: Case, engine: Any, device: torch.device, rounds_: int = 3) -> torch.Tensor:
    """How far the server's model has moved after some rounds, in float64."""
    model = network(case.text)
    states = [s.model for s in rounds(model, case.federation(device), fedavg, case.setting(rounds_), 5, engine)]
    return (states[-1] - states[0]).double().cpu()


def apart(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).norm() / b.norm())


def agreement(case: Case, device: torch.device) -> list[dict[str, Any]]:
    """Relative differences of the server's move over three rounds."""
    plain = update(case, ClientLoop(), torch.device("cpu"))
    rows = []
    for name, together in (("stacked", None), ("one after another", 1)):
        recorded, unrecorded = (update(case, Graphs(together, record=r), device) for r in (True, False))
        again = update(case, Graphs(together), device)
        rows.append(
            {"": name, "GPU against CPU": apart(recorded, plain), "recorded against plain": apart(recorded, unrecorded),
             "second run": "same bits" if torch.equal(recorded, again) else f"differs by {apart(again, recorded):.2g}"}
        )  # fmt: skip
    return rows


# ---- speed ----


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
        state = play(model, federation, fedavg, setting, 0, engine, state)

    return one_round


def speed(case: Case, device: torch.device, repeats: int, size: int, *, stacked: bool) -> list[dict[str, Any]]:
    """Milliseconds per round of the engine's ways and of the plain loop, and their shares of the matrix rate."""
    ways: dict[str, tuple[Callable[[], None], str]] = {}
    for precision in ("float32", "tf32", "bf16"):
        ways[f"one after another, {precision}"] = engine_round(case, Graphs(1, precision), device), precision
        if stacked:
            ways[f"stacked, {precision}"] = engine_round(case, Graphs(precision=precision), device), precision
    unrecorded = engine_round(case, Graphs(record=False), device)
    ways["stacked, not recorded" if stacked else "not recorded"] = unrecorded, "float32"
    plain, flops = plain_round(case, device), case.flops()

    def exact() -> None:
        with computing("float32", device):
            plain()

    ways["plain sequential loop"] = exact, "float32"
    rates = {precision: matmul_rate(device, precision, size) for precision in ("float32", "tf32", "bf16")}
    rows = []
    for name, (function, precision) in ways.items():
        seconds = timed(function, device, repeats)
        share = 100 * flops / seconds / rates[precision]
        rows.append({"": name, "ms per round": 1e3 * seconds, "TFLOP/s": flops / seconds / 1e12,
                     "% of matrix rate": share, "against the loop": seconds})  # fmt: skip
    loop = rows[-1]["against the loop"]
    for row in rows:
        row["against the loop"] = f"{loop / row['against the loop']:.3g}x"
    rows.append({"": "matrix products " + ", ".join(f"{k} {v / 1e12:.3g}" for k, v in rates.items()),
                 "ms per round": "", "TFLOP/s": "", "% of matrix rate": "", "against the loop": ""})  # fmt: skip
    return rows


def report(tiny: bool, device: torch.device) -> str:
    small, large = (TINY_SMALL, TINY_LARGE) if tiny else (SMALL, LARGE)
    size, repeats = (64, 1) if tiny else (8192, 5)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    versions = f"torch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    return "\n\n".join(
        [
            HEAD,
            f"Written by `python tests/benchmarks/gpu.py --write`, whose docstring says what is measured.\n"
            f"{name}; {versions}. {machine()}.",
            "## Numbers: relative differences after three rounds",
            table(agreement(small, device)),
            f"## Small CNN, {small.cohort} of {small.clients} clients, {small.steps} steps of batch {small.batch}",
            table(speed(small, device, repeats, size, stacked=True)),
            f"## {large.text}, {large.cohort} of {large.clients} clients, {large.steps} steps of batch {large.batch}",
            table(speed(large, device, repeats, size, stacked=False)),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    asked = options(__doc__, arguments, device="cuda", tiny=False)
    device = torch.device(asked.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("not measured: torch sees no GPU")
        if asked.write and not (RESULTS.exists() and HEAD in RESULTS.read_text(encoding="utf-8")):
            put(NOT_MEASURED)
        return 0
    publish(report(asked.tiny, device), asked.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
