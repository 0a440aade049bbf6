"""Table 1: test performance of FedAvg, FedALS, SCAFFOLD and both together, iid and not."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..ran import of
from ..regimes import POINT, Regime
from ..runs import Runs
from ..sheets import comparison
from .beside import caption, compared, labelled, measured, results
from .grid import seeds
from .guards import TABLE_1, trained, usual
from .settings import in_paper, SETS, TEXT

ROWS = tuple(dict.fromkeys(method for method, _ in TABLE_1))
AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"


def _runs(scale: str, row: str, column: str) -> list[Cell]:
    method, split = row.split(" ")
    return seeds(scale, column, method, split)


def cells(scale: str) -> list[Cell]:
    return [cell for column in SETS for row in ROWS for cell in _runs(scale, row, column)]


def data(runs: Runs, scale: str) -> Shown:
    used = {(column, row): _runs(scale, row, column) for row in ROWS for column in SETS}
    found = [compared(runs, scale, TABLE_1[row, c], row, c, cells) for (c, row), cells in used.items()]
    there = measured(scale, list(SETS))
    return comparison(
        f"Test accuracy (%), of {TEXT} test loss. {caption(scale, list(SETS), used)}",
        labelled(scale, found),
        [judged for column in there for judged in conclusions(runs, scale, column)],
    )


def conclusions(runs: Runs, scale: str, column: str, wanted: str = "", beside: bool = True) -> list[Judged]:
    """What the paper reads off its table or figure (``wanted``: of other data) on the data behind a column.

    ``beside``: FedALS and SCAFFOLD together have been run as well.
    """
    delta, there = 0.0 if column == TEXT else POINT, wanted or column
    ran = of(seeds(scale, column, AVG, "non-iid"), in_paper(there))
    name = ran.data if ran else there

    def last(method: str, split: str = "non-iid") -> list[float]:
        sign = -1.0 if column == TEXT else 1.0
        return [sign * value for value in results(runs, scale, column, seeds(scale, column, method, split))]

    def gain(split: str) -> list[float]:
        return [a - b for a, b in zip(last(ALS, split), last(AVG, split), strict=True)]

    def guards(*methods: str) -> list[Regime]:
        return usual(runs, scale, column, {m: seeds(scale, column, m, "non-iid") for m in methods}, there)

    def over(one: str, other: str, words: str) -> Judged:
        pair = Pair(f"{one} non-iid over {other} non-iid, {name}", last(one), last(other))
        return judge(f"{words}, {name}", [pair], delta, guards(one, other))

    iid = trained(runs, scale, column, {m: seeds(scale, column, m, "iid") for m in (ALS, AVG)}, there, "iid")
    apart = Pair(f"gain non-iid over gain iid, {name}", gain("non-iid"), gain("iid"))
    found = [
        *(over(ALS, other, f"for non-iid clients FedALS does better than {other}") for other in (AVG, SCAFFOLD)),
        judge(
            f"FedALS gains more over FedAvg for non-iid clients than for iid ones, where it gains little, {name}",
            [apart],
            delta,
            dict.fromkeys([*guards(ALS, AVG), *iid]),
        ),
    ]
    if beside and column != "MNIST":  # there the paper's own table has it the other way
        found += [over(BOTH, SCAFFOLD, "SCAFFOLD does better with FedALS than alone")]
    if beside:
        found += [over(BOTH, ALS, "SCAFFOLD adds to FedALS: together they do better than FedALS alone")]
    return found


ARTEFACT = Artefact("fedals.table_1", "four methods, iid and non-iid", cells, data)
