"""Plans of FedInit: the printed settings (Tables 6 and 7) and the runs that its figures and tables share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.machine import GPU
from paper_checks.reported import table

from ..run_description import describe, RunInfo, SettingText
from ..scale import Budget, Plan, steps_of_round
from ..substitutes import available

TABLE_6 = table("fedinit", "Table 6")
METHODS = ("FedAvg", "FedAdam", "FedSAM", "SCAFFOLD", "FedDyn", "FedCM", "FedInit")
"""The methods in the order of Table 1; FedInit is FedAvg from the relaxed start."""
BASELINES = METHODS[:-1]
DATA = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100"}
SHARES = {"10%-100": (100, 10), "5%-200": (200, 10)}
"""Clients in total and per round."""
PARTS = {share: f"{share.partition('%')[0]} % of the clients" for share in SHARES}
"""The shares of participants as text."""
SPLITS = ("0.6", "0.1")
"""The coefficients of the Dirichlet law, as printed."""
RESNET, VGG = "ResNet-18-GN", "VGG-11"
REPETITIONS = 3
ROUNDS = {"CIFAR-10": 500, "CIFAR-100": 800}
"""By Section 5 and Table 11; Table 6 prints 500 for both."""
DECAY = {"FedDyn": 0.999}
"""Decay of the step size per round by Section 5, for methods that do not have that of Table 6."""
TABLE_7 = {
    "FedAdam": ("fedadam(server_step_size={:g})", "FedAdam/global learning rate"),
    "FedSAM": ("fedsam(rho={:g})", "FedSAM/perturbation learning rate"),
    "FedDyn": ("feddyn(alpha={:g})", "FedDyn/regularization coefficient"),
    "FedCM": ("fedcm(alpha={:g})", "FedCM/client-level coefficient"),
}
"""Methods with a coefficient: their call and their row in Table 7."""


@dataclass(frozen=True)
class Setup:
    """One column of Table 1, for one of its two networks."""

    data: str = "CIFAR-10"
    share: str = "10%-100"
    split: str = "0.1"
    network: str = RESNET

    @property
    def column(self) -> str:
        """The name of the column in the reported tables."""
        return f"{self.data}/{self.share}/Dir-{self.split}"

    def paper_setting(self, rounds: int | None = None, epochs: int | None = None) -> SettingText:
        """Return the paper's setting with these numbers of rounds and local passes (None: as printed)."""
        total, cohort = SHARES[self.share]
        rounds = rounds or ROUNDS[self.data]
        given = {"clients": total, "batch": BATCH, "local_epochs": epochs or INTERVAL}
        work = rounds * steps_of_round(given)
        return SettingText(self.data, self.network, str(total), str(cohort), str(rounds), work)


HOME = Setup()
"""The setup of Tables 3 and 11 and Figures 1, 6 and 7: 10 % of 100 clients, Dirichlet 0.1."""
SETUPS = tuple(Setup(data, share, split) for data in DATA for share in SHARES for split in SPLITS)
CIFAR10 = tuple(s for s in SETUPS if s.data == "CIFAR-10")


def best_value(data: str, name: str) -> float:
    """Return a row of Table 6: the best value, else the only one; the first of two that depend on the setup."""
    best, only = (TABLE_6[f"{data}/{name}", column].value for column in ("best", "selection"))
    return float((only if best == "-" else best).partition("/")[0])


INTERVAL, BATCH = (int(best_value("CIFAR-10", row)) for row in ("local interval K", "minibatch"))
"""K of Table 6, which the released code counts in passes over a client's samples, and the batch."""
RELAXATIONS = {"10%-100": best_value("CIFAR-10", "relaxed coefficient beta"), "5%-200": 0.05}
"""Beta of FedInit and of every relaxed method. Table 6 prints 0.1/0.01 but not which setup used which. At 5 % the
last local models are twice as old: in one trial (CIFAR-10, small network, seed 7, which no plan has) the divergence
reached 2,582 with 0.1 and 6.8 with 0.05, the next value of the paper's grid. No other coefficient was tried."""

BETAS = tuple(float(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in table("fedinit", "Table 3")))
"""The relaxations of Table 3."""


