"""What FedInit's figures and tables share: values read off the runs, guards of the findings, captions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..guards import above_guessing, ceiling, effect, Guard, horizon, level, treatment
from ..run_description import describe, run_caption
from ..runs import Runs
from . import grid
from .grid import absence, HOME, PARTS, PLANS, Setup, SPLITS


def accuracies(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Return the test accuracy in percent at the end of each run; 0 for one that diverged."""
    return runs.accuracies(cells, PLANS[scale].window)


def losses(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Return the test loss at the end of each run; a run that diverged counts with its last measurements."""
    curves = (runs.curve(c, "test_loss")[1][-PLANS[scale].window :] for c in cells)
    return [float(values.mean()) if len(values) else math.nan for values in curves]


def divergences(runs: Runs, scale: str, cells: Iterable[Cell], quantity: str = "active_divergence") -> list[float]:
    """Return the mean squared distance of client models to the server's at the end; infinite for a diverged run."""
    return [runs.last(c, quantity, PLANS[scale].window, diverged=math.inf) for c in cells]


DIVERGENCES = {"the participants (released code)": "active_divergence", "all clients (definition)": "divergence"}
"""The two readings of the divergence."""

# ---- guards ----

APART = tuple(replace(HOME, split=split) for split in SPLITS)
"""The more homogeneous and the heterogeneous split: the relaxed start should recover what FedAvg loses between them."""


def guards(
    runs: Runs,
    scale: str,
    setups: Iterable[Setup],
    methods: Sequence[str] = (),
    *,
    remedy: bool = True,
    size: bool = False,
) -> list[Guard]:
    """Return the guards of a finding on these setups: length of the runs, level of FedAvg, treatment of ``methods``.

    ``remedy`` marks findings that something helps, so that heterogeneity must cost FedAvg accuracy and the task must
    leave room. ``size`` marks findings that state a number of points.
    """
    run_here = [s for s in setups if not absence(scale, s)]
    required = []
    for setup in run_here:
        cells = grid.cells(scale, setup, "FedAvg")
        ours, printed = accuracies(runs, scale, cells), printed_accuracy(setup)
        info = describe(cells, setup.paper_setting())
        required += [horizon(info, runs.percent(cells)), *above_guessing(info, ours), *level(info, ours, printed, size)]
        required += ceiling(ours, printed) if remedy else []
    if remedy and run_here:
        even, uneven = APART
        iid, apart = (accuracies(runs, scale, grid.cells(scale, s, "FedAvg")) for s in APART)
        words = f"accuracy that FedAvg loses from Dirichlet {even.split} to {uneven.split}"
        required.append(effect(words, iid, apart, printed_accuracy(even) - printed_accuracy(uneven)))
    compared = {m: [cell for s in run_here for cell in grid.cells(scale, s, m)][:1] for m in methods if run_here}
    # the paper gives FedDyn a decay of its own
    return [*required, *([treatment(compared, papers=["step_size_decay"])] if compared else [])]


def printed_accuracy(setup: Setup) -> float:
    """Return FedAvg's accuracy in Table 1."""
    return float(table("fedinit", "Table 1")[f"{setup.network}/FedAvg", setup.column].value)


# ---- words ----

ABOVE_FEDAVG = "FedInit is more accurate than FedAvg"


def in_each_setup(scale: str, setups: Sequence[Setup]) -> str:
    """Return in words how many of these setups, which are on the same data, were run."""
    run_here = sum(not absence(scale, s) for s in setups)
    return f"in each setup of {setups[0].data} that was run ({run_here} of {len(setups)})"


# ---- captions ----

_BETAS = " or ".join(f"{beta:g} ({PARTS[share]})" for share, beta in grid.RELAXATIONS.items())
RELAXED = f"Beta: {_BETAS}, the latter by a trial."
AVERAGED = "The server averages models, as in Algorithm 1; the released code adds the clients' moves."
SPREAD = "±: standard error over seeds; a run that diverged counts as accuracy 0."
DIVERGED = "A run that diverged counts as far as it went."


def caption(scale: str, shown: str, used: Iterable[tuple[str, Sequence[Cell]]], *more: str) -> str:
    """Return the caption: what is shown, how the runs of each name train, here and in the paper, then more."""
    paper = {data: {**PLANS["paper"].setting, "rounds": rounds} for data, rounds in grid.ROUNDS.items()}
    plain = "" if PLANS[scale].setting["augment"] != "none" else "Pictures are not augmented."
    return run_caption(shown, used, paper, plain, *more, AVERAGED)


def end_note(scale: str) -> str:
    """Return the caption's note on how final accuracies are read."""
    plan = PLANS[scale]
    if plan.window == 1:
        return "Accuracies are those of the last round."
    return f"Accuracies are means of the last {plan.window} measurements, {plan.every} rounds apart."


def unavailable(scale: str, setups: Sequence[Setup]) -> str:
    """Return the reason why none of the setups was run; empty if one was."""
    reasons = {f"{s.data}: {reason}" if (reason := absence(scale, s)) else "": None for s in setups}
    return "" if "" in reasons else "; ".join(reasons)


def smoothing_note(scale: str) -> str:
    """Return the caption's note on the smoothing of curves; the paper smooths over 100 rounds."""
    plan = PLANS[scale]
    over = plan.counts["smoothing"]
    return "Not smoothed." if over == 1 else f"Running means of {over} measurements, {plan.every} rounds apart."
