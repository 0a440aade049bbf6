"""The best value so far against simulated time, and what runs are worth at a share of it: what both figures show."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparing import Pair
from ..runs import Curve, mean_curve, Runs
from .grid import Column, PLANS, remarks, run, tasks
from .settings import TITLES

LOSS, ACCURACY = "train_loss", "test_accuracy"
EARLY, END = 1 / 3, 1.0
"""Places on the axis of square roots of time at which runs are looked at: a ninth of the time is early."""
FIXED, SMALLEST = "k_eta_fixed", "dsgd"
SECONDS = 60.0
"""Of a minute."""


def best(runs: Runs, scale: str, task: str, schedule: str, seed: int, quantity: str) -> Curve:
    """Minutes, and the smallest loss or the largest accuracy (%) up to then."""
    cell = run(scale, task, schedule, seed)
    minutes = runs.curve(cell, "runtime")[1] / SECONDS
    values = runs.curve(cell, quantity)[1]
    if quantity == LOSS:
        return minutes, np.minimum.accumulate(values)
    return minutes, 100 * np.maximum.accumulate(values)


def rows(runs: Runs, scale: str, quantity: str) -> list[dict[str, Any]]:
    """Mean and standard error over seeds of every schedule in every task; the start, alike for all, is left out."""
    seeds = range(PLANS[scale].seeds)
    return [
        {"panel": task, "curve": title, "x": x, "y": y, "error": error}
        for task in tasks(scale)
        for key, title in TITLES.items()
        for x, y, error in zip(*mean_curve(best(runs, scale, task, key, seed, quantity) for seed in seeds), strict=True)
        if x > 0
    ]


def at(runs: Runs, scale: str, task: str, schedule: str, quantity: str, place: float = END) -> list[float]:
    """The best value by then, seed by seed; NaN where missing, the start's loss or accuracy 0 of a diverged run."""
    plan, found = PLANS[scale], []
    for seed in range(plan.seeds):
        values = best(runs, scale, task, schedule, seed, quantity)[1]
        if runs.diverged(run(scale, task, schedule, seed)):
            found.append(float(values[0]) if quantity == LOSS and len(values) else 0.0)
        else:
            found.append(float(values[round(place * plan.points)]) if len(values) else np.nan)
    return found


def lower(runs: Runs, scale: str, task: str, one: str, other: str, place: float = END) -> Pair:
    """The claim that ``one`` has the smaller training loss by then."""
    return Pair(
        f"{TITLES[one]} below {TITLES[other]}, {task}",
        at(runs, scale, task, other, LOSS, place),
        at(runs, scale, task, one, LOSS, place),
    )


def more_accurate(
    runs: Runs, scale: str, task: str, one: str, other: str, place: float = END, margin: float = 0.0
) -> Pair:
    """The claim that ``one`` has the larger accuracy by then, by ``margin`` points (below 0: it may have less)."""
    return Pair(
        f"{TITLES[one]} over {TITLES[other]}, {task}",
        at(runs, scale, task, one, ACCURACY, place),
        at(runs, scale, task, other, ACCURACY, place),
        margin,
    )


def caption(scale: str) -> str:
    """What was run, for every artefact of these runs."""
    plan = PLANS[scale]
    held = "" if scale == "paper" else "; K0, rounds and the windows of the rolling loss are scaled down"
    return (
        f"At the {scale} scale ({remarks(scale)}{held}), {plan.seeds} seeds. "
        f"{'; '.join(_told(task, plan.columns[task]) for task in tasks(scale))}. Every schedule gets the simulated "
        "time of so many rounds of Kη-fixed by eq. (5), with the printed seconds per step and model sizes. "
        f"The loss is that of {plan.probe} training samples. The step schedules decay when the rolling training loss "
        "has not improved for a window, the paper giving no criterion."
    )


def _told(task: str, column: Column) -> str:
    """A task and its setting in few words."""
    have = column.setting
    network = column.network.replace("{data}, ", "").replace("({data})", "")
    return (
        f"{task}: {network}, {have['cohort']} of {have.get('clients', 'all')} clients, batch {have['batch']}, "
        f"K0 {have['local_steps']}, η0 {have['step_size']:g}, window {column.window}, {column.rounds} rounds"
    )
