"""Describe the runs behind a number in words: data, network, clients and rounds, read off the cells."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from empirics.data.catalogue import OF_ANOTHER
from empirics.experiments import Cell
from empirics.experiments.jobs import BLOCKS
from empirics.spec_strings import calls

from .scale import steps_of_round
from .substitutes import title

NETWORKS = {
    "decaying_k_cnn": "CNN", "fedcog_cifar100_cnn": "CNN for 100 classes", "fedcog_cnn": "small CNN",
    "femnist_dnn": "dense network", "logistic": "logistic regression", "opt": "OPT-125M", "resnet18": "ResNet-18-GN",
    "resnet20": "ResNet-20", "ridge": "ridge regression", "sent140_linear": "linear model", "shakespeare_gru": "GRU",
    "softmax": "softmax regression", "vgg11": "VGG-11",
}  # fmt: skip
"""Networks by the titles that figures print."""
FEWEST = 3
"""Seeds from which on a curve has a band or bars."""
SIZES = ("width", "depth")
"""Options that change the network and are therefore named."""
QUADRATICS, NORMAL_SAMPLES = "quadratics", "normal samples"
"""Data of the cells without a problem argument."""


@dataclass(frozen=True)
class SettingText:
    """Data, network, clients in total and per round, and rounds as texts, each empty if it does not apply.

    ``work`` is the number of local steps of a client that takes part in every round, or the simulated seconds of a
    run with a time budget; NaN if neither is counted.
    """

    data: str = ""
    network: str = ""
    clients: str = ""
    cohort: str = ""
    rounds: str = ""
    work: float = field(default=math.nan, compare=False)

    @property
    def taking_part(self) -> str:
        """``5 of 50``, or the number alone if all clients take part."""
        return self.clients if self.cohort in ("", self.clients) else f"{self.cohort} of {self.clients}"

    @property
    def parts(self) -> list[str]:
        """Data, network, clients and rounds in words, as far as they apply."""
        clients = f"{self.taking_part} clients" if self.clients else ""
        rounds = f"{self.rounds} round{'' if self.rounds == '1' else 's'}" if self.rounds else ""
        return list(filter(None, (self.data, self.network, clients, rounds)))

    def __str__(self) -> str:
        return ", ".join(self.parts)


@dataclass(frozen=True)
class RunInfo(SettingText):
    """The setting of our runs beside the paper's: ``Omniglot for CIFAR-100`` where the two differ."""

    ours: SettingText = SettingText()
    paper: SettingText = SettingText()

    @classmethod
    def of(cls, ours: SettingText, paper: SettingText = SettingText()) -> RunInfo:
        """Return our setting beside the paper's."""
        names = ("data", "network", "taking_part", "rounds")
        texts = [ours_for_theirs(getattr(ours, name), getattr(paper, name)) for name in names]
        return cls(texts[0], texts[1], texts[2], rounds=texts[3], ours=ours, paper=paper)

    @property
    def differences(self) -> list[str]:
        """The parts in which our runs differ from the paper's."""
        return [part for part in self.parts if part not in self.ours.parts]

    def columns(self) -> dict[str, str]:
        """Return the columns of a CSV; ``stand_in`` is the paper's data set if ours is another."""
        ours, stand_in = self.ours, self.paper.data if self.data != self.ours.data else ""
        values = (ours.data, stand_in, ours.network, ours.clients, ours.cohort, ours.rounds)
        return dict(zip(COLUMNS, values, strict=True))


WORDS = ("data", "network", "clients", "cohort", "rounds")
COLUMNS = ("data", "stand_in", *WORDS[1:])
"""Columns of every CSV that describe the runs, empty for what is computed without runs."""


def ours_for_theirs(ours: str, paper: str) -> str:
    """Return ``Omniglot for CIFAR-100``, or ours alone if both are the same or one of them is empty."""
    same = re.sub(r"\W", "", ours).lower() == re.sub(r"\W", "", paper).lower()
    return f"{ours} for {paper}" if ours and paper and not same else ours


def setting_of_row(row: Mapping[str, Any]) -> SettingText:
    """Return the setting that the columns of a row describe."""
    data, network, clients, cohort, rounds = (str(row.get(name, "")) for name in WORDS)
    return SettingText(data, network, clients, cohort, rounds)


