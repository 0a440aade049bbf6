"""Plans of FedCOG: the printed settings (Sections 6.1 and A.2) and the runs behind its figures and tables.

Every run consists of rounds of one method and then of another (or the same): FedCOG begins after rounds of FedAvg, and
all its variants continue from one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.machine import GPU
from empirics.spec_strings import spec_string
from paper_checks.reported import table

from ..run_description import describe, network_title, RunInfo, SettingText
from ..scale import Budget, Plan
from ..substitutes import available

FIRST, ROUNDS, CLIENTS, LOCAL_STEPS, STEP_SIZE = 50, 70, 10, 400, 0.01
"""First rounds of FedAvg, total rounds, clients, local steps, local step size."""
SAMPLES, STEPS, DISAGREEMENT, DISTILLATION = 256, 100, 0.1, 0.01
"""Generated samples, steps of their generation, weights of disagreement and of distillation."""
RELEASED = {"batch": 64, "momentum": 0.9, "weight_decay": 1e-5}
"""Values of the released code that the paper does not state."""
BATCH = 64
"""Generated samples per local step in the released code."""

METHODS = {
    "FedAvg": "fedavg()",
    "FedAvgM": "fedavgm(momentum=0.1)",
    "FedProx": "fedprox(mu=0.01)",
    "SCAFFOLD": "scaffold(reading='code')",
    "MOON": "moon(mu=0.01)",
    "FedSAM": "fedsam(rho=0.5)",
    "VHL": "vhl(weight=1.0, epochs=5)",
    "FedExp": "fedexp(epsilon=0.001)",
    "FedDecorr": "feddecorr(beta=0.01)",
    "FedReg": "fedreg()",
    "FedGen": "fedgen()",
}
"""The baselines of Table 1 with the paper's coefficients; FedReg's and FedGen's are not stated."""
PLAIN_SCAFFOLD = "scaffold(reading='printed')"
"""SCAFFOLD of plans that train it without momentum."""

FEDCOG = "FedCOG"
DATA = {"Fashion-MNIST": "fashion_mnist", "CIFAR-10": "cifar10", "CIFAR-100": "cifar100"}
LABELS = {"Fashion-MNIST": 2, "CIFAR-10": 2, "CIFAR-100": 10}
"""Labels that a client holds in NIID-2."""
MAIN = "CIFAR-10"
"""The data set of everything but Tables 1 and 2."""
KINDS = ("NIID-1", "NIID-2")
DIRICHLET = 0.1
DIRICHLETS = (0.1, 0.5, 1.0, 5.0)
DISAGREEMENTS = (0.01, 0.1, 1.0, 10.0)
DISTILLATIONS = (0.001, 0.01, 0.1, 1.0)
PLUGGED = ("FedAvg", "FedAvgM", "FedProx", "SCAFFOLD", "MOON")
COMPARED = ("FedAvg", "FedProx", "MOON", FEDCOG)
"""The rows of Tables 4 and 6 to 8."""
MANY = 50
"""Clients of Table 7."""
SHOWN_STEPS = (0, 100, 200, 500, 1000)
"""Steps of generation that Figure 5 shows."""


def columns(name: str) -> tuple[str, ...]:
    """Return the columns of a printed table in order."""
    return tuple(dict.fromkeys(column for _, column in table("fedcog", name)))


# ---- the grid ----

CLOSELY = ("client_distance_sq", "local_accuracy_common", "local_accuracy_own")
COST = {"moon": 2.2, "fedsam": 2, "vhl": 4.5, "fedreg": 15, "fedgen": 3, "feddecorr": 1.6, "ditto": 2, "fedrep": 3}
"""Time of a local step of a method relative to FedAvg's."""


def _budget(step: float, image: float, other: float) -> Budget:
    """Return a budget: seconds of a local step, of a step of one client's generation, and of a run without training."""
    return Budget(step={"": step}, image=image, per_run={"generat": other, "class_counts": 5}, factor=COST)


