"""Table 2: seconds of an SGD step, on this machine beside the paper's device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..ran import model, Ran, Setting
from ..runs import Runs
from ..sheets import comparison
from .grid import step_times
from .settings import NETWORKS, PRINTED, TASKS

REPORTED = table("decaying_k", "Table 2")
MILLISECONDS, RATIO = "milliseconds per step", "relative to the first"
FIRST = TASKS[0]


def data(runs: Runs, scale: str) -> Shown:
    entries = [place for task in TASKS for place in _entries(runs, task, step_times(scale))]
    at = by_place(entries)
    longer = [
        Pair(f"log {b} over {a}", _logs(at[b, MILLISECONDS]), _logs(at[a, MILLISECONDS]))
        for a, b in pairwise(map(network_of, TASKS))
    ]
    return comparison(
        "The paper's networks, without its data, on one thread of this machine; batches as printed, 32 for CIFAR100. "
        "All four in turn within one run, medians; ± standard error over three runs. The paper's device is a Raspberry "
        "Pi 3B+, so that the ratios are what can be compared.",
        entries,
        [judge(f"a step takes longer from network to network: {', '.join(map(network_of, TASKS))}", longer)],
        "printed / ours",
    )


def network_of(task: str) -> str:
    """What is timed."""
    return f"{model(NETWORKS[task])} of {task}"


def _logs(entry: Entry) -> list[float]:
    """On this scale the noise of all tasks is alike."""
    return [float(np.log(value)) for value in entry.ours]


def _entries(runs: Runs, task: str, seeds: Sequence[Cell]) -> list[Entry]:
    times = {name: [1e3 * _seconds(runs, cell, name) for cell in seeds] for name in (task, FIRST)}
    ratios = [a / b for a, b in zip(times[task], times[FIRST], strict=True)]
    printed, row = REPORTED[task, "beta"], network_of(task)
    ran = Ran(Setting(network=model(NETWORKS[task]))) if seeds else None
    return [
        Entry(row, MILLISECONDS, 1e3 * float(printed.value), 1e3 * float(printed.std),
              tuple(t for t in times[task] if np.isfinite(t)), ran=ran),
        Entry(row, RATIO, PRINTED[task].minibatch_time / PRINTED[FIRST].minibatch_time, np.nan,
              tuple(r for r in ratios if np.isfinite(r)), ran=ran),
    ]  # fmt: skip


def _seconds(runs: Runs, cell: Cell, task: str) -> float:
    columns = runs.columns(cell)
    return dict(zip(columns["network"], columns["seconds"], strict=True))[NETWORKS[task]] if columns else np.nan


ARTEFACT = Artefact("decaying_k.table_2", "seconds per SGD step", step_times, data)
