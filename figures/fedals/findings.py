"""What FedALS's figures and tables share: results, names of data, captions, and what the paper says of its methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import Reported, table

from ..captions import caption as put_together
from ..comparing import Entry, judge, Judged, Pair
from ..regimes import ceiling, drift, horizon, learnt, level, POINT, Regime, treatment
from ..run_description import of
from ..runs import Runs
from ..sheets import entry
from . import grid
from .grid import best, in_paper, LEARNT, LOCAL_STEPS, place as searched_for, PLANS, rounds, seeds, SETS, TEXT

TABLE_1 = {
    (method, name.partition("/")[2]): one for (name, method), one in table("fedals", "Table 1", version="v1").items()
}
"""By method with its split, and data set: the version whose table is whole."""
AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"
PLAIN_STEPS = " (SCAFFOLD's printed controls assume steps without momentum: fedals.algorithm_3.momentum)"
NEARLY = 0.01
"""Of a language model's loss, what a point of accuracy is elsewhere."""
GUESS = 5.55
"""The loss of guessing one of 256 bytes: what a language model that diverged counts as."""


def results(runs: Runs, scale: str, column: str, cells: Sequence[Cell]) -> list[float]:
    """Mean over the last evaluations, by seed: test accuracy in percent, or test loss of the language model."""
    window = PLANS[scale].window
    if column == TEXT:
        return [runs.last(cell, "test_loss", window, diverged=GUESS) for cell in cells]
    return runs.accuracies(cells, window)


def higher(runs: Runs, scale: str, column: str, method: str, split: str = "non-iid") -> list[float]:
    """The same of a method, such that higher is better: of a language model minus its loss."""
    values = results(runs, scale, column, seeds(scale, column, method, split))
    return [-value for value in values] if column == TEXT else values


def reported(column: str, row: str) -> float:
    """What Table 1 prints, such that higher is better: accuracies in percent."""
    return (-1.0 if column == TEXT else 100.0) * float(TABLE_1[row, column].value)


def place(
    runs: Runs, scale: str, printed: Reported, row: str, column: str, cells: Sequence[Cell], note: str = "",
    shown: Sequence[str] = tuple(SETS),
) -> Entry:  # fmt: skip
    """One place of a table; accuracies are printed as shares and shown in percent."""
    ran = of(cells, in_paper(column, "iid" if row.endswith(" iid") else "non-iid"))
    name, times = label(scale, column, shown), 1.0 if column == TEXT else 100.0
    return entry(printed, row, name, results(runs, scale, column, cells), note, ran, times=times)


def label(scale: str, column: str, shown: Sequence[str] = tuple(SETS)) -> str:
    """The data behind a column, ``Omniglot for CIFAR-100`` where not the paper's, or why there are none; ``shown``:
    what its table runs."""
    ran = of(seeds(scale, column, AVG, "non-iid"), in_paper(column))
    if ran and column in shown:
        return ran.data
    left_out = column in LEARNT and column not in PLANS[scale].axes["columns"]
    there = left_out or grid.found(SETS[column]) == SETS[column]
    return f"{column} ({'not run at this scale' if there else 'data not available'})"


def caption(
    scale: str, shown: str, used: Mapping[tuple[str, str], Sequence[Cell]], *, tables: bool = True, more: str = ""
) -> str:
    """What is shown, how the runs train (by column and name), and how a result is read."""
    plan = PLANS[scale]
    given = [cells[0].arguments for cells in used.values() if cells]
    still = any(not one.get("momentum") for one in given if "scaffold" in one["algorithm"])
    searched = all(best(scale, searched_for(one)) for one in given)
    said = [
        "Nesterov's momentum starts from zero in every round." if any(one.get("nesterov") for one in given) else "",
        "SCAFFOLD's printed controls diverge with momentum (claim fedals.algorithm_3.momentum)." if still else "",
        f"Step sizes by a search over half the rounds, with seed {grid.SEED}." if searched else
        "Step sizes not searched.",
        f"± is the standard error over seeds; a result is the mean of the last {plan.window} of "
        f"{plan.counts['points']} evaluations, 0 for a run that diverged." if tables else
        "Band: standard error over seeds.",
        "Group norm for batch norm." if scale == "paper" else "",
    ]  # fmt: skip
    plain = {**grid.setting(), "local_steps": LOCAL_STEPS}
    paper = {split: {**plain, "rounds": rounds(split)} for split in ("non-iid", "iid")}
    runs = [(name, cells) for (_, name), cells in used.items()]
    return put_together(shown, runs, paper, *(said if given else ()), more)


