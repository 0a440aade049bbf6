"""What measuring costs: seconds of a round with and without, for softmax regression on digits.

    python tests/benchmarks/measuring.py [--write]

The quickest of many short runs taken in turns on one thread, in CPU time, so that what others do on the machine hits
all alike. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from results import machine, options, publish, table, turns

from empirics.algorithms.algorithm import fedavg
from empirics.command import DEFAULT
from empirics.data.catalogue import digits
from empirics.federation.federation import Federation
from empirics.measuring import default_every, measurement, Run
from empirics.models.linear import Softmax, with_intercept
from empirics.problems.problem import FederatedProblem
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

SETTING = Setting(rounds=60, cohort=20, batch=32, local_steps=5, step_size=0.1)


def problem() -> FederatedProblem:
    """1,440 digits on 20 clients, 357 for the test."""
    data, order = digits(), np.random.default_rng(0).permutation(1797)
    inputs, targets = with_intercept(torch.tensor(data.inputs, dtype=torch.float32)), torch.tensor(data.labels)
    federation = Federation.of(inputs, targets, np.array_split(order[:1440], 20))
    return FederatedProblem(
        Softmax(65, 10, 1e-3, dtype=torch.float32), federation, Federation.of(inputs, targets, [order[1440:]])
    )


def measured(repetitions: int = 40) -> list[dict[str, Any]]:
    """Milliseconds of a round without measuring, at the default cadence and with measuring after every round."""
    torch.set_num_threads(1)
    made, chosen = problem(), [measurement(name) for name in DEFAULT]

    def run(every: int | None) -> Callable[[], object]:
        return lambda: Run(made, fedavg, SETTING, 1, chosen, every=every).rows()

    work = {
        "training alone": lambda: list(rounds(made.model, made.federation, fedavg, SETTING, 1)),
        f"default, every {default_every(made, SETTING, chosen)} rounds": run(None),
        "every round": run(1),
    }
    times = {name: min(spent) / SETTING.rounds for name, spent in turns(work, repetitions).items()}
    alone = times["training alone"]
    return [
        {"measuring": name, "CPU ms per round": 1e3 * found, "more than training, %": 100 * (found / alone - 1)}
        for name, found in times.items()
    ]


def main() -> None:
    asked = options(__doc__)
    clients = f"{SETTING.cohort} of {SETTING.cohort} clients, {SETTING.local_steps} steps of batch {SETTING.batch}"
    publish(
        "# Measuring: what it costs\n\n"
        f"Written by `python tests/benchmarks/measuring.py --write`, in CPU time of one thread. {machine()}.\n"
        f"FedAvg, softmax regression on digits, {clients}, {SETTING.rounds} rounds; {' '.join(DEFAULT)}.\n"
        f"At the default cadence measuring costs at most 10 % of training (target).\n\n{table(measured())}",
        asked.write,
    )


if __name__ == "__main__":
    main()
