"""What FedALS's tables share: columns by data set, entries in percent, and the words of a caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import Reported

from ..captions import caption as put_together, DIGITS
from ..comparing import Entry
from ..ran import of, problem_words
from ..runs import Runs
from ..sheets import entry
from ..stand_ins import remark
from .grid import PLANS, seeds, word
from .settings import CLIENTS, here, in_paper, LOCAL_STEPS, METHODS, SETS, TEXT

GUESS = 5.55
"""The loss of guessing one of 256 bytes: what a language model that diverged counts as."""


def label(scale: str, column: str, shown: Sequence[str] = tuple(SETS)) -> str:
    """The data behind a column, ``Omniglot for CIFAR-100`` where not the paper's; ``shown``: what its table runs."""
    ran = of(seeds(scale, column, "FedAvg", "non-iid"), in_paper(column))
    if ran and column in shown:
        return ran.data
    left_out = column not in PLANS[scale].axes["columns"] or here(column)
    return f"{column} ({'not run at this scale' if left_out else 'data not available'})"


def results(runs: Runs, scale: str, column: str, cells: Sequence[Cell]) -> list[float]:
    """Mean over the last evaluations, by seed: test accuracy in percent, or test loss of the language model."""
    window = PLANS[scale].window
    if column == TEXT:
        return [runs.last(cell, "test_loss", window, diverged=GUESS) for cell in cells]
    return [100 * runs.last(cell, "test_accuracy", window, diverged=0.0) for cell in cells]


def compared(
    runs: Runs, scale: str, printed: Reported, row: str, column: str, cells: Sequence[Cell], note: str = ""
) -> Entry:
    """One place of a table; accuracies are printed as shares and shown in percent."""
    ran = of(cells, in_paper(column, "iid" if row.endswith(" iid") else "non-iid"))
    place = entry(printed, row, column, results(runs, scale, column, cells), note, ran)
    times = 1.0 if column == TEXT else 100.0
    return replace(place, reported=times * place.reported, reported_std=times * place.reported_std)


def labelled(scale: str, entries: Sequence[Entry], shown: Sequence[str] = tuple(SETS)) -> list[Entry]:
    """The same entries under the columns' names as they are shown."""
    return [replace(e, column=label(scale, e.column, shown)) if e.column in SETS else e for e in entries]


def measured(scale: str, columns: Sequence[str]) -> list[str]:
    """The columns that have data at this scale."""
    return [column for column in columns if word(scale, column)]


def caption(scale: str, columns: Sequence[str], *, tables: bool = True) -> str:
    """Data, network, clients, rounds, seeds, and what differs from the paper."""
    plan, there = PLANS[scale], measured(scale, columns)
    if not there:
        return put_together(remarks(scale, columns))
    parts = [
        f"{', '.join(dict.fromkeys(_problem(scale, c) for c in there))}; {CLIENTS} clients, all in every round, "
        f"{LOCAL_STEPS} local steps; non-iid: sorted by label; {_rounds(scale, there)} rounds, iid half as many; "
        f"{plan.seeds} seeds",
        f"± is the standard error over seeds; a result is the mean of the last {plan.window} of "
        f"{plan.counts['points']} evaluations, 0 for a run that diverged"
        if tables
        else "band: standard error over seeds",
        *remarks(scale, columns),
        *_different(scale, there),
    ]
    return put_together(parts)


def remarks(scale: str, columns: Sequence[str]) -> list[str]:
    """Which data stand in for others, and which are missing; nothing at the smoke scale."""
    if scale == "smoke":
        return [DIGITS]
    instead = [
        remark(SETS[c], here(c)) if c in PLANS[scale].axes["columns"] else f"{c}: run at the paper's scale only"
        for c in columns
    ]
    return [words for words in instead if words]


def _problem(scale: str, column: str) -> str:
    return problem_words(seeds(scale, column, "FedAvg", "non-iid")[0].arguments["problem"])


def _rounds(scale: str, columns: Sequence[str]) -> str:
    counts = {c: seeds(scale, c, "FedAvg", "non-iid")[0].arguments["rounds"] for c in columns}
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))}"
    return ", ".join(f"{count} ({column})" for column, count in counts.items())


def _different(scale: str, columns: Sequence[str]) -> list[str]:
    """What is not as in the paper."""
    plan = PLANS[scale]
    if scale == "paper":
        return [
            "differs: step sizes are the start of the paper's search, which prints no result; group norm for batch "
            "norm; SCAFFOLD without momentum, with which its printed controls diverge"
        ]
    return [
        f"differs: network {_problem(scale, columns[0]).partition(' on ')[0]} of {plan.counts['layers']} layers, batch "
        f"{plan.setting['batch']}, "
        f"no momentum (SCAFFOLD's printed controls diverge with it), {_step_sizes(scale, columns)}"
    ]


def _step_sizes(scale: str, columns: Sequence[str]) -> str:
    """By data set, with the methods and the split that have their own."""
    return "step sizes " + "; ".join(f"{label(scale, c)} {_of_column(scale, c)}" for c in columns)


def _of_column(scale: str, column: str) -> str:
    plain = _step_size(scale, column, "FedAvg", "non-iid")
    own = [(m, "non-iid") for m in METHODS if m != "FedAvg"] + [("FedAvg", "iid")]
    found = {m if split == "non-iid" else split: _step_size(scale, column, m, split) for m, split in own}
    others = ", ".join(f"{who} {size:g}" for who, size in found.items() if size != plain)
    return f"{plain:g}" + (f" ({others})" if others else "")


def _step_size(scale: str, column: str, method: str, split: str) -> float:
    return float(seeds(scale, column, method, split)[0].arguments["step_size"])
