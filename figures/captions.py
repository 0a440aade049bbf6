"""The words below a picture or a table: what it shows, and how the runs behind it are trained, read off these runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from empirics.experiments import Cell

from .run_description import partition_words, problem_words

Arguments = Mapping[str, Any]
"""Of a run."""
DIGITS = "scikit-learn's digits in place of every data set"
"""At the smoke scale."""
SAID = {
    "rounds": "{} rounds", "local_steps": "{} local steps", "local_epochs": "{} local passes", "batch": "batch {}",
    "step_size": "step size {}", "momentum": "momentum {}", "weight_decay": "weight decay {}",
}  # fmt: skip
"""Arguments of runs, 0 where a run has none of its own."""


def caption(shown: str, used: Iterable[tuple[str, Sequence[Cell]]], paper: Mapping[str, Arguments], *more: str) -> str:
    """What is ``shown``, how the runs of each name are trained, with how many seeds, and in the ``paper``; then more.

    What is empty is left out, and the paper where it trains the same way.
    """
    groups: dict[str, list[tuple[str, Arguments]]] = {}
    seeds = 0
    for name, cells in used:
        if cells:
            seeds, given = len(cells), cells[0].arguments
            groups.setdefault(problem_words(given["problem"]), []).append((name, given))
    said = []
    for problem, runs in groups.items():
        splits = dict.fromkeys(partition_words(given["partition"]) for _, given in runs)
        said.append(f"{problem}, {' and '.join(splits)}: {trained(runs)}")
    theirs = trained(paper.items())
    said += [plural(seeds, "seed")] if groups else []
    said += [f"the paper: {theirs}"] if theirs and any(trained(runs) != theirs for runs in groups.values()) else []
    words = "; ".join(said)
    return " ".join(filter(None, (shown, f"{words[0].upper()}{words[1:]}." if words else "", *more)))


def plural(count: int, word: str) -> str:
    """A number of things."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def trained(runs: Iterable[tuple[str, Arguments]]) -> str:
    """How runs train, by name and arguments: what most of them have, and in parentheses those that differ.

    ``300 rounds (FedAvg: 150), 5 local steps, batch 16, step size 0.02, momentum 0.9 (SCAFFOLD: 0)``.
    """
    said, every = [], list(runs)
    for argument, words in SAID.items():
        values = [(name, f"{given.get(argument, 0):g}") for name, given in every]
        if any(argument in given for _, given in every):
            most = Counter(value for _, value in values).most_common(1)[0][0]
            others: dict[str, dict[str, None]] = {}
            for name, value in values:
                others.setdefault(value, {})[name] = None
            apart = "; ".join(f"{', '.join(names)}: {value}" for value, names in others.items() if value != most)
            said.append(words.format(most) + (f" ({apart})" if apart else ""))
    return ", ".join(said)
