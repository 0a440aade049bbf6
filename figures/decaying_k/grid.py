"""The runs behind Decaying-K's figures and tables: four tasks, eight schedules, each for the same simulated time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bounds.decaying_k.runtime import runtime
from empirics.experiments import Cell

from ..stand_ins import found, remark
from .settings import DOWNLOAD, NETWORKS, PRINTED, ROUNDS, TASKS, TITLES, TRIALS, UPLOAD, WINDOW

RUN, TIMED_STEPS = "timed", "step_times"
SHARES = {"dsgd": 0.4, "k_rounds": 0.75}
"""Part of the longest run's minutes that the schedules with fewer steps take, their evaluations included."""
PAPER_MINUTES = {"Sent140": 300.0, "FEMNIST": 1500.0, "CIFAR100": 15000.0, "Shakespeare": 40000.0}
"""Of a run at the paper's scale: its steps by the seconds per step of one core, and half as much again."""
SETS = {"Sent140": "sent140", "FEMNIST": "femnist", "CIFAR100": "cifar10", "Shakespeare": "shakespeare"}
"""The data of every task below the paper's scale; ten classes of CIFAR are learnt in the few rounds there are."""
DEALT = {
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
"""By set: its text with a test set of its own, and how its samples become clients."""


@dataclass(frozen=True)
class Column:
    """A task at one scale. ``rounds`` are those of fixed K, whose time all get; ``minutes``: of one core, at most.

    ``network`` has a place for the data, which are given here for the smoke and the paper's scale alone.
    """

    network: str
    rounds: int
    window: int
    minutes: float
    setting: Mapping[str, Any]
    data: str = ""
    partition: str = ""


@dataclass(frozen=True)
class Plan:
    """One scale: seeds, how often a run is looked at, on how many training samples, and the four tasks."""

    seeds: int
    points: int
    probe: int
    columns: Mapping[str, Column]
    repeats: int = 20
    step_minutes: float = 0.2


def _smoke(network: str, size: float) -> Column:
    """Six rounds on scikit-learn's digits."""
    setting = {"clients": 10, "cohort": 4, "batch": 8, "local_steps": 4, "step_size": size}
    return Column(network, 6, 2, 0.01, setting, "held_out(digits)", "dirichlet(1.0)")


def _small(network: str, rounds: int, minutes: float, *setting: float) -> Column:
    """A task below the paper's scale: clients, cohort, batch, K_0 and eta_0; the window is a tenth of the rounds."""
    names = ("clients", "cohort", "batch", "local_steps", "step_size")
    return Column(network, rounds, max(3, rounds // 10), minutes, dict(zip(names, setting, strict=True)))


def _full(task: str, network: str, data: str, partition: str, **more: Any) -> Column:
    """A task as the paper runs it."""
    one = PRINTED[task]
    setting = {
        "cohort": one.cohort, "batch": one.batch, "local_steps": one.local_steps, "step_size": one.step_size,
    }  # fmt: skip
    return Column(network, ROUNDS, WINDOW, PAPER_MINUTES[task], {**setting, **more}, data, partition)


SMALL_GRU = "shakespeare_gru({data}, width=64, depth=1)"
PLANS = {
    "smoke": Plan(
        2, 6, 200, {t: _smoke("softmax({data})" if t == "Sent140" else "femnist_dnn({data})", 0.1) for t in TASKS}, 2
    ),
    "laptop": Plan(
        3,
        24,
        1000,
        {
            "Sent140": _small("sent140_linear({data})", 40, 0.18, 250, 20, 8, 30, 3.0),
            "FEMNIST": _small("femnist_dnn({data})", 40, 0.22, 100, 5, 32, 40, 0.1),
            "CIFAR100": _small("fedcog_cnn({data})", 25, 0.33, 100, 5, 32, 25, 0.1),
            "Shakespeare": _small(SMALL_GRU, 20, 0.2, 50, 5, 32, 20, 1.0),
        },
    ),
    "overnight": Plan(
        3,
        40,
        2000,
        {
            "Sent140": _small("sent140_linear({data})", 75, 2.3, 250, 50, 8, 60, 3.0),
            "FEMNIST": _small("femnist_dnn({data})", 110, 2.3, 100, 10, 32, 80, 0.1),
            "CIFAR100": _small("decaying_k_cnn({data})", 38, 4.6, 100, 5, 32, 25, 0.1),
            "Shakespeare": _small("shakespeare_gru({data})", 24, 2.4, 50, 5, 32, 40, 1.0),
        },
        100,
        1.0,
    ),
    "paper": Plan(
        TRIALS,
        100,
        20000,
        {
            "Sent140": _full("Sent140", "sent140_linear({data})", "sent140", "by_group(least=8)"),
            "FEMNIST": _full("FEMNIST", "femnist_dnn({data})", "femnist", "by_group(least=32)"),
            "CIFAR100": _full(
                "CIFAR100", "decaying_k_cnn({data}, side=28)", "cifar100", "pachinko()",
                clients=PRINTED["CIFAR100"].clients, augment="decaying_k",
            ),
            "Shakespeare": _full(
                "Shakespeare", "shakespeare_gru({data})", "shakespeare(alphabet='paper')", "by_group(least=150)",
                local_test="held_out",
            ),
        },
        100,
        1.0,
    ),
}  # fmt: skip


def data_of(scale: str, task: str) -> tuple[str, str]:
    """The text of a task's data and the partition; both empty where nothing can stand in."""
    column = PLANS[scale].columns[task]
    return (column.data, column.partition) if column.data else DEALT.get(found(SETS[task]), ("", ""))


def remarks(scale: str) -> str:
    """What stands in for which data, for captions."""
    if scale == "smoke":
        return "scikit-learn's digits in place of every data set"
    if scale == "paper":
        return "the paper's data sets"
    used = {task: found(name) for task, name in SETS.items()}
    told = [remark(SETS[t], name) for t, name in used.items() if t != "CIFAR100"]
    told.insert(0, f"{used['CIFAR100'] or 'no data'} for CIFAR100, whose hundred classes need more rounds")
    return "; ".join(filter(None, told))


def tasks(scale: str) -> tuple[str, ...]:
    """The tasks that have data."""
    return tuple(task for task in TASKS if data_of(scale, task)[0])


def seconds(scale: str, task: str) -> float:
    """The simulated time of K-eta-fixed's rounds by eq. (5), which every schedule gets."""
    column, one = PLANS[scale].columns[task], PRINTED[task]
    steps = column.rounds * column.setting["local_steps"]
    return float(
        runtime(
            rounds=column.rounds,
            iterations=steps,
            model_size=one.model_size,
            download_rate=DOWNLOAD,
            upload_rate=UPLOAD,
            minibatch_time=one.minibatch_time,
        )
    )


def run(scale: str, task: str, schedule: str, seed: int) -> Cell:
    """One run of a schedule, by its key in the catalogue."""
    plan, one = PLANS[scale], PRINTED[task]
    column, (data, partition) = plan.columns[task], data_of(scale, task)
    window = column.window
    return Cell(
        RUN,
        {
            "problem": column.network.replace("{data}", data),
            "partition": partition,
            "algorithm": f"scheduled(fedavg(), schedule='{schedule}', window={window}, patience={window})",
            "seconds": seconds(scale, task),
            "points": plan.points,
            "probe": plan.probe,
            "minibatch_time": one.minibatch_time,
            "model_size": one.model_size,
            "download_rate": DOWNLOAD,
            "upload_rate": UPLOAD,
            "seed": seed,
            **column.setting,
        },
    )


def cells(scale: str) -> list[Cell]:
    """All runs of all schedules, task after task."""
    seeds = range(PLANS[scale].seeds)
    return [run(scale, task, key, seed) for task in tasks(scale) for key in TITLES for seed in seeds]


def step_times(scale: str) -> list[Cell]:
    """Seconds per step of the four networks, all in one cell, once per seed."""
    networks = [
        {"network": text, "batch": PRINTED[task].batch, **({"tokens": 79} if task == "Shakespeare" else {})}
        for task, text in NETWORKS.items()
    ]
    repeats = PLANS[scale].repeats
    return [Cell(TIMED_STEPS, {"networks": networks, "repeats": repeats, "seed": seed}) for seed in range(3)]


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take."""
    plan = PLANS[scale]
    if cell.job == TIMED_STEPS:
        return plan.step_minutes
    task = next(t for t in TASKS if PRINTED[t].minibatch_time == cell.arguments["minibatch_time"])
    schedule = next((key for key in SHARES if f"'{key}'" in cell.arguments["algorithm"]), "")
    return plan.columns[task].minutes * SHARES.get(schedule, 1.0)
