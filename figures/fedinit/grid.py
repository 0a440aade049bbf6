"""The runs behind FedInit's figures and tables: one grid, whose cells are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empirics.experiments import Cell

from ..stand_ins import found
from .settings import (
    chosen,
    CIFAR10,
    DATA,
    DECAY,
    HOME,
    METHODS,
    REPETITIONS,
    RESNET,
    ROUNDS,
    Setup,
    SHARES,
    VGG,
    written,
)

TRAIN, WALL = "train", "round_times"
MEASURED = ("test_loss", "test_accuracy", "divergence", "active_divergence")
START = 1.5
"""Seconds of a run before its first step: dealing the samples, and its share of reading them."""
LOOK = 0.06
"""Seconds of one measurement."""


@dataclass(frozen=True)
class Plan:
    """One scale: what stands for the paper's ``networks`` and ``data`` (left out: not run), and how long it is run.

    ``shrink`` divides clients and cohort, the share that takes part stays. A run's accuracy is the mean of its last
    ``window`` measurements; curves are running means of ``smoothing`` of them. ``lengths`` are the local steps of
    Figure 1a, ``with_ri`` the setups of Table 2. A local step takes ``step_seconds``; a timing goes through ``laps``
    rounds of every method, three times.
    """

    networks: Mapping[str, str]
    data: tuple[str, ...]
    rounds: Mapping[str, int]
    every: int
    seeds: int
    window: int
    smoothing: int
    lengths: tuple[int, ...]
    with_ri: tuple[Setup, ...]
    step_seconds: float
    laps: int
    setting: Mapping[str, Any] = field(default_factory=dict)
    shrink: int = 1
    tests: int | None = None
    augment: str = "none"

    @property
    def length(self) -> str:
        """What the local interval counts: steps, or passes over a client's samples."""
        return "local_epochs" if "local_epochs" in self.setting else "local_steps"

    @property
    def interval(self) -> int:
        return int(self.setting[self.length])


PRINTED: dict[str, Any] = {
    "step_size": chosen("CIFAR-10", "local learning rate"),
    "step_size_decay": chosen("CIFAR-10", "learning rate decay"),
    "weight_decay": chosen("CIFAR-10", "weight decay"),
    "clip": 10.0,
}
"""What every scale takes over; the clipping is that of the released code."""
STEPS = int(chosen("CIFAR-10", "local interval K"))
PLANS = {
    "smoke": Plan(
        networks={RESNET: "softmax({})"},
        data=("CIFAR-10",),
        rounds={"CIFAR-10": 4},
        every=1,
        seeds=2,
        window=1,
        smoothing=1,
        lengths=(1, 3, 6),
        with_ri=(HOME,),
        step_seconds=0.001,
        laps=1,
        setting={**PRINTED, "batch": 4, "local_steps": 3},
        shrink=5,
    ),
    "laptop": Plan(
        networks={RESNET: "fedcog_cnn({})"},
        data=("CIFAR-10",),
        rounds={"CIFAR-10": 84},
        every=6,
        seeds=REPETITIONS,
        window=4,
        smoothing=4,
        lengths=(1, 2, STEPS, 10),
        with_ri=tuple(s for s in CIFAR10 if s.split == "0.1"),
        step_seconds=0.0034,
        laps=3,
        setting={**PRINTED, "batch": 20, "local_steps": STEPS},
        shrink=2,
        tests=1000,
    ),
    "overnight": Plan(
        networks={RESNET: "fedcog_cnn({})"},
        data=("CIFAR-10", "CIFAR-100"),
        rounds={"CIFAR-10": 300, "CIFAR-100": 300},
        every=10,
        seeds=REPETITIONS,
        window=4,
        smoothing=4,
        lengths=(1, 2, STEPS, 10, 20),
        with_ri=CIFAR10,
        step_seconds=0.0034,
        laps=10,
        setting={**PRINTED, "batch": 20, "local_steps": STEPS},
        tests=2000,
    ),
    "paper": Plan(
        networks={RESNET: "resnet18({})", VGG: "vgg11({})"},
        data=tuple(DATA),
        rounds=ROUNDS,
        every=5,
        seeds=REPETITIONS,
        window=1,
        smoothing=20,
        lengths=(1, 2, STEPS, 10, 20),
        with_ri=CIFAR10,
        step_seconds=0.039,
        laps=10,
        setting={**PRINTED, "batch": int(chosen("CIFAR-10", "minibatch")), "local_epochs": STEPS},
        augment="fedinit",
    ),
}


