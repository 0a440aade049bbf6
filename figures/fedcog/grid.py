"""The runs behind FedCOG's figures and tables: one grid, whose cells are shared.

Every run is some rounds of one method and the rest of another (or of the same): FedCOG begins after rounds of FedAvg,
and all its variants go on from one state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from empirics.calls import written
from empirics.experiments import Cell

from ..stand_ins import found
from . import settings as paper
from .settings import FEDCOG, MAIN, METHODS

CLOSELY = ("client_distance_sq", "local_accuracy_common", "local_accuracy_own")
BEGINNING = 0.25
"""The part of its beginning that the budget counts for a run that shares it."""


@dataclass(frozen=True)
class Plan:
    """One scale. ``networks`` by the paper's data, with a place for the set; without one its columns are not run.

    ``main`` are the data of all that the paper does on CIFAR-10. ``first`` of the ``rounds`` are FedAvg's in FedCOG.
    ``chosen`` are the rows or columns that run, where these are not all. ``seconds`` of one core: a local step, a step
    of one client's generation, and each of the three cells that are no training run.
    """

    networks: Mapping[str, str]
    main: str
    first: int
    rounds: int
    local_steps: int
    step_size: float
    samples: int
    steps: int
    seeds: int
    seconds: tuple[float, float, float]
    every: int = 1
    repeats: int = 5
    packaged: str = ""
    released: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


DENSE = "femnist_dnn(fewer({}, test=2000))"
SMALL = {name: "fedcog_cnn(fewer({}, test=2000))" for name in ("Fashion-MNIST", "CIFAR-10")}
PLANS = {
    "smoke": Plan(
        {"Fashion-MNIST": "femnist_dnn(held_out({}))"}, "Fashion-MNIST", 2, 4, 4, 0.05, 10, 3, 2, (1e-3, 1e-3, 0.5),
        repeats=2, packaged="digits", released={"batch": 5, "momentum": 0.9},
        chosen={
            "methods": ("FedAvg", "FedProx", "SCAFFOLD"), "compared": ("FedAvg", "FedProx", FEDCOG),
            "swept": ("FedAvg", FEDCOG), "plugged": ("FedAvg", "SCAFFOLD"), "taus": ("200", "400"),
            "rates": ("0.1", "0.2"), "clients": ("5", "10"), "dirichlets": (0.1, 5.0), "disagreements": (0.1, 10.0),
            "distillations": (0.01, 1.0), "steps": ("0", "100", "500"), "shown": (0, 100),
        },
    ),
    "laptop": Plan(
        {"Fashion-MNIST": DENSE}, "Fashion-MNIST", 10, 14, 20, 0.01, 64, 40, 3, (1.2e-3, 2.7e-3, 25),
        every=2, released={"batch": 20, "momentum": 0.9},
        chosen={
            "methods": tuple(m for m in METHODS if m != "FedReg"), "swept": ("FedAvg", "FedProx", FEDCOG),
            "steps": ("0", "50", "100", "500"), "clients": ("5", "10", "20"),
            "rates": ("0.1", "0.2", "0.4"),
        },
    ),
    "overnight": Plan(
        SMALL, "CIFAR-10", 20, 26, 18, 0.01, 64, 40, 3, (4e-3, 2e-2, 300),
        every=2, released={"batch": 20, "momentum": 0.9},
        chosen={"swept": ("FedAvg", "FedProx", FEDCOG), "steps": ("0", "50", "100", "500")},
    ),
    "paper": Plan(
        {"Fashion-MNIST": "fedcog_cnn({})", "CIFAR-10": "fedcog_cnn({})", "CIFAR-100": "fedcog_cifar100_cnn({})"}, MAIN,
        paper.FIRST, paper.ROUNDS, paper.LOCAL_STEPS, paper.STEP_SIZE, paper.SAMPLES, paper.STEPS, 3, (8e-3, 0.1, 2000),
        released={**paper.RELEASED, "augment": "crop_flip"},
    ),
}  # fmt: skip
COST = {"moon": 2.2, "fedsam": 2, "vhl": 4.5, "fedreg": 15, "fedgen": 3, "feddecorr": 1.6, "ditto": 2, "fedrep": 3}
"""Local steps of a method by FedAvg's."""


@dataclass(frozen=True)
class Setup:
    """Who holds what, how many take part (None: all) and for how many times the default number of local steps."""

    data: str = MAIN
    kind: str = "NIID-1"
    dirichlet: float = paper.DIRICHLET
    clients: int = paper.CLIENTS
    cohort: int | None = None
    stretch: float = 1.0


BASE = Setup()


def chosen(scale: str, axis: str, everything: tuple[Any, ...]) -> tuple[Any, ...]:
    """The rows or columns that run at this scale."""
    return PLANS[scale].chosen.get(axis, everything)


