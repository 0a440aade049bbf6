"""Plans of Decaying-K: the printed settings (Tables 1 and 2, Section 4.2) and the runs behind its figures and tables.

There are four tasks; in each, all schedules get the same simulated time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bounds.decaying_k.runtime import runtime
from bounds.decaying_k.schedules import SCHEDULES
from empirics.experiments import Cell
from empirics.experiments.machine import GPU
from paper_checks.reported import table

from ..run_description import describe, network_title, RunInfo, SettingText
from ..scale import Budget, Plan
from ..substitutes import available

TASKS = ("Sent140", "FEMNIST", "CIFAR100", "Shakespeare")
_ONE, _TWO = table("decaying_k", "Table 1"), table("decaying_k", "Table 2")
_DATA, _RATES = table("decaying_k", "Text 4.1"), table("decaying_k", "Text 4.2")
_RUNS = table("decaying_k", "Text 3.5")

DOWNLOAD, UPLOAD = (
    float(_RATES["all", f"{way} bandwidth {x}"].value) for way, x in (("download", "D"), ("upload", "U"))
)
ROUNDS, WINDOW = int(_RUNS["all", "rounds R"].value), int(_RUNS["all", "window s"].value)
_SEEN = table("decaying_k", "Text 4.4")
TRIALS = int(_SEEN["all", "random trials"].value)
GAIN = float(_SEEN["CIFAR100", "K_r-rounds validation-accuracy gain over Keta-fixed"].value)
OVERTAKEN = 60 * float(_SEEN["Shakespeare", "dSGD overtakes Keta-fixed"].value)
"""GAIN is in points of accuracy, OVERTAKEN in simulated seconds."""
BATCH_UNSTATED = 32
"""For CIFAR100, whose batch size the paper does not state: that of a sibling repository of its first author."""

FIXED, SMALLEST = "k_eta_fixed", "dsgd"
TITLES = {key: schedule.title for key, schedule in SCHEDULES.items()}
"""The eight schedules in the order of Table 3, by their keys in ``bounds.decaying_k.schedules``."""
K_DECAYS = ("k_rounds", "k_error", "k_step")
ETA_DECAYS = ("eta_rounds", "eta_error", "eta_step")
STEPPED = ("k_step", "eta_step")
JOINT = "joint"
CURVES = {**TITLES, JOINT: "K_r,η_r-rounds"}
"""The schedules that are drawn: also both decays at once, which the paper tried without a number (Section 4.3)."""
TEXTS = {key: f"schedule='{key}'" for key in TITLES} | {JOINT: "schedule='k_rounds', step_size='eta_rounds'"}
"""The arguments of the training code for each schedule."""

NETWORKS = {
    "Sent140": "sent140_linear()",
    "FEMNIST": "femnist_dnn()",
    "CIFAR100": "decaying_k_cnn()",
    "Shakespeare": "shakespeare_gru()",
}
"""The paper's networks for the shapes of its own data."""


@dataclass(frozen=True)
class PrintedTask:
    """A row of Table 1 with its seconds per step (Table 2) and batch size (Section 4.1); the model size in megabit."""

    model_size: float
    clients: int
    cohort: int
    samples: int
    local_steps: int
    step_size: float
    minibatch_time: float
    batch: int

    def seconds(self, rounds: int, local_steps: int) -> float:
        """Return the simulated seconds of a number of rounds of Kη-fixed by eq. (5)."""
        return float(
            runtime(
                rounds=rounds,
                iterations=rounds * local_steps,
                model_size=self.model_size,
                download_rate=DOWNLOAD,
                upload_rate=UPLOAD,
                minibatch_time=self.minibatch_time,
            )
        )


COUNTED = {"clients": "Total clients", "cohort": "Clients per round", "samples": "Samples per client",
           "local_steps": "K_0"}  # fmt: skip
PRINTED = {
    name: PrintedTask(
        **{field: int(float(_ONE[name, column].value)) for field, column in COUNTED.items()},
        model_size=float(_ONE[name, "Model size"].value),
        step_size=float(_ONE[name, "eta_0"].value),
        minibatch_time=float(_TWO[name, "beta"].value),
        batch=int(_DATA[name, "batch size"].value or BATCH_UNSTATED),
    )
    for name in TASKS
}
"""The four experiments."""


def paper_setting(task: str) -> SettingText:
    """Return the paper's setting of a task."""
    one = PRINTED[task]
    clients, cohort = str(one.clients), str(one.cohort)
    seconds = one.seconds(ROUNDS, one.local_steps)
    return SettingText(task, network_title(NETWORKS[task]), clients, cohort, str(ROUNDS), seconds)


# ---- the grid ----

