"""Section 6.1 and A.2 as data: what the paper runs; the grids are built from these."""

from __future__ import annotations

from paper_checks.reported import table

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


def rows(name: str) -> tuple[str, ...]:
    """The rows of a printed table in its order."""
    return tuple(dict.fromkeys(row for row, _ in table("fedcog", name)))
