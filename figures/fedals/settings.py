"""Tables 4 and 5 as data: what the paper runs, from which the grid's plan for its own scale is built."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from paper_checks.reported import table

from ..run_description import Setting
from ..substitutes import found

VERSION = "v2"
IMAGES, TEXTS = (table("fedals", name, version=VERSION) for name in ("Table 4", "Table 5"))
TEXT = "MultiNLI"
SETS = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100", "MNIST": "mnist", "SVHN": "svhn", TEXT: "multinli"}
"""The data sets of Table 1 by the names that are printed."""

ARGUMENTS = {
    "number of clients": "clients",
    "local steps tau": "local_steps",
    "batch size per client": "batch",
    "momentum": "momentum",
    "Adam beta1": "beta1",
    "Adam beta2": "beta2",
    "Adam epsilon": "epsilon",
    "weight decay": "weight_decay",
}
"""Rows that are arguments of a training run."""


def printed(row: str, text: bool = False) -> Fraction:
    """One number of Table 4, or of Table 5 for the language model."""
    place, column = (TEXTS, "LLM fine-tuning default") if text else (IMAGES, "image classification default")
    return Fraction(place[row, column].value)


def setting(text: bool = False) -> dict[str, Any]:
    """What a run takes over from Table 4 or 5; Nesterov's momentum as Table 4 says, AdamW and its decay as Table 5."""
    rows = {row for row, _ in (TEXTS if text else IMAGES)}
    numbers = {argument: printed(row, text) for row, argument in ARGUMENTS.items() if row in rows}
    plain = {name: int(x) if x.denominator == 1 else float(x) for name, x in numbers.items()}
    return plain | ({"optimizer": "adamw", "step_size_rule": "harmonic"} if text else {"nesterov": True})


def rounds(split: str, text: bool = False) -> int:
    """Rounds of a run: its iterations over the local steps."""
    return int(printed(f"iterations {split}", text) / printed("local steps tau", text))


ALPHA = int(printed("adaptation coefficient alpha"))
CLIENTS, LOCAL_STEPS = int(printed("number of clients")), int(printed("local steps tau"))
REPETITIONS, WINDOW = int(printed("repetitions")), int(printed("rounds averaged for reported metric"))
IID_SHARE = printed("iterations iid") / printed("iterations non-iid")
"""Iid runs are this much shorter, at every scale."""

METHODS = {
    "FedAvg": "fedavg()",
    "FedALS": f"fedals(alpha={ALPHA})",
    "SCAFFOLD": "scaffold()",
    "FedALS+SCAFFOLD": f"layerwise(scaffold(), alpha={ALPHA})",
}


def algorithm(method: str) -> str:
    """A method of Table 1, or a row of Table 2 such as ``alpha=25``; with alpha = 1 it is FedAvg."""
    if method in METHODS:
        return METHODS[method]
    alpha = int(method.removeprefix("alpha="))
    return f"fedals(alpha={alpha})" if alpha > 1 else METHODS["FedAvg"]


def in_paper(column: str, split: str = "non-iid") -> Setting:
    """What the paper runs for a column."""
    text, clients, count = column == TEXT, str(CLIENTS), rounds(split, column == TEXT)
    network = "OPT-125M" if text else "ResNet-20"
    return Setting(column, network, clients, clients, str(count), count * int(printed("local steps tau", text)))


def partition(split: str, text: bool = False) -> str:
    """Shuffled, or sorted by label (pictures) or genre (texts) and cut in that order."""
    return "iid" if split == "iid" else f"sorted({'group' if text else 'label'!r})"


def here(column: str) -> str:
    """The data set behind a printed name: itself, its substitute, or empty."""
    return found(SETS[column])