SHARES = {"'dsgd'": 0.35, "'k_rounds'": 0.65, "'k_step'": 0.7}
"""Share of the longest run's minutes that schedules with fewer steps take, evaluations included."""
LONG_SHARES = {"'dsgd'": 0.4, "'k_rounds'": 0.25, "'k_error'": 0.7, "'k_step'": 0.7}
"""The same for runs half as long as the paper's."""
SETS = {"Sent140": "sent140", "FEMNIST": "femnist", "CIFAR100": "cifar10", "Shakespeare": "shakespeare"}
"""The data of every task below the paper's scale; CIFAR-10, as a hundred classes would need more rounds."""
FEDERATIONS = {
    "sent140": ("fewer(sent140, test=2000)", "by_group(least=8)"),
    "sent140_users": ("held_out(sent140_users)", "by_group(least=8)"),
    "sent140_sample": ("held_out(sent140_sample)", "iid"),
    "femnist": ("fewer(femnist, test=1000)", "by_group(least=100)"),
    "mnist": ("fewer(mnist, test=1000)", "by_group(least=100)"),
    "cifar10": ("fewer(cifar10, train=20000, test=1000)", "dirichlet_replaced(0.3)"),
    "fashion_mnist": ("fewer(fashion_mnist, train=20000, test=1000)", "dirichlet_replaced(0.3)"),
    "shakespeare": (
        "fewer(held_out(shakespeare(length=20, stride=21, alphabet='paper')), test=1000)",
        "by_group(least=200)",
    ),
    "tiny_shakespeare": ("fewer(held_out(tiny_shakespeare(length=20, stride=21)), test=1000)", "by_group(least=200)"),
}
"""By data set: its text with a test set, and the partition of its samples among clients."""
WHOLE = {
    "Sent140": ("sent140", "by_group(least=8)"),
    "FEMNIST": ("femnist", "by_group(least=32)"),
    "CIFAR100": ("cifar100", "pachinko()"),
    "Shakespeare": ("shakespeare(alphabet='paper')", "by_group(least=150)"),
}
"""Data and partition at the paper's scale, by task."""


def _budget(timing: float, shares: Mapping[str, float] = SHARES, **minutes: float) -> Budget:
    """Return a budget: minutes of a timing of single steps, and of the longest run by a word of its network."""
    whole = {"step_times": timing, **minutes}
    return Budget(per_run={word: 60 * each for word, each in whole.items()}, factor=shares)


def _own(clients: int, cohort: int, batch: int, local_steps: int, step_size: float) -> dict[str, Any]:
    return {"clients": clients, "cohort": cohort, "batch": batch, "local_steps": local_steps, "step_size": step_size}


def _printed(task: str) -> tuple[int, float]:
    """Return K_0 and eta_0 of the paper."""
    return PRINTED[task].local_steps, PRINTED[task].step_size


def _as_printed(task: str, **more: Any) -> dict[str, Any]:
    return {name: getattr(PRINTED[task], name) for name in ("cohort", "batch", "local_steps", "step_size")} | more


