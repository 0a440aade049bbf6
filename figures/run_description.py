"""What ran: the data, network, clients and rounds behind a number, read off the cells that it comes from, in words."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from empirics.data.catalogue import OF_ANOTHER
from empirics.experiments import Cell
from empirics.experiments.jobs import BLOCKS
from empirics.spec_strings import tree

from .scale import steps_of_round
from .substitutes import title

NETWORKS = {
    "decaying_k_cnn": "CNN",
    "fedcog_cifar100_cnn": "CNN for 100 classes",
    "fedcog_cnn": "small CNN",
    "femnist_dnn": "dense network",
    "logistic": "logistic regression",
    "opt": "OPT-125M",
    "resnet18": "ResNet-18-GN",
    "resnet20": "ResNet-20",
    "ridge": "ridge regression",
    "sent140_linear": "linear model",
    "shakespeare_gru": "GRU",
    "softmax": "softmax regression",
    "vgg11": "VGG-11",
}
"""Models by what they are."""
SIZES = ("width", "depth")
"""Options that make another network of it, and are said."""
QUADRATICS, DRAWN = "quadratics", "normal samples"
"""The data of a cell that has no problem of its own."""


@dataclass(frozen=True)
class Setting:
    """Data, network, clients in all and per round, and rounds, as words; empty where there is none.

    ``work``: local steps of a client that takes part in every round, or the seconds of simulated time that a run is
    given; NaN where neither is counted.
    """

    data: str = ""
    network: str = ""
    clients: str = ""
    cohort: str = ""
    rounds: str = ""
    work: float = field(default=math.nan, compare=False)

    @property
    def taking_part(self) -> str:
        """``5 of 50``; the number alone where all take part."""
        return self.clients if self.cohort in ("", self.clients) else f"{self.cohort} of {self.clients}"

    def __str__(self) -> str:
        return _joined(self.data, self.network, self.taking_part, self.rounds)


def _joined(data: str, network: str, clients: str, rounds: str) -> str:
    counted = f"{clients} clients" if clients else "", f"{rounds} round{'' if rounds == '1' else 's'}" if rounds else ""
    return ", ".join(filter(None, (data, network, *counted)))


@dataclass(frozen=True)
class Ran:
    """What ran, and what the paper has there: ``Omniglot for CIFAR-100`` where these are not the same."""

    ours: Setting
    paper: Setting = Setting()

    @property
    def data(self) -> str:
        return beside(self.ours.data, self.paper.data)

    @property
    def network(self) -> str:
        return beside(self.ours.network, self.paper.network)

    @property
    def clients(self) -> str:
        return beside(self.ours.taking_part, self.paper.taking_part)

    def __str__(self) -> str:
        rounds = beside(self.ours.rounds, self.paper.rounds)
        return _joined(self.data, self.network, self.clients, rounds)

    def columns(self) -> dict[str, str]:
        """For a CSV: what ran, and in ``stand_in`` the paper's data where it is another set."""
        ours = self.ours
        standing_in = "" if " for " not in self.data else self.paper.data
        return dict(zip(COLUMNS, (ours.data, standing_in, ours.network, ours.clients, ours.cohort, ours.rounds),
                        strict=True))  # fmt: skip


WORDS = ("data", "network", "clients", "cohort", "rounds")
COLUMNS = ("data", "stand_in", *WORDS[1:])
"""Of every CSV; empty where nothing is run."""


def beside(ours: str, paper: str) -> str:
    """``Omniglot for CIFAR-100``: one word where both are the same, or one is not known."""
    same = re.sub(r"\W", "", ours).lower() == re.sub(r"\W", "", paper).lower()
    return f"{ours} for {paper}" if ours and paper and not same else ours


def of_row(row: Mapping[str, Any]) -> Setting:
    """What ran by the columns of a row to draw."""
    data, network, clients, cohort, rounds = (str(row.get(name, "")) for name in WORDS)
    return Setting(data, network, clients, cohort, rounds)


