"""The runs behind FedALS's figures and tables: one grid, whose cells are shared; and Figure 1's, which shows layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empirics.experiments import Cell

from .settings import (
    algorithm,
    ALPHA,
    CLIENTS,
    here,
    IID_SHARE,
    LOCAL_STEPS,
    METHODS,
    partition,
    printed,
    REPETITIONS,
    rounds,
    SETS,
    setting,
    TEXT,
    WINDOW,
)

TRAIN = "train"
MEASURED = ("test_loss", "test_accuracy", "exchanged_parameters")
STEPS = 50
"""Local steps of a round in Figure 1."""
CONTROLS = 1.25
"""How much longer SCAFFOLD's control variables make a run."""


@dataclass(frozen=True)
class Example:
    """Figure 1's runs: the network with its data (or a place for them), rounds, and seconds of a local step."""

    network: str
    rounds: int
    every: int
    setting: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Plan:
    """One scale.

    ``network`` has a place for data and for the border of the extractor, ``layers`` layers, and ``tests`` test samples
    to be evaluated on. ``columns`` are the data sets that are run, ``splits`` those of Table 3, ``borders`` its rows:
    printed L to layers of this network. ``rounds`` of a non-iid run, its ``steps`` (sizes) and ``seconds`` (of one
    core, a local step with its share of everything else) go by data set, "" being any other; in ``steps`` a method or
    split after it has its own, as in "cifar10 iid". ``window``: evaluations, of ``points``, whose mean is the result.
    """

    network: str
    layers: int
    tests: int | None
    rounds: Mapping[str, int]
    points: int
    window: int
    seeds: int
    steps: Mapping[str, float]
    setting: Mapping[str, Any]
    seconds: Mapping[str, float]
    columns: tuple[str, ...]
    splits: tuple[str, ...]
    borders: Mapping[int, int]
    example: Example
    scaffold: Mapping[str, Any] = field(default_factory=dict)


IMAGES = tuple(name for name in SETS if name != TEXT)
SMALL = {"batch": 16, "weight_decay": float(printed("weight decay"))}
FIVE = {20: 5, 16: 4, 12: 3, 8: 2, 4: 1}
"""The same shares of five layers; a twentieth (L = 1) has no like."""
STEP_SIZES = {
    "": 0.04,
    "cifar10 scaffold()": 0.01,
    "omniglot": 0.2,
    "omniglot iid": 0.4,
    f"omniglot {METHODS['FedALS']}": 0.1,
    "omniglot scaffold()": 0.1,
    f"omniglot {METHODS['FedALS+SCAFFOLD']}": 0.05,
}
"""By a search with one seed that tried halves and doubles; beyond them runs fall back to chance or diverge."""
SECONDS = {"": 0.0034, "mnist": 0.0028, "omniglot": 0.003}

PLANS = {
    "smoke": Plan(
        "femnist_dnn({data}{border})", 3, None, {"": 4}, 4, 1, 2, {"": 0.1}, SMALL, {"": 0.006}, tuple(SETS), IMAGES,
        {20: 3, 16: 2, 4: 1}, Example("femnist_dnn(held_out(digits))", 3, 1, {"batch": 4, "step_size": 0.05}, 0.002),
    ),
    "laptop": Plan(
        "fedcog_cnn({data}{border})", 5, 2000, {"": 200, "mnist": 100, "omniglot": 300}, 10, 3, 3, STEP_SIZES, SMALL,
        SECONDS, IMAGES, ("CIFAR-10", "SVHN"), FIVE,
        Example("resnet20({data})", 4, 1, {"batch": 8, "step_size": 0.05}, 0.05),
    ),
    "overnight": Plan(
        "fedcog_cnn({data}{border})", 5, 2000, {"": 1500, "mnist": 600, "omniglot": 800}, 20, 5, 5, STEP_SIZES, SMALL,
        SECONDS, IMAGES, IMAGES, FIVE, Example("resnet20({data})", 15, 1, {"batch": 16, "step_size": 0.05}, 0.06),
    ),
    "paper": Plan(
        "resnet20({data}{border})", 20, None, {"": rounds("non-iid")}, 200, WINDOW, REPETITIONS, {"": 0.01}, setting(),
        {"": 0.02}, tuple(SETS), IMAGES, {n: n for n in (20, 16, 12, 8, 4, 1)},
        Example(
            "resnet20({data})", rounds("non-iid") * LOCAL_STEPS // STEPS, 10, setting() | {"step_size": 0.01}, 0.02
        ),
        {"momentum": 0.0, "nesterov": False},
    ),
}  # fmt: skip