def coefficient(method: str, setup: Setup) -> float:
    """Return the coefficient of a method, with the exceptions of the text for 5 % participation and CIFAR-100."""
    if method == "FedSAM":
        return 0.01 if setup.share == "5%-200" else 0.1
    if method == "FedDyn":
        return 0.01 if setup.data == "CIFAR-100" else 0.1
    return 0.1


def algorithm_text(method: str, setup: Setup, beta: float | None = None) -> str:
    """Return the call of a method from the start relaxed by ``beta`` (None: as the method has it)."""
    if beta is None:
        beta = RELAXATIONS[setup.share] if method == "FedInit" else 0.0
    if method in ("FedAvg", "FedInit"):
        return f"fedinit(beta={beta:g})" if beta else "fedavg()"
    plain = TABLE_7[method][0].format(coefficient(method, setup)) if method in TABLE_7 else f"{method.lower()}()"
    return f"relaxed({plain}, beta={beta:g})" if beta else plain


# ---- the grid ----

MEASURED = ("test_loss", "test_accuracy", "divergence", "active_divergence")
PRINTED: dict[str, Any] = {
    "step_size": best_value("CIFAR-10", "local learning rate"),
    "step_size_decay": best_value("CIFAR-10", "learning rate decay"),
    "weight_decay": best_value("CIFAR-10", "weight decay"),
    "clip": 10.0,
}
"""Arguments of every scale; clipping as in the released code."""


def _budget(step: float) -> Budget:
    """Return a budget from the seconds of a step; ``start`` covers loading and splitting the data."""
    return Budget(step={"": step}, start=1.5, measurement=0.06, factor={"fedsam": 2.0})