def flat(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the columns of what ran in the place of ``ran``."""
    return [
        {name: value for name, value in row.items() if name != "ran"}
        | (row["ran"].columns() if row.get("ran") else {name: row.get(name, "") for name in COLUMNS})
        for row in rows
    ]


def of(cells: Iterable[Cell], paper: Setting = Setting(), rounds: int | None = None) -> Ran | None:
    """What these cells run beside what the paper has; ``rounds``: after which they are read (None: all); None for none.

    Where the cells differ, all that ran is named.
    """
    each = [_setting(cell, rounds) for cell in cells]
    if not each:
        return None
    words = {name: " and ".join(dict.fromkeys(filter(None, (getattr(one, name) for one in each)))) for name in WORDS}
    if rounds is not None:
        words["rounds"] = str(rounds)
    return Ran(Setting(**words, work=min(one.work for one in each)), paper)


def _setting(cell: Cell, rounds: int | None = None) -> Setting:
    given = cell.arguments
    problem = given.get("problem", "")
    clients = str(given.get("clients", ""))
    data = data_of(problem) or (DRAWN if "variance" in given else QUADRATICS if "dim" in given else "")
    cohort = str(given.get("cohort", clients))
    return Setting(data, model(problem), clients, cohort, _rounds(given), work(given, rounds))


def work(given: Mapping[str, Any], rounds: int | None = None) -> float:
    """Of these arguments of a run, up to ``rounds`` (None: all of them): see ``Setting.work``."""
    if "seconds" in given:
        return float(given["seconds"])
    local = steps_of_round(given) if {"local_steps", "local_epochs"} & set(given) else math.nan
    return local * (given.get("rounds", math.nan) if rounds is None else rounds)


def _rounds(given: Mapping[str, Any]) -> str:
    """All rounds of a run; one for a fixed simulated time takes as many as that allows with all local steps."""
    if "seconds" in given:
        sending = given["model_size"] * (1 / given["download_rate"] + 1 / given["upload_rate"])
        return f"time of {given['seconds'] / (sending + given['minibatch_time'] * given['local_steps']):.0f}"
    if "counts" in given:  # one averaging round at each of these numbers of clients
        return "1"
    if "laps" in given:
        return str(BLOCKS * given["laps"])
    if "ends" in given:
        return str(max(given["ends"]))
    return str(given.get("rounds", given.get("after", "")))


# ---- words ----


def _calls(problem: str) -> Iterator[tuple[str, dict[str, Any], Sequence[ast.expr]]]:
    """Name and options of a call, of its first argument, and so on to the data set."""
    found: ast.expr | None = tree(problem) if problem else None
    while found is not None:
        made = found if isinstance(found, ast.Call) else ast.Call(found, [], [])
        options = {k.arg or "": ast.literal_eval(k.value) for k in made.keywords}
        yield ast.unparse(made.func), options, made.args
        found = made.args[0] if made.args else None


def set_of(problem: str) -> str:
    """The data set that a problem is made of; empty where it has none."""
    names = [name for name, _, _ in _calls(problem)]
    return names[-1] if names and names[-1] not in OF_ANOTHER and names[-1] not in NETWORKS else ""


def data_of(problem: str) -> str:
    """The same by its printed name."""
    name = set_of(problem)
    return title(name) if name else ""


def model(problem: str) -> str:
    """What is trained, with the options that make another network of it."""
    for name, options, _ in _calls(problem):
        sizes = ", ".join(f"{word} {options[word]}" for word in SIZES if word in options)
        return NETWORKS[name] + (f" of {sizes}" if sizes else "")
    return ""


def problem_words(problem: str) -> str:
    """A problem in words: model, data, how many samples are left of these, penalty."""
    options = {k: v for _, given, _ in _calls(problem) for k, v in given.items()}
    more = [
        words.format(options[name])
        for name, words in (
            ("train", "trained on {:,} samples"),
            ("test", "tested on {:,} samples"),
            ("regularisation", "penalty {:g}"),
        )
        if name in options
    ]
    if not problem:
        return ""
    return f"{model(problem)} on {data_of(problem)}" + (f" ({', '.join(more)})" if more else "")


def partition_words(partition: str) -> str:
    """Who holds what, in words."""
    name, given, values = next(iter(_calls(partition)))
    numbers = [ast.literal_eval(value) for value in values] + list(given.values())
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
