"""The reported results by a short key, and the order of pairs of them."""

from __future__ import annotations

from collections.abc import Mapping

from ...reported import Reported, table
from ..checkers import Ordered

IMAGES = ("ResNet-20/SVHN", "ResNet-20/CIFAR-10", "ResNet-20/CIFAR-100", "ResNet-20/MNIST")
LLM = "OPT-125M/MultiNLI"
SHORT = {**{name: name.removeprefix("ResNet-20/") for name in IMAGES}, LLM: "MultiNLI"}
TABLE_1 = table("fedals", "Table 1", version="v1")
TABLE_2 = table("fedals", "Table 2", version="v1")
TABLE_3 = table("fedals", "Table 3", version="v1")
METHODS = (
    "FedAvg iid",
    "FedAvg non-iid",
    "FedALS iid",
    "FedALS non-iid",
    "SCAFFOLD non-iid",
    "FedALS+SCAFFOLD non-iid",
)
AVG, ALS, SCAFFOLD, BOTH = METHODS[1], METHODS[3], METHODS[4], METHODS[5]
DEPTHS = (20, 16, 12, 8, 4, 1)

REPORTED: Mapping[str, Reported] = {
    **{f"{SHORT[row]} {column}": cell for (row, column), cell in TABLE_1.items()},
    **{
        f"{column} L={depth}": TABLE_3[f"L={depth}", column]
        for depth in DEPTHS
        for column in (SHORT[name] for name in IMAGES[:3])
    },
    **{f"{column} {row}": cell for (row, column), cell in TABLE_2.items() if cell.std},
}
VALUES = {key: cell.value for key, cell in REPORTED.items()}

Pair = tuple[str, str]


def better(worse_method: str, better_method: str, names: tuple[str, ...] = (*IMAGES, LLM)) -> tuple[Pair, ...]:
    """Pairs (smaller, larger) by which one column of Table 1 is better: higher accuracy, lower loss."""
    pairs = [(f"{SHORT[name]} {worse_method}", f"{SHORT[name]} {better_method}") for name in names]
    return tuple(pair[::-1] if name == LLM else pair for name, pair in zip(names, pairs, strict=True))


RUNS = 20
"""Repetitions of every experiment (Section 6, Tables 4 and 5)."""


def ordered(pairs: tuple[Pair, ...], wrong: tuple[str, ...] = (), significant: bool = False) -> Ordered:
    """Every pair (smaller, larger) of reported means is in order but for those audited as ``wrong``."""
    return Ordered({key: REPORTED[key] for pair in pairs for key in pair}, pairs, wrong, RUNS, significant)
