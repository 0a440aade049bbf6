"""Tables 1, 2 and 4: the tasks and their settings, seconds of an SGD step, and steps relative to Kη-fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bounds.decaying_k.schedules import SCHEDULES
from empirics.experiments import Cell
from paper_checks.reported import table as reported

from ..artefact import Artefact, no_runs, Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..run_description import model, partition_words, problem_words, Ran, Setting
from ..runs import Runs
from ..sheets import listing
from ..specification import Place, Reader, table
from . import grid
from .curves import caption
from .findings import by_task, FIXED, SHARES, shares, usual
from .grid import data_of, name, PLANS, remarks, step_times, tasks, what_ran
from .settings import DOWNLOAD, K_DECAYS, NETWORKS, PRINTED, ROUNDS, TASKS, TITLES, UPLOAD

# ---- Table 1: settings as printed and as run ----

SETTINGS = {
    "clients in all": "clients",
    "per round": "cohort",
    "batch": "batch",
    "K0": "local_steps",
    "η0": "step_size",
}
"""Columns by the words of a run's setting."""


def _settings(runs: Runs, scale: str) -> Shown:
    return listing(
        f"Printed / ours at the {scale} scale ({remarks(scale)}). The model size in megabit and the rates, "
        f"{DOWNLOAD:g} Mbit/s down and {UPLOAD:g} up, enter the simulated time as printed at every scale. The paper "
        "states no batch size for CIFAR100. All: every client with samples enough for a batch.",
        [_setting(scale, task) for task in TASKS],
    )


def _setting(scale: str, task: str) -> dict[str, Any]:
    one, plan = PRINTED[task], PLANS[scale]
    (text, partition), own = data_of(scale, task), plan.own[task]
    ran = {key: f"{own[key]:g}" if key in own else "all" for key in SETTINGS.values()}
    return {
        "task": name(scale, task),
        "ours": problem_words(plan.networks[task].format(data=text)) if text else "data not available",
        "partition": partition_words(partition) if partition else "–",
        "size (Mbit)": f"{one.model_size:g}",
        **{words: f"{getattr(one, key):g} / {ran[key]}" for words, key in SETTINGS.items()},
        "samples per client": f"{one.samples}",
        "rounds of Kη-fixed": f"{PLANS['paper'].rounds[task]} / {plan.rounds[task]}",
        "ran": what_ran(scale, task),
    }


# ---- Table 2: seconds of a step, on this machine beside the paper's device ----

MILLISECONDS, RATIO = "milliseconds per step", "relative to the first"
FIRST = TASKS[0]


def network_of(task: str) -> str:
    """What is timed."""
    return f"{model(NETWORKS[task])} of {task}"


def _seconds(runs: Runs, cell: Cell, task: str) -> float:
    columns = runs.columns(cell)
    return dict(zip(columns["network"], columns["seconds"], strict=True))[NETWORKS[task]] if columns else np.nan


def _times(scale: str) -> list[Place]:
    printed, cells, found = reported("decaying_k", "Table 2"), step_times(scale), []

    def reader(task: str, relative: bool) -> Reader:
        def read(runs: Runs, cells: Sequence[Cell]) -> list[float]:
            times = [1e3 * _seconds(runs, cell, task) for cell in cells]
            firsts = [1e3 * _seconds(runs, cell, FIRST) for cell in cells]
            values = [a / b for a, b in zip(times, firsts, strict=True)] if relative else times
            return [value for value in values if np.isfinite(value)]

        return read

    for task in TASKS:
        row, ran = network_of(task), Ran(Setting(network=model(NETWORKS[task]))) if cells else None
        one, first = printed[task, "beta"], PRINTED[FIRST].minibatch_time
        alone = replace(one, std="")
        found += [
            Place(one, row, MILLISECONDS, cells, reader(task, False), ran=ran, times=1e3),
            Place(alone, row, RATIO, cells, reader(task, True), ran=ran, over=first),
        ]
    return found