COMPILED = {"engine": "compiled-2"}
"""For networks with compiled passes."""
LINEAR, DENSE = {"Sent140": "sent140_linear({data})"}, {"FEMNIST": "femnist_dnn({data})"}
GRU = "shakespeare_gru({data})"
HALF = ROUNDS // 2
UNTIL_OVERTAKEN = -int(-OVERTAKEN // PRINTED["Shakespeare"].seconds(1, PRINTED["Shakespeare"].local_steps))
"""Rounds of Kη-fixed in the simulated time that the paper's dSGD takes to overtake it.

Overnight, K_0 is the paper's, and so is eta_0 if training works with it. On MNIST, whose inputs are standardised,
0.0125, 0.025, 0.05, 0.1 and 0.2 were tried for 100 rounds with a seed of no run; 0.1 is best and 0.2 diverges.
"""
PLANS = {
    "smoke": Plan(
        seeds=2, networks={**dict.fromkeys(TASKS, "femnist_dnn({data})"), "Sent140": "softmax({data})"}, window=2,
        rounds=dict.fromkeys(TASKS, 6), own=dict.fromkeys(TASKS, _own(10, 4, 8, 4, 0.1)),
        counts={"points": 6, "probe": 200, "repeats": 2}, budget=_budget(0.2, softmax=0.01, femnist_dnn=0.01),
    ),
    "laptop": Plan(
        seeds=4,
        networks=LINEAR | DENSE | {"CIFAR100": "fedcog_cnn({data})", "Shakespeare": GRU[:-1] + ", width=64, depth=1)"},
        rounds={"Sent140": 100, "FEMNIST": 100, "CIFAR100": 60, "Shakespeare": 60}, window=0,
        own={"Sent140": _own(250, 10, 8, 20, 3.0), "FEMNIST": _own(100, 5, 32, 40, 0.1) | COMPILED,
             "CIFAR100": _own(100, 5, 20, 20, 0.1) | COMPILED, "Shakespeare": _own(50, 5, 16, 10, 1.0)},
        counts={"points": 24, "probe": 1000, "repeats": 20},
        budget=_budget(0.2, sent140_linear=0.18, femnist_dnn=0.22, fedcog_cnn=0.3, shakespeare_gru=0.2),
    ),
    "overnight": Plan(
        seeds=3,
        networks=DENSE | {"Sent140": "softmax({data}, regularisation=1e-09)", "CIFAR100": "fedcog_cnn({data})",
                          "Shakespeare": GRU[:-1] + ", width=64, depth=1)"},
        rounds={"Sent140": HALF, "FEMNIST": HALF, "CIFAR100": 60, "Shakespeare": UNTIL_OVERTAKEN}, window=0,
        own={"Sent140": _own(250, 10, 8, *_printed("Sent140")) | COMPILED,
             "FEMNIST": _own(200, 4, 32, _printed("FEMNIST")[0], 0.1) | COMPILED,
             "CIFAR100": _own(100, 5, 32, _printed("CIFAR100")[0], 0.1) | COMPILED,
             "Shakespeare": _own(200, 3, 16, *_printed("Shakespeare"))},
        axes={"FEMNIST": tuple(key for key in CURVES if key not in ETA_DECAYS), "Shakespeare": (FIXED, SMALLEST)},
        counts={"points": 40, "probe": 1000, "repeats": 100, "validations": 100},
        budget=_budget(1.0, LONG_SHARES, softmax=9, femnist_dnn=22, fedcog_cnn=1, shakespeare_gru=20),
    ),
    "paper": Plan(
        engine=GPU,
        seeds=TRIALS, networks=LINEAR | DENSE | {"CIFAR100": "decaying_k_cnn({data}, side=28)", "Shakespeare": GRU},
        rounds=dict.fromkeys(TASKS, ROUNDS), window=WINDOW,
        own={"Sent140": _as_printed("Sent140"), "FEMNIST": _as_printed("FEMNIST"),
             "CIFAR100": _as_printed("CIFAR100", clients=PRINTED["CIFAR100"].clients, augment="decaying_k"),
             "Shakespeare": _as_printed("Shakespeare", local_test="held_out")},
        counts={"points": 100, "probe": 20000, "repeats": 100, "validations": 100},
        budget=_budget(1.0, sent140_linear=300, femnist_dnn=1500, decaying_k_cnn=15000, shakespeare_gru=40000),
    ),
}  # fmt: skip
"""At the paper's scale the minutes are 1.5 times its number of steps times the seconds per step of one core."""


def data_and_partition(scale: str, task: str) -> tuple[str, str]:
    """Return the data of a task as text and the partition; both empty if no data set or substitute is installed."""
    if scale == "smoke":
        return "held_out(digits)", "dirichlet(1.0)"
    return WHOLE[task] if scale == "paper" else FEDERATIONS.get(available(SETS[task]), ("", ""))


def info_of(scale: str, task: str, schedule: str = FIXED) -> RunInfo | None:
    """Return the setting of a task's runs beside the paper's, or None if nothing is run."""
    return describe(cells(scale, task, schedule), paper_setting(task))


def data_name(scale: str, task: str) -> str:
    """Return the data of a task, ``CIFAR-10 for CIFAR100`` if they are not the paper's."""
    info = info_of(scale, task)
    return info.data if info else task


def tasks(scale: str) -> tuple[str, ...]:
    """Return the tasks with data."""
    return tuple(task for task in TASKS if data_and_partition(scale, task)[0])


def schedules_of(scale: str, task: str) -> tuple[str, ...]:
    """Return the schedules that are run for a task."""
    return PLANS[scale].axes.get(task, tuple(CURVES))


def cells(scale: str, task: str, schedule: str) -> list[Cell]:
    """Return the runs of a schedule, given by its key; none if the task has no data or the plan leaves it out.

    Every schedule gets the simulated time of Kη-fixed's rounds by eq. (5). The loss is averaged over the plan's window,
    or a tenth of all rounds; step schedules decay by it, or by the plan's number of validations.
    """
    plan, one = PLANS[scale], PRINTED[task]
    (data, partition), own, rounds = data_and_partition(scale, task), plan.own[task], plan.rounds[task]
    if not data or schedule not in schedules_of(scale, task):
        return []
    rolling = plan.window or max(3, rounds // 10)
    looks = plan.counts.get("validations", 0) if schedule in STEPPED else 0
    return plan.cells(
        "timed",
        problem=plan.networks[task].format(data=data),
        partition=partition,
        algorithm=f"scheduled(fedavg(), {TEXTS[schedule]}, window={rolling}, patience={rolling})",
        seconds=one.seconds(rounds, own["local_steps"]),
        points=plan.counts["points"],
        probe=plan.counts["probe"],
        minibatch_time=one.minibatch_time,
        model_size=one.model_size,
        download_rate=DOWNLOAD,
        upload_rate=UPLOAD,
        **({"validated": max(1, rounds // looks)} if looks else {}),
        **plan.engine_argument,
        **own,
    )


def step_times(scale: str) -> list[Cell]:
    """Return the runs that time a step of the four networks, all in one cell, with three seeds at every scale."""
    networks = [
        {"network": text, "batch": PRINTED[task].batch, **({"tokens": 79} if task == "Shakespeare" else {})}
        for task, text in NETWORKS.items()
    ]
    timing = replace(PLANS[scale], seeds=3)
    return timing.cells("step_times", networks=networks, repeats=timing.counts["repeats"])
