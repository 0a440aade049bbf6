"""What FedALS's figures and tables share: results, names of data, captions, guards, and the findings on its methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import Reported, table

from ..comparing import Finding, judge, Pair
from ..guards import above_guessing, ceiling, drift, Guard, horizon, level, POINT, treatment
from ..run_description import describe, run_caption
from ..runs import Runs
from ..sheets import Entry, entry
from . import grid
from .grid import best_step_size, cells_of, LEARNT, LOCAL_STEPS, paper_setting, PLANS, rounds, search_key, SETS, TEXT

TABLE_1 = {
    (method, name.partition("/")[2]): one for (name, method), one in table("fedals", "Table 1", version="v1").items()
}
"""By method with split, and data set; from version 1, whose table is complete."""
AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"
PLAIN_STEPS = " (SCAFFOLD's printed controls assume steps without momentum: fedals.algorithm_3.momentum)"
NEARLY = 0.01
"""Difference in a language model's loss that corresponds to a point of accuracy elsewhere."""
GUESS = 5.55
"""The loss of guessing one of 256 bytes, with which a language model that diverged counts."""


def results(runs: Runs, scale: str, column: str, cells: Sequence[Cell]) -> list[float]:
    """Return the mean of the last evaluations by seed: test accuracy in percent, or test loss of the language model."""
    window = PLANS[scale].window
    if column == TEXT:
        return [runs.last(cell, "test_loss", window, diverged=GUESS) for cell in cells]
    return runs.accuracies(cells, window)


def scores(runs: Runs, scale: str, column: str, method: str, split: str = "non-iid") -> list[float]:
    """Return the results of a method such that higher is better: accuracy, or minus the loss of the language model."""
    values = results(runs, scale, column, cells_of(scale, column, method, split))
    return [-value for value in values] if column == TEXT else values


def printed_score(column: str, row: str) -> float:
    """Return a number of Table 1 such that higher is better, as in ``scores``."""
    return (-1.0 if column == TEXT else 100.0) * float(TABLE_1[row, column].value)


def table_entry(
    runs: Runs, scale: str, printed: Reported, row: str, column: str, cells: Sequence[Cell], note: str = "",
    shown: Sequence[str] = tuple(SETS),
) -> Entry:  # fmt: skip
    """Return one entry of a table; the paper prints accuracies as shares, we show percent."""
    info = describe(cells, paper_setting(column, "iid" if row.endswith(" iid") else "non-iid"))
    name, times = label(scale, column, shown), 1.0 if column == TEXT else 100.0
    return entry(printed, row, name, results(runs, scale, column, cells), note, info, times=times)


def label(scale: str, column: str, shown: Sequence[str] = tuple(SETS)) -> str:
    """Return the data of a column, ``Omniglot for CIFAR-100`` if not the paper's, or the reason why there are none.

    ``shown`` are the columns that the table runs.
    """
    info = describe(cells_of(scale, column, AVG, "non-iid"), paper_setting(column))
    if info and column in shown:
        return info.data
    left_out = column in LEARNT and column not in PLANS[scale].axes["columns"]
    there = left_out or grid.available(SETS[column]) == SETS[column]
    return f"{column} ({'not run at this scale' if there else 'data not available'})"


def caption(
    scale: str, shown: str, used: Mapping[tuple[str, str], Sequence[Cell]], *, tables: bool = True, more: str = ""
) -> str:
    """Return the caption: what is shown, how the runs (by column and name) train, and how results are read."""
    plan = PLANS[scale]
    given = [cells[0].arguments for cells in used.values() if cells]
    still = any(not one.get("momentum") for one in given if "scaffold" in one["algorithm"])
    searched = all(best_step_size(scale, search_key(one)) for one in given)
    summary = [
        "Nesterov's momentum starts from zero in every round." if any(one.get("nesterov") for one in given) else "",
        "SCAFFOLD's printed controls diverge with momentum (claim fedals.algorithm_3.momentum)." if still else "",
        f"Step sizes by a search over half the rounds, with seed {grid.SEED}." if searched else
        "Step sizes not searched.",
        f"± is the standard error over seeds; a result is the mean of the last {plan.window} of "
        f"{plan.counts['points']} evaluations, 0 for a run that diverged." if tables else
        "Band: standard error over seeds.",
        "Group norm for batch norm." if scale == "paper" else "",
    ]  # fmt: skip
    plain = {**grid.printed_arguments(), "local_steps": LOCAL_STEPS}
    paper = {split: {**plain, "rounds": rounds(split)} for split in ("non-iid", "iid")}
    runs = [(name, cells) for (_, name), cells in used.items()]
    return run_caption(shown, runs, paper, *(summary if given else ()), more)


