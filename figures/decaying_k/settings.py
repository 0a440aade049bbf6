"""Tables 1 and 2 and Section 4.2 as data: what the paper runs; the grids are built from these."""

from __future__ import annotations

from dataclasses import dataclass

from bounds.decaying_k.runtime import runtime
from bounds.decaying_k.schedules import SCHEDULES
from paper_checks.reported import table

from ..run_description import model, Setting

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
"""Points of accuracy, and simulated seconds."""
BATCH_UNSTATED = 32
"""For CIFAR100, whose batch size the paper does not state: that of a sibling repository of its first author."""

TITLES = {key: schedule.title for key, schedule in SCHEDULES.items()}
"""The eight schedules in the order of Table 3, by the words of the catalogue."""
K_DECAYS = ("k_rounds", "k_error", "k_step")
ETA_DECAYS = ("eta_rounds", "eta_error", "eta_step")
STEPPED = ("k_step", "eta_step")
JOINT = "joint"
CURVES = {**TITLES, JOINT: "K_r,η_r-rounds"}
"""And both decays at once, which the paper tried, and dropped without a figure or a number (Section 4.3)."""
TEXTS = {key: f"schedule='{key}'" for key in TITLES} | {JOINT: "schedule='k_rounds', step_size='eta_rounds'"}
"""What the training code takes for each."""

NETWORKS = {
    "Sent140": "sent140_linear()",
    "FEMNIST": "femnist_dnn()",
    "CIFAR100": "decaying_k_cnn()",
    "Shakespeare": "shakespeare_gru()",
}
"""The paper's networks at the shapes of its own data."""


@dataclass(frozen=True)
class PrintedTask:
    """A row of Table 1 with its seconds per step (Table 2) and its batch (Section 4.1); the size in megabit."""

    classes: int
    model_size: float
    clients: int
    cohort: int
    samples: int
    local_steps: int
    step_size: float
    minibatch_time: float
    batch: int

    def seconds(self, rounds: int, local_steps: int) -> float:
        """The simulated time of a number of rounds of Kη-fixed by eq. (5)."""
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


def _task(name: str) -> PrintedTask:
    def one(column: str) -> float:
        return float(_ONE[name, column].value)

    return PrintedTask(
        classes=int(one("Classes")),
        model_size=one("Model size"),
        clients=int(one("Total clients")),
        cohort=int(one("Clients per round")),
        samples=int(one("Samples per client")),
        local_steps=int(one("K_0")),
        step_size=one("eta_0"),
        minibatch_time=float(_TWO[name, "beta"].value),
        batch=int(_DATA[name, "batch size"].value or BATCH_UNSTATED),
    )


PRINTED = {name: _task(name) for name in TASKS}
"""The four experiments."""


def in_paper(task: str) -> Setting:
    """What the paper runs for a task."""
    one = PRINTED[task]
    clients, cohort = str(one.clients), str(one.cohort)
    return Setting(task, model(NETWORKS[task]), clients, cohort, str(ROUNDS), one.seconds(ROUNDS, one.local_steps))
