"""Table 3: test accuracy and divergence for several relaxations beta."""

from __future__ import annotations

from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import agreements, by_place, Entry, judge, Pair
from ..runs import Runs
from ..sheets import entry, sheet, tidy
from .grid import PLANS, run

from empirics.store import Cell

PRINTED = table("fedinit", "Table 3")
BETAS = tuple(dict.fromkeys(row for row, _ in PRINTED))


def _runs(scale: str, row: str) -> list[Cell]:
    beta = float(row.partition("=")[2])
    return [run(scale, f"fedinit(beta={beta})" if beta else "FedAvg", seed) for seed in range(PLANS[scale].seeds)]


def cells(scale: str) -> list[Cell]:
    return [cell for row in BETAS for cell in _runs(scale, row)]


def data(runs: Runs, scale: str) -> Shown:
    found = [place for row in BETAS for place in _entries(runs, row, _runs(scale, row))]
    at = by_place(found)
    best = at["beta=0.1", "accuracy"].ours
    pairs = [Pair(f"beta=0.1 over {row}", best, at[row, "accuracy"].ours) for row in BETAS if row != "beta=0.1"]
    plan = PLANS[scale]
    return Shown(
        f"{plan.problem}, 100 clients, 10 per round, Dirichlet 0.1, {plan.rounds} rounds, {plan.seeds} seeds; "
        "a run that diverged counts as accuracy 0.",
        tidy(found),
        sheet(found, "beta: reported / ours"),
        [judge("beta = 0.1 has the highest accuracy", pairs)],
        agreements(found),
    )


def _entries(runs: Runs, row: str, seeds: list[Cell]) -> list[Entry]:
    accuracy = [100 * runs.last(cell, "test_accuracy", diverged=0.0) for cell in seeds]
    divergence = [runs.last(cell, "divergence", diverged=float("inf")) for cell in seeds]
    return [
        entry(PRINTED[row, "accuracy"], row, "accuracy", accuracy),
        entry(PRINTED[row, "Delta^T"], row, "Delta^T", divergence),
    ]


ARTEFACT = Artefact("fedinit.table_3", "accuracy and divergence for several beta", "FedInit, Table 3", cells, data)
