"""Figures 1 and 2: the smallest loss and the largest accuracy so far against simulated time of all schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import judge, Pair
from ..drawing import Axis, panels
from ..regimes import POINT, Regime
from ..runs import Curve, mean_rows, Runs
from . import grid
from .grid import PLANS, remarks, tasks
from .settings import ETA_DECAYS, K_DECAYS, TASKS, TITLES

LOSS, ACCURACY = "train_loss", "test_accuracy"
EARLY, END = 1 / 3, 1.0
"""Places on the axis of square roots of time at which runs are looked at: a ninth of the time is early."""
FIXED, SMALLEST = "k_eta_fixed", "dsgd"
SECONDS = 60.0
"""Of a minute."""
TOLERANCE = POINT
"""Points of accuracy by which a schedule may fall short and still match another."""
GAIN = float(table("decaying_k", "Text 4.4")["CIFAR100", "K_r-rounds validation-accuracy gain over Keta-fixed"].value)


def best(runs: Runs, cell: Cell, quantity: str) -> Curve:
    """Minutes, and the smallest loss or the largest accuracy (%) up to then."""
    minutes = runs.curve(cell, "runtime")[1] / SECONDS
    values = runs.curve(cell, quantity)[1]
    if quantity == LOSS:
        return minutes, np.minimum.accumulate(values)
    return minutes, 100 * np.maximum.accumulate(values)


def rows(runs: Runs, scale: str, quantity: str) -> list[dict[str, Any]]:
    """Mean and standard error over seeds of every schedule in every task; the start, alike for all, is left out."""
    return [
        row
        for task in tasks(scale)
        for key, title in TITLES.items()
        if (ran := grid.what_ran(scale, task, key))
        for row in mean_rows((best(runs, c, quantity) for c in grid.runs(scale, task, key)), ran.data, title, ran)
        if row["x"] > 0
    ]


def at(runs: Runs, scale: str, task: str, schedule: str, quantity: str, place: float = END) -> list[float]:
    """The best value by then, seed by seed; NaN where missing, the start's loss or accuracy 0 of a diverged run."""
    found = []
    for cell in grid.runs(scale, task, schedule):
        values = best(runs, cell, quantity)[1]
        if runs.diverged(cell):
            found.append(float(values[0]) if quantity == LOSS and len(values) else 0.0)
        else:
            found.append(float(values[round(place * PLANS[scale].counts["points"])]) if len(values) else np.nan)
    return found


def ahead(
    runs: Runs, scale: str, task: str, one: str, other: str, quantity: str, place: float = END, margin: float = 0.0
) -> Pair:
    """The claim that ``one`` is better by then: less loss, or more accuracy by ``margin`` points (below 0: or less)."""
    high, low = (other, one) if quantity == LOSS else (one, other)
    return Pair(
        f"{TITLES[one]} {'below' if quantity == LOSS else 'over'} {TITLES[other]}, {grid.name(scale, task)}",
        at(runs, scale, task, high, quantity, place),
        at(runs, scale, task, low, quantity, place),
        margin,
    )


def shares(runs: Runs, scale: str, task: str, key: str) -> list[float]:
    """Local steps of a schedule over those of Kη-fixed, seed by seed; NaN where one is missing."""
    steps = [[runs.fact(c, "local_steps") for c in grid.runs(scale, task, k)] for k in (key, FIXED)]
    return [a / b if a and b else float("nan") for a, b in zip(*steps, strict=True)]


def decaying(runs: Runs, scale: str, task: str, key: str) -> Regime:
    """That a schedule decays K within the rounds that are run."""
    known = [1 - share for share in shares(runs, scale, task, key) if np.isfinite(share)]
    words = f"share of the steps that {TITLES[key]} saves on {grid.name(scale, task)}"
    return Regime(words, float(np.mean(known)) if known else float("nan"))


def caption(scale: str) -> str:
    """What was run, for every artefact of these runs."""
    plan = PLANS[scale]
    held = "" if scale == "paper" else "; K0, rounds and the windows of the rolling loss are scaled down"
    return (
        f"At the {scale} scale ({remarks(scale)}{held}), {plan.seeds} seeds. "
        f"{'; '.join(_setting(scale, task) for task in tasks(scale))}. Every schedule gets the simulated "
        "time of so many rounds of Kη-fixed by eq. (5), with the printed seconds per step and model sizes. "
        f"The loss is that of {plan.counts['probe']} training samples. The step schedules decay when the rolling "
        "training loss has not improved for a window, the paper giving no criterion."
    )


