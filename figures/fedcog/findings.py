"""What FedCOG's figures and tables read off their runs, the guards of their findings, and the words of captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from .. import regimes
from ..captions import caption as put_together
from ..comparing import Entry
from ..regimes import Regime
from ..runs import Runs
from ..sheets import entry, number
from . import grid
from .grid import BASE, DIRICHLETS, DISTILLATION, distillation, FEDCOG, FIRST, PLANS, Setup, what_ran

Places = Mapping[tuple[str, str], Sequence[Cell]]
"""The runs behind each place (row, column) of a table, one per seed."""
Reader = Callable[[Runs, Sequence[Cell]], list[float]]
"""What each run has, in percent."""
PLAIN = "FedAvg"
ABSENT = "not run at this scale"


def final(runs: Runs, scale: str, cells: Iterable[Cell]) -> list[float]:
    """Test accuracy in percent, the mean over the last rounds that the plan says; 0 for a run that diverged."""
    return runs.accuracies(cells, PLANS[scale].window)


def one_more(runs: Runs, cells: Iterable[Cell]) -> list[float]:
    """Test accuracy in percent one round after the change of methods; 0 for a run that diverged by then."""
    found = []
    for cell in cells:
        at, values = runs.curve(cell, "test_accuracy")
        then = values[at == cell.arguments["after"] + 1]
        found.append(0.0 if runs.diverged(cell) else 100 * float(then[0]) if len(then) else math.nan)
    return found


def mean_over_clients(runs: Runs, cell: Cell, quantity: str, at: int) -> float:
    """A quantity's mean over clients after a round; NaN where it was not measured."""
    columns = runs.columns(cell)
    told = zip(*(columns.get(n, ()) for n in ("quantity", "round", "client", "value")), strict=True)
    values = [value for name, r, client, value in told if (name, r) == (quantity, at) and client is not None]
    return float(np.mean(values)) if values else math.nan


def entries(
    runs: Runs,
    scale: str,
    name: str,
    ran: Places,
    read: Reader | None = None,
    *,
    absent: str = ABSENT,
    setup: Callable[[str], Setup] = lambda column: BASE,
    named: Callable[[str], str] = lambda column: column,
    later: int | None = None,
) -> list[Entry]:
    """Every printed place of a table beside ours (``read``: their final accuracy).

    ``setup`` is that of a column, ``named`` says what is run there; ``later`` as in ``what_ran``.
    """
    found = []
    for (row, column), printed in table("fedcog", name).items():
        cells = ran.get((row, column), ())
        told, note = what_ran(cells, setup(column), later) if cells else None, "" if cells else absent
        ours = read(runs, cells) if read else final(runs, scale, cells)
        found.append(entry(printed, row, named(column), ours, note, told))
    return found


def turned(found: Iterable[Entry]) -> list[Entry]:
    """Rows as columns, for the rank agreement of a table that goes across."""
    return [replace(one, row=one.column, column=one.row) for one in found]


# ---- guards; the paper's numbers are those of its tables ----


def printed(name: str, row: str, column: str) -> float:
    """A number of a table; NaN where there is none."""
    found = table("fedcog", name).get((row, column))
    return number(found.value) if found else math.nan


class Compared(NamedTuple):
    """The runs that a finding compares at one place by method, FedAvg's accuracy there in the paper, and the setup."""

    methods: Mapping[str, Sequence[Cell]]
    reported: float = math.nan
    setup: Setup = BASE


def usual(
    runs: Runs,
    scale: str,
    *places: Compared,
    later: int | None = None,
    remedy: bool = True,
    ended: bool = True,
    read: Reader | None = None,
) -> list[Regime]:
    """The guards of a finding that compares methods at these places, each once; of their lengths one that fails.

    ``later``: rounds after the change at which it is read; ``remedy``: the first method cures what heterogeneity does;
    ``ended``: curves that have levelled off are as good as long runs; ``read``: another number than the accuracy.
    """
    lengths: list[Regime] = []
    rest: dict[Regime, None] = {}
    for methods, reported, setup in places:
        plain = methods.get(PLAIN) or grid.runs(scale, PLAIN, setup)
        told = read or (None if later is None else one_more)
        ran, ours = what_ran(plain, setup, later), told(runs, plain) if told else final(runs, scale, plain)
        lengths.append(regimes.horizon(ran, runs.percent(plain) if ended and later is None else ()))
        each = [*regimes.learnt(ran, ours), *regimes.level(ran, ours, reported), regimes.treatment(methods)]
        each += weight(scale, methods.get(FEDCOG, ()))
        if remedy:  # what heterogeneity costs: from the most homogeneous split to the paper's, which prints no number
            both = Setup(setup.data, dirichlet=max(DIRICHLETS)), Setup(setup.data, setup.kind)
            iid, skewed = (final(runs, scale, grid.runs(scale, PLAIN, one)) for one in both)
            drift = regimes.drift(f"{grid.named(scale, setup.data)} {setup.kind}", iid, skewed)
            each += [drift, *regimes.ceiling(ours, reported)]
        rest.update(dict.fromkeys(each))
    return [next((one for one in lengths if one.missed), lengths[0]), *rest] if lengths else []


def weight(scale: str, cells: Sequence[Cell]) -> list[Regime]:
    """That FedCOG, where it runs, distils with the paper's weight."""
    ours = distillation(scale)
    words = f"different treatment: FedCOG distils with weight {ours:g} for the paper's {DISTILLATION:g}"
    return [Regime(words, float(ours != DISTILLATION), 0, at_most=True)] if cells else []


def as_in_paper(cells: Sequence[Cell], setup: Setup = BASE) -> Regime:
    """That FedCOG is trained as in the paper: what is best for a coefficient depends on it."""
    return regimes.treatment({"here": cells, "the paper": grid.runs("paper", FEDCOG, setup)})


# ---- captions ----

BARS = "Bars: one standard error over seeds."
ERROR = (
    "± one standard error over seeds; a dash: not printed or not run at this scale; a run that diverged counts as 0."
)


def caption(scale: str, shown: str, used: Iterable[tuple[str, Sequence[Cell]]], *more: str) -> str:
    """What is shown, how the runs of each name are trained, and FedCOG's own numbers, beside the paper's."""
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
    return put_together(shown, runs, {"": {**grid.OWN, "rounds": grid.ROUNDS}}, words, end, *more)