def flatten(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with their ``ran`` entry replaced by the columns of a CSV."""
    return [
        {name: value for name, value in row.items() if name != "ran"}
        | (row["ran"].columns() if row.get("ran") else {name: row.get(name, "") for name in COLUMNS})
        for row in rows
    ]


def describe(cells: Iterable[Cell], paper: SettingText = SettingText(), rounds: int | None = None) -> RunInfo | None:
    """Return the setting of these cells beside the paper's, or None without cells.

    Where the cells differ, all values are named. ``rounds`` is the round at which they are read (None: the last).
    """
    settings = [_setting(cell, rounds) for cell in cells]
    if not settings:
        return None
    texts = {name: " and ".join(dict.fromkeys(filter(None, (getattr(s, name) for s in settings)))) for name in WORDS}
    if rounds is not None:
        texts["rounds"] = str(rounds)
    return RunInfo.of(SettingText(**texts, work=min(setting.work for setting in settings)), paper)


def _setting(cell: Cell, rounds: int | None = None) -> SettingText:
    given = cell.arguments
    problem = given.get("problem", "")
    clients = str(given.get("clients", ""))
    made = NORMAL_SAMPLES if cell.job == "validate_gaussian_mean" else QUADRATICS if "dim" in given else ""
    data = data_title(problem) or made
    cohort = str(given.get("cohort", clients))
    return SettingText(data, network_title(problem), clients, cohort, _rounds(cell), work(given, rounds))


def work(given: Mapping[str, Any], rounds: int | None = None) -> float:
    """Return ``SettingText.work`` of a run with these arguments up to round ``rounds`` (None: the last)."""
    if "seconds" in given:
        return float(given["seconds"])
    local = steps_of_round(given) if {"local_steps", "local_epochs"} & set(given) else math.nan
    return local * (given.get("rounds", math.nan) if rounds is None else rounds)


def _rounds(cell: Cell) -> str:
    """Return the number of rounds as text; for a simulated time budget, those that fit with all local steps."""
    given = cell.arguments
    if cell.job == "timed":
        sending = given["model_size"] * (1 / given["download_rate"] + 1 / given["upload_rate"])
        return f"time of {given['seconds'] / (sending + given['minibatch_time'] * given['local_steps']):.0f}"
    if cell.job in ("validate_one_round", "validate_gaussian_mean"):  # at each of several numbers of clients
        return "1"
    if cell.job == "round_times":
        return str(BLOCKS * given["laps"])
    if "ends" in given:
        return str(max(given["ends"]))
    return str(given.get("rounds", given.get("after", "")))


def data_set(problem: str) -> str:
    """Return the data set of a problem, or an empty string if it has none."""
    names = [name for name, _, _ in calls(problem)]
    return names[-1] if names and names[-1] not in OF_ANOTHER and names[-1] not in NETWORKS else ""


def data_title(problem: str) -> str:
    """Return the printed name of the data set of a problem."""
    name = data_set(problem)
    return title(name) if name else ""


def network_title(problem: str) -> str:
    """Return the title of the network of a problem, with the options that change it."""
    for name, options, _ in calls(problem):
        sizes = ", ".join(f"{word} {options[word]}" for word in SIZES if word in options)
        return NETWORKS[name] + (f" of {sizes}" if sizes else "")
    return ""


def problem_words(problem: str) -> str:
    """Describe a problem: network, data, and if set the number of samples and the penalty."""
    if not problem:
        return ""
    options = {name: value for _, call_options, _ in calls(problem) for name, value in call_options.items()}
    texts = {"train": "trained on {:,} samples", "test": "tested on {:,} samples", "regularisation": "penalty {:g}"}
    more = ", ".join(text.format(options[name]) for name, text in texts.items() if name in options)
    return f"{network_title(problem)} on {data_title(problem)}" + (f" ({more})" if more else "")


def partition_words(partition: str) -> str:
    """Describe a partition of the data among clients."""
    name, options, arguments = next(iter(calls(partition)))
    numbers = [ast.literal_eval(value) for value in arguments] + list(options.values())
    number = numbers[0] if numbers else ""
    words = {
        "iid": "iid",
        "by_group": f"by user, {number} samples or more each",
        "dirichlet": f"Dirichlet {number}",
        "dirichlet_replaced": f"Dirichlet {number}",
        "pachinko": "Pachinko allocation",
        "sorted": f"sorted by {number}",
        "classes_per_client": f"{number} classes a client",
    }
    return words.get(name, partition)


# ---- captions ----


Arguments = Mapping[str, Any]
"""The arguments of a run by name."""
TRAINING_ARGUMENTS = {
    "rounds": "{} rounds", "local_steps": "{} local steps", "local_epochs": "{} local passes", "batch": "batch {}",
    "step_size": "step size {}", "step_size_decay": "times {} a round", "clip": "gradients clipped at {}",
    "momentum": "momentum {}", "weight_decay": "weight decay {}",
}  # fmt: skip
"""How captions write the arguments of training; a run without the argument counts as 0."""


def run_caption(
    shown: str, used: Iterable[tuple[str, Sequence[Cell]]], paper: Mapping[str, Arguments], *more: str
) -> str:
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
        parts.append(plural(seeds, "seed") + ", too few for error bands" * (1 < seeds < FEWEST))
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