def _setting(scale: str, task: str) -> str:
    """A task and its setting in few words."""
    plan = PLANS[scale]
    ran, have = grid.what_ran(scale, task), plan.own[task]
    data, network = (ran.data, ran.network) if ran else (task, "")
    return (
        f"{data}: {network}, {have['cohort']} of {have.get('clients', 'all')} clients, batch {have['batch']}, K0 "
        f"{have['local_steps']}, η0 {have['step_size']:g}, window {grid.window(scale, task)}, "
        f"{plan.rounds[task]} rounds"
    )


# ---- the figures ----

Claims = Callable[..., list[Pair]]
"""From two schedules, maybe tasks, and how they are compared, the pairs of "the first is better", task by task."""


def of_losses(below: Claims, named: Mapping[str, str]) -> dict[str, list[Pair]]:
    """What the paper sees in Figure 1; ``named``: what stands for a task."""
    pictures, letters, speech = (named[task] for task in ("CIFAR100", "FEMNIST", "Shakespeare"))
    return {
        "Kη-fixed lowers the training loss faster than dSGD at first: it is lower after a ninth of the time": below(
            FIXED, SMALLEST, place=EARLY
        ),
        f"on {speech} dSGD overtakes Kη-fixed within the time": below(SMALLEST, FIXED, ["Shakespeare"]),
        f"on {letters} and {pictures} K_r-rounds ends with a lower training loss than Kη-fixed": below(
            "k_rounds", FIXED, ["FEMNIST", "CIFAR100"]
        ),
        f"on {pictures} η_r-rounds ends with a lower training loss than Kη-fixed": below(
            "eta_rounds", FIXED, ["CIFAR100"]
        ),
    }


def of_accuracies(over: Claims, named: Mapping[str, str]) -> dict[str, list[Pair]]:
    """What the paper sees in Figure 2; ``named``: what stands for a task."""
    matches, less = partial(over, margin=-TOLERANCE), f"at most {TOLERANCE:g} point less accuracy"
    return {
        "Kη-fixed gains accuracy faster than dSGD at first: it is ahead after a ninth of the time": over(
            FIXED, SMALLEST, place=EARLY
        ),
        "dSGD has overtaken Kη-fixed in accuracy by the end": over(SMALLEST, FIXED),
        f"K_r-rounds matches or beats Kη-fixed: {less}": matches("k_rounds", FIXED),
        f"every decay of K matches or beats Kη-fixed: {less}": [p for k in K_DECAYS for p in matches(k, FIXED)],
        f"every decay of K matches or beats the same decay of η: {less}": [
            pair for k, eta in zip(K_DECAYS, ETA_DECAYS, strict=True) for pair in matches(k, eta)
        ],
        f"on {named['CIFAR100']} K_r-rounds is ahead of Kη-fixed by {GAIN:g} points": over(
            "k_rounds", FIXED, ["CIFAR100"], margin=GAIN
        ),
    }


SHOWN = {
    LOSS: ("Smallest training cross-entropy", "the loss at the start", of_losses),
    ACCURACY: ("Largest test accuracy", "accuracy 0", of_accuracies),
}
"""What is drawn, what a run that diverged counts as, and what the paper concludes."""


def data(quantity: str, runs: Runs, scale: str) -> Shown:
    """A figure's curves and conclusions."""
    here, (best_, diverged, concluded) = tasks(scale), SHOWN[quantity]

    named = {task: grid.name(scale, task) for task in TASKS}

    def pairs(one: str, other: str, among: Sequence[str] = TASKS, **how: float) -> list[Pair]:
        return [ahead(runs, scale, task, one, other, quantity, **how) for task in here if task in among]

    def regimes(words: str) -> list[Regime]:
        """What a conclusion on decays of K needs: that they decay."""
        keys = K_DECAYS if words.startswith("every decay") else ("k_rounds",) if "K_r-rounds" in words else ()
        return [decaying(runs, scale, task, key) for task in here for key in keys]

    return Shown(
        f"{best_} so far. Band: one standard error over seeds. {caption(scale)} A run that diverged is drawn as far as "
        f"it goes and counts as {diverged}.",
        rows(runs, scale, quantity),
        conclusions=[
            judge(words, found, 0.0 if quantity == LOSS else POINT, regimes(words))
            for words, found in concluded(pairs, named).items()
        ],
        unavailable="" if here else "data not available",
    )


def _figure(number: int, title: str, quantity: str, y: Axis) -> Artefact:
    return Artefact(
        f"decaying_k.figure_{number}",
        f"{title} against simulated time",
        grid.cells,
        partial(data, quantity),
        lambda shown: panels(shown.rows, Axis("simulated time (minutes)"), y),
        "decaying_k.figure_1" if number == 2 else "",
    )


ARTEFACTS = {
    "figure_1": _figure(1, "smallest training loss", LOSS, Axis("training loss", log=True)),
    "figure_2": _figure(2, "largest test accuracy", ACCURACY, Axis("test accuracy (%)")),
}