THREE_SETUPS = tuple(s for s in CIFAR10 if (s.share, s.split) != ("5%-200", "0.6"))
"""The three setups of CIFAR-10 that show the effects of participation and heterogeneity."""
PRINTED_WORK: dict[str, Any] = {**PRINTED, "batch": BATCH, "local_epochs": INTERVAL, "augment": "fedinit"}
"""Local work as printed."""
SMALL: dict[str, Any] = {
    "networks": {RESNET: "fedcog_cnn({})"},
    "window": 4,
    "setting": {**PRINTED, "batch": 20, "local_steps": INTERVAL, "augment": "none"},
    "budget": _budget(0.0024),
    "engine": "compiled-2",
}
PLANS = {
    "smoke": Plan(
        networks={RESNET: "softmax({})"}, rounds={"CIFAR-10": 4}, seeds=2, budget=_budget(0.001),
        setting={**PRINTED, "batch": 4, "local_steps": 3, "augment": "none"},
        counts={"smoothing": 1, "shrink": 5, "laps": 1}, axes={"lengths": (1, 3, 6), "with_ri": (HOME,)},
    ),
    "laptop": Plan(
        **SMALL, seeds=5, rounds={"CIFAR-10": 120}, every=8, tests=2000,
        counts={"smoothing": 4, "shrink": 2, "laps": 3},
        axes={"setups": THREE_SETUPS, "lengths": (1, 2, INTERVAL, 10),
              "with_ri": tuple(s for s in THREE_SETUPS if s.split == "0.1")},
    ),
    "overnight": Plan(
        **SMALL | {"setting": PRINTED_WORK, "budget": _budget(0.004)}, seeds=REPETITIONS, every=10, tests=5000,
        rounds={"CIFAR-10": ROUNDS["CIFAR-10"] // 2}, counts={"smoothing": 4, "shrink": 1, "laps": 3},
        axes={"setups": THREE_SETUPS, "everywhere": ("FedAvg", "FedInit"), "lengths": (1, 2, INTERVAL, 10),
              "with_ri": (HOME,)},
    ),
    "paper": Plan(
        engine=GPU,
        networks={RESNET: "resnet18({})", VGG: "vgg11({})"}, rounds=ROUNDS, every=5, seeds=REPETITIONS,
        setting=PRINTED_WORK,
        counts={"smoothing": 20, "shrink": 1, "laps": 10},
        axes={"lengths": (1, 2, INTERVAL, 10, 20), "with_ri": CIFAR10}, budget=_budget(0.039),
    ),
}  # fmt: skip
"""Data sets without ``rounds`` are not run. ``shrink`` divides clients and cohort, ``smoothing`` is the window of
running means, a timing has three blocks of ``laps`` rounds of every method. ``lengths`` are the local steps of Figure
1a, ``with_ri`` the setups of Table 2, ``everywhere`` the methods that are run in other setups than HOME too."""


def interval_argument(scale: str) -> str:
    """Return the argument that the local interval sets: steps, or passes over a client's samples."""
    return "local_epochs" if "local_epochs" in PLANS[scale].setting else "local_steps"


def data_set_for(scale: str, data: str) -> str:
    """Return the data set that is used for the paper's; empty if none is installed."""
    return "digits" if scale == "smoke" else available(DATA[data])


def absence(scale: str, setup: Setup) -> str:
    """Return the reason why a setup is not run at this scale; empty if it is."""
    plan = PLANS[scale]
    left_out = "setups" in plan.axes and replace(setup, network=RESNET) not in plan.axes["setups"]
    if setup.data not in plan.rounds or setup.network not in plan.networks or left_out:
        return "not run at this scale"
    if not data_set_for(scale, setup.data):
        return "data not available"
    small = setup.network == VGG and data_set_for(scale, setup.data) in ("fashion_mnist", "mnist")
    return "VGG-11 needs images of 32 x 32" if small else ""


def setup_arguments(scale: str, setup: Setup) -> dict[str, Any]:
    """Return the arguments of the runs of a setup: problem, partition, clients and training."""
    plan, name = PLANS[scale], data_set_for(scale, setup.data)
    tested = {"digits": "held_out(digits)", "omniglot": "held_out(omniglot(size=32))"}.get(name, name)
    clients, cohort = (count // plan.counts["shrink"] for count in SHARES[setup.share])
    return {
        "problem": plan.networks[setup.network].format(f"fewer({tested}, test={plan.tests})" if plan.tests else tested),
        "partition": f"dirichlet_replaced({setup.split})",
        "clients": clients,
        "cohort": cohort,
        **plan.setting,
    }


def cells(scale: str, setup: Setup, method: str, beta: float | None = None, steps: int | None = None) -> list[Cell]:
    """Return the run of a method with every seed; none if the setup is not run.

    ``beta`` is the relaxation of the start, ``steps`` the local interval (steps or passes); None: as planned.
    """
    plan = PLANS[scale]
    away = replace(setup, network=RESNET) != HOME and method not in plan.axes.get("everywhere", METHODS)
    if absence(scale, setup) or away:
        return []
    decay = {"step_size_decay": DECAY[method]} if method in DECAY else {}
    return plan.cells(
        "train",
        **setup_arguments(scale, setup) | decay | ({interval_argument(scale): steps} if steps else {}),
        algorithm=algorithm_text(method, setup, beta),
        rounds=plan.rounds[setup.data],
        every=plan.every,
        measure=MEASURED,
        **plan.engine_argument,
    )


def info_of(scale: str, setup: Setup) -> RunInfo | None:
    """Return the setting of a setup's runs beside the paper's, or None if nothing is run."""
    return describe(cells(scale, setup, "FedAvg"), setup.paper_setting())


def _info_any_network(scale: str, setup: Setup) -> RunInfo | None:
    """Return the same for the first network that runs at this scale."""
    return info_of(scale, replace(setup, network=next(iter(PLANS[scale].networks))))


def client_text(scale: str, setup: Setup) -> str:
    """Return ``5 of 50 for 10 of 100 clients``."""
    info = _info_any_network(scale, setup)
    return f"{info.clients if info else setup.paper_setting().taking_part} clients"


def column(scale: str, setup: Setup) -> str:
    """Return the title of a setup's column: data, clients and split, as they are run and as the paper has them."""
    info = _info_any_network(scale, setup)
    return f"{info.data if info else setup.data}, {client_text(scale, setup)}, Dirichlet {setup.split}"


def network(scale: str, name: str) -> str:
    """Return ``small CNN for ResNet-18-GN``, or the paper's name alone if the network is not run."""
    info = info_of(scale, Setup(network=name))
    return info.network if info else name


def timing(scale: str, share: str) -> list[Cell]:
    """Return the run that times a round of every method in turn; none without data."""
    setup = Setup(share=share)
    if absence(scale, setup):
        return []
    plan, algorithms = PLANS[scale], [algorithm_text(method, setup) for method in METHODS]
    options = {"algorithms": algorithms, "laps": plan.counts["laps"], "seed": 0}
    return [plan.cell("round_times", **setup_arguments(scale, setup), **options)]
