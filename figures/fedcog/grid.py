"""What FedCOG runs by its Sections 6.1 and A.2, and the runs behind its figures and tables: one grid of shared cells.

Every run is some rounds of one method and the rest of another (or of the same): FedCOG begins after rounds of FedAvg,
and all its variants go on from one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.engines import GPU
from empirics.spec_strings import spec_string
from paper_checks.reported import table

from ..run_description import model, of, Ran, Setting
from ..scale import Budget, Plan
from ..substitutes import found

FIRST, ROUNDS, CLIENTS, LOCAL_STEPS, STEP_SIZE = 50, 70, 10, 400, 0.01
"""FedCOG's rounds of FedAvg, rounds in all, clients, local steps, local step size."""
SAMPLES, STEPS, DISAGREEMENT, DISTILLATION = 256, 100, 0.1, 0.01
"""Generated samples, steps of their generation, weights of disagreement and of distillation."""
RELEASED = {"batch": 64, "momentum": 0.9, "weight_decay": 1e-5}
"""What the paper does not state, as its released code has it."""
BATCH = 64
"""Generated samples that a local step takes there."""

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
"""For plans in which it takes plain steps, without momentum."""

FEDCOG = "FedCOG"
DATA = {"Fashion-MNIST": "fashion_mnist", "CIFAR-10": "cifar10", "CIFAR-100": "cifar100"}
LABELS = {"Fashion-MNIST": 2, "CIFAR-10": 2, "CIFAR-100": 10}
"""Labels that a client holds in NIID-2."""
MAIN = "CIFAR-10"
"""The data of everything but Tables 1 and 2."""
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
"""Figure 5."""


def columns(name: str) -> tuple[str, ...]:
    """The columns of a printed table in its order."""
    return tuple(dict.fromkeys(column for _, column in table("fedcog", name)))


# ---- the grid ----

CLOSELY = ("client_distance_sq", "local_accuracy_common", "local_accuracy_own")
COST = {"moon": 2.2, "fedsam": 2, "vhl": 4.5, "fedreg": 15, "fedgen": 3, "feddecorr": 1.6, "ditto": 2, "fedrep": 3}
"""Local steps of a method by FedAvg's."""


def _budget(step: float, image: float, other: float) -> Budget:
    """Seconds of a local step, of a step of one client's generation, and of a run without training."""
    return Budget(step={"": step}, image=image, whole={"generat": other, "class_counts": 5}, times=COST)


