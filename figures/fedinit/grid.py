"""What FedInit runs by its Tables 6 and 7, and the runs behind its figures and tables: one grid of shared cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.engines import GPU
from paper_checks.reported import table

from ..run_description import of, Ran, Setting
from ..scale import Budget, Plan, steps_of_round
from ..substitutes import found

TABLE_6 = table("fedinit", "Table 6")
METHODS = ("FedAvg", "FedAdam", "FedSAM", "SCAFFOLD", "FedDyn", "FedCM", "FedInit")
"""The compared methods in the order of Table 1; FedInit is FedAvg from the relaxed start."""
BASELINES = METHODS[:-1]
DATA = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100"}
SHARES = {"10%-100": (100, 10), "5%-200": (200, 10)}
"""Clients in all and per round."""
PARTS = {share: f"{share.partition('%')[0]} % of the clients" for share in SHARES}
"""The same in words, of as many clients as there are."""
SPLITS = ("0.6", "0.1")
"""The coefficients of the Dirichlet law, as printed."""
RESNET, VGG = "ResNet-18-GN", "VGG-11"
REPETITIONS = 3
ROUNDS = {"CIFAR-10": 500, "CIFAR-100": 800}
"""By Section 5 and Table 11; Table 6 prints 500 for both."""
DECAY = {"FedDyn": 0.999}
"""Of the step size per round, by Section 5, where it is not that of Table 6."""
TABLE_7 = {
    "FedAdam": ("fedadam(server_step_size={:g})", "FedAdam/global learning rate"),
    "FedSAM": ("fedsam(rho={:g})", "FedSAM/perturbation learning rate"),
    "FedDyn": ("feddyn(alpha={:g})", "FedDyn/regularization coefficient"),
    "FedCM": ("fedcm(alpha={:g})", "FedCM/client-level coefficient"),
}
"""What has a coefficient of its own, and its row in Table 7."""


@dataclass(frozen=True)
class Setup:
    """One column of Table 1, for one of its two networks."""

    data: str = "CIFAR-10"
    share: str = "10%-100"
    split: str = "0.1"
    network: str = RESNET

    @property
    def column(self) -> str:
        """As the paper's tables name it here."""
        return f"{self.data}/{self.share}/Dir-{self.split}"

    @property
    def in_paper(self) -> Setting:
        """What the paper runs."""
        return self.lasting(ROUNDS[self.data])

    def lasting(self, rounds: int, epochs: int | None = None) -> Setting:
        """The same for other numbers of rounds and local passes (None: as printed)."""
        total, cohort = SHARES[self.share]
        given = {"clients": total, "batch": BATCH, "local_epochs": epochs or INTERVAL}
        work = rounds * steps_of_round(given)
        return Setting(self.data, self.network, str(total), str(cohort), str(rounds), work)


HOME = Setup()
"""Where Tables 3 and 11 and Figures 1, 6 and 7 are: 10 % of 100 clients, Dirichlet 0.1."""
SETUPS = tuple(Setup(data, share, split) for data in DATA for share in SHARES for split in SPLITS)
CIFAR10 = tuple(s for s in SETUPS if s.data == "CIFAR-10")


def chosen(data: str, name: str) -> float:
    """A row of Table 6: the best value, else the only one; of two that depend on the setup the first."""
    best, only = (TABLE_6[f"{data}/{name}", column].value for column in ("best", "selection"))
    return float((only if best == "-" else best).partition("/")[0])


INTERVAL, BATCH = (int(chosen("CIFAR-10", row)) for row in ("local interval K", "minibatch"))
"""K of Table 6, which the released code counts in passes over a client's samples, and the batch."""
RELAXATIONS = {"10%-100": chosen("CIFAR-10", "relaxed coefficient beta"), "5%-200": 0.05}
"""Beta of FedInit and of every relaxed method. Table 6 has 0.1/0.01 and does not say which setup used which. At 5 % the
last local models are twice as old: in one trial there (CIFAR-10, small network, seed 7, which no grid has) the
divergence reached 2,582 with 0.1 and 6.8 with 0.05, the next value of the paper's grid. No other coefficient was
tried like this."""


