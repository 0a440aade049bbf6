"""Values to compare rows with: the same quantity by the same statistic, in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.classes import AFTER, ClassOf, everyone
from bounds.places import LOCAL, SERVER, VIRTUAL
from bounds.scenario import Scenario
from empirics.exact import Moments

from ..runs.statistics import counted, folded, FOLDS
from ..runs.words import ITERATION, ROUND, STATE
from .rows import Evidence, Row, ServerReadings

Array = np.ndarray[Any, Any]
GAP = "optimality_gap"


@dataclass(frozen=True)
class Found:
    """Evidence of one kind: for each row where there is any; a line on the server's model; remarks."""

    kind: str
    of: Callable[[Row], Evidence | None] = lambda row: None
    server_model: ServerReadings | None = None
    remarks: Sequence[str] = ()


# ---- the number of a bounded quantity in a run ----


PLACES = {(SERVER, "rounds"): STATE, (LOCAL, "rounds"): STATE, (VIRTUAL, "iterations"): ITERATION,
          (VIRTUAL, AFTER): ROUND}  # fmt: skip
"""Per what a run has a value, by the model and the time of a reading."""


def number(kind: ClassOf, run: Moments) -> float | None:
    """The value of this kind in a run of exact expectations; None where there is none."""
    if (kind.at, kind.over) not in PLACES or not plain(kind):
        return None
    per = PLACES[kind.at, kind.over]
    try:
        read = np.asarray(run.server[kind.target] if per == STATE else run.iterations(kind.target))
    except KeyError:
        return None
    read = read[1:] if per == ROUND else read  # after every step there is one that counts, as after every round
    return float(folded(read, kind.statistic, per))


def plain(kind: ClassOf) -> bool:
    """Whether it is one number of a run without weights."""
    return kind.statistic in FOLDS and kind.statistic != "every" and not kind.weights


def unread(kind: ClassOf, scenario: Scenario) -> bool:
    """Whether runs of the scenario have no reading at these models.

    A run continues from the server's model, which is the average of all clients only where all take part.
    """
    return kind.over == AFTER and not everyone(scenario)


def estimated(values: Array, statistic: str, per: str) -> tuple[float, float]:
    """Mean and standard error over seeds of readings ``(seeds, times)``.

    The minimum over a run is that of the mean over seeds: the mean of the minima of the seeds is below it.
    """
    read = counted(values.T, statistic, per)
    one = read[int(np.argmin(read.mean(1)))] if statistic == "min" else read.mean(0)
    return float(one.mean()), float(one.std(ddof=1) / len(one) ** 0.5)


def server_readings(label: str, target: str, run: Moments) -> ServerReadings:
    """A run of expectations at the server model."""

    def at(word: str, statistic: str) -> tuple[float, float] | None:
        value = number(ClassOf(word, statistic, "rounds", SERVER, "", ""), run)
        return None if value is None else (value, 0.0)

    return ServerReadings(label, at(target, "min"), at(target, "mean"), at(target, "last"), at(GAP, "last"))
