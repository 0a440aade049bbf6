"""Numbers beside the rows of a comparison: read off runs in the same class, by its statistic, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bounds.classes import AFTER, ClassOf, everyone
from bounds.places import LOCAL, SERVER, VIRTUAL
from bounds.scenario import FEDAVG, Scenario
from empirics.exact import Moments

from ..runs.statistics import counted, folded, FOLDS
from ..runs.words import ITERATION, ROUND, STATE
from .compare_rows import Beside, Evidence, RANKED, Row

Array = np.ndarray[Any, Any]
GAP = "optimality_gap"


@dataclass(frozen=True)
class Found:
    """Evidence of one kind: by row where there is any, a line for the server's model, and remarks in words."""

    kind: str
    of: Callable[[Row], Evidence | None]
    beside: Beside | None = None
    remarks: Sequence[str] = field(default_factory=tuple)


def with_evidence(rows: Iterable[Row], found: Sequence[Found]) -> tuple[Row, ...]:
    """The rows with what was found for each that has a number."""

    def of(row: Row) -> Mapping[str, Evidence]:
        if row.state not in RANKED:
            return {}
        told = {one.kind: one.of(row) for one in found}
        return {kind: evidence for kind, evidence in told.items() if evidence is not None}

    return tuple(replace(row, evidence=of(row)) for row in rows)


# ---- the number of a class ----


def series(kind: ClassOf, run: Moments) -> tuple[Array, str] | None:
    """What the class is a statistic of, with time on the last axis, and what it has a value per; None if unread."""
    places = {(SERVER, "rounds"): STATE, (LOCAL, "rounds"): STATE, (VIRTUAL, "iterations"): ITERATION,
              (VIRTUAL, AFTER): ROUND}  # fmt: skip
    if (kind.at, kind.over) not in places or not plain(kind):
        return None
    per = places[kind.at, kind.over]
    try:
        read = np.asarray(run.server[kind.target] if per == STATE else run.iterations(kind.target))
        return (read[1:] if per == ROUND else read), per  # after every step there is one that counts, as in a round
    except KeyError:
        return None


def unread(kind: ClassOf, scenario: Scenario) -> bool:
    """Whether runs of the scenario have no reading of the class.

    They go on from the server's model, which after a round's last step is the average of all clients where all take
    part alone.
    """
    return kind.over == AFTER and not everyone(scenario)


def further(scenario: Scenario) -> str:
    """Why no run here is that of the scenario, whose server goes further than to the average; empty if it does not."""
    times = scenario["server_step_size"].value
    return "" if times == 1 else f"the server of such runs takes the average, and here goes {times:g} times as far"


def no_fedavg(scenario: Scenario) -> str:
    """Why plans of FedAvg, which are run here, are not the scenario's; empty where they are."""
    if scenario.algorithm != FEDAVG:
        return f"plans of fedavg are run here; this one is of {scenario.method}"
    return further(scenario)


def plain(kind: ClassOf) -> bool:
    """Whether the class is one number of a run, in which all entries count alike."""
    return kind.statistic in FOLDS and kind.statistic != "every" and not kind.weights


def number(kind: ClassOf, run: Moments) -> float | None:
    """The number that a class is about, off a run whose readings are expectations."""
    found = series(kind, run)
    return None if found is None else float(folded(found[0], kind.statistic, found[1]))


def estimated(values: Array, statistic: str, per: str) -> tuple[float, float]:
    """Mean and standard error over seeds of readings ``(seeds, times)``.

    The least over a run is that of the mean over seeds: the mean of the seeds' own least values is below it.
    """
    there = counted(values.T, statistic, per)
    one = there[int(np.argmin(there.mean(1)))] if statistic == "min" else there.mean(0)
    return float(one.mean()), float(one.std(ddof=1) / len(one) ** 0.5)


def beside(label: str, target: str, run: Moments) -> Beside | None:
    """The line of a run of expectations at the server model."""

    def at(word: str, statistic: str) -> tuple[float, float] | None:
        value = number(ClassOf(word, statistic, "rounds", SERVER, "", ""), run)
        return None if value is None else (value, 0.0)

    return Beside(label, at(target, "min"), at(target, "mean"), at(target, "last"), at(GAP, "last"))
