"""The work that every simulator is given, without a framework: data, first model, check loss, and how rounds are timed.

FedAvg over clients of 160 samples: 5 or 20 local steps of plain SGD (step size 0.05, batch 32, shuffled passes) on mean
cross-entropy in float32, then the uniform average. Twenty of 20 clients, or 10 of 100. ``softmax``: 64 -> 10 with bias
on the 8x8 digits; ``cnn``: two 5x5 convolutions with ReLU and pooling, dense 120, 84 and 10, on noisy images 28x28.
Label shares of the clients are Dirichlet(0.5). Only NumPy is imported, so that every peer's environment can run it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BATCH, SAMPLES, STEP_SIZE = 32, 160, 0.05
CLIENTS = {"20of20": (20, 20), "10of100": (100, 10)}
CHECK = {"softmax": 10, "cnn": 6}
SHAPES = {
    "softmax": [(10, 64), (10,)],
    "cnn": [(6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 256), (120,), (84, 120), (84,), (10, 84), (10,)],
}
Array = np.ndarray[Any, Any]


def options() -> argparse.Namespace:
    """What the benchmark tells a driver; pins the process before a framework is imported."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=list(SHAPES), default="softmax")
    parser.add_argument("--setting", choices=list(CLIENTS), default="20of20")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--engine", choices=["torch", "compiled"], default="torch", help="of this project")
    chosen = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(chosen.cores)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.cores])
    return chosen


def data(task: str, clients: int) -> tuple[Array, Array]:
    """Inputs ``(clients, 160, ...)`` in float32 and labels ``(clients, 160)``."""
    rng = np.random.default_rng(0)
    if task == "softmax":
        from sklearn.datasets import load_digits

        digits = load_digits()
        pool, labels = (digits.data / 16).astype(np.float32), digits.target.astype(np.int64)
        members = [np.flatnonzero(labels == c) for c in range(10)]
        chosen = np.empty((clients, SAMPLES), dtype=np.int64)
        for k in range(clients):
            classes = rng.choice(10, SAMPLES, p=rng.dirichlet(np.full(10, 0.5)))
            chosen[k] = [rng.choice(members[c]) for c in classes]
        return pool[chosen], labels[chosen]
    means = np.kron(rng.standard_normal((10, 7, 7)).astype(np.float32), np.ones((1, 4, 4), dtype=np.float32))
    targets = np.stack([rng.choice(10, SAMPLES, p=rng.dirichlet(np.full(10, 0.5))) for _ in range(clients)])
    noise = rng.standard_normal((clients, SAMPLES, 28, 28)).astype(np.float32)
    return (0.5 * means[targets] + noise)[:, :, None], targets.astype(np.int64)


def first_model(task: str) -> list[Array]:
    """Parameters uniform within 1/sqrt(fan in), in the order of a PyTorch module's."""
    rng, fan, made = np.random.default_rng(7), 1, []
    for shape in SHAPES[task]:
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else fan
        made.append(rng.uniform(-(fan**-0.5), fan**-0.5, shape).astype(np.float32))
    return made


def cohort(setting: str, round_: int) -> Array:
    """The clients of a round, for simulators that let themselves be told."""
    total, size = CLIENTS[setting]
    return np.sort(np.random.default_rng(10_000 + round_).choice(total, size, replace=False))


def check_loss(task: str, parameters: list[Array], inputs: Array, targets: Array) -> float:
    """Mean cross-entropy in float64 over all clients' samples (of the CNN: about 1,600 of them), by plain NumPy."""
    p = [np.asarray(a, dtype=np.float64) for a in parameters]
    x, y = inputs.reshape(-1, *inputs.shape[2:]).astype(np.float64), targets.reshape(-1)
    if task == "cnn":
        x, y = x[:: len(x) // 1600], y[:: len(y) // 1600]
        x = _pooled(_pooled(x, p[0], p[1]), p[2], p[3]).reshape(len(x), -1)
        for weight, bias in ((p[4], p[5]), (p[6], p[7])):
            x = np.maximum(x @ weight.T + bias, 0)
        p = p[8:]
    logits = x @ p[0].T + p[1]
    logits = logits - logits.max(1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    return float(-logs[np.arange(len(y)), y].mean())


def _pooled(x: Array, weight: Array, bias: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    h = np.maximum(np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True) + bias[:, None, None], 0)
    n, c, rows, columns = h.shape
    return h.reshape(n, c, rows // 2, 2, columns // 2, 2).max((3, 5))


# ---- time ----


def tree_seconds(root: int | None = None) -> float:
    """CPU seconds of a process and all its descendants, those that have ended included."""
    spent: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            spent[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    family, fresh = {root or os.getpid()}, True
    while fresh:
        fresh = {p for p, (parent, _) in spent.items() if parent in family} - family
        family |= fresh
    return sum(spent[p][1] for p in family if p in spent)


def busy_seconds() -> float:
    """CPU seconds that the machine has worked since it started."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


class Clock:
    """Times every round between ``start`` and ``stop`` by the wall and by this process's CPU."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._others: tuple[float, float, float] | None = None

    def start(self) -> None:
        if len(self.wall) == 1:
            self._others = busy_seconds(), tree_seconds(), time.perf_counter()
        self._begin = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        self.wall.append(time.perf_counter() - self._begin[0])
        self.cpu.append(time.process_time() - self._begin[1])

    def report(
        self, chosen: argparse.Namespace, loss: float, versions: dict[str, str], whole_tree: bool = False
    ) -> None:
        """Print the result as a line of JSON; the first round, which may compile, is left out.

        ``whole_tree``: CPU seconds are those of all child processes too, averaged over the rounds.
        """
        assert self._others is not None
        busy, own, begin = self._others
        spent, elapsed = tree_seconds() - own, time.perf_counter() - begin
        cpu = spent / (len(self.wall) - 1) if whole_tree else statistics.median(self.cpu[1:])
        others = max(0.0, (busy_seconds() - busy - spent) / elapsed)
        result = {
            "wall": statistics.median(self.wall[1:]), "cpu": cpu, "fastest": min(self.wall[1:]), "loss": loss,
            "rounds": len(self.wall) - 1, "others": others, "versions": versions, "cores": chosen.cores,
        }  # fmt: skip
        print("RESULT " + json.dumps(result), flush=True)


def drive(
    chosen: argparse.Namespace, one_round: Callable[[int], Any], parameters: Callable[[], list[Array]],
    inputs: Array, targets: Array, versions: dict[str, str],
) -> None:  # fmt: skip
    """Play rounds for the time that was asked for, and at least until the check loss."""
    clock, loss, begin, round_ = Clock(), float("nan"), time.perf_counter(), 0
    while round_ < CHECK[chosen.task] or time.perf_counter() - begin < chosen.seconds:
        clock.start()
        one_round(round_)
        clock.stop()
        round_ += 1
        if round_ == CHECK[chosen.task]:
            loss = check_loss(chosen.task, parameters(), inputs, targets)
    clock.report(chosen, loss, versions)
