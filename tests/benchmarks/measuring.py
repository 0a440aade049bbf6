"""What measuring costs: seconds of a round with and without, for softmax regression on digits.

    python tests/benchmarks/measuring.py [--write]

The quickest of many short runs taken in turns on one thread, in CPU time, so that what others do on the machine hits
all alike. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from benchmarks.results import machine, put, table  # noqa: E402

from empirics.algorithms.algorithm import fedavg  # noqa: E402
from empirics.data.catalogue import digits  # noqa: E402
from empirics.federation.federation import Federation  # noqa: E402
from empirics.measuring import DEFAULT, default_every, measurement, Run  # noqa: E402
from empirics.models.linear import Softmax, with_intercept  # noqa: E402
from empirics.problems.problem import FederatedProblem  # noqa: E402
from empirics.training.rounds import rounds  # noqa: E402
from empirics.training.setting import Setting  # noqa: E402

SETTING = Setting(rounds=60, cohort=20, batch=32, local_steps=5, step_size=0.1)


def problem() -> FederatedProblem:
    """1,440 digits on 20 clients, 357 for the test."""
    data, order = digits(), np.random.default_rng(0).permutation(1797)
    inputs, targets = with_intercept(torch.tensor(data.inputs, dtype=torch.float32)), torch.tensor(data.labels)
    federation = Federation.of(inputs, targets, np.array_split(order[:1440], 20))
    return FederatedProblem(
        Softmax(65, 10, 1e-3, dtype=torch.float32), federation, Federation.of(inputs, targets, [order[1440:]])
    )


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of a round: wall seconds would be those of everything else on the machine too."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) / SETTING.rounds


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
    times = np.array([[seconds(each) for each in work.values()] for _ in range(repetitions)]).min(0)
    return [
        {"measuring": name, "CPU ms per round": 1e3 * found, "more than training, %": 100 * (found / times[0] - 1)}
        for name, found in zip(work, times, strict=True)
    ]


def main(arguments: list[str]) -> None:
    found = measured()
    print(table(found))
    if "--write" in arguments:
        clients = f"{SETTING.cohort} of {SETTING.cohort} clients, {SETTING.local_steps} steps of batch {SETTING.batch}"
        words = (
            f"Written by `python tests/benchmarks/measuring.py --write`, in CPU time of one thread. {machine()}.\n"
            f"FedAvg, softmax regression on digits, {clients}, {SETTING.rounds} rounds; {' '.join(DEFAULT)}.\n"
            "At the default cadence measuring costs at most 10 % of training (target)."
        )
        put(f"# Measuring: what it costs\n\n{words}\n\n{table(found)}")


if __name__ == "__main__":
    main(sys.argv[1:])
