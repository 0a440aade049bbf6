"""What every validation shares: comparisons of measured with bound, verdicts with an error rate, the tidy result."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from bounds.core import Bound
from empirics.measuring.estimates import Estimate
from empirics.progress import Progress

ERROR_RATE = 0.05


class Verdict(StrEnum):
    """What the measurement says about the inequality at one setting; never more than that."""

    HOLDS_HERE = "holds here"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


def judge(excess: Estimate, seeds: int, rows: int, error_rate: float = ERROR_RATE) -> Verdict:
    """Verdict on ``measured <= bound`` from their difference ``measured - bound`` and its standard error over seeds.

    Two one-sided t tests, each at ``error_rate`` over all ``rows`` together (Bonferroni): violated if the difference is
    significantly positive, holds here if significantly negative, undecided otherwise. So with probability at least
    1 - ``error_rate`` no row of a true inequality is called violated, and likewise for the other word. The verdict can
    be wrong where means over this many seeds are far from normal, and it says nothing about other settings.
    """
    from scipy import stats

    margin = float(stats.t.isf(error_rate / rows, seeds - 1)) * float(excess.error)
    if excess.value > margin:
        return Verdict.VIOLATED
    return Verdict.HOLDS_HERE if excess.value < -margin else Verdict.UNDECIDED


@dataclass(frozen=True)
class Comparison:
    """Measured against bound at one setting; ``parts`` are the bound's terms, ``seeds`` the independent draws."""

    problem: str
    partition: str
    clients: int
    seeds: int
    measured: Estimate
    bound: Estimate
    parts: Mapping[str, Estimate]
    ratio: Estimate
    verdict: Verdict
    extras: Mapping[str, Estimate]


class Row(NamedTuple):
    """One number of a result table; ``clients`` is None for what belongs to no single number of clients."""

    problem: str
    partition: str
    clients: int | None
    quantity: str
    value: float
    standard_error: float | None


@dataclass(frozen=True)
class Result:
    """What a validation found: comparisons, further numbers, sentences, the assumptions' standing, and the card.

    ``card`` holds what is needed to repeat the run: data, seeds, settings, constants, versions.
    """

    bound: Bound
    target: str
    comparisons: tuple[Comparison, ...]
    numbers: tuple[Row, ...]
    findings: tuple[str, ...]
    assumptions: tuple[str, ...]
    card: Mapping[str, Any]

    @property
    def violations(self) -> tuple[Comparison, ...]:
        return tuple(c for c in self.comparisons if c.verdict is Verdict.VIOLATED)

    def rows(self) -> Iterator[Row]:
        """The tidy table: one row per number."""
        for c in self.comparisons:
            named = {self.target: c.measured, "bound": c.bound, **c.parts, "bound / measured": c.ratio, **c.extras}
            for quantity, estimate in named.items():
                yield Row(c.problem, c.partition, c.clients, quantity, float(estimate.value), float(estimate.error))
        yield from self.numbers


@dataclass(frozen=True)
class Validation:
    """A measurement held against the bound of the same name.

    ``add_options`` declares its options on an argument parser; ``run`` takes the parsed options and measures.
    """

    name: str
    words: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], Result]

    def main(self, arguments: list[str], draw: Callable[[Result, Any], list[Any]] | None = None) -> int:
        """Run from command-line arguments, print, write the files; 0 holds, 1 violation found, 2 wrong arguments.

        ``draw(result, folder)`` is how a caller from a later room adds the figure; it returns the paths it wrote.
        """
        from .command import main

        return main(self, arguments, draw)


def standing(bound: Bound, problem: Any, algorithm: Any, setting: Any) -> tuple[str, ...]:
    """One line per condition of the bound: met, NOT met or not decided by a predicate on this run."""
    said = {True: "met", False: "NOT met", None: "not decided here"}
    lines = []
    for condition in bound.conditions:
        if condition.assumption is not None:
            lines.append(f"{said[condition.assumption.holds(problem, algorithm, setting)]}: {condition.words}")
        elif condition.relation is not None:
            lines.append(f"checked at every row: {condition.words}")
        else:
            lines.append(f"{said[None]}: {condition.words}")
    return tuple(lines)
