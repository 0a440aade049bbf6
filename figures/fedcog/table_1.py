"""Table 1: test accuracy of all methods on three data sets, split in two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from empirics.experiments import Cell

from ..comparing import Entry, judge, Judged, leads, Pair
from ..regimes import effect, POINT, Regime
from ..runs import Runs
from ..specification import Place, table
from . import grid, guards
from .grid import chosen, named, PLANS, problem, Setup
from .guards import Compared, printed
from .reading import caption, each, ERROR, final, over, Places, places as places_of, values
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


def problem_of(scale: str, column: str) -> str:
    """Network and data of a column; empty where its own data are not run (their substitute is another column)."""
    name = setup_of(column).data
    return problem(scale, name) if name in PLANS[scale].networks else ""


def _more(scale: str) -> list[Cell]:
    """Runs that show what heterogeneity costs on each data set."""
    data_sets = dict.fromkeys(setup_of(c).data for _, c in places(scale))
    return [cell for data in data_sets for cell in guards.harm_cells(scale, data)]


def _listed(scale: str) -> list[Place]:
    """The last column is ours only where all six settings are."""
    names, ran, read = {c: column_of(scale, c) for c in SETTINGS}, places(scale), each(final(scale))

    def averaged(method: str) -> Callable[[Runs, Sequence[Cell]], list[float]]:
        def mean(runs: Runs, _: Sequence[Cell]) -> list[float]:
            every = [read(runs, ran.get((method, c), ())) for c in SETTINGS]
            return [sum(v) / len(v) for v in zip(*every, strict=True)] if all(every) else []

        return mean

    found = places_of("1", ran, final(scale), setup=setup_at, named=lambda row, c: (row, names.get(c, c)))
    return [replace(p, read=averaged(p.row)) if p.column == AVERAGE else p for p in found]


def _caption(scale: str) -> str:
    first = next((column for _, column in places(scale)), SETTINGS[0])  # of those that are run
    return caption(
        scale, ERROR, *over(scale), grid.tuned({m: cells for (m, c), cells in places(scale).items() if c == first}),
        grid.left_out(scale, ("methods", tuple(METHODS))), "FedReg's and FedGen's coefficients are not stated",
        setup=setup_of(first),
    )  # fmt: skip


def _findings(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    """What the paper reads off the table, of the columns that were run."""
    found, names = [e for e in entries if e.column != AVERAGE], {c: column_of(scale, c) for c in SETTINGS}
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
        told = [Compared(those, printed("1", "FedAvg", c), setup_of(c)) for c, those in each.items()]
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


ARTEFACTS = {
    "table_1": table(
        "fedcog.table_1", "test accuracy of all methods", _listed, _caption, _findings, more=_more,
        corner="test accuracy (%)",
    ),
}  # fmt: skip
