"""What FedALS's tables share: columns by data set, entries in percent, and the words of a caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import Reported

from ..captions import caption as put_together, DIGITS, trained
from ..run_description import of, problem_words
from ..runs import Runs
from ..specification import Place
from ..substitutes import remark
from .grid import best, LEARNT, place as searched_for, PLANS, SEED, seeds, word
from .settings import CLIENTS, here, in_paper, LOCAL_STEPS, rounds, SETS, setting, TEXT

Used = Mapping[tuple[str, str], Sequence[Cell]]
"""Runs by column and the name of a row or curve."""
GUESS = 5.55
"""The loss of guessing one of 256 bytes: what a language model that diverged counts as."""


def label(scale: str, column: str, shown: Sequence[str] = tuple(SETS)) -> str:
    """The data behind a column, ``Omniglot for CIFAR-100`` where not the paper's; ``shown``: what its table runs."""
    ran = of(seeds(scale, column, "FedAvg", "non-iid"), in_paper(column))
    if ran and column in shown:
        return ran.data
    return f"{column} ({_why_not(scale, column)})"


def _why_not(scale: str, column: str) -> str:
    """Why a table does not run a column, whatever stands in for its data elsewhere."""
    left_out = column in LEARNT and column not in PLANS[scale].axes["columns"]
    return "not run at this scale" if left_out or here(column) == SETS[column] else "data not available"


def results(runs: Runs, scale: str, column: str, cells: Sequence[Cell]) -> list[float]:
    """Mean over the last evaluations, by seed: test accuracy in percent, or test loss of the language model."""
    window = PLANS[scale].window
    if column == TEXT:
        return [runs.last(cell, "test_loss", window, diverged=GUESS) for cell in cells]
    return [100 * runs.last(cell, "test_accuracy", window, diverged=0.0) for cell in cells]


def place(
    scale: str,
    printed: Reported,
    row: str,
    column: str,
    cells: Sequence[Cell],
    note: str = "",
    shown: Sequence[str] = tuple(SETS),
) -> Place:
    """One place of a table; accuracies are printed as shares and shown in percent."""
    ran = of(cells, in_paper(column, "iid" if row.endswith(" iid") else "non-iid"))
    name, times = label(scale, column, shown), 1.0 if column == TEXT else 100.0
    return Place(printed, row, name, cells, lambda runs, cells: results(runs, scale, column, cells), note, ran, times)


def caption(scale: str, columns: Sequence[str], used: Used, *, tables: bool = True) -> str:
    """Data, network, clients, seeds, how the runs that are shown train, and what differs from the paper.

    ``used``: the runs by column and name.
    """
    plan, there = PLANS[scale], {column: runs for column in columns if (runs := _first(used, column))}
    if not there:
        return put_together(remarks(scale, columns))
    everything = [given for runs in there.values() for given in runs.values()]
    problems = dict.fromkeys(problem_words(given["problem"]) for given in everything)
    parts = [
        f"{', '.join(problems)}; {plan.counts['layers']} layers; {CLIENTS} clients, all in every round",
        "non-iid: sorted by label",
        *(f"{label(scale, column)}: {trained(runs)}" for column, runs in there.items()),
        *_optimiser(scale, everything),
        f"{plan.seeds} seeds",
        f"± is the standard error over seeds; a result is the mean of the last {plan.window} of "
        f"{plan.counts['points']} evaluations, 0 for a run that diverged"
        if tables
        else "band: standard error over seeds",
        *remarks(scale, columns),
        "differs: group norm for batch norm"
        if scale == "paper"
        else "the paper: ResNet-20 with batch norm, " + trained(_papers(everything)),
    ]
    return put_together(parts)


def remarks(scale: str, columns: Sequence[str]) -> list[str]:
    """Which data stand in for others, and which are missing; nothing at the smoke scale."""
    if scale == "smoke":
        return [DIGITS]
    instead = [remark(SETS[c], here(c)) if word(scale, c) else f"{c}: {_why_not(scale, c)}" for c in columns]
    return [words for words in instead if words]


def _first(used: Used, column: str) -> dict[str, Mapping[str, Any]]:
    """The arguments of each run of a column, by name."""
    return {name: cells[0].arguments for (of_column, name), cells in used.items() if of_column == column and cells}


def _optimiser(scale: str, everything: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is said of momentum and of where step sizes come from, as far as it is so for these runs."""
    still = any(not given.get("momentum") for given in everything if "scaffold" in given["algorithm"])
    searched = all(best(scale, searched_for(given)) for given in everything)
    return [
        "Nesterov's momentum, from zero in every round" if any(given.get("nesterov") for given in everything) else "",
        "SCAFFOLD's printed controls diverge with momentum (claim fedals.algorithm_3.momentum)" if still else "",
        f"step sizes by a search over half the rounds, with seed {SEED}" if searched else "step sizes not searched",
    ]


def _papers(everything: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The paper's own arguments for these splits, as Table 4 prints them; step sizes are searched, and not printed."""
    splits = {"iid" if given["partition"] == "iid" else "non-iid" for given in everything}
    return {split: {**setting(), "rounds": rounds(split), "local_steps": LOCAL_STEPS} for split in sorted(splits)[::-1]}