BETAS = tuple(float(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in table("fedinit", "Table 3")))
"""Of Table 3."""


def coefficient(method: str, setup: Setup) -> float:
    """The method's own coefficient, with the exceptions that the text names: less participation, CIFAR-100."""
    if method == "FedSAM":
        return 0.01 if setup.share == "5%-200" else 0.1
    if method == "FedDyn":
        return 0.01 if setup.data == "CIFAR-100" else 0.1
    return 0.1


def written(method: str, setup: Setup, beta: float | None = None) -> str:
    """The method as an algorithm's text, from the start relaxed by ``beta`` (None: as the method has it)."""
    if beta is None:
        beta = RELAXATIONS[setup.share] if method == "FedInit" else 0.0
    if method in ("FedAvg", "FedInit"):
        return f"fedinit(beta={beta:g})" if beta else "fedavg()"
    plain = TABLE_7[method][0].format(coefficient(method, setup)) if method in TABLE_7 else f"{method.lower()}()"
    return f"relaxed({plain}, beta={beta:g})" if beta else plain


# ---- the grid ----

MEASURED = ("test_loss", "test_accuracy", "divergence", "active_divergence")
PRINTED: dict[str, Any] = {
    "step_size": chosen("CIFAR-10", "local learning rate"),
    "step_size_decay": chosen("CIFAR-10", "learning rate decay"),
    "weight_decay": chosen("CIFAR-10", "weight decay"),
    "clip": 10.0,
}
"""What every scale takes over; the clipping is that of the released code."""


def _budget(step: float) -> Budget:
    """Before its first step a run deals the samples, and has its share of reading them."""
    return Budget(step={"": step}, start=1.5, look=0.06, times={"fedsam": 2.0})


ROUGH = tuple(s for s in CIFAR10 if (s.share, s.split) != ("5%-200", "0.6"))
"""Of the four setups of CIFAR-10 the three that tell what participation and heterogeneity do."""
PAPERS: dict[str, Any] = {**PRINTED, "batch": BATCH, "local_epochs": INTERVAL, "augment": "fedinit"}
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
        axes={"setups": ROUGH, "lengths": (1, 2, INTERVAL, 10), "with_ri": tuple(s for s in ROUGH if s.split == "0.1")},
    ),
    "overnight": Plan(
        **SMALL | {"setting": PAPERS, "budget": _budget(0.004)}, seeds=REPETITIONS, every=10, tests=5000,
        rounds={"CIFAR-10": ROUNDS["CIFAR-10"] // 2}, counts={"smoothing": 4, "shrink": 1, "laps": 3},
        axes={
            "setups": ROUGH, "everywhere": ("FedAvg", "FedInit"), "lengths": (1, 2, INTERVAL, 10), "with_ri": (HOME,),
        },
    ),
    "paper": Plan(
        engine=GPU,
        networks={RESNET: "resnet18({})", VGG: "vgg11({})"}, rounds=ROUNDS, every=5, seeds=REPETITIONS,
        setting=PAPERS,
        counts={"smoothing": 20, "shrink": 1, "laps": 10},
        axes={"lengths": (1, 2, INTERVAL, 10, 20), "with_ri": CIFAR10}, budget=_budget(0.039),
    ),
}  # fmt: skip
"""``rounds`` are those of the data that are run; ``shrink`` divides clients and cohort, so that the share that takes
part stays. Curves are running means of ``smoothing`` measurements. ``lengths`` are the local steps of Figure 1a,
``with_ri`` the setups of Table 2, ``everywhere`` the methods that are run outside of HOME too; a timing goes through
``laps`` rounds of every method, three times."""


def length(scale: str) -> str:
    """What the local interval counts: steps, or passes over a client's samples."""
    return "local_epochs" if "local_epochs" in PLANS[scale].setting else "local_steps"


