"""Table 2: seconds of an SGD step, on this machine beside the paper's device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..runs import Runs
from ..sheets import comparison
from .grid import step_times
from .settings import NETWORKS, PRINTED, TASKS

REPORTED = table("decaying_k", "Table 2")
MILLISECONDS, RATIO = "milliseconds per step", "relative to Sent140"
FIRST = TASKS[0]


def data(runs: Runs, scale: str) -> Shown:
    entries = [place for task in TASKS for place in _entries(runs, task, step_times(scale))]
    at = by_place(entries)
    networks = ", ".join(f"{task} {text.removesuffix('()')}" for task, text in NETWORKS.items())
    longer = [
        Pair(f"log {b} over {a}", _logs(at[b, MILLISECONDS]), _logs(at[a, MILLISECONDS])) for a, b in pairwise(TASKS)
    ]
    return comparison(
        f"The paper's networks on one thread of this machine: {networks}; batches as printed, 32 for CIFAR100. All "
        "four in turn within one run, medians; ± standard error over three runs. The paper's device is a Raspberry Pi "
        "3B+, so that the ratios are what can be compared.",
        entries,
        [judge("a step takes longer from task to task: Sent140, FEMNIST, CIFAR100, Shakespeare", longer)],
        "printed / ours",
    )


def _logs(entry: Entry) -> list[float]:
    """On this scale the noise of all tasks is alike."""
    return [float(np.log(value)) for value in entry.ours]


def _entries(runs: Runs, task: str, seeds: Sequence[Cell]) -> list[Entry]:
    times = {name: [1e3 * _seconds(runs, cell, name) for cell in seeds] for name in (task, FIRST)}
    ratios = [a / b for a, b in zip(times[task], times[FIRST], strict=True)]
    printed = REPORTED[task, "beta"]
    return [
        Entry(task, MILLISECONDS, 1e3 * float(printed.value), 1e3 * float(printed.std),
              tuple(t for t in times[task] if np.isfinite(t))),
        Entry(task, RATIO, PRINTED[task].minibatch_time / PRINTED[FIRST].minibatch_time, np.nan,
              tuple(r for r in ratios if np.isfinite(r))),
    ]  # fmt: skip


def _seconds(runs: Runs, cell: Cell, task: str) -> float:
    columns = runs.columns(cell)
    return dict(zip(columns["network"], columns["seconds"], strict=True))[NETWORKS[task]] if columns else np.nan


ARTEFACT = Artefact("decaying_k.table_2", "seconds per SGD step", step_times, data)
