"""What FedALS's tables and figures share: results, the guards of findings, names of data, the words of a caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import Reported, table

from ..captions import caption as put_together, DIGITS, trained as how_trained
from ..comparing import Entry
from ..regimes import ceiling, drift, horizon, learnt, level, POINT, Regime, treatment
from ..run_description import of, problem_words
from ..runs import Runs
from ..sheets import entry
from ..substitutes import remark
from . import grid
from .grid import best, CLIENTS, in_paper, LEARNT, LOCAL_STEPS, place as searched_for, PLANS, rounds, seeds, SETS, TEXT

TABLE_1 = {
    (method, name.partition("/")[2]): one for (name, method), one in table("fedals", "Table 1", version="v1").items()
}
"""By method with its split, and data set: the version whose table is whole."""
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


def higher(runs: Runs, scale: str, column: str, method: str, split: str) -> list[float]:
    """The same of a method, such that higher is better: of a language model minus its loss."""
    values = results(runs, scale, column, seeds(scale, column, method, split))
    return [-value for value in values] if column == TEXT else values


def reported(column: str, row: str) -> float:
    """What Table 1 prints, such that higher is better: accuracies in percent."""
    return (-1.0 if column == TEXT else 100.0) * float(TABLE_1[row, column].value)


def place(
    runs: Runs,
    scale: str,
    printed: Reported,
    row: str,
    column: str,
    cells: Sequence[Cell],
    note: str = "",
    shown: Sequence[str] = tuple(SETS),
) -> Entry:
    """One place of a table; accuracies are printed as shares and shown in percent."""
    ran = of(cells, in_paper(column, "iid" if row.endswith(" iid") else "non-iid"))
    name, times = label(scale, column, shown), 1.0 if column == TEXT else 100.0
    return entry(printed, row, name, results(runs, scale, column, cells), note, ran, times=times)


# ---- guards ----


def usual(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], wanted: str = "", cure: bool = True
) -> list[Regime]:
    """The guards of a finding that compares these methods, by name, for non-iid clients on the data behind a column.

    ``wanted``: the paper's data, where these are another set's. ``cure``: the finding is a gain, so that there must be
    drift to cure, and room for improvement.
    """
    there = wanted or column
    iid, apart = (higher(runs, scale, column, "FedAvg", split) for split in ("iid", "non-iid"))
    even, uneven = (reported(there, f"FedAvg {split}") for split in ("iid", "non-iid"))
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there))
    guards = [*trained(runs, scale, column, methods, there, "non-iid"), *level(ran, apart, uneven)]
    guards += learnt(ran, iid) if column != TEXT else []
    return guards + ([drift(label(scale, column), iid, apart, even - uneven), *ceiling(apart, uneven)] if cure else [])


def trained(
    runs: Runs, scale: str, column: str, methods: Mapping[str, Sequence[Cell]], there: str, split: str
) -> list[Regime]:
    """That these are as long as the paper's, or FedAvg has levelled off; and equally trained, step sizes searched."""
    searched = [name for name, cells in methods.items() if cells and best(scale, searched_for(cells[0].arguments))]
    alike = treatment(methods, searched)
    if "momentum" in alike.words and any("scaffold" in c[0].arguments["algorithm"] for c in methods.values() if c):
        alike = replace(alike, words=alike.words + PLAIN_STEPS)
    ran = of([cell for cells in methods.values() for cell in cells], in_paper(there, split))
    plain, text = seeds(scale, column, "FedAvg", split), column == TEXT
    curves = [runs.curve(cell, "test_loss") for cell in plain] if text else runs.percent(plain)
    return [horizon(ran, curves, NEARLY if text else POINT), alike]


# ---- names and captions ----


def label(scale: str, column: str, shown: Sequence[str] = tuple(SETS)) -> str:
    """The data behind a column, ``Omniglot for CIFAR-100`` where not the paper's; ``shown``: what its table runs."""
    ran = of(seeds(scale, column, "FedAvg", "non-iid"), in_paper(column))
    return ran.data if ran and column in shown else f"{column} ({_why_not(scale, column)})"


def _why_not(scale: str, column: str) -> str:
    """Why a table does not run a column, whatever stands in for its data elsewhere."""
    left_out = column in LEARNT and column not in PLANS[scale].axes["columns"]
    here = left_out or grid.here(column) == SETS[column]
    return "not run at this scale" if here else "data not available"


def caption(
    scale: str, columns: Sequence[str], used: Mapping[tuple[str, str], Sequence[Cell]], *, tables: bool = True
) -> str:
    """Data, network, clients, seeds, how the runs that are shown train, and what differs from the paper.

    ``used``: the runs by column and name.
    """
    plan, there = PLANS[scale], {column: runs for column in columns if (runs := _first(used, column))}
    if not there:
        return put_together(remarks(scale, columns))
    everything = [given for runs in there.values() for given in runs.values()]
    problems = dict.fromkeys(problem_words(given["problem"]) for given in everything)
    still = any(not given.get("momentum") for given in everything if "scaffold" in given["algorithm"])
    searched = all(best(scale, searched_for(given)) for given in everything)
    splits = sorted({"iid" if given["partition"] == "iid" else "non-iid" for given in everything}, reverse=True)
    printed = {split: {**grid.setting(), "rounds": rounds(split), "local_steps": LOCAL_STEPS} for split in splits}
    parts = [
        f"{', '.join(problems)}; {plan.counts['layers']} layers; {CLIENTS} clients, all in every round",
        "non-iid: sorted by label",
        *(f"{label(scale, column)}: {how_trained(runs)}" for column, runs in there.items()),
        "Nesterov's momentum, from zero in every round" if any(given.get("nesterov") for given in everything) else "",
        "SCAFFOLD's printed controls diverge with momentum (claim fedals.algorithm_3.momentum)" if still else "",
        f"step sizes by a search over half the rounds, with seed {grid.SEED}"
        if searched
        else "step sizes not searched",
        f"{plan.seeds} seeds",
        f"± is the standard error over seeds; a result is the mean of the last {plan.window} of "
        f"{plan.counts['points']} evaluations, 0 for a run that diverged"
        if tables
        else "band: standard error over seeds",
        *remarks(scale, columns),
        "differs: group norm for batch norm"
        if scale == "paper"
        else f"the paper: ResNet-20 with batch norm, {how_trained(printed)}",
    ]
    return put_together(parts)


def remarks(scale: str, columns: Sequence[str]) -> list[str]:
    """Which data stand in for others, and which are missing; nothing at the smoke scale."""
    if scale == "smoke":
        return [DIGITS]
    return [
        remark(SETS[c], grid.here(c)) if grid.word(scale, c) else f"{c}: {_why_not(scale, c)}" for c in columns
    ]  # fmt: skip


def _first(used: Mapping[tuple[str, str], Sequence[Cell]], column: str) -> dict[str, Mapping[str, Any]]:
    """The arguments of each run of a column, by name."""
    return {name: cells[0].arguments for (of_column, name), cells in used.items() if of_column == column and cells}
