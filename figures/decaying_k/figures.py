"""Figures 1 and 2: the smallest loss and the largest accuracy so far against simulated time, for all schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..artefact import Content
from ..drawing import Axis, draw_panels
from ..run_description import run_caption
from ..runs import half_interval, mean_rows, Runs, standard_error
from ..style import GREY
from . import grid
from .findings import ACCURACY, best_so_far, FINDINGS, LOSS, plateaus
from .grid import CURVES, JOINT, PLANS, tasks

PLATEAU = "plateau"
"""Name of the vertical line at the time when the validation error stops improving."""


def rows(runs: Runs, scale: str, quantity: str) -> list[dict[str, Any]]:
    """Return the curve of every schedule in every task, mean and error over seeds, and the time of the plateau.

    The start, equal for all schedules, is left out.
    """
    points = []
    spread = standard_error if quantity == LOSS else half_interval
    for task in tasks(scale):
        for key, title in CURVES.items():
            if info := grid.info_of(scale, task, key):
                curves = (best_so_far(runs, cell, quantity) for cell in grid.cells(scale, task, key))
                points += [row for row in mean_rows(curves, info.data, title, info, spread=spread) if row["x"] > 0]
        info = grid.info_of(scale, task)
        if info and (reached := plateaus(runs, scale, task)):
            place = {"panel": info.data, "curve": PLATEAU, "y": float("nan"), "error": float("nan"), "ran": info}
            points.append({**place, "x": sum(reached) / len(reached)})
    return points


def caption(runs: Runs, scale: str, keys: Sequence[str], shown: str, *more: str) -> str:
    """Return the caption: what is shown, how the runs of these schedules train, and the time that each gets."""
    plan, here = PLANS[scale], tasks(scale)
    there = {
        (task, key): [cell for cell in grid.cells(scale, task, key) if runs.result(cell) is not None]
        for task in here
        for key in keys
    }
    looks = plan.counts.get("validations", 0)
    rule = f"validation accuracy (measured {looks} times a run)" if looks else "the rolling training loss"
    left = {task: [CURVES[key] for key in keys if not there[task, key]] for task in here}
    names = {task: ", ".join(t) if len(t) < len(keys) else "all schedules" for task, t in left.items() if t}
    missing = [f"{titles} on {task}" for task, titles in names.items()]
    time_budget = (
        "Every schedule gets the simulated time of as many rounds of Kη-fixed by eq. (5), with the printed seconds per "
        f"step and model sizes. The loss is that of {plan.counts['probe']} training samples. The step schedules decay "
        f"when {rule} has stopped improving; the paper's rule is the validation error, without a number. "
        f"{CURVES[JOINT]} decays both, which the paper tried and shows no curve of."
    )
    used = [(CURVES[key], cells) for (_, key), cells in there.items()]
    classes = "" if scale in ("smoke", "paper") else "CIFAR100's hundred classes would need more rounds than ten."
    left_out = f"Not run, for their time: {'; '.join(missing)}." if missing else ""
    return run_caption(shown, used, PLANS["paper"].own, time_budget, classes, left_out, *more)


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
"""By quantity: what is drawn, and what a run that diverged counts as."""


def data(quantity: str, runs: Runs, scale: str) -> Content:
    """Return the curves and findings of the figure of a quantity."""
    title, diverged = SHOWN[quantity]
    shown = f"{title}. Vertical line: where K_r-step decays, mean over the seeds in which it does."
    return Content(
        caption(
            runs,
            scale,
            tuple(CURVES),
            shown,
            f"A run that diverged is drawn as far as it goes and counts as {diverged}.",
        ),
        rows(runs, scale, quantity),
        findings=[one for finding in FINDINGS[quantity] for one in finding.judge(runs, scale, quantity)],
        unavailable="" if tasks(scale) else "data not available",
    )


def draw(y: Axis, content: Content) -> Any:
    """Draw a panel for each task, with a vertical line at the plateau."""
    curves, lines = ([row for row in content.rows if (row["curve"] == PLATEAU) is line] for line in (False, True))
    figure = draw_panels(curves, Axis("simulated time (minutes)"), y)
    names = list(dict.fromkeys(row["panel"] for row in curves))
    for row in lines:
        figure.axes[names.index(row["panel"])].axvline(float(row["x"]), color=GREY, lw=0.9)
    return figure