def data_set(scale: str, data: str) -> str:
    """The set that is used for the paper's ``data``; empty where it is not run or not here."""
    plan = PLANS[scale]
    name = plan.main if data == MAIN and MAIN not in plan.networks else data
    if name not in plan.networks:
        return ""
    used = plan.packaged or found(paper.DATA[name])
    return "" if name == "CIFAR-100" and used != paper.DATA[name] else used  # pictures with 100 classes have no like


def problem(scale: str, data: str = MAIN) -> str:
    """Network and data as text; empty where the data are not run or not here."""
    plan, used = PLANS[scale], data_set(scale, data)
    return plan.networks[data if data in plan.networks else plan.main].format(used) if used else ""


def setting(scale: str, setup: Setup) -> dict[str, Any]:
    """The arguments of a cell that say who trains on what and how."""
    plan = PLANS[scale]
    dirichlet = written("dirichlet", setup.dirichlet, least=plan.released["batch"])  # who has less can fill no batch
    return {
        "problem": problem(scale, setup.data),
        "partition": dirichlet if setup.kind == "NIID-1" else f"classes_per_client({paper.LABELS[setup.data]})",
        "clients": setup.clients,
        "client_weight": "samples",
        "local_steps": round(setup.stretch * plan.local_steps),
        "step_size": plan.step_size,
        **plan.released,
    }


def consensus(scale: str, inner: str = "", **changes: Any) -> str:
    """FedCOG from its round on, alone or on top of ``inner``, with the scale's generation."""
    plan = PLANS[scale]
    options = {
        "disagreement": paper.DISAGREEMENT,
        "distillation": paper.DISTILLATION,
        "samples": plan.samples,
        "steps": plan.steps,
        "after": plan.first,
        **changes,
    }
    return written("with_consensus_data", inner, **options) if inner else written("fedcog", **options)


def run(
    scale: str,
    method: str,
    seed: int,
    setup: Setup = BASE,
    *,
    first: str = "",
    rounds: int | None = None,
    **changes: Any,
) -> Cell:
    """One run: ``method`` by its printed name or as a call, after rounds of ``first`` (FedAvg for FedCOG, else itself).

    ``changes`` are options of FedCOG. In the default setting local models are looked at one round later and at the end.
    """
    plan = PLANS[scale]
    text = consensus(scale, **changes) if method == FEDCOG else METHODS.get(method, method)
    begin = METHODS["FedAvg"] if method == FEDCOG else METHODS.get(first, first) or text
    end = plan.rounds if rounds is None else rounds
    close: dict[str, Any] = {}
    if (replace(setup, data=MAIN), problem(scale, setup.data)) == (BASE, problem(scale)):
        at = sorted({plan.first + 1, end})
        close = {"local_test": "matched", "closely": list(CLOSELY), "closely_at": at}
    arguments = {
        **setting(scale, setup),
        "first": begin,
        "after": plan.first,
        "algorithm": text,
        "rounds": end,
        "seed": seed,
        "measure": ["test_accuracy"],
        "every": plan.every,
        "cohort": setup.clients if setup.cohort is None else setup.cohort,
        **close,
        **(_plain_steps(plan) if METHODS["SCAFFOLD"] in text else {}),
    }
    return Cell("continued", arguments)


def _plain_steps(plan: Plan) -> dict[str, float]:
    """SCAFFOLD's control variates are differences of models by plain steps: no momentum, but steps as long."""
    momentum = plan.released.get("momentum", 0.0)
    return {"momentum": 0.0, "step_size": round(plan.step_size / (1 - momentum), 9)}


def seeds(scale: str) -> range:
    """The seeds of a scale; none where the data are not here."""
    return range(PLANS[scale].seeds if problem(scale) else 0)


def generation(scale: str, job: str, **arguments: Any) -> Cell:
    """A cell that looks at generation itself, in the default setting, after the rounds of FedAvg."""
    begin = {"first": METHODS["FedAvg"], "after": PLANS[scale].first, "seed": 0}
    chosen_setting = {k: v for k, v in setting(scale, BASE).items() if k != "augment"}
    return Cell(job, {**chosen_setting, **begin, **arguments})


# ---- budget ----


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take."""
    step, picture, other = PLANS[scale].seconds
    a = cell.arguments
    if "algorithm" not in a:
        return other / 60
    shared = a["first"] != a["algorithm"]
    rounds = a["rounds"] - a["after"] * (1 - BEGINNING if shared else 0)
    method = str(a["algorithm"])
    seconds = rounds * a["cohort"] * a["local_steps"] * step
    seconds *= max([1.0, *(factor for name, factor in COST.items() if name in method)])
    if "samples=" in method:
        steps = int(method.split(" steps=")[1].split(",")[0].rstrip(")"))
        seconds += (a["rounds"] - a["after"]) * a["cohort"] * (steps * picture + a["local_steps"] * step)
    return seconds / 60
