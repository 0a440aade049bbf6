"""Table 1: test performance of FedAvg, FedALS, SCAFFOLD and both together, iid and not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..regimes import drift, learnt, POINT, Regime
from ..runs import Runs
from ..sheets import comparison
from .beside import caption, compared, label, labelled, measured
from .grid import seeds
from .settings import SETS, TEXT

PRINTED = {
    (method, name.partition("/")[2]): one for (name, method), one in table("fedals", "Table 1", version="v1").items()
}
"""By method with its split, and data set: the version whose table is whole."""
ROWS = tuple(dict.fromkeys(method for method, _ in PRINTED))
AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"


def _runs(scale: str, row: str, column: str) -> list[Cell]:
    method, split = row.split(" ")
    return seeds(scale, column, method, split)


def cells(scale: str) -> list[Cell]:
    return [cell for column in SETS for row in ROWS for cell in _runs(scale, row, column)]


def data(runs: Runs, scale: str) -> Shown:
    found = [
        compared(runs, scale, PRINTED[row, column], row, column, _runs(scale, row, column))
        for row in ROWS
        for column in SETS
    ]
    names = {c: label(scale, c) for c in measured(scale, list(SETS))}
    return comparison(
        f"Test accuracy (%), of {TEXT} test loss. {caption(scale, list(SETS))}",
        labelled(scale, found),
        conclusions(found, names),
    )


def conclusions(found: Sequence[Entry], there: Mapping[str, str]) -> list[Judged]:
    """What the paper reads off its table, on the data that are ``there`` (what stands for a column, by column).

    Losses and accuracies are judged apart.
    """
    judged = _judged(found, {c: name for c, name in there.items() if c != TEXT})
    return judged + (_judged(found, {TEXT: there[TEXT]}, ", for the language model") if TEXT in there else [])


def _judged(found: Sequence[Entry], there: Mapping[str, str], about: str = "") -> list[Judged]:
    def over(one: str, *others: str, columns: Iterable[str] = there) -> list[Pair]:
        return [_better(found, c, there[c], f"{one} non-iid", f"{other} non-iid") for c in columns for other in others]

    def drifting(columns: Iterable[str] = there) -> list[Regime]:
        """That there is drift, and that FedAvg learns at all."""
        by, found_ = by_place(found), []
        for c in columns:
            iid, apart = (_values(found, c, f"{AVG} {split}") for split in ("iid", "non-iid"))
            found_.append(drift(there[c], iid, apart))
            found_ += learnt(by[f"{AVG} iid", c].ran, by[f"{AVG} iid", c].ours) if c != TEXT else []
        return found_

    delta = 0.0 if TEXT in there else POINT
    but = f", other than on {there['MNIST']}" if "MNIST" in there else ""
    return [
        judge(
            f"for non-iid clients FedALS does better than FedAvg and SCAFFOLD{about}",
            over(ALS, AVG, SCAFFOLD),
            delta,
            drifting(),
        ),
        judge(
            f"FedALS gains more over FedAvg for non-iid clients than for iid ones, where it gains little{about}",
            [_gain(found, c, name) for c, name in there.items()],
            delta,
            drifting(),
        ),
        judge(
            f"SCAFFOLD does better with FedALS than alone{but}{about}",
            over(BOTH, SCAFFOLD, columns=[c for c in there if c != "MNIST"]),
            delta,
            drifting(c for c in there if c != "MNIST"),
        ),
        judge(
            f"SCAFFOLD adds to FedALS: together they do better than FedALS alone{about}",
            over(BOTH, ALS),
            delta,
            drifting(),
        ),
    ]


def _values(found: Sequence[Entry], column: str, row: str) -> list[float]:
    """By seed, such that higher is better."""
    sign = -1.0 if column == TEXT else 1.0
    return [sign * value for value in by_place(found)[row, column].ours]


def _better(found: Sequence[Entry], column: str, name: str, one: str, other: str) -> Pair:
    return Pair(f"{one} over {other}, {name}", _values(found, column, one), _values(found, column, other))


def _gain(found: Sequence[Entry], column: str, name: str) -> Pair:
    def gain(split: str) -> list[float]:
        values = (_values(found, column, f"{method} {split}") for method in (ALS, AVG))
        return [a - b for a, b in zip(*values, strict=False)]

    return Pair(f"gain non-iid over gain iid, {name}", gain("non-iid"), gain("iid"))


ARTEFACT = Artefact("fedals.table_1", "four methods, iid and non-iid", cells, data)