def _of_times(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    """Of logarithms, on whose scale the noise of all tasks is about equal."""
    logs = {e.row: [float(np.log(value)) for value in e.ours] for e in entries if e.column == MILLISECONDS}
    names = [network_of(task) for task in TASKS]
    longer = [Pair(f"log {b} over {a}", logs[b], logs[a]) for a, b in pairwise(names)]
    return [judge(f"a step takes longer from network to network: {', '.join(names)}", longer)]


def _times_caption(scale: str) -> str:
    return (
        "The paper's networks, without its data, on one thread of this machine; batches as printed, 32 for CIFAR100. "
        "All four in turn within one run, medians; ± standard error over three runs. The paper's device is a Raspberry "
        "Pi 3B+, so that the ratios are what can be compared."
    )


# ---- Table 4: steps of the decays of K relative to Kη-fixed, all for the same simulated time ----

FEWEST_FIRST = ("k_rounds", "k_step", "k_error")
"""The order of the printed shares in every task."""


def by_schedule(task: str) -> float:
    """The share of K_r-rounds at the paper's setting: the schedule and eq. (5) alone decide it."""
    one = PRINTED[task]
    sending = one.model_size / DOWNLOAD + one.model_size / UPLOAD
    seconds = ROUNDS * (sending + one.minibatch_time * one.local_steps)
    most = int(seconds / (sending + one.minibatch_time))
    plan = SCHEDULES["k_rounds"].plan(rounds=most, initial_local_steps=one.local_steps, initial_step_size=one.step_size)
    steps = plan.local_steps[np.cumsum(sending + one.minibatch_time * plan.local_steps) <= seconds]
    return float(steps.sum()) / (ROUNDS * one.local_steps)


def _shares(scale: str) -> list[Place]:
    found = []
    for task in TASKS:
        for key in K_DECAYS:
            cells, ran = grid.runs(scale, task, key), what_ran(scale, task, key)
            note = "" if cells else "not run" if task in tasks(scale) else "data not available"
            read: Reader = partial(_share, scale, task, key)
            found.append(Place(SHARES[task, TITLES[key]], name(scale, task), TITLES[key], cells, read, note, ran))
    return found


def _share(scale: str, task: str, key: str, runs: Runs, cells: Sequence[Cell]) -> list[float]:
    return shares(runs, scale, task, key)


def _shares_caption(scale: str) -> str:
    formula = ", ".join(f"{task} {by_schedule(task):.3f}" for task in TASKS)
    return (
        "Steps within the same simulated time. K_r-rounds at the paper's setting, by its formula and eq. (5): "
        f"{formula}. {caption(scale)} ±: standard error over seeds. A run that diverged has no share."
    )


def _of_shares(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    at, keys = by_place(entries), (FIXED, *K_DECAYS)

    def ours(task: str, key: str) -> Sequence[float]:
        return (1.0,) * PLANS[scale].seeds if key == FIXED else at[name(scale, task), TITLES[key]].ours

    def finding(words: str, *order: tuple[str, str]) -> list[Judged]:
        def pairs(task: str) -> list[Pair]:
            named = f"over {{}}, {name(scale, task)}"
            return [
                Pair(f"{TITLES[a]} {named.format(TITLES[b])}", ours(task, a), ours(task, b)) for a, b in order
            ]  # fmt: skip

        return by_task(words, scale, keys, pairs, lambda task: usual(runs, scale, "", keys, task), TASKS)

    fewest = "K_r-rounds takes the fewest steps, then K_r-step, then K_r-error"
    return [
        *finding("every decay of K takes fewer steps than Kη-fixed", *((FIXED, key) for key in K_DECAYS)),
        *finding(fewest, *((b, a) for a, b in pairwise(FEWEST_FIRST))),
    ]


ARTEFACTS: Mapping[str, Artefact] = {
    "table_1": Artefact("decaying_k.table_1", "tasks and settings", no_runs, _settings),
    "table_2": table(
        "decaying_k.table_2", "seconds per SGD step", _times, _times_caption, _of_times, corner="printed / ours"
    ),
    "table_4": table(
        "decaying_k.table_4", "SGD steps relative to Kη-fixed", _shares, _shares_caption, _of_shares,
        more=lambda scale: grid.cells(scale, (FIXED,)), corner="printed / ours",
    ),
}  # fmt: skip
