"""Figures 1 and 2: the smallest loss and the largest accuracy so far against simulated time of all schedules."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..artefact import Artefact, Shown
from ..captions import caption as put_together
from ..drawing import Axis, panels
from ..runs import interval, mean_rows, Runs, standard_error
from ..style import GREY
from . import grid
from .findings import ACCURACY, best, FINDINGS, LOSS, plateaus
from .grid import CURVES, JOINT, PLANS, tasks

PLATEAU = "plateau"
"""A vertical line instead of a curve: where the validation error stops improving."""


def rows(runs: Runs, scale: str, quantity: str) -> list[dict[str, Any]]:
    """Every schedule in every task, mean over seeds with the error that the figure shows, and the plateau.

    The start, equal for all, is left out.
    """
    found = []
    spread = standard_error if quantity == LOSS else interval
    for task in tasks(scale):
        for key, title in CURVES.items():
            if ran := grid.what_ran(scale, task, key):
                curves = (best(runs, cell, quantity) for cell in grid.runs(scale, task, key))
                found += [row for row in mean_rows(curves, ran.data, title, ran, spread=spread) if row["x"] > 0]
        ran = grid.what_ran(scale, task)
        if ran and (reached := plateaus(runs, scale, task)):
            place = {"panel": ran.data, "curve": PLATEAU, "y": float("nan"), "error": float("nan"), "ran": ran}
            found.append({**place, "x": sum(reached) / len(reached)})
    return found


def caption(scale: str, shown: str, *more: str) -> str:
    """What is shown, how the runs of every schedule are trained, and what they are given."""
    plan, here = PLANS[scale], tasks(scale)
    looks = plan.counts.get("validations", 0)
    rule = f"validation accuracy (measured {looks} times a run)" if looks else "the rolling training loss"
    left = {task: [title for key, title in CURVES.items() if key not in grid.planned(scale, task)] for task in here}
    missing = [f"{', '.join(titles)} on {task}" for task, titles in left.items() if titles]
    said = (
        "Every schedule gets the simulated time of as many rounds of Kη-fixed by eq. (5), with the printed seconds per "
        f"step and model sizes. The loss is that of {plan.counts['probe']} training samples. The step schedules decay "
        f"when {rule} has stopped improving; the paper's rule is the validation error, without a number. "
        f"{CURVES[JOINT]} decays both, which the paper tried and shows no curve of."
    )
    used = [(title, grid.runs(scale, task, key)) for task in here for key, title in CURVES.items()]
    classes = "" if scale in ("smoke", "paper") else "CIFAR100's hundred classes would need more rounds than ten."
    left_out = f"Not run, for their time: {'; '.join(missing)}." if missing else ""
    return put_together(shown, used, PLANS["paper"].own, said, classes, left_out, *more)


# ---- the figures ----

SHOWN = {
    LOSS: (
        "Smallest training cross-entropy so far. Bars: one standard error over seeds; the paper draws none",
        "the loss at the start",
    ),
    ACCURACY: (
        "Largest test accuracy so far. Bars: 95 % confidence intervals of the mean over seeds", "accuracy 0",
    ),
}  # fmt: skip
"""What is drawn, and what a run that diverged counts as."""


def data(quantity: str, runs: Runs, scale: str) -> Shown:
    """A figure's curves and conclusions."""
    drawn, diverged = SHOWN[quantity]
    shown = f"{drawn}. Vertical line: where K_r-step decays, mean over the seeds in which it does."
    return Shown(
        caption(scale, shown, f"A run that diverged is drawn as far as it goes and counts as {diverged}."),
        rows(runs, scale, quantity),
        conclusions=[judged for finding in FINDINGS[quantity] for judged in finding.judged(runs, scale, quantity)],
        unavailable="" if tasks(scale) else "data not available",
    )


def draw(y: Axis, shown: Shown) -> Any:
    """A panel for each task, its plateau a vertical line."""
    curves, lines = ([row for row in shown.rows if (row["curve"] == PLATEAU) is line] for line in (False, True))
    made = panels(curves, Axis("simulated time (minutes)"), y)
    names = list(dict.fromkeys(row["panel"] for row in curves))
    for row in lines:
        made.axes[names.index(row["panel"])].axvline(float(row["x"]), color=GREY, lw=0.9)
    return made


ARTEFACTS = (
    Artefact(
        "decaying_k.figure_1", "smallest training loss against simulated time", partial(data, LOSS),
        partial(draw, Axis("training loss", log=True)),
    ),
    Artefact(
        "decaying_k.figure_2", "largest test accuracy against simulated time", partial(data, ACCURACY),
        partial(draw, Axis("test accuracy (%)")), "decaying_k.figure_1",
    ),
)  # fmt: skip
