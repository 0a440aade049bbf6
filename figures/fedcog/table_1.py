"""Table 1: test accuracy of all methods on three data sets, split in two ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..artefact import Artefact, Shown
from ..comparing import Entry, judge, Judged, leads, Pair
from ..regimes import learnt, POINT
from ..runs import Runs
from ..sheets import comparison
from . import grid
from .grid import chosen, named, PLANS, problem, Setup
from .reading import caption, cells_of, entries, ERROR, final, over, Places, values
from .settings import columns, DATA, FEDCOG, KINDS, METHODS

AVERAGE = "Avg."
SETTINGS = tuple(c for c in columns("1") if c != AVERAGE)


def setup_of(column: str) -> Setup:
    """Data and split of a column."""
    data, _, kind = column.rpartition(" ")
    return Setup(data, kind)


def setup_at(row: str, column: str) -> Setup:
    """The same of a place; of the average that of the first column."""
    return setup_of(column if column != AVERAGE else SETTINGS[0])


def column_of(scale: str, column: str) -> str:
    """A column by the data that are run."""
    setup = setup_of(column)
    return f"{named(scale, setup.data)} {setup.kind}" if problem_of(scale, column) else column


def places(scale: str) -> Places:
    run_here = [c for c in SETTINGS if problem_of(scale, c)]
    methods = (*chosen(scale, "methods", tuple(METHODS)), FEDCOG)
    return {(method, column): grid.runs(scale, method, setup_of(column)) for column in run_here for method in methods}


def problem_of(scale: str, column: str) -> str:
    """Network and data of a column; empty where its own data are not run (what stands for them is another column)."""
    name = setup_of(column).data
    return problem(scale, name) if name in PLANS[scale].networks else ""


def data(runs: Runs, scale: str) -> Shown:
    names = {c: column_of(scale, c) for c in SETTINGS}
    listed = entries(
        runs, "1", places(scale), final(scale), setup=setup_at, named=lambda row, c: (row, names.get(c, c))
    )
    found = [_averaged(e, listed, names) for e in listed]
    first = next((column for _, column in places(scale)), SETTINGS[0])  # of those that are run
    said = caption(
        scale,
        ERROR,
        *over(scale),
        grid.tuned(scale),
        "FedReg's and FedGen's coefficients are not stated",
        setup=setup_of(first),
    )
    settings = [e for e in found if e.column != AVERAGE]
    return comparison(said, found, conclusions(settings, names), "test accuracy (%)")


def _averaged(entry: Entry, found: list[Entry], names: Mapping[str, str]) -> Entry:
    """The last column is ours only where all six settings are."""
    if entry.column != AVERAGE:
        return entry
    each = [values(found, entry.row, names[c]) for c in SETTINGS]
    return replace(entry, ours=tuple(sum(v) / len(v) for v in zip(*each, strict=True)) if all(each) else ())


def conclusions(found: list[Entry], names: Mapping[str, str]) -> list[Judged]:
    """What the paper reads off the table, of the columns that were run; ``names`` are theirs here."""
    ran = {c: name for c, name in names.items() if any(e.ours for e in found if e.column == name)}
    shown = list(ran.values())
    data_sets = [d for d in DATA if {f"{d} {k}" for k in KINDS} <= set(ran)]
    below = [
        Pair(f"FedAvg over SCAFFOLD, {c}", values(found, "FedAvg", c), values(found, "SCAFFOLD", c))
        for c in (ran[f"{d} NIID-2"] for d in data_sets if d != "CIFAR-100")
    ]
    two, one = (f" {kind}" for kind in reversed(KINDS))
    gains = {
        ran[d + two].removesuffix(two): (_gain(found, ran[d + two]), _gain(found, ran[d + one])) for d in data_sets
    }
    more = [Pair(f"gain in NIID-2 over NIID-1, {d}", second, first) for d, (second, first) in gains.items()]
    plain = [e for e in found if e.row == "FedAvg" and e.column in shown]
    regimes = [regime for e in plain for regime in learnt(e.ran, e.ours)]
    best = leads(found, FEDCOG, columns=shown)
    return [
        judge("FedCOG is the most accurate in every setting that is run", best, POINT, regimes),
        judge("SCAFFOLD is less accurate than FedAvg in NIID-2", below, POINT, regimes),
        judge("FedCOG gains more over FedAvg in NIID-2 than in NIID-1", more, POINT, regimes),
    ]


def _gain(found: list[Entry], column: str) -> list[float]:
    pairs = zip(values(found, FEDCOG, column), values(found, "FedAvg", column), strict=False)
    return [ours - plain for ours, plain in pairs]


ARTEFACT = Artefact("fedcog.table_1", "test accuracy of all methods", lambda scale: cells_of(places(scale)), data)
