"""Figure 6: divergence and accuracy of FedAvg over rounds, relaxed with several beta."""

from __future__ import annotations

from typing import Any

from empirics.store import Cell

from ..artefact import Artefact, Shown
from ..drawing import Axis, panels
from ..runs import mean_curve, Runs
from .grid import PLANS, run

BETAS = (0.0, 0.05, 0.1)


def _runs(scale: str, beta: float) -> list[Cell]:
    return [run(scale, f"fedinit(beta={beta})" if beta else "FedAvg", seed) for seed in range(PLANS[scale].seeds)]


def cells(scale: str) -> list[Cell]:
    return [cell for beta in BETAS for cell in _runs(scale, beta)]


def data(runs: Runs, scale: str) -> Shown:
    rows = [
        {"panel": quantity, "curve": f"beta = {beta:g}", "x": x, "y": y, "error": e}
        for quantity in ("divergence", "test_accuracy")
        for beta in BETAS
        for x, y, e in zip(*mean_curve(runs.curve(c, quantity) for c in _runs(scale, beta)), strict=True)
    ]
    plan = PLANS[scale]
    return Shown(f"{plan.problem}, {plan.rounds} rounds, {plan.seeds} seeds; band: one standard error.", rows)


def draw(shown: Shown) -> Any:
    return panels(shown.rows, Axis("round"), Axis(""))


ARTEFACT = Artefact("fedinit.figure_6", "divergence and accuracy over rounds", "FedInit, Figure 6", cells, data, draw)
