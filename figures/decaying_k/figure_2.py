"""Figure 2: the largest test accuracy so far against simulated time, four tasks, eight schedules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..runs import Runs
from .curves import ACCURACY, caption, EARLY, FIXED, more_accurate, rows, SMALLEST
from .grid import cells, tasks
from .settings import ETA_DECAYS, K_DECAYS, TASKS

TOLERANCE = 1.0
"""Points of accuracy by which a schedule may fall short and still match another."""
GAIN = float(table("decaying_k", "Text 4.4")["CIFAR100", "K_r-rounds validation-accuracy gain over Keta-fixed"].value)


def data(runs: Runs, scale: str) -> Shown:
    here = tasks(scale)
    return Shown(
        f"Largest test accuracy so far. Band: one standard error over seeds. {caption(scale)} A run that diverged is "
        "drawn as far as it goes and counts as accuracy 0.",
        rows(runs, scale, ACCURACY),
        conclusions=_conclusions(runs, scale, here),
        unavailable="" if here else "data not available",
    )


def _conclusions(runs: Runs, scale: str, here: Sequence[str]) -> list[Judged]:
    def over(one: str, other: str, among: Sequence[str] = TASKS, **how: float) -> list[Pair]:
        return [more_accurate(runs, scale, task, one, other, **how) for task in here if task in among]

    matches = partial(over, margin=-TOLERANCE)

    return [
        judge(
            "Kη-fixed gains accuracy faster than dSGD at first: it is ahead after a ninth of the time",
            over(FIXED, SMALLEST, place=EARLY),
        ),
        judge("dSGD has overtaken Kη-fixed in accuracy by the end", over(SMALLEST, FIXED)),
        judge(
            f"K_r-rounds matches or beats Kη-fixed: at most {TOLERANCE:g} point less accuracy",
            matches("k_rounds", FIXED),
        ),
        judge(
            f"every decay of K matches or beats Kη-fixed: at most {TOLERANCE:g} point less accuracy",
            [pair for key in K_DECAYS for pair in matches(key, FIXED)],
        ),
        judge(
            f"every decay of K matches or beats the same decay of η: at most {TOLERANCE:g} point less accuracy",
            [pair for k, eta in zip(K_DECAYS, ETA_DECAYS, strict=True) for pair in matches(k, eta)],
        ),
        judge(
            f"on CIFAR100 K_r-rounds is ahead of Kη-fixed by {GAIN:g} points",
            over("k_rounds", FIXED, ["CIFAR100"], margin=GAIN),
        ),
    ]


def draw(shown: Shown) -> Any:
    return panels(shown.rows, Axis("simulated time (minutes)"), Axis("test accuracy (%)"))


ARTEFACT = Artefact(
    "decaying_k.figure_2", "largest test accuracy against simulated time", "Decaying-K, Figure 2", cells, data, draw
)
