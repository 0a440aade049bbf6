"""What the figures and tables read of the grid's runs, and the sentences of their captions that say which these are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..captions import caption as put_together, plural
from ..regimes import ceiling, effect, horizon, learnt, level, Regime, treatment
from ..run_description import of
from ..runs import Curve, Runs
from ..specification import Reader
from ..substitutes import remark
from .grid import clients_of, length, missing, network, PLANS, runs as grid_runs, used
from .settings import DATA, HOME, PARTS, RELAXATIONS, Setup, SPLITS

PERCENT = 100.0


def accuracies(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Test accuracy in percent at the end of each run; 0 for one that diverged."""
    window = PLANS[scale].window
    return [PERCENT * runs.last(c, "test_accuracy", window, diverged=0.0) for c in cells]


def losses(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Test loss at the end of each run, of one that diverged where it was last measured."""
    curves = (runs.curve(c, "test_loss")[1][-PLANS[scale].window :] for c in cells)
    return [float(values.mean()) if len(values) else math.nan for values in curves]


def divergences(runs: Runs, scale: str, cells: Iterable[Cell], quantity: str = "active_divergence") -> list[float]:
    """Mean squared distance of the clients' models to the server's at the end; infinite for a run that diverged."""
    return [runs.last(c, quantity, PLANS[scale].window, diverged=float("inf")) for c in cells]


def read_with(read: Callable[[Runs, str, Iterable[Cell]], list[float]], scale: str) -> Reader:
    """The same at a scale."""
    return lambda runs, cells: read(runs, scale, cells)


# ---- guards ----

UNLIKE = ("step_size_decay",)
"""What the paper gives FedDyn of its own."""
APART = tuple(replace(HOME, split=split) for split in SPLITS)
"""IID clients and others: the relaxed start is to recover what heterogeneity costs FedAvg."""


def apart(scale: str) -> list[Cell]:
    """FedAvg's runs with IID clients, which every finding on the relaxed start needs besides its own."""
    return grid_runs(scale, APART[0], "FedAvg")


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
        cells = grid_runs(scale, setup, "FedAvg")
        ours, ran, printed = accuracies(runs, scale, cells), of(cells, setup.in_paper), reported(setup)
        found += [horizon(ran, percent(runs, cells)), *learnt(ran, ours), *level(ran, ours, printed, size)]
        found += ceiling(ours, printed) if remedy else []
    if remedy and seen:
        even, uneven = APART
        iid, apart = (accuracies(runs, scale, grid_runs(scale, s, "FedAvg")) for s in APART)
        words = f"accuracy that FedAvg loses from Dirichlet {even.split} to {uneven.split}"
        found.append(effect(words, iid, apart, reported(even) - reported(uneven)))
    compared = {m: grid_runs(scale, setup, m)[:1] for setup in seen[:1] for m in methods}
    return [*found, *([treatment(compared, papers=UNLIKE)] if compared else [])]


def reported(setup: Setup) -> float:
    """FedAvg's accuracy in Table 1."""
    return float(table("fedinit", "Table 1")[f"{setup.network}/FedAvg", setup.column].value)


def percent(runs: Runs, cells: Iterable[Cell]) -> list[Curve]:
    """Test accuracies over rounds."""
    return [(at, PERCENT * values) for at, values in (runs.curve(c, "test_accuracy") for c in cells)]


# ---- captions ----

RELAXED = (
    f"Beta: {' or '.join(f'{beta:g} ({PARTS[share]})' for share, beta in RELAXATIONS.items())}, the latter by a trial."
)
SPREAD = "±: standard error over seeds; a run that diverged counts as accuracy 0."
DIVERGED = "A run that diverged counts as far as it went."


def caption(scale: str, setups: Sequence[Setup], *more: str) -> str:
    """Data, networks, clients, rounds and seeds of the setups that are run, and what differs from the paper."""
    plan, unit = PLANS[scale], length(scale)
    seen = [s for s in setups if not missing(scale, s)]
    if not seen:
        return put_together([_absent(scale, setups)])
    data = dict.fromkeys(s.data for s in seen)
    parts = [
        "; ".join(_data(scale, d) for d in data),
        ", ".join(network(scale, n) for n in dict.fromkeys(s.network for s in seen)),
        " and ".join(clients_of(scale, Setup(share=share)) for share in dict.fromkeys(s.share for s in seen)),
        "Dirichlet " + " and ".join(dict.fromkeys(s.split for s in seen)),
        " / ".join(str(n) for n in dict.fromkeys(plan.rounds[d] for d in data))
        + f" rounds of {plural(plan.setting[unit], unit.removeprefix('local_').removesuffix('s'))}",
        f"batch {plan.setting['batch']}, step size {plan.setting['step_size']:g}",
        *(["unaugmented"] if plan.setting["augment"] == "none" else []),
        plural(plan.seeds, "seed"),
    ]
    return put_together(parts, *more, joint=", ")


def _absent(scale: str, setups: Sequence[Setup]) -> str:
    return "; ".join(dict.fromkeys(f"{s.data}: {missing(scale, s)}" for s in setups))


def _data(scale: str, data: str) -> str:
    name = used(scale, data)
    if name == DATA[data]:
        few = PLANS[scale].tests
        return data + (f" (tested on {few} samples)" if few else "")
    return f"digits for {data}" if scale == "smoke" else remark(DATA[data], name)


def ends(scale: str) -> str:
    """How the end of a run is read."""
    plan = PLANS[scale]
    if plan.window == 1:
        return "Accuracies are those of the last round."
    return f"Accuracies are means of the last {plan.window} measurements, {plan.every} rounds apart."


def unavailable(scale: str, setups: Sequence[Setup]) -> str:
    """Why none of the setups has a run of ours; empty if one has."""
    return "" if any(not missing(scale, s) for s in setups) else _absent(scale, setups)


def smoothed(scale: str) -> str:
    """What is done to curves; the paper smooths its own over 100 rounds."""
    plan = PLANS[scale]
    over = plan.counts["smoothing"]
    return "Not smoothed." if over == 1 else f"Running means of {over} measurements, {plan.every} rounds apart."
