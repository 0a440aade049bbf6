"""Table 1: the tasks and their settings, as printed and as run at a scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artefact import Artefact, no_runs, Shown
from ..ran import partition_words, problem_words
from ..runs import Runs
from ..sheets import listing
from .grid import data_of, name, PLANS, remarks, what_ran
from .settings import DOWNLOAD, PRINTED, TASKS, UPLOAD

SETTINGS = {
    "clients in all": "clients",
    "per round": "cohort",
    "batch": "batch",
    "K0": "local_steps",
    "η0": "step_size",
}
"""Columns by the words of a run's setting."""


def data(runs: Runs, scale: str) -> Shown:
    return listing(
        f"Printed / ours at the {scale} scale ({remarks(scale)}). The model size in megabit and the rates, "
        f"{DOWNLOAD:g} Mbit/s down and {UPLOAD:g} up, enter the simulated time as printed at every scale. The paper "
        "states no batch size for CIFAR100. All: every client with samples enough for a batch.",
        [_row(scale, task) for task in TASKS],
    )


def _row(scale: str, task: str) -> dict[str, Any]:
    one, plan = PRINTED[task], PLANS[scale]
    text, partition = data_of(scale, task)
    return {
        "task": name(scale, task),
        "ours": problem_words(plan.networks[task].format(data=text)) if text else "data not available",
        "partition": partition_words(partition) if partition else "–",
        "size (Mbit)": f"{one.model_size:g}",
        **{words: _beside(getattr(one, key), plan.own[task], key) for words, key in SETTINGS.items()},
        "samples per client": f"{one.samples}",
        "rounds of Kη-fixed": f"{PLANS['paper'].rounds[task]} / {plan.rounds[task]}",
        "ran": what_ran(scale, task),
    }


def _beside(printed: float, setting: Mapping[str, Any], name: str) -> str:
    return f"{printed:g} / {setting[name]:g}" if name in setting else f"{printed:g} / all"


ARTEFACT = Artefact("decaying_k.table_1", "tasks and settings", no_runs, data)
