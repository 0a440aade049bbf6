"""Tables 4 and 5 as sheets: what is printed beside what the grid's plan for the paper's scale runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, no_runs, Shown
from ..run_description import of
from ..runs import Runs
from ..sheets import listing
from .grid import ARGUMENTS, arguments, in_paper, LOCAL_STEPS, PLANS, search, SEED, TABLE_4, TABLE_5, TEXT
from .reading import label, results

WORDS = {
    False: {
        "objective": ("cross entropy", "cross entropy"),
        "network": ("ResNet-20", "resnet20, group norm for batch norm"),
        "representation extractor": ("convolutional layers", "all layers but the last"),
        "head": ("dense layers at the end", "the last layer"),
        "non-iid": ("sorted by label, cut in that order", "sorted('label')"),
        "optimizer": ("SGD, Nesterov's momentum (main text: momentum)", "sgd, nesterov"),
        "step size": ("constant, tuned for each set, method and split; none printed", "0.01, where the search starts"),
    },
    True: {
        "objective": ("cross entropy", "next_token"),
        "network": ("OPT-125M, fine-tuned", "opt: its shape, tokens are bytes, random start"),
        "non-iid": ("sorted by genre, cut in that order", "sorted('group')"),
        "optimizer": ("AdamW", "adamw"),
        "step size": ("eta / (t/100 + 10), eta tuned, none printed", "harmonic, eta = 0.01"),
    },
}
"""What is said in words: the paper's, and ours; by whether it is the language model."""


def planned(row: str, text: bool = False) -> Any:
    """What the plan for the paper's scale has for a row of Table 4 or 5, read off its runs."""
    plan = PLANS["paper"]

    def taken(split: str) -> Mapping[str, Any]:
        return arguments("paper", TEXT if text else "CIFAR-10", "FedALS", split)

    given = taken("non-iid")
    if row in ARGUMENTS:
        return given[ARGUMENTS[row]]
    if row.startswith("iterations"):
        return taken(row.removeprefix("iterations "))["rounds"] * LOCAL_STEPS
    others = {"repetitions": plan.seeds, "rounds averaged for reported metric": plan.window}
    others["adaptation coefficient alpha"] = int(given["algorithm"].partition("alpha=")[2].rstrip(")"))
    return {**others, **_language()}[row]


def _language() -> dict[str, Any]:
    """What the language model and the rule of its step size fix by themselves."""
    from empirics.models.networks import Opt
    from empirics.training.step_sizes import harmonic

    first, later = (1 / float(harmonic(1.0, t)) for t in (0, 1))
    return {
        "representation extractor": Opt().depth - Opt().head_layers,
        "head": Opt().head_layers,
        "learning-rate offset": first,
        "learning-rate time scale": round(1 / (later - first)),
    }


def cells(scale: str) -> list[Cell]:
    """The searches for step sizes of a plan that has some, which all its other runs take theirs from.

    Where the best that is kept lies at an end a further one joins: they are run until nothing is left to do.
    """
    return [cell for found in search(scale).values() for cell in found]


def _searched(runs: Runs, scale: str) -> list[dict[str, Any]]:
    """A row for each search: the accuracy of every step size."""
    rows = []
    for (column, method, split), found in search(scale).items():
        sizes = [cell.arguments["step_size"] for cell in found]
        reached = dict(zip(sizes, results(runs, scale, column, found), strict=True))
        tried = ", ".join(f"{size:g}: {reached[size]:.1f}" for size in sorted(reached)).replace("nan", "–")
        name = f"step size, {label(scale, column)}, {method} {split}"
        rows.append({"setting": name, "printed": "–", "planned": tried, "ran": of(found, in_paper(column, split))})
    return rows


def settings(text: bool, runs: Runs, scale: str) -> Shown:
    """The table, all rows with a number from the plan's own runs; and below what was searched for."""
    printed, searched = (TABLE_5, []) if text else (TABLE_4, _searched(runs, scale))
    listed = [(row, words, ours) for row, (words, ours) in WORDS[text].items()]
    listed += [(row, cell.value, f"{planned(row, text):g}") for (row, _), cell in printed.items()]
    rows = [{"setting": row, "printed": words, "planned": ours, "ran": None} for row, words, ours in listed]
    return listing(
        "Settings as printed, in words of ours, and those of the runs at the paper's scale. 'Rounds averaged' are the "
        "last evaluations, every 20 rounds as in the released code. Momentum and moments restart every round."
        + (f" Below: accuracies (%) at the end of searches for step sizes, seed {SEED}." if searched else ""),
        rows + searched,
        ["setting", "printed", "runs at the paper's scale"],
    )


ARTEFACTS = (
    Artefact("fedals.table_4", "settings of image classification", partial(settings, False), reads=cells),
    Artefact("fedals.table_5", "settings of the language model", partial(settings, True), reads=no_runs),
)
