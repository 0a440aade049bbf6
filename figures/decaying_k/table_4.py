"""Table 4: SGD steps of the decays of K relative to Kη-fixed, all for the same simulated time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from bounds.decaying_k.schedules import SCHEDULES
from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, Judged, Pair
from ..runs import Runs
from ..sheets import comparison, entry
from . import grid
from .curves import caption
from .findings import by_task, FIXED, SHARES as REPORTED, shares, usual
from .grid import name, PLANS, tasks, what_ran
from .settings import DOWNLOAD, K_DECAYS, PRINTED, ROUNDS, TASKS, TITLES, UPLOAD

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

    def order(task: str, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
        ours = {FIXED: (1.0,) * PLANS[scale].seeds} | {k: at[name(scale, task), TITLES[k]].ours for k in K_DECAYS}
        return [Pair(f"{TITLES[a]} over {TITLES[b]}, {name(scale, task)}", ours[a], ours[b]) for a, b in pairs]

    def finding(words: str, *pairs: tuple[str, str]) -> list[Judged]:
        return by_task(
            words, scale, keys := (FIXED, *K_DECAYS), lambda task: order(task, pairs),
            lambda task: usual(runs, scale, "", keys, task), TASKS,
        )  # fmt: skip

    return comparison(
        "Steps within the same simulated time. K_r-rounds at the paper's setting, by its formula and eq. (5): "
        f"{', '.join(f'{task} {by_schedule(task):.3f}' for task in TASKS)}. {caption(scale)} ±: standard error over "
        "seeds. A run that diverged has no share.",
        entries,
        [
            *finding("every decay of K takes fewer steps than Kη-fixed", *((FIXED, key) for key in K_DECAYS)),
            *finding(
                "K_r-rounds takes the fewest steps, then K_r-step, then K_r-error",
                *((b, a) for a, b in pairwise(FEWEST_FIRST)),
            ),
        ],
        "printed / ours",
    )


def _entry(runs: Runs, scale: str, task: str, key: str) -> Entry:
    ours = shares(runs, scale, task, key)
    note = "" if ours else "not run" if task in tasks(scale) else "data not available"
    ran = what_ran(scale, task, key)
    return entry(REPORTED[task, TITLES[key]], name(scale, task), TITLES[key], ours, note, ran)


ARTEFACT = Artefact("decaying_k.table_4", "SGD steps relative to Kη-fixed", cells, data)