# ---- guards ----


def usual(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], wanted: str = "", cure: bool = True
) -> list[Regime]:
    """The guards of a finding that compares these methods, by name, for non-iid clients on the data behind a column.

    ``wanted``: the paper's data, where these are another set's. ``cure``: the finding is a gain, so that there must be
    drift to cure, and room for improvement.
    """
    there = wanted or column
    iid, apart = (higher(runs, scale, column, AVG, split) for split in ("iid", "non-iid"))
    even, uneven = (reported(there, f"FedAvg {split}") for split in ("iid", "non-iid"))
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there))
    guards = [*trained(runs, scale, column, methods, there), *level(ran, apart, uneven)]
    guards += learnt(ran, iid) if column != TEXT else []
    return guards + ([drift(label(scale, column), iid, apart, even - uneven), *ceiling(apart, uneven)] if cure else [])


def trained(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], there: str, split: str = "non-iid"
) -> list[Regime]:
    """That these are as long as the paper's, or FedAvg has levelled off; and equally trained, step sizes searched."""
    searched = [name for name, cells in methods.items() if cells and best(scale, searched_for(cells[0].arguments))]
    alike = treatment(methods, searched)
    if "momentum" in alike.words and any("scaffold" in c[0].arguments["algorithm"] for c in methods.values() if c):
        alike = replace(alike, words=alike.words + PLAIN_STEPS)
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there, split))
    plain, text = seeds(scale, column, AVG, split), column == TEXT
    curves = [runs.curve(cell, "test_loss") for cell in plain] if text else runs.percent(plain)
    return [horizon(ran, curves, NEARLY if text else POINT), alike]


# ---- findings ----


def of_methods(runs: Runs, scale: str, column: str, wanted: str = "", together: bool = True) -> list[Judged]:
    """What the paper reads off its table or figure (``wanted``: of other data) on the data behind a column.

    ``together``: FedALS and SCAFFOLD have been run with each other as well.
    """
    delta, there = 0.0 if column == TEXT else POINT, wanted or column
    ran = of(seeds(scale, column, AVG, "non-iid"), in_paper(there))
    name = ran.data if ran else there

    def guards(*methods: str) -> list[Regime]:
        return usual(runs, scale, column, {m: seeds(scale, column, m, "non-iid") for m in methods}, there)

    def over(one: str, other: str, words: str) -> Judged:
        high, low = (higher(runs, scale, column, method) for method in (one, other))
        pair = Pair(f"{one} non-iid over {other} non-iid, {name}", high, low)
        return judge(f"{words}, {name}", [pair], delta, guards(one, other))

    iid = trained(runs, scale, column, {m: seeds(scale, column, m, "iid") for m in (ALS, AVG)}, there, "iid")
    gains = []
    for split in ("non-iid", "iid"):
        both = (higher(runs, scale, column, method, split) for method in (ALS, AVG))
        gains.append([a - b for a, b in zip(*both, strict=True)])
    more = f"FedALS gains more over FedAvg for non-iid clients than for iid ones, where it gains little, {name}"
    pair = Pair(f"gain non-iid over gain iid, {name}", gains[0], gains[1])
    found = [
        *(over(ALS, other, f"for non-iid clients FedALS does better than {other}") for other in (AVG, SCAFFOLD)),
        judge(more, [pair], delta, dict.fromkeys([*guards(ALS, AVG), *iid])),
    ]
    if together and column != "MNIST":  # there the paper's own table has it the other way
        found += [over(BOTH, SCAFFOLD, "SCAFFOLD does better with FedALS than alone")]
    if together:
        found += [over(BOTH, ALS, "SCAFFOLD adds to FedALS: together they do better than FedALS alone")]
    return found
