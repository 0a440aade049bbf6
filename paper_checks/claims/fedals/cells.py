"""The reported results by a short key, and which of their differences exceed the noise of the repeated runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from ...reported import Reported, table
from ..checkers import Ordered
from ..claim import Book, fails, Finding, holds

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


def written(pairs: tuple[Pair, ...]) -> tuple[str, ...]:
    return tuple(f"{a} < {b}" for a, b in pairs)


RUNS = 20
"""Repetitions of every experiment (Section 6, Tables 4 and 5)."""
CRITICAL = 2.093
"""The two-sided 5 % point of Student's t with RUNS - 1 degrees of freedom, the fewest that Welch's test can have."""


def t_value(small: Reported, large: Reported) -> float:
    """Welch's t of two independent means over RUNS runs each."""
    error = sqrt((float(small.std) ** 2 + float(large.std) ** 2) / RUNS)
    return (float(large.value) - float(small.value)) / error


@dataclass(frozen=True)
class Distinct:
    """Every pair (smaller, larger) of reported means differs, in this direction, by more than the noise of the runs.

    ``wrong`` are the pairs audited as not distinguishable, written ``smaller < larger``.
    """

    numbers: Mapping[str, Reported]
    pairs: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        found = {f"{a} < {b}": t_value(self.numbers[a], self.numbers[b]) for a, b in self.pairs}
        weak = {pair: f"t = {t:.2f}" for pair, t in found.items() if t < CRITICAL}
        if not weak:
            least = min(found.values())
            return holds(f"{len(found)} differences, the least t is {least:.2f}")
        said = f"{len(weak)} of {len(found)} are within noise (t < {CRITICAL} for {RUNS} runs): "
        said += "; ".join(f"{pair} ({t})" for pair, t in weak.items())
        return fails(said, weak, set(weak) == set(self.wrong))


def ordered(pairs: tuple[Pair, ...], wrong: tuple[str, ...] = ()) -> Ordered:
    """Every pair (smaller, larger) of reported means is in order but for those audited as ``wrong``."""
    return Ordered({key: VALUES[key] for pair in pairs for key in pair}, pairs, wrong)