# ---- guards ----


def base_guards(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], wanted: str = "", cure: bool = True
) -> list[Guard]:
    """Return the guards of a finding that compares these methods for non-iid clients on the data of a column.

    ``wanted`` is the paper's column if the data are another's. ``cure`` marks findings on a gain, which also require
    client drift and room for improvement.
    """
    there = wanted or column
    iid, apart = (scores(runs, scale, column, AVG, split) for split in ("iid", "non-iid"))
    even, uneven = (printed_score(there, f"FedAvg {split}") for split in ("iid", "non-iid"))
    info = describe([cell for cells in methods.values() for cell in cells], paper_setting(there))
    guards = [*training_guards(runs, scale, column, methods, there), *level(info, apart, uneven)]
    guards += above_guessing(info, iid) if column != TEXT else []
    if cure:
        guards += [drift(label(scale, column), iid, apart, even - uneven), *ceiling(apart, uneven)]
    return guards


def training_guards(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], there: str, split: str = "non-iid"
) -> list[Guard]:
    """Return the guards on training: runs long enough or FedAvg levelled off, and equal treatment of the methods."""
    arguments = {name: cells[0].arguments for name, cells in methods.items() if cells}
    searched = [name for name, one in arguments.items() if best_step_size(scale, search_key(one))]
    equal = treatment(methods, searched)
    momentum = {one.get("momentum") for one in arguments.values()}
    if len(momentum) > 1 and any("scaffold" in one["algorithm"] for one in arguments.values()):
        equal = replace(equal, detail=equal.detail + PLAIN_STEPS)
    info = describe([cell for cells in methods.values() for cell in cells], paper_setting(there, split))
    plain, text = cells_of(scale, column, AVG, split), column == TEXT
    curves = [runs.curve(cell, "test_loss") for cell in plain] if text else runs.percent(plain)
    return [horizon(info, curves, NEARLY if text else POINT), equal]


# ---- findings ----


def method_findings(runs: Runs, scale: str, column: str, wanted: str = "", together: bool = True) -> list[Finding]:
    """Judge the paper's findings on its methods, with the runs on the data of a column.

    ``wanted`` is the paper's column if the data are another's. ``together``: FedALS was also run on top of SCAFFOLD.
    """
    delta, there = 0.0 if column == TEXT else POINT, wanted or column
    info = describe(cells_of(scale, column, AVG, "non-iid"), paper_setting(there))
    name = info.data if info else there

    def guards(*methods: str) -> list[Guard]:
        return base_guards(runs, scale, column, {m: cells_of(scale, column, m, "non-iid") for m in methods}, there)

    def over(one: str, other: str, words: str) -> Finding:
        high, low = (scores(runs, scale, column, method) for method in (one, other))
        pair = Pair(f"{one} non-iid over {other} non-iid, {name}", high, low)
        return judge(f"{words}, {name}", [pair], delta, guards(one, other))

    iid = training_guards(runs, scale, column, {m: cells_of(scale, column, m, "iid") for m in (ALS, AVG)}, there, "iid")
    gains = []
    for split in ("non-iid", "iid"):
        both = (scores(runs, scale, column, method, split) for method in (ALS, AVG))
        gains.append([a - b for a, b in zip(*both, strict=True)])
    more = f"FedALS gains more over FedAvg for non-iid clients than for iid ones, where it gains little, {name}"
    pair = Pair(f"gain non-iid over gain iid, {name}", gains[0], gains[1])
    findings = [
        *(over(ALS, other, f"for non-iid clients FedALS does better than {other}") for other in (AVG, SCAFFOLD)),
        judge(more, [pair], delta, dict.fromkeys([*guards(ALS, AVG), *iid])),
    ]
    if together and column != "MNIST":  # there the paper's own table has it the other way
        findings += [over(BOTH, SCAFFOLD, "SCAFFOLD does better with FedALS than alone")]
    if together:
        findings += [over(BOTH, ALS, "SCAFFOLD adds to FedALS: together they do better than FedALS alone")]
    return findings
