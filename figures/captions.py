"""Captions: what a picture or table shows, and how the runs behind it were trained, read off the runs themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from empirics.experiments import Cell

from .run_description import partition_words, problem_words

Arguments = Mapping[str, Any]
"""The arguments of a run by name."""
TRAINING_ARGUMENTS = {
    "rounds": "{} rounds", "local_steps": "{} local steps", "local_epochs": "{} local passes", "batch": "batch {}",
    "step_size": "step size {}", "momentum": "momentum {}", "weight_decay": "weight decay {}",
}  # fmt: skip
"""How captions write the arguments of training; a run without the argument counts as 0."""


def caption(shown: str, used: Iterable[tuple[str, Sequence[Cell]]], paper: Mapping[str, Arguments], *more: str) -> str:
    """Return a caption: what is shown, how the runs train and with how many seeds, how the paper trains, then more.

    ``used`` are names and cells (one per seed) of groups of runs. The paper is left out if it trains the same way.
    """
    groups: dict[str, list[tuple[str, Arguments]]] = {}
    seeds = 0
    for name, cells in used:
        if cells:
            seeds, arguments = len(cells), cells[0].arguments
            groups.setdefault(problem_words(arguments["problem"]), []).append((name, arguments))
    parts = []
    for problem, runs in groups.items():
        splits = dict.fromkeys(partition_words(arguments["partition"]) for _, arguments in runs)
        parts.append(f"{problem}, {' and '.join(splits)}: {training_text(runs)}")
    if groups:
        parts.append(plural(seeds, "seed"))
    theirs = training_text(paper.items())
    if theirs and any(training_text(runs) != theirs for runs in groups.values()):
        parts.append(f"the paper: {theirs}")
    training = "; ".join(parts)
    return " ".join(filter(None, (shown, f"{training[0].upper()}{training[1:]}." if training else "", *more)))


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, ``1 seed`` or ``3 seeds``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def training_text(runs: Iterable[tuple[str, Arguments]]) -> str:
    """Describe how runs (name and arguments) train: the commonest value of each argument, exceptions in parentheses.

    ``300 rounds (FedAvg: 150), 5 local steps, batch 16, step size 0.02, momentum 0.9 (SCAFFOLD: 0)``.
    """
    parts, all_runs = [], list(runs)
    for argument, template in TRAINING_ARGUMENTS.items():
        if not any(argument in arguments for _, arguments in all_runs):
            continue
        values = [(name, f"{arguments.get(argument, 0):g}") for name, arguments in all_runs]
        commonest = Counter(value for _, value in values).most_common(1)[0][0]
        names_by_value: dict[str, dict[str, None]] = {}
        for name, value in values:
            names_by_value.setdefault(value, {})[name] = None
        exceptions = [f"{', '.join(names)}: {value}" for value, names in names_by_value.items() if value != commonest]
        parts.append(template.format(commonest) + (f" ({'; '.join(exceptions)})" if exceptions else ""))
    return ", ".join(parts)