def word(scale: str, column: str) -> str:
    """The data set that is run for a column; empty where there is none."""
    if scale == "smoke":
        return "digits"
    return here(column) if column in PLANS[scale].columns else ""


def data(scale: str, column: str) -> str:
    """The same as text of a problem, with a test set."""
    name, tests = word(scale, column), PLANS[scale].tests
    if name in ("digits", "omniglot"):
        return f"held_out({name})"
    whole = f"{name}(task='next')" if name == SETS[TEXT] else name
    return whole if tests is None else f"fewer({whole}, test={tests})"


def run(scale: str, column: str, method: str, split: str, seed: int, layers: int | None = None) -> Cell:
    """One training run; ``layers`` of this scale's network make the extractor (None: all but the last).

    With all layers in the extractor there is no head: it is FedAvg with alpha times the local steps.
    """
    plan, text = PLANS[scale], column == TEXT and scale != "smoke"
    name, made = word(scale, column), algorithm(method)
    found = setting(text=True) if text else dict(plan.setting)
    found |= {"step_size": _step(plan, name, made, split), **(plan.scaffold if "scaffold" in made and not text else {})}
    count = plan.rounds.get(name, plan.rounds[""])
    count = int(count * IID_SHARE) if split == "iid" else count
    steps = LOCAL_STEPS
    if layers == plan.layers:
        made, count, steps, layers = METHODS["FedAvg"], max(count // ALPHA, 1), steps * ALPHA, None
    border = "" if layers in (None, plan.layers - 1) else f", extractor={layers}"
    network = "opt({data}{border})" if text else plan.network
    return Cell(
        TRAIN,
        {
            **found,
            "problem": network.format(data=data(scale, column), border=border),
            "partition": partition(split, text),
            "clients": CLIENTS,
            "algorithm": made,
            "rounds": count,
            "local_steps": steps,
            "every": max(count // plan.points, 1),
            "seed": seed,
            "measure": list(MEASURED),
        },
    )


def seeds(scale: str, column: str, method: str, split: str, layers: int | None = None) -> list[Cell]:
    """The run with every seed; none where there are no data."""
    if not word(scale, column):
        return []
    return [run(scale, column, method, split, seed, layers) for seed in range(PLANS[scale].seeds)]


def example(scale: str) -> list[Cell]:
    """Figure 1's runs with every seed: FedAvg on pictures of two classes per client."""
    plan, name = PLANS[scale].example, word(scale, "CIFAR-10")
    if not name:
        return []
    told = {
        **plan.setting,
        "problem": plan.network.format(data=f"fewer({name}, test=200)"),
        "partition": "classes_per_client(2)",
        "clients": CLIENTS,
        "algorithm": METHODS["FedAvg"],
        "rounds": plan.rounds,
        "local_steps": STEPS,
        "every": plan.every,
        "measure": ["consensus_distance", "test_accuracy"],
    }
    return [Cell(TRAIN, {**told, "seed": seed}) for seed in range(PLANS[scale].seeds)]


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take."""
    plan, told = PLANS[scale], cell.arguments
    steps = told["rounds"] * told["local_steps"] * CLIENTS
    data = next((name for name in plan.seconds if name and f"({name}" in told["problem"]), "")
    seconds = plan.example.seconds if "consensus_distance" in told["measure"] else plan.seconds[data]
    controls = CONTROLS if "scaffold" in told["algorithm"] else 1.0
    return float(steps * seconds * controls + 1) / 60


def _step(plan: Plan, name: str, made: str, split: str) -> float:
    places = (f"{name} {split}", f"{name} {made}", name, "")
    return next(plan.steps[place] for place in places if place in plan.steps)