def used(scale: str, data: str) -> str:
    """The set that is read in place of the paper's; empty where none is here."""
    return "digits" if scale == "smoke" else found(DATA[data])


def missing(scale: str, setup: Setup) -> str:
    """Why a setup is not run at this scale; empty if it is."""
    plan = PLANS[scale]
    left_out = "setups" in plan.axes and replace(setup, network=RESNET) not in plan.axes["setups"]
    if setup.data not in plan.rounds or setup.network not in plan.networks or left_out:
        return "not run at this scale"
    if not used(scale, setup.data):
        return "data not available"
    small = setup.network == VGG and used(scale, setup.data) in ("fashion_mnist", "mnist")
    return "VGG-11 needs images of 32 x 32" if small else ""


def setting(scale: str, setup: Setup) -> dict[str, Any]:
    """The problem, who holds what, and the training of a setup."""
    plan, name = PLANS[scale], used(scale, setup.data)
    tested = {"digits": "held_out(digits)", "omniglot": "held_out(omniglot(size=32))"}.get(name, name)
    clients, cohort = (count // plan.counts["shrink"] for count in SHARES[setup.share])
    return {
        "problem": plan.networks[setup.network].format(f"fewer({tested}, test={plan.tests})" if plan.tests else tested),
        "partition": f"dirichlet_replaced({setup.split})",
        "clients": clients,
        "cohort": cohort,
        **plan.setting,
    }


def runs(scale: str, setup: Setup, method: str, beta: float | None = None, steps: int | None = None) -> list[Cell]:
    """A method's run with every seed, from the start relaxed by ``beta``, with ``steps`` (or passes) as the local
    interval (None: as the setup has them); none where the setup is not run."""
    plan = PLANS[scale]
    away = replace(setup, network=RESNET) != HOME and method not in plan.axes.get("everywhere", METHODS)
    if missing(scale, setup) or away:
        return []
    decay = {"step_size_decay": DECAY[method]} if method in DECAY else {}
    return plan.cells(
        "train",
        **setting(scale, setup) | decay | ({length(scale): steps} if steps else {}),
        algorithm=written(method, setup, beta),
        rounds=plan.rounds[setup.data],
        every=plan.every,
        measure=MEASURED,
        **plan.trained,
    )


def what_ran(scale: str, setup: Setup) -> Ran | None:
    """What runs in a setup beside what the paper has there; None where nothing is."""
    return of(runs(scale, setup, "FedAvg"), setup.in_paper)


def anyhow(scale: str, setup: Setup) -> Ran | None:
    """The same with whichever network runs at this scale."""
    return what_ran(scale, replace(setup, network=next(iter(PLANS[scale].networks))))


def clients_of(scale: str, setup: Setup) -> str:
    """``5 of 50 for 10 of 100 clients``."""
    ran = anyhow(scale, setup)
    return f"{ran.clients if ran else setup.in_paper.taking_part} clients"


def column(scale: str, setup: Setup) -> str:
    """Data, clients and split of a setup, as they are run and as the paper has them."""
    ran = anyhow(scale, setup)
    return f"{ran.data if ran else setup.data}, {clients_of(scale, setup)}, Dirichlet {setup.split}"


def network(scale: str, name: str) -> str:
    """``small CNN for ResNet-18-GN``; the paper's own name where it is not run."""
    ran = what_ran(scale, Setup(network=name))
    return ran.network if ran else name


def timing(scale: str, share: str) -> list[Cell]:
    """The seconds of a round of every method, all taking turns; none where its data are not here."""
    setup = Setup(share=share)
    if missing(scale, setup):
        return []
    plan, algorithms = PLANS[scale], [written(method, setup) for method in METHODS]
    options = {"algorithms": algorithms, "laps": plan.counts["laps"], "seed": 0}
    return [plan.cell("round_times", **setting(scale, setup), **options)]
