"""What a client's local step costs as clients or cohort grow: CPU time in interleaved bursts, peak memory apart.

Prints one line of JSON: rows for ``training_speed.py``. Every client holds 160 samples of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import torch
from peers.training_work import BATCH, SAMPLES, STEP_SIZE

from empirics.algorithms.algorithm import fedavg
from empirics.federation.federation import Federation
from empirics.models.linear import Softmax
from empirics.models.networks import network
from empirics.training.engines import choose
from empirics.training.rounds import play
from empirics.training.setting import Setting

STEPS = 5


class Case:
    """Training with ``cohort`` of ``clients``, ready to go on."""

    def __init__(self, task: str, clients: int, cohort: int) -> None:
        noise = torch.Generator().manual_seed(1)
        shape = (65,) if task == "softmax" else (1, 28, 28)
        inputs = torch.randn(clients * SAMPLES, *shape, generator=noise)
        targets = torch.randint(0, 10, (clients * SAMPLES,), generator=noise)
        self.federation = Federation.of(inputs, targets, np.split(np.arange(len(inputs)), clients))
        linear = Softmax(65, 10, 0.0, torch.float32)
        self.model: Any = linear if task == "softmax" else network("fedcog_cnn(channels=1, side=28)")
        self.setting = Setting(rounds=1, cohort=cohort, batch=BATCH, step_size=STEP_SIZE, local_steps=STEPS)
        self.engine, self.state = choose(self.model, workers=1), fedavg.begin(self.model.start(1), clients)

    def round(self) -> None:
        self.state = play(self.model, self.federation, fedavg, self.setting, 0, self.engine, self.state)

    def burst(self, seconds: float) -> float:
        """CPU seconds per client and step over so much time; one round before is not counted."""
        self.round()
        begin, rounds = time.process_time(), 0
        while time.process_time() - begin < seconds:
            self.round()
            rounds += 1
        return (time.process_time() - begin) / rounds / (self.setting.cohort * STEPS)


def megabytes(field: str) -> float:
    """What the kernel says this process holds: now (VmRSS), or at most since the last reset (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def peak(task: str, clients: int, cohort: int) -> float:
    """MB that training takes at its peak beyond data and the models that the cohort ends with, in a fresh process."""
    command = [sys.executable, __file__, "--task", task, "--peak", str(clients), str(cohort)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def own_peak(task: str, clients: int, cohort: int) -> float:
    Case(task, 10, 10).round()  # what libraries take for themselves
    case = Case(task, clients, cohort)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = megabytes("VmRSS")
    case.round()
    case.round()
    return megabytes("VmHWM") - before - cohort * case.model.dim * 4 / 2**20


def block(task: str, pairs: list[tuple[int, int]], seconds: float, bursts: int) -> list[dict[str, Any]]:
    cases = [Case(task, *pair) for pair in pairs]
    times: list[list[float]] = [[] for _ in pairs]
    for _ in range(bursts):
        for case, spent in zip(cases, times, strict=True):
            spent.append(case.burst(seconds))
    micro = [1e6 * statistics.median(spent) for spent in times]
    return [
        {"task": task, "clients": clients, "cohort": cohort, "us per step": spent, "ratio": spent / micro[0],
         "memory MB": peak(task, clients, cohort)}
        for (clients, cohort), spent in zip(pairs, micro, strict=True)
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", choices=["softmax", "cnn"], default="softmax")
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--bursts", type=int, default=7)
    parser.add_argument("--peak", type=int, nargs=2, metavar=("CLIENTS", "COHORT"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.peak:
        print(own_peak(options.task, *options.peak))
        return
    totals = [(10**k, 10) for k in range(1, 5) if 10**k <= options.most]
    cohorts = [(options.most, 10**k) for k in range(2, 5) if 10**k <= options.most]
    rows = []
    for pairs in (totals, cohorts):
        rows += block(options.task, pairs, options.seconds, options.bursts)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
