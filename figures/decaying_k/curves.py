"""Figures 1 and 2: the smallest loss and the largest accuracy so far against simulated time of all schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ..artefact import Artefact, Shown
from ..comparing import Judged, Pair
from ..drawing import Axis, panels
from ..regimes import POINT, Regime
from ..runs import interval, mean_rows, Runs, standard_error
from ..style import GREY
from . import grid
from .findings import (
    ACCURACY,
    at,
    best,
    by_task,
    decays,
    drifting,
    EARLY,
    FIXED,
    learning,
    LOSS,
    overtaking,
    own_data,
    plateaus,
    SMALLEST,
    usual,
)  # fmt: skip
from .grid import PLANS, remarks, tasks
from .settings import CURVES, ETA_DECAYS, GAIN, JOINT, K_DECAYS, TASKS

PLATEAU = "plateau"
"""A vertical line instead of a curve: where the validation error stops improving."""
TOLERANCE = POINT
"""Points of accuracy by which a schedule may fall short and still match another."""


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


def ahead(
    runs: Runs, scale: str, quantity: str, one: str, other: str, task: str, place: float = 1.0, margin: float = 0.0
) -> Pair:
    """The claim that ``one`` is better by then: less loss, or more accuracy by ``margin`` points (below 0: or less)."""
    high, low = (other, one) if quantity == LOSS else (one, other)
    return Pair(
        f"{CURVES[one]} {'below' if quantity == LOSS else 'over'} {CURVES[other]}, {grid.name(scale, task)}",
        at(runs, scale, task, high, quantity, place),
        at(runs, scale, task, low, quantity, place),
        margin,
    )


def caption(scale: str) -> str:
    """What was run, for every artefact of these runs."""
    plan = PLANS[scale]
    here = tasks(scale)
    held = "" if scale == "paper" else "; what is scaled down stands beside each task"
    looks = plan.counts.get("validations", 0)
    rule = f"validation accuracy (measured {looks} times a run)" if looks else "the rolling training loss"
    missing = [f"{', '.join(left)} on {task}" for task in here if (left := _left_out(scale, task))]
    return (
        f"At the {scale} scale ({remarks(scale)}{held}), {plan.seeds} seeds. "
        f"{'; '.join(_setting(scale, task) for task in here)}. Every schedule gets the simulated "
        "time of so many rounds of Kη-fixed by eq. (5), with the printed seconds per step and model sizes. "
        f"The loss is that of {plan.counts['probe']} training samples. The step schedules decay when {rule} has "
        f"stopped improving; the paper's rule is the validation error, without a number. {CURVES[JOINT]} decays both, "
        "which the paper tried and shows no curve of."
        + (f" Not run, for their time: {'; '.join(missing)}." if missing else "")
    )


def _left_out(scale: str, task: str) -> list[str]:
    return [title for key, title in CURVES.items() if key not in grid.planned(scale, task)]


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

More = Callable[[Runs, str, str], Iterable[Regime]]


def finding(
    runs: Runs,
    scale: str,
    quantity: str,
    words: str,
    compared: Sequence[tuple[str, str]],
    *more: More,
    among: Sequence[str] = TASKS,
    part: float = 1.0,
    delta: float = 0.0,
    **how: float,
) -> list[Judged]:
    """That the first schedule of each pair is better; ``more``: guards besides the usual (of ``part`` of the time)."""
    keys = list(dict.fromkeys(key for pair in compared for key in pair))

    def guards(task: str) -> list[Regime]:
        found = usual(runs, scale, quantity, keys, task, part)
        return [*found, *(guard for guards_of in more for guard in guards_of(runs, scale, task))]

    def pairs(task: str) -> list[Pair]:
        return [ahead(runs, scale, quantity, one, other, task, **how) for one, other in compared]

    return by_task(words, scale, keys, pairs, guards, among, delta)


def of_losses(runs: Runs, scale: str) -> list[Judged]:
    """What the paper sees in Figure 1, and its remark on decaying both."""
    pictures, letters, speech = (grid.name(scale, task) for task in ("CIFAR100", "FEMNIST", "Shakespeare"))
    below = partial(finding, runs, scale, LOSS)
    return [
        *below(
            "Kη-fixed lowers the training loss faster than dSGD at first: it is lower after a ninth of the time",
            [(FIXED, SMALLEST)], part=EARLY**2, place=EARLY,
        ),
        *below(
            f"on {speech} dSGD overtakes Kη-fixed within the time", [(SMALLEST, FIXED)], overtaking,
            among=["Shakespeare"], part=0,
        ),
        *below(
            f"on {letters} and {pictures} K_r-rounds ends with a lower training loss than Kη-fixed",
            [("k_rounds", FIXED)], drifting, partial(decays, keys=("k_rounds",)), among=["FEMNIST", "CIFAR100"],
        ),
        *below(
            f"on {pictures} η_r-rounds ends with a lower training loss than Kη-fixed", [("eta_rounds", FIXED)],
            drifting, among=["CIFAR100"],
        ),
        *below(
            "decaying K and η together slows training: K_r-rounds alone ends with a lower training loss",
            [("k_rounds", JOINT)],
        ),
    ]  # fmt: skip


def of_accuracies(runs: Runs, scale: str) -> list[Judged]:
    """What the paper sees in Figure 2."""
    over, less = partial(finding, runs, scale, ACCURACY), f"at most {TOLERANCE:g} point less accuracy"
    matches = partial(over, margin=-TOLERANCE, delta=POINT)
    decayed = partial(decays, keys=K_DECAYS)
    return [
        *over(
            "Kη-fixed gains accuracy faster than dSGD at first: it is ahead after a ninth of the time",
            [(FIXED, SMALLEST)], learning, part=EARLY**2, place=EARLY, delta=POINT,
        ),
        *over(
            "dSGD has overtaken Kη-fixed in accuracy by the end", [(SMALLEST, FIXED)], learning, delta=POINT,
        ),
        *matches(
            f"K_r-rounds matches or beats Kη-fixed: {less}", [("k_rounds", FIXED)], learning,
            partial(decays, keys=("k_rounds",)),
        ),
        *matches(
            f"every decay of K matches or beats Kη-fixed: {less}", [(k, FIXED) for k in K_DECAYS], learning, decayed,
        ),
        *matches(
            f"every decay of K matches or beats the same decay of η: {less}",
            list(zip(K_DECAYS, ETA_DECAYS, strict=True)), learning, decayed,
        ),
        *over(
            f"on {grid.name(scale, 'CIFAR100')} K_r-rounds is ahead of Kη-fixed by {GAIN:g} points",
            [("k_rounds", FIXED)], drifting, own_data, among=["CIFAR100"], margin=GAIN, delta=POINT,
        ),
    ]  # fmt: skip


SHOWN = {
    LOSS: ("Smallest training cross-entropy so far. Bars: one standard error over seeds; the paper draws none",
           "the loss at the start", of_losses),
    ACCURACY: ("Largest test accuracy so far. Bars: 95 % confidence intervals of the mean over seeds",
               "accuracy 0", of_accuracies),
}  # fmt: skip
"""What is drawn, what a run that diverged counts as, and what the paper concludes."""


def data(quantity: str, runs: Runs, scale: str) -> Shown:
    """A figure's curves and conclusions."""
    best_, diverged, concluded = SHOWN[quantity]
    return Shown(
        f"{best_}. Vertical line: where K_r-step decays, mean over the seeds in which it does. {caption(scale)} A run "
        f"that diverged is drawn as far as it goes and counts as {diverged}.",
        rows(runs, scale, quantity),
        conclusions=concluded(runs, scale),
        unavailable="" if tasks(scale) else "data not available",
    )


def draw(shown: Shown, y: Axis) -> Any:
    """A panel for each task, its plateau a vertical line."""
    curves, lines = ([row for row in shown.rows if (row["curve"] == PLATEAU) is line] for line in (False, True))
    made = panels(curves, Axis("simulated time (minutes)"), y)
    names = list(dict.fromkeys(row["panel"] for row in curves))
    for row in lines:
        made.axes[names.index(row["panel"])].axvline(float(row["x"]), color=GREY, lw=0.9)
    return made


def _figure(number: int, title: str, quantity: str, y: Axis) -> Artefact:
    return Artefact(
        f"decaying_k.figure_{number}",
        f"{title} against simulated time",
        grid.cells,
        partial(data, quantity),
        partial(draw, y=y),
        "decaying_k.figure_1" if number == 2 else "",
    )


ARTEFACTS = {
    "figure_1": _figure(1, "smallest training loss", LOSS, Axis("training loss", log=True)),
    "figure_2": _figure(2, "largest test accuracy", ACCURACY, Axis("test accuracy (%)")),
}
