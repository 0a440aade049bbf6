"""Tables 1, 2 and 4: the tasks and their settings, seconds of an SGD step, and steps relative to Kη-fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from bounds.decaying_k.schedules import SCHEDULES
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, no_runs, Shown
from ..comparing import by_place, judge, Judged, Pair
from ..run_description import model, partition_words, problem_words, Ran, Setting
from ..runs import Runs
from ..sheets import comparison, entry, listing
from . import grid
from .curves import caption
from .findings import by_task, SHARES, shares, usual
from .grid import DOWNLOAD, FIXED, K_DECAYS, name, NETWORKS, PLANS, PRINTED, ROUNDS, TASKS, tasks, TITLES, UPLOAD

# ---- Table 1: settings as printed and as run ----

COLUMNS = {"clients in all": "clients", "per round": "cohort", "batch": "batch", "K0": "local_steps", "η0": "step_size"}
"""By the words of a run's setting."""


def settings(runs: Runs, scale: str) -> Shown:
    return listing(
        f"Printed / ours at the {scale} scale ({grid.remarks(scale)}). The model size in megabit and the rates, "
        f"{DOWNLOAD:g} Mbit/s down and {UPLOAD:g} up, enter the simulated time as printed at every scale. The paper "
        "states no batch size for CIFAR100. All: every client with samples enough for a batch.",
        [_setting(scale, task) for task in TASKS],
    )


def _setting(scale: str, task: str) -> dict[str, Any]:
    one, plan = PRINTED[task], PLANS[scale]
    (text, partition), own = grid.data_of(scale, task), plan.own[task]
    ran = {key: f"{own[key]:g}" if key in own else "all" for key in COLUMNS.values()}
    return {
        "task": name(scale, task),
        "ours": problem_words(plan.networks[task].format(data=text)) if text else "data not available",
        "partition": partition_words(partition) if partition else "–",
        "size (Mbit)": f"{one.model_size:g}",
        **{words: f"{getattr(one, key):g} / {ran[key]}" for words, key in COLUMNS.items()},
        "samples per client": f"{one.samples}",
        "rounds of Kη-fixed": f"{PLANS['paper'].rounds[task]} / {plan.rounds[task]}",
        "ran": grid.what_ran(scale, task),
    }


# ---- Table 2: seconds of a step, on this machine beside the paper's device ----

MILLISECONDS, RATIO = "milliseconds per step", "relative to the first"
FIRST = TASKS[0]


def times(runs: Runs, scale: str) -> Shown:
    """The findings are on logarithms, on whose scale the noise of all tasks is about equal."""
    printed, cells, entries = table("decaying_k", "Table 2"), grid.step_times(scale), []
    firsts = [_milliseconds(runs, cell, FIRST) for cell in cells]
    for task in TASKS:
        row, ran = f"{model(NETWORKS[task])} of {task}", Ran(Setting(network=model(NETWORKS[task])))
        one, taken = printed[task, "beta"], [_milliseconds(runs, cell, task) for cell in cells]
        ratios = [a / b for a, b in zip(taken, firsts, strict=True)]
        entries += [
            entry(one, row, MILLISECONDS, list(filter(np.isfinite, taken)), ran=ran, times=1e3),
            entry(
                replace(one, std=""), row, RATIO, list(filter(np.isfinite, ratios)), ran=ran,
                over=PRINTED[FIRST].minibatch_time,
            ),
        ]  # fmt: skip
    logs = {e.row: [float(np.log(value)) for value in e.ours] for e in entries if e.column == MILLISECONDS}
    longer = [Pair(f"log {b} over {a}", logs[b], logs[a]) for a, b in pairwise(logs)]
    said = (
        "The paper's networks, without its data, on one thread of this machine; batches as printed, 32 for CIFAR100. "
        "All four in turn within one run, medians; ± standard error over three runs. The paper's device is a Raspberry "
        "Pi 3B+, so that the ratios are what can be compared."
    )
    judged = judge(f"a step takes longer from network to network: {', '.join(logs)}", longer)
    return comparison(said, entries, [judged], "printed / ours")


def _milliseconds(runs: Runs, cell: Cell, task: str) -> float:
    columns = runs.columns(cell)
    taken = dict(zip(columns["network"], columns["seconds"], strict=True)) if columns else {}
    return 1e3 * float(taken.get(NETWORKS[task], np.nan))


# ---- Table 4: steps of the decays of K relative to Kη-fixed, all for the same simulated time ----

FEWEST_FIRST = ("k_rounds", "k_step", "k_error")
"""The order of the printed shares in every task."""


@cache
def by_schedule(task: str) -> float:
    """The share of K_r-rounds at the paper's setting: the schedule and eq. (5) alone decide it."""
    one = PRINTED[task]
    sending = one.model_size / DOWNLOAD + one.model_size / UPLOAD
    seconds = ROUNDS * (sending + one.minibatch_time * one.local_steps)
    most = int(seconds / (sending + one.minibatch_time))
    plan = SCHEDULES["k_rounds"].plan(rounds=most, initial_local_steps=one.local_steps, initial_step_size=one.step_size)
    steps = plan.local_steps[np.cumsum(sending + one.minibatch_time * plan.local_steps) <= seconds]
    return float(steps.sum()) / (ROUNDS * one.local_steps)


def steps(runs: Runs, scale: str) -> Shown:
    entries = []
    for task in TASKS:
        for key in K_DECAYS:
            there = bool(grid.runs(scale, task, key))
            note = "" if there else "not run" if task in tasks(scale) else "data not available"
            ours, ran = shares(runs, scale, task, key), grid.what_ran(scale, task, key)
            entries.append(entry(SHARES[task, TITLES[key]], name(scale, task), TITLES[key], ours, note, ran))
    at, keys = by_place(entries), (FIXED, *K_DECAYS)

    def share(task: str, key: str) -> Sequence[float]:
        return (1.0,) * PLANS[scale].seeds if key == FIXED else at[name(scale, task), TITLES[key]].ours

    def finding(words: str, *order: tuple[str, str]) -> list[Judged]:
        def pairs(task: str) -> list[Pair]:
            where = name(scale, task)
            return [Pair(f"{TITLES[a]} over {TITLES[b]}, {where}", share(task, a), share(task, b)) for a, b in order]

        return by_task(words, scale, keys, pairs, lambda task: usual(runs, scale, "", keys, task), TASKS)

    fewest = "K_r-rounds takes the fewest steps, then K_r-step, then K_r-error"
    judged = [
        *finding("every decay of K takes fewer steps than Kη-fixed", *((FIXED, key) for key in K_DECAYS)),
        *finding(fewest, *((b, a) for a, b in pairwise(FEWEST_FIRST))),
    ]
    formula = ", ".join(f"{task} {by_schedule(task):.3f}" for task in TASKS)
    said = (
        "Steps within the same simulated time. K_r-rounds at the paper's setting, by its formula and eq. (5): "
        f"{formula}. {caption(scale)} ±: standard error over seeds. A run that diverged has no share."
    )
    return comparison(said, entries, judged, "printed / ours")


ARTEFACTS = (
    Artefact("decaying_k.table_1", "tasks and settings", settings, reads=no_runs),
    Artefact("decaying_k.table_2", "seconds per SGD step", times),
    Artefact("decaying_k.table_4", "SGD steps relative to Kη-fixed", steps),
)
