"""What FedInit's figures and tables read off its runs, the guards of its findings, and the words of captions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..captions import caption as put_together
from ..regimes import ceiling, effect, horizon, learnt, level, Regime, treatment
from ..run_description import of
from ..runs import Runs
from . import grid
from .grid import HOME, missing, PARTS, PLANS, Setup, SPLITS


def accuracies(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Test accuracy in percent at the end of each run; 0 for one that diverged."""
    return runs.accuracies(cells, PLANS[scale].window)


def losses(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Test loss at the end of each run, of one that diverged where it was last measured."""
    curves = (runs.curve(c, "test_loss")[1][-PLANS[scale].window :] for c in cells)
    return [float(values.mean()) if len(values) else math.nan for values in curves]


def divergences(runs: Runs, scale: str, cells: Iterable[Cell], quantity: str = "active_divergence") -> list[float]:
    """Mean squared distance of the clients' models to the server's at the end; infinite for a run that diverged."""
    return [runs.last(c, quantity, PLANS[scale].window, diverged=math.inf) for c in cells]


# ---- guards ----

APART = tuple(replace(HOME, split=split) for split in SPLITS)
"""IID clients and others: the relaxed start is to recover what heterogeneity costs FedAvg."""


def guards(
    runs: Runs,
    scale: str,
    setups: Iterable[Setup],
    methods: Sequence[str] = (),
    *,
    remedy: bool = True,
    size: bool = False,
) -> list[Regime]:
    """Those of a finding: of its horizon, of the level of FedAvg and of the ``methods`` that it compares.

    ``remedy``: it says that something helps, so that heterogeneity must cost FedAvg accuracy, and the task must leave
    room. ``size``: it states how many points.
    """
    seen = [s for s in setups if not missing(scale, s)]
    found = []
    for setup in seen:
        cells = grid.runs(scale, setup, "FedAvg")
        ours, ran, printed = accuracies(runs, scale, cells), of(cells, setup.in_paper), reported(setup)
        found += [horizon(ran, runs.percent(cells)), *learnt(ran, ours), *level(ran, ours, printed, size)]
        found += ceiling(ours, printed) if remedy else []
    if remedy and seen:
        even, uneven = APART
        iid, apart = (accuracies(runs, scale, grid.runs(scale, s, "FedAvg")) for s in APART)
        words = f"accuracy that FedAvg loses from Dirichlet {even.split} to {uneven.split}"
        found.append(effect(words, iid, apart, reported(even) - reported(uneven)))
    compared = {m: grid.runs(scale, setup, m)[:1] for setup in seen[:1] for m in methods}
    # the paper gives FedDyn a decay of its own
    return [*found, *([treatment(compared, papers=["step_size_decay"])] if compared else [])]


def reported(setup: Setup) -> float:
    """FedAvg's accuracy in Table 1."""
    return float(table("fedinit", "Table 1")[f"{setup.network}/FedAvg", setup.column].value)


# ---- captions ----

_BETAS = " or ".join(f"{beta:g} ({PARTS[share]})" for share, beta in grid.RELAXATIONS.items())
RELAXED = f"Beta: {_BETAS}, the latter by a trial."
SPREAD = "±: standard error over seeds; a run that diverged counts as accuracy 0."
DIVERGED = "A run that diverged counts as far as it went."


def caption(scale: str, shown: str, used: Iterable[tuple[str, Sequence[Cell]]], *more: str) -> str:
    """What is shown, how the runs of each name are trained, here and in the paper, and what else is to be said."""
    paper = {data: {**PLANS["paper"].setting, "rounds": rounds} for data, rounds in grid.ROUNDS.items()}
    plain = "" if PLANS[scale].setting["augment"] != "none" else "Pictures are not augmented."
    return put_together(shown, used, paper, plain, *more)


def ends(scale: str) -> str:
    """How the end of a run is read."""
    plan = PLANS[scale]
    if plan.window == 1:
        return "Accuracies are those of the last round."
    return f"Accuracies are means of the last {plan.window} measurements, {plan.every} rounds apart."


def unavailable(scale: str, setups: Sequence[Setup]) -> str:
    """Why none of the setups has a run of ours; empty if one has."""
    reasons = {f"{s.data}: {reason}" if (reason := missing(scale, s)) else "": None for s in setups}
    return "" if "" in reasons else "; ".join(reasons)


def smoothed(scale: str) -> str:
    """What is done to curves; the paper smooths its own over 100 rounds."""
    plan = PLANS[scale]
    over = plan.counts["smoothing"]
    return "Not smoothed." if over == 1 else f"Running means of {over} measurements, {plan.every} rounds apart."
