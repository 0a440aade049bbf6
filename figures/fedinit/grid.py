"""The runs behind FedInit's figures and tables: one grid, whose cells are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empirics.store import Cell

from .settings import METHODS, SETUPS

MEASURED = ("train_loss", "test_loss", "test_accuracy", "divergence")


@dataclass(frozen=True)
class Plan:
    """One scale: ``problem`` with a place for the data set, what is run, and the minutes of one core a run may take."""

    problem: str
    rounds: int
    every: int
    seeds: int
    budget: float
    setting: Mapping[str, Any] = field(default_factory=dict)


PLANS = {
    "smoke": Plan("softmax(held_out(digits))", 4, 2, 2, 0.02, {"batch": 4, "local_steps": 3, "step_size": 0.1}),
    "laptop": Plan(
        "fedcog_cnn(cifar10)", 60, 10, 3, 0.6, {"batch": 50, "local_steps": 5, "step_size": 0.1, "weight_decay": 1e-3}
    ),
}


def run(scale: str, algorithm: str, seed: int, setup: str = "10%-100", dirichlet: float = 0.1) -> Cell:
    """One training run of the grid."""
    plan = PLANS[scale]
    clients, cohort = SETUPS[setup]
    return Cell(
        "empirics.cells:train",
        {
            "problem": plan.problem,
            "partition": f"dirichlet_replaced({dirichlet})",
            "clients": clients,
            "cohort": cohort,
            "algorithm": METHODS.get(algorithm, algorithm),
            "rounds": plan.rounds,
            "every": plan.every,
            "seed": seed,
            "measure": list(MEASURED),
            **plan.setting,
        },
    )


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take."""
    return PLANS[scale].budget
