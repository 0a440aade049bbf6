"""Table 1: test accuracy of all methods on three data sets, split in two ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import Entry, judge, Judged, leads, Pair
from ..regimes import effect, POINT, Regime
from ..runs import Runs
from ..sheets import comparison
from . import grid, guards
from .grid import chosen, named, PLANS, problem, Setup
from .guards import Place, printed
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
    return {(m, c): grid.runs(scale, m, setup_of(c)) for c in run_here for m in methods(scale, setup_of(c).kind)}


def methods(scale: str, kind: str) -> tuple[str, ...]:
    """Those that run in a split."""
    return (*chosen(scale, f"methods {kind}", chosen(scale, "methods", tuple(METHODS))), FEDCOG)


def cells(scale: str) -> list[Cell]:
    """All runs, and those that show what heterogeneity costs on each data set."""
    data_sets = dict.fromkeys(setup_of(c).data for _, c in places(scale))
    return [*cells_of(places(scale)), *(cell for data in data_sets for cell in guards.harm_cells(scale, data))]


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
        grid.tuned({m: each for (m, c), each in places(scale).items() if c == first}),
        grid.left_out(scale, ("methods", tuple(METHODS))),
        "FedReg's and FedGen's coefficients are not stated",
        setup=setup_of(first),
    )
    settings = [e for e in found if e.column != AVERAGE]
    return comparison(said, found, conclusions(runs, scale, settings, names), "test accuracy (%)")


def _averaged(entry: Entry, found: list[Entry], names: Mapping[str, str]) -> Entry:
    """The last column is ours only where all six settings are."""
    if entry.column != AVERAGE:
        return entry
    each = [values(found, entry.row, names[c]) for c in SETTINGS]
    return replace(entry, ours=tuple(sum(v) / len(v) for v in zip(*each, strict=True)) if all(each) else ())


def conclusions(runs: Runs, scale: str, found: list[Entry], names: Mapping[str, str]) -> list[Judged]:
    """What the paper reads off the table, of the columns that were run; ``names`` are theirs here."""
    at = places(scale)
    ran = {c: name for c, name in names.items() if any(column == c for _, column in at)}
    data_sets = [d for d in DATA if {f"{d} {k}" for k in KINDS} <= set(ran)]
    two, one = (f" {kind}" for kind in reversed(KINDS))
    worse = [d + two for d in data_sets if d != "CIFAR-100" and ("SCAFFOLD", d + two) in at]
    below = [
        Pair(f"FedAvg over SCAFFOLD, {ran[c]}", values(found, "FedAvg", ran[c]), values(found, "SCAFFOLD", ran[c]))
        for c in worse
    ]
    gains = {
        ran[d + two].removesuffix(two): (_gain(found, ran[d + two]), _gain(found, ran[d + one])) for d in data_sets
    }
    more = [Pair(f"gain in NIID-2 over NIID-1, {d}", second, first) for d, (second, first) in gains.items()]
    best = [
        pair
        for c, name in ran.items()
        for pair in leads(found, FEDCOG, [m for m in methods(scale, setup_of(c).kind) if m != FEDCOG], [name])
    ]

    def usual(columns_: Iterable[str], *compared: str, remedy: bool = True) -> list[Regime]:
        each = {c: {m: at[m, c] for m in compared or methods(scale, setup_of(c).kind)} for c in columns_}
        told = [Place(those, printed("1", "FedAvg", c), setup_of(c)) for c, those in each.items()]
        return guards.usual(runs, scale, *told, remedy=remedy)

    both = [d + k for d in data_sets for k in (one, two)]
    apart = [
        effect(
            f"accuracy that FedAvg loses from NIID-1 to NIID-2 on {ran[d + one].removesuffix(one)}",
            values(found, "FedAvg", ran[d + one]),
            values(found, "FedAvg", ran[d + two]),
            printed("1", "FedAvg", d + one) - printed("1", "FedAvg", d + two),
        )
        for d in data_sets
    ]
    return [
        judge("FedCOG is the most accurate in every setting that is run", best, POINT, usual(ran)),
        judge(
            "SCAFFOLD is less accurate than FedAvg in NIID-2",
            below,
            POINT,
            usual(worse, "FedAvg", "SCAFFOLD", remedy=False),
        ),
        judge(
            "FedCOG gains more over FedAvg in NIID-2 than in NIID-1",
            more,
            POINT,
            [*usual(both, "FedAvg", FEDCOG), *apart],
        ),
    ]


def _gain(found: list[Entry], column: str) -> list[float]:
    pairs = zip(values(found, FEDCOG, column), values(found, "FedAvg", column), strict=False)
    return [ours - plain for ours, plain in pairs]


ARTEFACT = Artefact("fedcog.table_1", "test accuracy of all methods", cells, data)