FEW = {"swept": ("FedAvg", "FedProx", FEDCOG), "steps": ("0", "50", "100", "500")}
SMALL = {"batch": 20, "momentum": 0.9, "step_size": 0.01}
OWN = {"local_steps": LOCAL_STEPS, "step_size": STEP_SIZE, "augment": "crop_flip", **RELEASED}
"""The paper's setting."""
HALVES = {"fedrep": {"local_steps": LOCAL_STEPS // 2}}
"""Head and body share the local steps of the other methods, which the paper does not state."""
TUNED = {
    FEDCOG: {"distillation": 1.0}, "scaffold": {"momentum": 0.0, "step_size": 0.05}, "fedexp": {"step_size": 0.003},
    "fedgen": {"step_size": 0.003},
}  # fmt: skip
"""By a search in both splits with one seed that no run has (1000): a weight with which FedCOG moves anything (0.01,
0.1, 1), and step sizes where a method is lost with that of the others (SCAFFOLD: 0.02, 0.05, 0.1; FedExp and FedGen:
0.003, 0.01). FedSAM with the paper's 0.5 learns no better with 0.001, 0.003 or 0.03."""
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
"""A network for the paper's data, whose columns are not run without one; ``axes`` where not all of one are run
(``methods NIID-2``: of that split). ``counts``: FedAvg's rounds in FedCOG, generated samples and the steps of their
generation, repetitions of a timing; ``batch``, of the generated samples that a local step takes (all without it);
``timed``, the rounds of FedAvg before something is timed (as many as before FedCOG without it). SCAFFOLD has momentum
where the plan gives it no steps of its own."""


@dataclass(frozen=True)
class Setup:
    """Who holds what, how many take part (None: all) and for how many times the default number of local steps."""

    data: str = MAIN
    kind: str = "NIID-1"
    dirichlet: float = DIRICHLET
    clients: int = CLIENTS
    cohort: int | None = None
    stretch: float = 1.0

    @property
    def in_paper(self) -> Setting:
        """What the paper runs."""
        return self.after(ROUNDS)

    def after(self, rounds: int) -> Setting:
        """The same for another number of rounds."""
        network = CNN if self.data != "CIFAR-100" else BIG
        cohort = self.clients if self.cohort is None else self.cohort
        work = rounds * round(self.stretch * LOCAL_STEPS)
        return Setting(self.data, model(network.format("data")), str(self.clients), str(cohort), str(rounds), work)


BASE = Setup()


def chosen(scale: str, axis: str, everything: tuple[Any, ...]) -> tuple[Any, ...]:
    """The rows or columns that run at this scale."""
    return PLANS[scale].axes.get(axis, everything)


def left_out(scale: str, *axes: tuple[str, tuple[Any, ...]]) -> str:
    """For captions: what of these axes does not run."""
    missing = [str(x) for axis, everything in axes for x in everything if x not in chosen(scale, axis, everything)]
    return f"Left out for their time: {', '.join(missing)}." if missing else ""


def problem(scale: str, data: str = MAIN) -> str:
    """Network and data as text, the first that the plan has in place of CIFAR-10; empty where they are not run or not
    here."""
    networks = PLANS[scale].networks
    name = next(iter(networks)) if data == MAIN and MAIN not in networks else data
    used = "digits" if scale == "smoke" else found(DATA[name])
    if name not in networks or (name == "CIFAR-100" and used != DATA[name]):  # pictures with 100 classes have no like
        return ""
    return networks[name].format(used) if used else ""


def unavailable(scale: str) -> str:
    """Why nothing of ours is drawn; empty where something is."""
    return "" if problem(scale) else "data not available"


def setting(scale: str, setup: Setup) -> dict[str, Any]:
    """The arguments of a cell that say who trains on what and how."""
    given = PLANS[scale].setting
    dirichlet = spec_string("dirichlet", setup.dirichlet, least=given["batch"])  # who has less can fill no batch
    return {
        **given,
        "problem": problem(scale, setup.data),
        "partition": dirichlet if setup.kind == "NIID-1" else f"classes_per_client({LABELS[setup.data]})",
        "clients": setup.clients,
        "client_weight": "samples",
        "local_steps": round(setup.stretch * given["local_steps"]),
    }


def consensus(scale: str, inner: str = "", **changes: Any) -> str:
    """FedCOG from its round on, alone or on top of ``inner``, with the scale's generation."""
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


def runs(
    scale: str, method: str, setup: Setup = BASE, *, first: str = "", rounds: int | None = None, **changes: Any
) -> list[Cell]:
    """A run for every seed: ``method`` by its printed name or as a call, after rounds of ``first`` (FedAvg for FedCOG,
    else itself); none where the data are not here.

    ``changes`` are options of FedCOG. In the default setting local models are measured one round later and at the end.
    """
    plan = PLANS[scale]
    if not problem(scale):
        return []
    text = consensus(scale, **changes) if method == FEDCOG else call(scale, method)
    begin = METHODS["FedAvg"] if method == FEDCOG else call(scale, first) or text
    end = plan.rounds[""] if rounds is None else rounds
    close: dict[str, Any] = {}
    if (replace(setup, data=MAIN), problem(scale, setup.data)) == (BASE, problem(scale)):
        at = sorted({plan.counts["first"] + 1, end})
        close = {"local_test": "matched", "closely": CLOSELY, "closely_at": at}
    arguments = {
        **setting(scale, setup),
        "first": begin,
        "after": plan.counts["first"],
        "algorithm": text,
        "rounds": end,
        "measure": ["test_accuracy"],
        "every": plan.every,
        "cohort": setup.clients if setup.cohort is None else setup.cohort,
        **close,
        **next((own for word, own in plan.own.items() if word in text), {}),
        **plan.trained,
    }
    return plan.cells("continued", **arguments)


def what_ran(cells: Sequence[Cell], setup: Setup = BASE, later: int | None = None) -> Ran | None:
    """What these cells run beside what the paper has; read ``later`` rounds after the change (None: in the end)."""
    if later is None or not cells:
        return of(cells, setup.in_paper)
    return of(cells, setup.after(FIRST + later), cells[0].arguments["after"] + later)


def named(scale: str, data: str = MAIN) -> str:
    """The data behind a printed name, ``Fashion-MNIST for CIFAR-10`` where these are not the paper's."""
    ran = what_ran(runs(scale, "FedAvg", Setup(data)), Setup(data))
    return ran.data if ran else data


def call(scale: str, method: str) -> str:
    """How a method is written, by its printed name; a call is as it is."""
    plain = method == "SCAFFOLD" and "scaffold" in PLANS[scale].own
    return PLAIN_SCAFFOLD if plain else METHODS.get(method, method)


def own_steps(scale: str, word: str) -> int:
    """Local steps of a method by its word."""
    plan = PLANS[scale]
    return int(plan.own.get(word, plan.setting).get("local_steps", plan.setting["local_steps"]))


def distillation(scale: str) -> float:
    """FedCOG's weight of distillation."""
    return float(PLANS[scale].own.get(FEDCOG, {}).get("distillation", DISTILLATION))


def generation(scale: str, job: str, **arguments: Any) -> list[Cell]:
    """A run that measures generation itself, in the default setting, after FedAvg's rounds; none without data."""
    if not problem(scale):
        return []
    usual = {k: v for k, v in setting(scale, BASE).items() if k != "augment"}
    begin = {"first": METHODS["FedAvg"], "after": PLANS[scale].counts["first"], "seed": 0}
    return [PLANS[scale].cell(job, **{**usual, **begin, **arguments})]
