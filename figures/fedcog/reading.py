"""What FedCOG's tables and figures read off their runs, and what their captions share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..captions import caption as put_together
from ..comparing import Entry, Pair
from ..run_description import problem_words
from ..runs import Runs
from ..specification import Place
from ..substitutes import remark, title
from . import settings as paper
from .grid import BASE, data_set, distillation, PLANS, runs as runs_of, Setup, what_ran

Places = Mapping[tuple[str, str], Sequence[Cell]]
"""The runs behind each place (row, column) of a table, one per seed."""
Reader = Callable[[Runs, Cell], float]
"""What a run has, in percent."""
ABSENT = "not run at this scale"


def cells_of(places: Mapping[Any, Sequence[Cell]]) -> list[Cell]:
    """All runs of a table or figure."""
    return [cell for cells in places.values() for cell in cells]


def last(runs: Runs, cell: Cell, window: int = 1) -> float:
    """Test accuracy in percent, the mean over the last ``window`` measured rounds; 0 for a run that diverged."""
    return 100 * runs.last(cell, "test_accuracy", window, diverged=0.0)


def final(scale: str) -> Reader:
    """The accuracy that tables have at a scale: over as many of the last rounds as its plan says."""
    return partial(last, window=PLANS[scale].window)


def over(scale: str) -> tuple[str, ...]:
    """What a caption says of it."""
    window = PLANS[scale].window
    return (f"an accuracy is the mean of the last {window} rounds",) if window > 1 else ()


def one_more(runs: Runs, cell: Cell) -> float:
    """Test accuracy in percent one round after the change of methods; 0 for a run that diverged by then."""
    if runs.diverged(cell):
        return 0.0
    at, values = runs.curve(cell, "test_accuracy")
    found = values[at == cell.arguments["after"] + 1]
    return 100 * float(found[0]) if len(found) else math.nan


def mean_over_clients(runs: Runs, cell: Cell, quantity: str, at: int) -> float:
    """A quantity's mean over clients after a round; NaN where it was not measured."""
    columns = runs.columns(cell)
    told = zip(*(columns.get(n, ()) for n in ("quantity", "round", "client", "value")), strict=True)
    values = [value for name, r, client, value in told if (name, r) == (quantity, at) and client is not None]
    return float(np.mean(values)) if values else math.nan


def places(
    number: str,
    ran: Places,
    read: Reader,
    absent: str = ABSENT,
    *,
    setup: Callable[[str, str], Setup] = lambda row, column: BASE,
    named: Callable[[str, str], tuple[str, str]] = lambda row, column: (row, column),
    later: int | None = None,
) -> list[Place]:
    """Every printed place of a table beside ours, by what is run there (``named``); ``later`` as in ``what_ran``."""
    found = []
    for place, printed in table("fedcog", number).items():
        cells = ran.get(place, ())
        told, note = what_ran(cells, setup(*place), later) if cells else None, "" if cells else absent
        found.append(Place(printed, *named(*place), cells, each(read), note, told))
    return found


def each(read: Reader) -> Callable[[Runs, Sequence[Cell]], list[float]]:
    """The number of every run."""
    return lambda runs, cells: [read(runs, cell) for cell in cells]


def turned(found: Iterable[Place]) -> list[Place]:
    """Rows as columns, for the rank agreement of a table that goes across."""
    return [replace(one, row=one.column, column=one.row) for one in found]


def rising(found: Mapping[tuple[str, str], Entry], row: str, low: str, high: str) -> Pair:
    """The claim that a row has more at column ``high`` than at ``low``."""
    return Pair(f"{row}, {high} over {low}", found[row, high].ours, found[row, low].ours)


def caption(scale: str, *more: str, setup: Setup = BASE) -> str:
    """Which data and runs, then what else is to be said; a scale below the paper's says what it reduces."""
    plan, used = PLANS[scale], data_set(scale, setup.data)
    cells = runs_of(scale, "FedAvg", replace(setup, kind=BASE.kind))
    if not used or not cells:
        return "Reported numbers alone: the data are not here, or not run at this scale."
    given, counts = cells[0].arguments, plan.counts
    step = f", {counts['batch']} of them a local step" if "batch" in counts else ""
    words = [
        f"{problem_words(given['problem'])}{_instead(scale, setup.data, used)}, "
        f"{given['clients']} clients where nothing else is said, {given['rounds']} rounds of {given['local_steps']} "
        f"local steps ({_optimiser(given)})",
        f"FedCOG: {given['after']} rounds of FedAvg, then its own, {counts['samples']} images in {counts['steps']} "
        f"steps, distilled with weight {distillation(scale):g}{step}",
        *more,
        f"{len(cells)} seeds",
    ]
    if scale != "paper":
        words.append(
            f"the paper: {paper.ROUNDS} rounds of {paper.LOCAL_STEPS} steps, {paper.FIRST} of them before FedCOG, "
            f"{paper.SAMPLES} images in {paper.STEPS} steps, weight {paper.DISTILLATION:g}"
        )
    return put_together(words)


def _optimiser(given: Mapping[str, Any]) -> str:
    """Batch and optimiser of a run."""
    words = ("batch {}", "step size {:g}", "momentum {:g}", "weight decay {:g}")
    names = ("batch", "step_size", "momentum", "weight_decay")
    said = [text.format(given[name]) for name, text in zip(names, words, strict=True) if given.get(name)]
    return ", ".join([*said, *(["random crops and flips"] if given.get("augment") else [])])


def _instead(scale: str, data: str, used: str) -> str:
    if scale == "smoke" or data not in PLANS[scale].networks:
        return f" ({title(used)} for {data})"
    said = remark(paper.DATA[data], used)
    return f" ({said})" if said else ""


ERROR = "± one standard error over seeds; a dash: not printed or not run at this scale; a run that diverged counts as 0"


def values(found: Sequence[Entry], row: str, column: str) -> Sequence[float]:
    """Ours at one place."""
    return next((e.ours for e in found if (e.row, e.column) == (row, column)), ())
