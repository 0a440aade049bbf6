"""What FedCOG's figures and tables share: values read off the runs, guards of the findings, captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from .. import guards
from ..guards import Guard
from ..run_description import run_caption
from ..runs import Runs
from ..sheets import Entry, entry, printed_number
from . import grid
from .grid import BASE, DIRICHLETS, DISTILLATION, distillation, FEDCOG, FIRST, info_of, PLANS, Setup

Places = Mapping[tuple[str, str], Sequence[Cell]]
"""The runs behind each entry (row, column) of a table, one per seed."""
Reader = Callable[[Runs, Sequence[Cell]], list[float]]
"""A function that returns one number per run, in percent."""
PLAIN = "FedAvg"
ABSENT = "not run at this scale"


def accuracies(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Return the test accuracy of each run in percent, the mean over the plan's window; 0 for a run that diverged."""
    return runs.accuracies(cells, PLANS[scale].window)


def after_change(runs: Runs, cells: Iterable[Cell]) -> list[float]:
    """Return the test accuracy in percent one round after the change of methods; 0 for a run that diverged."""
    return runs.accuracies_at(cells, lambda cell: cell.arguments["after"] + 1)


def mean_over_clients(runs: Runs, cell: Cell, quantity: str, at: int) -> float:
    """Return the mean of a quantity over clients after round ``at``; NaN if it was not measured."""
    rows = runs.rows(cell, "quantity", "round", "client", "value")
    values = [value for name, r, client, value in rows if (name, r) == (quantity, at) and client is not None]
    return float(np.mean(values)) if values else math.nan


def entries(
    runs: Runs,
    scale: str,
    name: str,
    cells_at: Places,
    read: Reader | None = None,
    *,
    absent: str = ABSENT,
    setup: Callable[[str], Setup] = lambda column: BASE,
    named: Callable[[str], str] = lambda column: column,
    later: int | None = None,
) -> list[Entry]:
    """Return all entries of a printed table, beside ours.

    ``read`` returns our numbers (None: final accuracies), ``setup`` the setup of a column and ``named`` its title;
    ``absent`` is the note of an entry without runs, ``later`` as in ``grid.info_of``.
    """
    listed = []
    for (row, column), printed in table("fedcog", name).items():
        cells = cells_at.get((row, column), ())
        info, note = info_of(cells, setup(column), later) if cells else None, "" if cells else absent
        ours = read(runs, cells) if read else accuracies(runs, scale, cells)
        listed.append(entry(printed, row, named(column), ours, note, info))
    return listed


def transpose(listed: Iterable[Entry]) -> list[Entry]:
    """Swap rows and columns, for the rank agreement of a table whose methods are columns."""
    return [replace(one, row=one.column, column=one.row) for one in listed]


# ---- guards ----


def printed_value(name: str, row: str, column: str) -> float:
    """Return a number of a printed table; NaN if there is none."""
    printed = table("fedcog", name).get((row, column))
    return printed_number(printed.value) if printed else math.nan


class Compared(NamedTuple):
    """The runs of one setup that a finding compares, by method, and FedAvg's accuracy in the paper."""

    methods: Mapping[str, Sequence[Cell]]
    reported: float = math.nan
    setup: Setup = BASE


def base_guards(
    runs: Runs,
    scale: str,
    *places: Compared,
    later: int | None = None,
    remedy: bool = True,
    ended: bool = True,
    read: Reader | None = None,
) -> list[Guard]:
    """Return the guards of a finding that compares methods in these setups, each once.

    The finding is read ``later`` rounds after the change of methods (None: at the end) by ``read`` (None: accuracies).
    ``remedy``: a method is claimed to cure heterogeneity, which must then cost accuracy. ``ended``: curves that have
    levelled off make up for short runs.
    """
    lengths: list[Guard] = []
    rest: dict[Guard, None] = {}
    for methods, reported, setup in places:
        plain = methods.get(PLAIN) or grid.cells(scale, PLAIN, setup)
        reader = read or (None if later is None else after_change)
        info, ours = (info_of(plain, setup, later), reader(runs, plain) if reader else accuracies(runs, scale, plain))
        lengths.append(guards.horizon(info, runs.percent(plain) if ended and later is None else ()))
        each = [*guards.above_guessing(info, ours), *guards.level(info, ours, reported), guards.treatment(methods)]
        each += distillation_guard(scale, methods.get(FEDCOG, ()))
        if remedy:  # the paper prints no cost of heterogeneity; measured from the most homogeneous split to the paper's
            both = Setup(setup.data, dirichlet=max(DIRICHLETS)), Setup(setup.data, setup.kind)
            iid, skewed = (accuracies(runs, scale, grid.cells(scale, PLAIN, one)) for one in both)
            drift = guards.drift(f"{grid.data_name(scale, setup.data)} {setup.kind}", iid, skewed)
            each += [drift, *guards.ceiling(ours, reported)]
        rest.update(dict.fromkeys(each))
    return [next((one for one in lengths if one.missed), lengths[0]), *rest] if lengths else []


def distillation_guard(scale: str, cells: Sequence[Cell]) -> list[Guard]:
    """Require FedCOG to distil with the paper's weight; no guard without runs of FedCOG."""
    ours = distillation(scale)
    detail = f": FedCOG distils with weight {ours:g} for the paper's {DISTILLATION:g}"
    return [Guard(guards.TREATMENT, float(ours != DISTILLATION), 0, True, detail)] if cells else []


def paper_treatment(cells: Sequence[Cell], setup: Setup = BASE) -> Guard:
    """Require FedCOG to be trained as in the paper, since the best value of a coefficient depends on it."""
    return guards.treatment({"here": cells, "the paper": grid.cells("paper", FEDCOG, setup)})


# ---- captions ----

BARS = "Bars: one standard error over seeds."
ERROR = (
    "± one standard error over seeds; a dash: not printed or not run at this scale; a run that diverged counts as 0."
)


def caption(scale: str, shown: str, used: Iterable[tuple[str, Sequence[Cell]]], *more: str) -> str:
    """Return the caption: what is shown, how the runs train, and the settings of FedCOG, beside the paper's."""
    runs, plan = list(used), PLANS[scale]
    counts, window = plan.counts, plan.window
    if not any(cells for _, cells in runs):
        return "Reported numbers alone: the data are not here, or not run at this scale."
    step = f", {counts['batch']} of them a local step" if "batch" in counts else ""
    generated = "{} rounds of FedAvg, then its own, {} images in {} steps, distilled with weight {:g}".format
    ours = counts["first"], counts["samples"], counts["steps"], distillation(scale)
    paper = FIRST, grid.SAMPLES, grid.STEPS, DISTILLATION
    words = f"FedCOG: {generated(*ours)}{step}{'' if ours == paper else f' (the paper: {generated(*paper)})'}."
    end = f"An accuracy is the mean of the last {window} rounds." if window > 1 else ""
    return run_caption(shown, runs, {"": {**grid.OWN, "rounds": grid.ROUNDS}}, words, end, *more)
