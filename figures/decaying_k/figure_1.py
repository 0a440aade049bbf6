"""Figure 1: the smallest training loss so far against simulated time, four tasks, eight schedules."""

from __future__ import annotations

from typing import Any

from ..artefact import Artefact, Shown
from ..comparing import judge
from ..drawing import Axis, panels
from ..runs import Runs
from .curves import caption, EARLY, FIXED, LOSS, lower, rows, SMALLEST
from .grid import cells, tasks


def data(runs: Runs, scale: str) -> Shown:
    here = tasks(scale)
    networks = [t for t in here if t in ("FEMNIST", "CIFAR100")]
    last = [t for t in here if t == "Shakespeare"]
    return Shown(
        f"Smallest training cross-entropy so far. Band: one standard error over seeds. {caption(scale)} A run that "
        "diverged is drawn as far as it goes and counts as the loss at the start.",
        rows(runs, scale, LOSS),
        conclusions=[
            judge(
                "Kη-fixed lowers the training loss faster than dSGD at first: it is lower after a ninth of the time",
                [lower(runs, scale, task, FIXED, SMALLEST, EARLY) for task in here],
            ),
            judge(
                "on Shakespeare dSGD overtakes Kη-fixed within the time",
                [lower(runs, scale, task, SMALLEST, FIXED) for task in last],
            ),
            judge(
                "on FEMNIST and CIFAR100 K_r-rounds ends with a lower training loss than Kη-fixed",
                [lower(runs, scale, task, "k_rounds", FIXED) for task in networks],
            ),
            judge(
                "on CIFAR100 η_r-rounds ends with a lower training loss than Kη-fixed",
                [lower(runs, scale, t, "eta_rounds", FIXED) for t in networks if t == "CIFAR100"],
            ),
        ],
        unavailable="" if here else "data not available",
    )


def draw(shown: Shown) -> Any:
    return panels(shown.rows, Axis("simulated time (minutes)"), Axis("training loss", log=True))


ARTEFACT = Artefact(
    "decaying_k.figure_1", "smallest training loss against simulated time", "Decaying-K, Figure 1", cells, data, draw
)