FEW = {"swept": ("FedAvg", "FedProx", FEDCOG), "steps": ("0", "50", "100", "500")}
SMALL = {"batch": 20, "momentum": 0.9, "step_size": 0.01}
OWN = {"local_steps": LOCAL_STEPS, "step_size": STEP_SIZE, "augment": "crop_flip", **RELEASED}
"""The paper's setting."""
HALVES = {"fedrep": {"local_steps": LOCAL_STEPS // 2}}
"""FedRep's head and body share the local steps of the other methods; the paper does not state their numbers."""
TUNED = {
    FEDCOG: {"distillation": 1.0}, "scaffold": {"momentum": 0.0, "step_size": 0.05}, "fedexp": {"step_size": 0.003},
    "fedgen": {"step_size": 0.003},
}  # fmt: skip
"""Settings of single methods, found by a search in both splits with seed 1000, which no run has: a weight at which
FedCOG changes anything (of 0.01, 0.1, 1), and step sizes of methods that fail with that of the others (SCAFFOLD: of
0.02, 0.05, 0.1; FedExp, FedGen: of 0.003, 0.01). FedSAM with the paper's 0.5 is no better with 0.001, 0.003 or 0.03."""
CNN, BIG = "fedcog_cnn({})", "fedcog_cifar100_cnn({})"
PLANS = {
    "smoke": Plan(
        networks={"Fashion-MNIST": "femnist_dnn(held_out({}))"}, rounds={"": 4}, seeds=2,
        setting={"local_steps": 4, "step_size": 0.05, "batch": 5, "momentum": 0.9},
        counts={"first": 2, "samples": 10, "steps": 3, "repeats": 2}, budget=_budget(1e-3, 1e-3, 0.5),
        own={"scaffold": {"momentum": 0.0, "step_size": 0.5}},
        axes={
            "methods": ("FedAvg", "FedProx", "SCAFFOLD"), "compared": ("FedAvg", "FedProx", FEDCOG),
            "swept": ("FedAvg", FEDCOG), "plugged": ("FedAvg", "SCAFFOLD"), "taus": ("200", "400"),
            "rates": ("0.1", "0.2"), "clients": ("5", "10"), "dirichlets": (0.1, 5.0), "disagreements": (0.1, 10.0),
            "distillations": (0.01, 1.0), "steps": ("0", "100", "500"), "shown": (0, 100),
        },
    ),
    "laptop": Plan(
        networks={"Fashion-MNIST": "femnist_dnn(fewer({}, test=5000))"}, rounds={"": 16}, every=2, window=4, seeds=6,
        setting={"local_steps": 20, **SMALL}, counts={"first": 12, "samples": 64, "steps": 40, "repeats": 5},
        budget=_budget(1e-3, 7e-3, 65),
        own=TUNED, engine="compiled-2",
        axes={
            **FEW, "methods": tuple(m for m in METHODS if m != "FedReg"), "clients": ("5", "10", "20"),
            "rates": ("0.1", "0.2", "0.4"),
        },
    ),
    "overnight": Plan(
        networks={"CIFAR-10": CNN}, rounds={"": ROUNDS}, window=4, seeds=3, setting=OWN, own=HALVES,
        engine="compiled-2",
        counts={"first": FIRST, "samples": SAMPLES, "steps": STEPS, "repeats": 2, "batch": BATCH, "timed": 1},
        budget=_budget(7e-3, 0.06, 2400),
        axes={
            **FEW, "steps": ("0", "100", "500"), "plugged": ("FedAvg", "FedProx", "SCAFFOLD"),
            "methods": ("FedAvg", "FedAvgM", "FedProx", "SCAFFOLD", "MOON", "FedSAM", "FedExp", "FedDecorr"),
            "methods NIID-2": ("FedAvg", "FedProx", "SCAFFOLD"), "dirichlets": (0.1, 5.0), "rates": ("0.1", "0.2"),
            "taus": ("200", "400", "800"), "clients": ("5", "10"), "disagreements": (0.1, 1.0),
            "distillations": (0.01, 0.1, 1.0),
        },
    ),
    "paper": Plan(
        engine=GPU,
        networks={"Fashion-MNIST": CNN, "CIFAR-10": CNN, "CIFAR-100": BIG},
        rounds={"": ROUNDS}, seeds=3, setting=OWN, own=HALVES, budget=_budget(8e-3, 0.1, 2000),
        counts={"first": FIRST, "samples": SAMPLES, "steps": STEPS, "repeats": 5, "batch": BATCH},
    ),
}  # fmt: skip
"""Data sets without a network are not run. ``axes`` has the values of an axis that are run, if not all are (``methods
NIID-2``: in that split). ``counts``: ``first`` rounds of FedAvg, generated ``samples`` and ``steps`` of their
generation, ``repeats`` of a timing; ``batch`` is the number of generated samples per local step (default: all),
``timed`` the rounds of FedAvg before a timing (default: ``first``). SCAFFOLD has momentum unless ``own`` lists it."""


@dataclass(frozen=True)
class Setup:
    """Data and split, clients in total and per round (None: all), and a multiple of the default local steps."""

    data: str = MAIN
    kind: str = "NIID-1"
    dirichlet: float = DIRICHLET
    clients: int = CLIENTS
    cohort: int | None = None
    stretch: float = 1.0

    @property
    def taking_part(self) -> int:
        """The number of clients per round."""
        return self.clients if self.cohort is None else self.cohort

    def paper_setting(self, rounds: int = ROUNDS) -> SettingText:
        """Return the paper's setting after this number of rounds."""
        network = CNN if self.data != "CIFAR-100" else BIG
        work = rounds * round(self.stretch * LOCAL_STEPS)
        title = network_title(network.format("data"))
        return SettingText(self.data, title, str(self.clients), str(self.taking_part), str(rounds), work)


BASE = Setup()


def axis_values(scale: str, axis: str, everything: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the rows or columns of an axis that are run at this scale."""
    return PLANS[scale].axes.get(axis, everything)


def omission_note(scale: str, *axes: tuple[str, tuple[Any, ...]]) -> str:
    """Return the caption's note on the values of these axes that are not run."""
    missing = [str(x) for axis, everything in axes for x in everything if x not in axis_values(scale, axis, everything)]
    return f"Left out for their time: {', '.join(missing)}." if missing else ""


def problem(scale: str, data: str = MAIN) -> str:
    """Return network and data (the plan's first for CIFAR-10) as text, empty if they are not run or installed."""
    networks = PLANS[scale].networks
    name = next(iter(networks)) if data == MAIN and MAIN not in networks else data
    used = "digits" if scale == "smoke" else available(DATA[name])
    if name not in networks or (name == "CIFAR-100" and used != DATA[name]):  # pictures with 100 classes have no like
        return ""
    return networks[name].format(used) if used else ""


def unavailable(scale: str) -> str:
    """Return the reason why nothing of ours is drawn; empty if something is."""
    return "" if problem(scale) else "data not available"


def setup_arguments(scale: str, setup: Setup) -> dict[str, Any]:
    """Return the arguments of the runs of a setup, without method and rounds."""
    given = PLANS[scale].setting
    dirichlet = spec_string("dirichlet", setup.dirichlet, least=given["batch"])  # so that every client fills a batch
    return {
        **given,
        "problem": problem(scale, setup.data),
        "partition": dirichlet if setup.kind == "NIID-1" else f"classes_per_client({LABELS[setup.data]})",
        "clients": setup.clients,
        "client_weight": "samples",
        "local_steps": round(setup.stretch * given["local_steps"]),
    }


def fedcog_call(scale: str, inner: str = "", **changes: Any) -> str:
    """Return FedCOG as a call, alone or on top of ``inner``, with the scale's generation and these changes."""
    counts = PLANS[scale].counts
    options = {
        "disagreement": DISAGREEMENT,
        "distillation": distillation(scale),
        "samples": counts["samples"],
        "steps": counts["steps"],
        "after": counts["first"],
        **({"batch": counts["batch"]} if "batch" in counts else {}),
        **changes,
    }
    return spec_string("with_consensus_data", inner, **options) if inner else spec_string("fedcog", **options)


def cells(
    scale: str, method: str, setup: Setup = BASE, *, first: str = "", rounds: int | None = None, **changes: Any
) -> list[Cell]:
    """Return the run of a method (its printed name or a call) with every seed; none without data.

    ``first`` is the method of the first rounds ("": FedAvg before FedCOG, else the method itself), ``changes`` are
    options of FedCOG. In the default setting, local models are measured one round after the change and at the end.
    """
    plan = PLANS[scale]
    if not problem(scale):
        return []
    text = fedcog_call(scale, **changes) if method == FEDCOG else method_call(scale, method)
    begin = METHODS["FedAvg"] if method == FEDCOG else method_call(scale, first) or text
    end = plan.rounds[""] if rounds is None else rounds
    close: dict[str, Any] = {}
    if (replace(setup, data=MAIN), problem(scale, setup.data)) == (BASE, problem(scale)):
        at = sorted({plan.counts["first"] + 1, end})
        close = {"local_test": "matched", "closely": CLOSELY, "closely_at": at}
    arguments = {
        **setup_arguments(scale, setup),
        "first": begin,
        "after": plan.counts["first"],
        "algorithm": text,
        "rounds": end,
        "measure": ["test_accuracy"],
        "every": plan.every,
        "cohort": setup.taking_part,
        **close,
        **next((own for word, own in plan.own.items() if word in text), {}),
        **plan.engine_argument,
    }
    return plan.cells("continued", **arguments)


def info_of(cells: Sequence[Cell], setup: Setup = BASE, later: int | None = None) -> RunInfo | None:
    """Return the setting of these cells beside the paper's, ``later`` rounds after the change (None: at the end)."""
    if later is None or not cells:
        return describe(cells, setup.paper_setting())
    return describe(cells, setup.paper_setting(FIRST + later), cells[0].arguments["after"] + later)


def data_name(scale: str, data: str = MAIN) -> str:
    """Return the data behind a printed name, ``Fashion-MNIST for CIFAR-10`` if they are not the paper's."""
    info = info_of(cells(scale, "FedAvg", Setup(data)), Setup(data))
    return info.data if info else data


def method_call(scale: str, method: str) -> str:
    """Return a method, given by its printed name, as a call; a call is returned unchanged."""
    plain = method == "SCAFFOLD" and "scaffold" in PLANS[scale].own
    return PLAIN_SCAFFOLD if plain else METHODS.get(method, method)


def local_steps_of(scale: str, word: str) -> int:
    """Return the local steps of a method by its key in the plan."""
    plan = PLANS[scale]
    return int(plan.own.get(word, plan.setting).get("local_steps", plan.setting["local_steps"]))


def distillation(scale: str) -> float:
    """Return FedCOG's weight of distillation."""
    return float(PLANS[scale].own.get(FEDCOG, {}).get("distillation", DISTILLATION))


def generation(scale: str, job: str, **arguments: Any) -> list[Cell]:
    """Return the run that measures generation, in the default setting after FedAvg's rounds; none without data."""
    if not problem(scale):
        return []
    usual = {k: v for k, v in setup_arguments(scale, BASE).items() if k != "augment"}
    begin = {"first": METHODS["FedAvg"], "after": PLANS[scale].counts["first"], "seed": 0}
    return [PLANS[scale].cell(job, **{**usual, **begin, **arguments})]
