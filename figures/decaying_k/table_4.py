"""Table 4: SGD steps of the decays of K relative to K-eta-fixed, all for the same simulated time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bounds.decaying_k.schedules import SCHEDULES
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..runs import Runs
from ..sheets import comparison, entry
from . import grid
from .curves import caption, FIXED, shares
from .grid import name, tasks, what_ran
from .settings import DOWNLOAD, K_DECAYS, PRINTED, ROUNDS, TASKS, TITLES, UPLOAD

REPORTED = table("decaying_k", "Table 4")
FEWEST_FIRST = ("k_rounds", "k_step", "k_error")
"""The order of the printed shares in every task."""


def cells(scale: str) -> list[Cell]:
    return grid.cells(scale, (FIXED, *K_DECAYS))


def by_schedule(task: str) -> float:
    """The share of K_r-rounds at the paper's setting: the schedule and eq. (5) alone decide it."""
    one = PRINTED[task]
    sending = one.model_size / DOWNLOAD + one.model_size / UPLOAD
    seconds = ROUNDS * (sending + one.minibatch_time * one.local_steps)
    most = int(seconds / (sending + one.minibatch_time))
    plan = SCHEDULES["k_rounds"].plan(rounds=most, initial_local_steps=one.local_steps, initial_step_size=one.step_size)
    steps = plan.local_steps[np.cumsum(sending + one.minibatch_time * plan.local_steps) <= seconds]
    return float(steps.sum()) / (ROUNDS * one.local_steps)


def data(runs: Runs, scale: str) -> Shown:
    entries = [_entry(runs, scale, task, key) for task in TASKS for key in K_DECAYS]
    at = by_place(entries)
    here = [name(scale, task) for task in tasks(scale)]
    ordered = [
        Pair(f"{TITLES[more]} over {TITLES[fewer]}, {task}", at[task, TITLES[more]].ours, at[task, TITLES[fewer]].ours)
        for task in here
        for fewer, more in pairwise(FEWEST_FIRST)
    ]
    fewer = [Pair(f"Kη-fixed over {e.column}, {e.row}", (1.0,) * len(e.ours), e.ours) for e in entries if e.row in here]
    return comparison(
        "Steps within the same simulated time. K_r-rounds at the paper's setting, by its formula and eq. (5): "
        f"{', '.join(f'{task} {by_schedule(task):.3f}' for task in TASKS)}. {caption(scale)} ±: standard error over "
        "seeds. A run that diverged has no share.",
        entries,
        [
            judge("every decay of K takes fewer steps than Kη-fixed", fewer),
            judge("K_r-rounds takes the fewest steps, then K_r-step, then K_r-error", ordered),
        ],
        "printed / ours",
    )


def _entry(runs: Runs, scale: str, task: str, key: str) -> Entry:
    ours = shares(runs, scale, task, key)
    note, ran = "" if ours else "data not available", what_ran(scale, task, key)
    return entry(REPORTED[task, TITLES[key]], name(scale, task), TITLES[key], ours, note, ran)


ARTEFACT = Artefact("decaying_k.table_4", "SGD steps relative to Kη-fixed", cells, data)