def used(scale: str, data: str) -> str:
    """The set that is read in place of the paper's; empty where none is here."""
    return "digits" if scale == "smoke" else found(DATA[data])


def pool(scale: str, data: str) -> str:
    """The same as a data set's text, with a test part."""
    plan, name = PLANS[scale], used(scale, data)
    tested = {"digits": "held_out(digits)", "omniglot": "held_out(omniglot(size=32))"}.get(name, name)
    return f"fewer({tested}, test={plan.tests})" if plan.tests else tested


def missing(scale: str, setup: Setup) -> str:
    """Why a setup is not run at this scale; empty if it is."""
    plan = PLANS[scale]
    if setup.data not in plan.data or setup.network not in plan.networks:
        return "not run at this scale"
    if not used(scale, setup.data):
        return "data not available"
    small = setup.network == VGG and used(scale, setup.data) in ("fashion_mnist", "mnist")
    return "VGG-11 needs images of 32 x 32" if small else ""


def clients(scale: str, share: str) -> tuple[int, int]:
    """Clients in all and per round."""
    total, cohort = SHARES[share]
    return total // PLANS[scale].shrink, cohort // PLANS[scale].shrink


def dealt(scale: str, setup: Setup) -> dict[str, Any]:
    """The problem, who holds what, and the training of a setup."""
    plan, (total, cohort) = PLANS[scale], clients(scale, setup.share)
    return {
        "problem": plan.networks[setup.network].format(pool(scale, setup.data)),
        "partition": f"dirichlet_replaced({setup.split})",
        "clients": total,
        "cohort": cohort,
        "augment": plan.augment,
        **plan.setting,
    }


def run(scale: str, setup: Setup, method: str, seed: int, beta: float | None = None, length: int | None = None) -> Cell:
    """One training run: a method, or it from the start relaxed by ``beta``, with ``length`` local steps."""
    plan = PLANS[scale]
    decay = {"step_size_decay": DECAY[method]} if method in DECAY else {}
    return Cell(
        TRAIN,
        {
            **dealt(scale, setup),
            **decay,
            **({plan.length: length} if length else {}),
            "algorithm": written(method, setup, beta),
            "rounds": plan.rounds[setup.data],
            "every": plan.every,
            "seed": seed,
            "measure": list(MEASURED),
        },
    )


def runs(scale: str, setup: Setup, method: str, beta: float | None = None, length: int | None = None) -> list[Cell]:
    """The same with every seed; none where the setup is not run."""
    if missing(scale, setup):
        return []
    return [run(scale, setup, method, seed, beta, length) for seed in range(PLANS[scale].seeds)]


def timing(scale: str, share: str) -> list[Cell]:
    """The seconds of a round of every method, all taking turns; none where its data are not here."""
    setup = Setup(share=share)
    if missing(scale, setup):
        return []
    algorithms = [written(method, setup) for method in METHODS]
    return [Cell(WALL, {**dealt(scale, setup), "algorithms": algorithms, "laps": PLANS[scale].laps, "seed": 0})]


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take; at the paper's scale those of its GPU."""
    plan, given = PLANS[scale], cell.arguments
    passes = -(-50000 // given["clients"] // given["batch"])
    steps = given["cohort"] * (given["local_steps"] if "local_steps" in given else given["local_epochs"] * passes)
    if cell.job == WALL:
        rounds, looks = 3 * given["laps"] + 1, 0
        steps *= len(given["algorithms"]) + 1
    else:
        rounds, looks = given["rounds"], given["rounds"] / given["every"]
        steps *= 2 if "fedsam" in given["algorithm"] else 1
    return float(rounds * steps * plan.step_seconds + looks * LOOK + START) / 60
